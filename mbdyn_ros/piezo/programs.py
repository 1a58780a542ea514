"""The programs of piezo robots, which have the link that carries the rotor as an argument.

The torques of the rotating force are those of Kulvietis et al. (2011), eqs (4) and (5).

From the link that carries the rotor towards the root, body by body, in the axes of body i:

    F_i = A_i^{i+1} F_{i+1},   M_i = A_i^{i+1} M_{i+1} + h_{i,i+1} x F_i
    Q_i = M_i . z_i  (revolute)   or   F_i . z_i  (prismatic)

where h_{i,i+1} leads from the origin of body i to that of body i + 1. The paper has h_{i,i-1} and
crosses it with F_{i+1}: the arm and the force must be in the same axes, so F_i is meant. It is
J^T F without J. The torques are linear in the force, so they are worked out for its two
components at once: Q_i(wt) = X_i cos(wt) + Y_i sin(wt).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..arguments import coordinate_array, require_finite, require_link, single_vector
from ..equations.actuation import reduced_efforts
from ..equations.algebra.spatial import SX, JointMotion, constant, cross
from ..equations.programs import gravity_vector, joint_space_inertia, spring_vector
from ..equations.system import System
from ..errors import InputError
from ..model.model import Array
from ..prepare.tree import WORLD, Tree
from ..program.elimination import solve_ltl
from ..program.program import program
from ..robot import Robot
from . import pulse_equations as pulses
from .rotor import Rotor, checked_angle


@program("q", output="components", matrix=True, about="link")
def rotor_torques(system: System, q: SX, z: SX, link: str) -> SX:
    """X and Y (nv, 2) of the efforts X cos(wt) + Y sin(wt) of 1 N turning about z of a link."""
    embedding = system.embedding(q, z)
    return embedding.reduce(tree_torques(system.tree, embedding.joints, link))


@program("q force:1 torque", output="pulses", matrix=True, about="link")
def pulse_windows(system: System, q: SX, z: SX, force: SX, torque: SX, link: str) -> SX:
    """Pulses (6, nv), rows as in `pulse_equations.ROWS`, that give wanted mean torques (nv, 1)."""
    return pulses.windows(*_rotor_drive(system, q, z, force, link), torque).T


@program(
    "q wanted_q wanted_v gain:1 tolerance:1 force:1 speed:1",
    output="pulses", matrix=True, about="link",
)  # fmt: skip
def pulse_control(
    system: System,
    q: SX,
    z: SX,
    wanted_q: SX,
    wanted_v: SX,
    gain: SX,
    tolerance: SX,
    force: SX,
    speed: SX,
    link: str,
) -> SX:
    """Pulses (8, nv) that keep the joints on their path, rows as in `CONTROL_ROWS`.

    The displacement of a joint in one turn is that of the speed wanted_v + gain (wanted_q - q);
    none while it is within the tolerance of where it is wanted, and is to go no further in a turn.
    """
    amplitude, phase = _rotor_drive(system, q, z, force, link)
    inertia = ca.diag(joint_space_inertia(system, q, z))
    gravity = gravity_vector(system, q, z) + spring_vector(system, q, z)
    error = wanted_q - q
    turn = pulses.TURN / speed
    wanted_displacement = wanted_v * turn
    there = ca.fmax(ca.fabs(wanted_displacement), ca.fabs(error)) <= tolerance
    displacement = ca.if_else(there, 0, wanted_displacement + turn * gain * error)
    torque, given, short, able = pulses.torque_for_displacement(
        amplitude, gravity, inertia, displacement, speed
    )
    result = pulses.windows(amplitude, phase, torque)
    result[:, pulses.ROWS.index("saturated")] = short
    return ca.horzcat(result, given, able).T


@program("q v free force:1 phase:1", output="motion", matrix=True, about="link")
def pulsed_motion(
    system: System, q: SX, z: SX, v: SX, free: SX, force: SX, phase: SX, link: str
) -> SX:
    """Accelerations, and below them the rotor's torques (2, nv), while some joints are held.

    Of the joints that are free (1; held: 0), H_ff a_f = (Q - bias)_f; the others do not move.
    """
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    turning = ca.vertcat(ca.cos(phase), ca.sin(phase))
    torque = force * (rotor_torques(system, q, z, link) @ turning)
    drive = torque - reduced_efforts(system, embedding, v, rest, None, True)
    matrix = joint_space_inertia(system, q, z)
    held = ca.diag(free) @ matrix @ ca.diag(free) + ca.diag(1 - free)
    return ca.horzcat(solve_ltl(held, free * drive), torque).T


def _rotor_drive(system: System, q: SX, z: SX, force: SX, link: str) -> tuple[SX, SX]:
    """Amplitudes and phases (nv, 1) of the rotor's torques."""
    whole = SX.zeros(system.tree.nq)
    for k, row in enumerate(system.coordinates.q):
        whole[row] = q[k]
    reach = levers(system.tree, whole, link)[list(system.coordinates.v)]
    components = force * rotor_torques(system, q, z, link)
    return pulses.amplitude_and_phase(components, force * reach)


def tree_torques(tree: Tree, joints: Sequence[JointMotion], link: str) -> SX:
    """X and Y (nv_tree, 2) of a force of 1 N that turns about the z axis of a link."""
    efforts = SX.zeros(tree.nv, 2)
    at, pose = tree.frames[link]
    arm = constant(pose.translation)
    for column in range(2):
        index = at
        force = constant(pose.rotation[:, column])
        moment = cross(arm, force)
        while index != WORLD:
            body, joint = tree.bodies[index], joints[index]
            efforts[body.v, column] = joint.angular.T @ moment + joint.linear.T @ force
            moment, force = joint.transform.wrench_to_parent(moment, force)
            index = body.parent
    return efforts


def levers(tree: Tree, q: SX, link: str) -> SX:
    """The largest torque that 1 N could give each tree coordinate (nv_tree, 1): m, 1 of slides.

    Parameters
    ----------
    q : tree positions; the displacement of a slide makes the levers longer.
    """
    reach = SX(float(ca.norm_2(constant(tree.frames[link][1].translation))))
    for body in tree.bodies:
        reach += float(ca.norm_2(constant(body.placement.translation)))
        if body.motion.slides:
            reach += ca.fabs(q[body.q])
    result = SX.ones(tree.nv, 1) * reach
    for body in tree.bodies:
        if body.motion.slides:
            result[body.v] = 1
    return result


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
    components = robot.calls.call(rotor_torques, (position,), about=link)
    return rotor.amplitude * components


def require_rotor(robot: Robot, rotor: Rotor, link: str) -> None:
    """Refuse what is not a rotor, and a link that the robot does not have."""
    if not isinstance(rotor, Rotor):
        raise InputError(f"rotor must be a piezo.Rotor, not {rotor!r}")
    require_link(robot.system.tree, link, robot.model.source)
