"""When to switch each joint's transducer on and off, so that the rotor drives it as wanted.

The rotor drives joint i with Q_i(wt) = R_i cos(wt - psi_i). A joint that is freed only while wt is
within d of psi_i feels over a turn the mean torque

    1/(2 pi) integral_{-d}^{d} R_i cos(x) dx = (R_i / pi) sin(d),

largest, R_i / pi, at d = pi / 2; around psi_i + pi it is the negative of this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import single_vector
from ..model.errors import InputError
from ..model.model import Array
from ..robot import Robot
from .rotor import Rotor
from .torque import torque_components

TURN = 2 * np.pi

ROUNDING = 1e-12
"""Torques below this fraction of force times reach are rounding: the rotor cannot move there."""


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

    Examples
    --------
    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''<robot name="slide"><link name="world"/><link name="cart">
    ...   <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
    ...   </inertial></link><joint name="rail" type="prismatic"><axis xyz="1 0 0"/>
    ...     <parent link="world"/><child link="cart"/></joint></robot>''')
    >>> rotor = Rotor(0.1, 0.01, 100.0)                               # 10 N
    >>> windows = pulse_windows(robot, [0.0], rotor, [-5 / np.pi], "cart")
    >>> np.degrees(windows.on), np.degrees(windows.off), windows.saturated
    (array([150.]), array([210.]), array([False]))
    >>> pulse_windows(robot, [0.0], rotor, [7.0], "cart").mean_torque * np.pi
    array([10.])
    """
    if robot.floating_base:
        raise InputError(f"{robot.model.source}: a floating base has no transducers to pulse")
    parts = torque_components(robot, q, rotor, link)
    wanted = single_vector("torque", torque, robot.velocity_labels)
    amplitude, phase = np.hypot(parts[:, 0], parts[:, 1]), np.arctan2(parts[:, 1], parts[:, 0])
    still = amplitude <= ROUNDING * rotor.amplitude * _levers(robot, q, link)
    amplitude[still] = phase[still] = 0.0

    reach = amplitude / np.pi
    saturated = np.abs(wanted) > reach
    mean = np.where(saturated, np.copysign(reach, wanted), wanted)
    sine = np.divide(np.abs(mean), reach, out=np.zeros_like(mean), where=~still)
    half = np.where(saturated & ~still, np.pi / 2, np.arcsin(np.minimum(sine, 1.0)))
    centre = phase + np.where(wanted < 0, np.pi, 0.0)
    names = tuple(robot.velocity_labels)
    return PulseWindows(
        names,
        _within_a_turn(centre - half),
        _within_a_turn(centre + half),
        mean + 0.0,
        saturated,
        amplitude,
        phase,
        tuple(name for name, one in zip(names, still, strict=True) if one),
    )


def _levers(robot: Robot, q: Array, link: str) -> Array:
    """How large the torque of a unit force could be, for each coordinate: m, or 1 of slides."""
    tree, coordinates = robot._system.tree, robot._system.coordinates
    slides = {body.v.start for body in tree.bodies if body.kind == "prismatic"}
    reach = float(np.linalg.norm(tree.frames[link][1].translation))
    reach += sum(float(np.linalg.norm(body.placement.translation)) for body in tree.bodies)
    positions = zip(coordinates.v, np.asarray(q, dtype=float).tolist(), strict=False)
    reach += sum(abs(x) for row, x in positions if row in slides)
    return np.array([1.0 if row in slides else reach for row in coordinates.v])


def _within_a_turn(angle: Array) -> Array:
    """The same angles in [0, 2 pi)."""
    wrapped = np.mod(angle, TURN)
    return np.where(wrapped >= TURN, 0.0, wrapped)
