"""When to switch each joint's transducer on and off, so that the rotor drives it as wanted.

`pulse_equations` has the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import single_vector
from ..compiler.kernel import Bound
from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from . import programs
from .programs import require_rotor
from .pulse_equations import ROWS
from .rotor import Rotor


@dataclass(frozen=True, eq=False)
class PulseWindows:
    """The windows of all independent joints, each array (nv,) in the order of `joints`.

    joints : names.
    on, off : phases of the rotor in [0, 2 pi), rad; a joint whose `off` is below its `on` is
        free through phase 0, one whose `on` and `off` are the same is never free.
    mean_torque : mean over a turn that the windows achieve, N m or N.
    saturated : whether that is less than wanted.
    amplitude, phase : R and psi, N m or N, and rad.
    unmoved : names of the joints that the rotor cannot move in this pose (R = 0).
    """

    joints: tuple[str, ...]
    on: Array
    off: Array
    mean_torque: Array
    saturated: np.ndarray
    amplitude: Array
    phase: Array
    unmoved: tuple[str, ...]

    @staticmethod
    def of(robot: Robot, pulses: Array) -> PulseWindows:
        """The windows that a program has written, rows as in `pulse_equations.ROWS`."""
        on, off, mean, saturated, amplitude, phase = pulses[: len(ROWS)].copy()
        names = robot.velocity_labels
        unmoved = tuple(names[k] for k in np.flatnonzero(amplitude == 0).tolist())
        return PulseWindows(
            names, on, off, mean + 0.0, saturated.astype(bool), amplitude, phase, unmoved
        )


def pulse_windows(robot: Robot, q: Array, rotor: Rotor, torque: Array, link: str) -> PulseWindows:
    """Windows that give each independent joint its wanted mean torque, or as much as can be.

    Parameters
    ----------
    robot : a robot with a fixed base.
    q : (nq,), rad or m.
    rotor : turns about the z axis of `link`, at its origin.
    torque : wanted mean torques (nv,), N m or N, of either sign.
    link : name of the link that carries the rotor.

    Raises
    ------
    InputError
        Wrong shape, NaN or infinity (by joint name), an unknown link, or a floating base.
    """
    if robot.floating_base:
        raise InputError(f"{robot.model.source}: a floating base has no transducers to pulse")
    require_rotor(robot, rotor, link)
    position = single_vector("position", q, robot.position_labels)
    wanted = single_vector("torque", torque, robot.velocity_labels)
    program = Bound(robot.calls.kernel(programs.pulse_windows, link, compiled=False))
    program.q[:], program.force[:], program.torque[:] = position, rotor.amplitude, wanted
    program()
    return PulseWindows.of(robot, program.result)
