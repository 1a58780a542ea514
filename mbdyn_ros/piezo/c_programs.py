"""C99 for the microprocessor of a piezo robot: torques, pulse windows and controller."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from ..array import Array
from ..export.c_export import Exported
from ..export.c_library import CProgram
from ..robot import Robot
from . import programs
from .programs import require_rotor
from .pulse_equations import CONTROL_ROWS, ROWS
from .rotor import Rotor

AWAY, QUICK = 1e-3, 0.05
"""Distances from the goal (rad or m) and speeds of the path at which the test is recorded."""

GAIN, TOLERANCE = 50.0, 1e-5
"""Of the controller that the test is recorded at; see `PulseController`."""


def generate_c(
    robot: Robot,
    directory: str | os.PathLike[str],
    rotor: Rotor,
    link: str,
    precision: str = "double",
) -> Exported:
    """Write the equations of a piezo robot as C99, its rotor's torques and controller included.

    In addition to what `Robot.generate_c` writes:

    - `rotor_torques(q, components)`: X and Y (nv, 2) of the torques X cos(wt) + Y sin(wt) of a
      force of 1 N that turns; times m r w^2 they are Q_i, eq. (5) of Kulvietis et al. (2011).
    - `pulse_windows(q, force, torque, pulses)`: windows for mean torques, rows
      `pulse_equations.ROWS`.
    - `pulse_control(q, wanted_q, wanted_v, gain, tolerance, force, speed, pulses)`: a cycle of
      `PulseController`, rows `pulse_equations.CONTROL_ROWS`.

    Parameters
    ----------
    rotor : whose numbers the test is recorded at; force and speed are arguments.
    link : that carries the rotor, turning about its z axis.
    precision : "double" or "single", as in `Robot.generate_c`.

    Raises
    ------
    InputError
        No rotor, an unknown link, a folder that cannot be written.
    """
    require_rotor(robot, rotor, link)
    robot.require_mass("control by pulses")
    return robot.generate_c(directory, [link], more=c_programs(rotor, link), precision=precision)


def c_programs(rotor: Rotor, link: str) -> tuple[CProgram, ...]:
    """The programs about a rotor on a link, as `Robot.generate_c` takes them."""
    force = np.array([rotor.amplitude])

    def torque(state: Mapping[str, Array]) -> Array:
        return state["v"] * 1e-2 * rotor.amplitude

    windows = {"force": lambda state: force, "torque": torque}
    control = {
        "wanted_q": lambda state: state["q"] + AWAY * state["a"],
        "wanted_v": lambda state: QUICK * state["v"],
        "gain": lambda state: np.array([GAIN]),
        "tolerance": lambda state: np.array([TOLERANCE]),
        "force": lambda state: force,
        "speed": lambda state: np.array([rotor.speed]),
    }
    return (
        CProgram(
            programs.rotor_torques, link,
            "X and Y (nv x 2) of the torques X cos(wt) + Y sin(wt) of a force of 1 N that turns "
            f"about z of {link}.",
            {},
        ),
        CProgram(
            programs.pulse_windows, link,
            f"Pulses ({len(ROWS)} x nv) for wanted mean torques under a force m r w^2: rows "
            f"{', '.join(ROWS)}.",
            windows,
        ),
        CProgram(
            programs.pulse_control, link,
            f"One cycle of the controller: pulses ({len(CONTROL_ROWS)} x nv), rows "
            f"{', '.join(CONTROL_ROWS)}.",
            control,
        ),
    )  # fmt: skip
