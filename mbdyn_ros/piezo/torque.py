"""Generalised torques of the rotor's force: Kulvietis et al. (2011), eqs (4) and (5).

From the link that carries the rotor inwards, body by body, in the axes of body i:

    F_i = A_i^{i+1} F_{i+1},   M_i = A_i^{i+1} M_{i+1} + h_{i,i+1} x F_i
    Q_i = M_i . z_i  (revolute)   or   F_i . z_i  (prismatic)

where h_{i,i+1} leads from the origin of body i to that of body i + 1. The paper has h_{i,i-1} and
crosses it with F_{i+1}: the arm and the force must be in the same axes, so F_i is meant. It is
J^T F without J. The torques are linear in the force, so they are worked out for its two
components at once: Q_i(wt) = X_i cos(wt) + Y_i sin(wt).
"""

from __future__ import annotations

import numpy as np

from ..arguments import (
    coordinate_array,
    require_finite,
    require_link,
    require_unit_quaternions,
    single_vector,
)
from ..model.errors import InputError
from ..model.model import Array
from ..model.tree import WORLD, Body
from ..robot import Robot
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
    position = _checked_position(robot, q)
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
    if not isinstance(rotor, Rotor):
        raise InputError(f"rotor must be a piezo.Rotor, not {rotor!r}")
    system = robot._system
    require_link(system.tree, link, robot.model.source)
    position = single_vector("position", q, robot.position_labels)
    require_unit_quaternions(system.coordinates, position)
    forces = rotor.amplitude * np.eye(3, 2)
    if system.linkages:
        in_world = robot.frame_pose(position, link)[:3, :3] @ forces
        return robot.jacobian(position, link)[:3].T @ in_world
    tree_position = np.zeros(system.tree.nq)
    tree_position[list(system.coordinates.q)] = position
    efforts = np.zeros((system.tree.nv, 2))
    index, pose = system.tree.frames[link]
    forces = pose.rotation @ forces
    moments = np.cross(pose.translation, forces, axis=0)
    while index != WORLD:
        body = system.tree.bodies[index]
        own = tree_position[body.q]
        if body.kind == "floating":
            efforts[body.v] = np.vstack([forces, moments])
        else:
            efforts[body.v] = body.axis @ (moments if body.kind == "revolute" else forces)
        rotation, arm = _placed(body, own)
        forces = rotation @ forces
        moments = rotation @ moments + np.cross(arm, forces, axis=0)
        index = body.parent
    return efforts[list(system.coordinates.v)]


def _placed(body: Body, q: Array) -> tuple[Array, Array]:
    """Rotation (3, 3) and origin (3,) of a body's frame in its parent's."""
    rotation, arm = body.placement.rotation, body.placement.translation
    if body.kind == "revolute":
        c, s = np.cos(q[0] + body.offset), np.sin(q[0] + body.offset)
        return rotation @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), arm
    if body.kind == "prismatic":
        return rotation, arm + rotation @ (body.axis * q[0])
    x, y, z, w = q[3:7]
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = np.eye(3) + 2 * (w * skew + skew @ skew)
    return rotation @ turn, arm + rotation @ q[:3]


def _checked_position(robot: Robot, q: object) -> Array:
    position = coordinate_array("position", q, robot.position_labels)
    for row in np.atleast_2d(position):
        require_finite("position", row, robot.position_labels)
    return position
