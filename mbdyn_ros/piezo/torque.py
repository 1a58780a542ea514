"""Generalized torques of the rotor's force; `programs` has their equations."""

from __future__ import annotations

import numpy as np

from ..arguments import coordinate_array, require_finite, require_link, single_vector
from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from . import programs
from .rotor import Rotor, checked_angle


def generalized_torques(
    robot: Robot, q: Array, rotor: Rotor, angle: float | Array, link: str
) -> Array:
    """Torques of the independent joints that the rotor's force drives the robot with.

    Parameters
    ----------
    robot : any robot.
    q : (nq,) or (N, nq), rad or m.
    rotor : turns about the z axis of `link`, at its origin.
    angle : of the rotor from the link's x axis, rad; one or (N,).
    link : name of the link.

    Returns
    -------
    (nv,) or (N, nv), N m or N.

    Raises
    ------
    InputError
        Wrong shape, NaN or infinity (by joint name), or an unknown link.

    Examples
    --------
    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''<robot name="arm"><link name="world"/><link name="rod">
    ...   <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
    ...   </inertial></link><link name="gripper"/>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 0 1"/>
    ...     <parent link="world"/><child link="rod"/></joint>
    ...   <joint name="flange" type="fixed"><origin xyz="0.5 0 0"/>
    ...     <parent link="rod"/><child link="gripper"/></joint></robot>''')
    >>> generalized_torques(robot, [0.3], Rotor(0.1, 0.01, 100.0), np.pi / 2, "gripper")
    array([5.])
    """
    phase = checked_angle(angle)
    position = coordinate_array("position", q, robot.position_labels)
    for row in np.atleast_2d(position):
        require_finite("position", row, robot.position_labels)
    single = position.ndim == 1 and phase.ndim == 0
    positions, phases = np.atleast_2d(position), np.atleast_1d(phase)
    count = max(len(positions), len(phases))
    if {len(positions), len(phases)} - {1, count} or 0 in (len(positions), len(phases)):
        raise InputError(
            f"the batches have different lengths: q {len(positions)}, angle {len(phases)}"
        )
    parts = np.array([torque_components(robot, row, rotor, link) for row in positions])
    turning = np.stack([np.cos(phases), np.sin(phases)], axis=-1)
    torques: Array = (parts @ turning[..., None])[..., 0]
    return torques[0] if single else torques


def torque_components(robot: Robot, q: Array, rotor: Rotor, link: str) -> Array:
    """X and Y (nv, 2) of the torques X cos(wt) + Y sin(wt), N m or N, at one position q (nq,)."""
    require_rotor(robot, rotor, link)
    position = single_vector("position", q, robot.position_labels)
    components = robot.calls.call(programs.rotor_torques, (position,), about=link)
    return rotor.amplitude * components


def require_rotor(robot: Robot, rotor: Rotor, link: str) -> None:
    """Refuse what is not a rotor, and a link that the robot does not have."""
    if not isinstance(rotor, Rotor):
        raise InputError(f"rotor must be a piezo.Rotor, not {rotor!r}")
    require_link(robot.system.tree, link, robot.model.source)
