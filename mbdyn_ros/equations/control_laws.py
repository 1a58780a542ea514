"""Control laws: efforts of the actuators at a measured state, for any robot, closed loops too.

The programs of `programs` are of the independent coordinates; these, of the joints and the drives
that a machine has.

With the reduced equations of motion M(q) a + C(q, v) v + g(q) = effort of the independent joints,
the error e = wanted q - q and w the wanted velocity:

    gravity compensation   g(q) - D v                                  (hand guiding)
    computed torque        M (a_w + Kp e + Kd e') + C v + g
    joint impedance        M a_w + C(q, v) w + g + K e + D e'
    virtual decomposition  M (v_r' + k s) + C(q, v) v_r + g + K s
    admittance             computed torque of w + y, I y'' + D y' + K y = external effort
    Cartesian impedance    J^T (L (x_w'' - J' v) + K e_x + D e_x') + C v + g + N^T effort_0

g holds springs too. Closed loops then obey e'' + Kd e' + Kp e = 0, and M e'' + (C + D) e' + K e = 0
under the efforts of the world (a passive law, with the C of Christoffel's symbols), and
L e_x'' + D e_x' + K e_x = 0. What the actuators give follows from the efforts of the independent
joints (`equations.actuation`).

Sources: Luh, Walker and Paul 1980 (computed torque); Paden and Panja 1988 (PD+, the joint
impedance); Hogan 1985 and Khatib 1987 (the Cartesian one, with the inertia L = (J M^-1 J^T)^-1 that
the link has, and the efforts N^T effort_0 that do not accelerate it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ..program.elimination import Elimination
from ..program.program import Declaration, program
from .actuation import actuated, coriolis_product, reduced_efforts
from .algebra.spatial import SX, skew
from .frames import Frame, frame_acceleration, frame_pose, jacobian
from .loops.embedding import Embedding
from .programs import holding_vector, joint_space_inertia
from .system import System
from .tree.newton_euler import joint_friction


@program("q v a", output="motion", internal=True)
def joint_motion(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Positions, velocities and accelerations of `joint_names`, one after the other."""
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    in_q, in_v = system.coordinates.joint_rows
    return ca.vertcat(embedding.values()[in_q], velocity[in_v], acceleration[in_v])


@program("q", output="effort", internal=True)
def gravity_effort(system: System, q: SX, z: SX) -> SX:
    """Efforts of the actuated joints that hold the robot at rest: against gravity and springs."""
    return actuated(system, system.embedding(q, z), holding_vector(system, q, z))


@program("q v", output="effort", internal=True)
def friction_effort(system: System, q: SX, z: SX, v: SX) -> SX:
    """Efforts of the actuated joints that overcome damping and dry friction of all joints."""
    embedding = system.embedding(q, z)
    reduced = embedding.reduce(joint_friction(system.tree, embedding.velocity(v)))
    return actuated(system, embedding, ca.densify(reduced))


@program("q force", output="effort", internal=True)
def actuated_effort(system: System, q: SX, z: SX, force: SX) -> SX:
    """Efforts of the actuated joints that do the work of `force` at the independent coordinates.

    force : (nv,), N m or N.
    """
    return actuated(system, system.embedding(q, z), force)


SOFTENING = 1e-6
"""Share of a link's mean mobility that is added to it before it is inverted: near singular poses
the inertia, infinite in the directions that are lost, stays finite."""


@program("q v damping", output="effort")
def gravity_compensation(system: System, q: SX, z: SX, v: SX, damping: SX) -> SX:
    """Efforts that hold the robot at rest wherever it is led, less `damping` times v."""
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    held = reduced_efforts(system, embedding, rest, rest, None, False)
    return actuated(system, embedding, held - damping * v)


@program("q v error wanted_v wanted_a kp kd", output="effort")
def computed_torque(
    system: System, q: SX, z: SX, v: SX, error: SX, wanted_v: SX, wanted_a: SX, kp: SX, kd: SX
) -> SX:
    """Inverse dynamics of a_w + Kp e + Kd e'; friction is that of the wanted velocity."""
    embedding = system.embedding(q, z)
    a = wanted_a + kp * error + kd * (wanted_v - v)
    efforts = reduced_efforts(system, embedding, v, a, None, False)
    return actuated(system, embedding, efforts + _friction(system, embedding, wanted_v))


@program("q v error wanted_v wanted_a stiffness damping", output="effort")
def joint_impedance(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    error: SX,
    wanted_v: SX,
    wanted_a: SX,
    stiffness: SX,
    damping: SX,
) -> SX:
    """Springs and dampers between the independent joints and where they are wanted (PD+)."""
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    moved = reduced_efforts(system, embedding, rest, wanted_a, None, False)
    turned = coriolis_product(system, embedding, v, wanted_v)
    springs = stiffness * error + damping * (wanted_v - v)
    efforts = moved + turned + springs + _friction(system, embedding, wanted_v)
    return actuated(system, embedding, efforts)


@program("q v error wanted_v wanted_a rate body_rate damping", output="effort")
def virtual_decomposition(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    error: SX,
    wanted_v: SX,
    wanted_a: SX,
    rate: SX,
    body_rate: SX,
    damping: SX,
) -> SX:
    """Every body is led to a required velocity of its own (virtual decomposition control, VDC).

    Zhu (Virtual Decomposition Control, 2010), and Koivumaki and Mattila for hydraulic machines with
    closed chains. With the error e = wanted q - q and rates L the joints are required to move at

        v_r = w + L e,   s = v_r - v,

    and the machine is cut into bodies. Body A, whose velocity J_A v is required to be
    V_r = J_A v_r, gets the net force

        F_A = M_A V_r' + C_A V_r + G_A + K_A (V_r - V),

    and the joints add K s. Forces at the cuts do no virtual work together (the virtual power flows
    cancel, at the pins of closed chains too), so the efforts are the bodies' net forces on the
    velocities that the independent joints give them: sum J_A^T F_A + K s. With K_A = k M_A, each
    body's gain as large as its inertia, this is

        effort = M (v_r' + k s) + C(q, v) v_r + g + K s.

    The error obeys M s' + C s + (k M + K) s = what the world gives. So d/dt (s^T M s / 2) is
    -s^T (k M + K) s: it dies out at least as exp(-2 k t), and the error after it at the rates L.

    C(q, v) v_r is that of Christoffel's symbols. Joints may have rates k of their own: then
    sqrt(k_i k_j) M_ij stands for k M.
    """
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    required = wanted_v + rate * error
    slip = required - v
    change = wanted_a + rate * (wanted_v - v)
    root = ca.sqrt(body_rate)
    feedback = root * (joint_space_inertia(system, q, z) @ (root * slip)) + damping * slip
    moved = reduced_efforts(system, embedding, rest, change, None, False)
    turned = coriolis_product(system, embedding, v, required)
    efforts = moved + turned + feedback + _friction(system, embedding, wanted_v)
    return actuated(system, embedding, efforts)


@program(
    "q v place:3 turn:4 twist:6 twist_rate:6 stiffness:6 damping:6 posture posture_stiffness "
    "posture_damping",
    output="effort", about="link",
)  # fmt: skip
def cartesian_impedance(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    place: SX,
    turn: SX,
    twist: SX,
    twist_rate: SX,
    stiffness: SX,
    damping: SX,
    posture: SX,
    posture_stiffness: SX,
    posture_damping: SX,
    link: str,
) -> SX:
    """Springs and dampers along and about the world's axes between a link and where it is wanted.

    `place` and `turn` (x, y, z, w) are the wanted pose, `posture` the displacement to the posture
    that the joints are drawn to as far as that does not accelerate the link.
    """
    frame, rest = Frame(link, "world"), SX.zeros(v.shape[0])
    columns = jacobian(system, q, z, frame)
    mass = Elimination.of(joint_space_inertia(system, q, z))
    moved = mass.solve(ca.densify(columns.T))  # M^-1 J^T
    mobility = ca.densify(columns @ moved)
    inertia = Elimination.of(mobility + SOFTENING * ca.trace(mobility) / 6 * SX.eye(6))
    drift = frame_acceleration(system, q, z, v, rest, frame)
    error = pose_error(frame_pose(system, q, z, link), place, turn)
    force = stiffness * error + damping * (twist - columns @ v)
    pull = posture_stiffness * posture - posture_damping * v
    accelerations = twist_rate - drift - moved.T @ pull
    efforts = columns.T @ (inertia.solve(ca.densify(accelerations)) + force) + pull
    embedding = system.embedding(q, z)
    bias = reduced_efforts(system, embedding, v, rest, None, False)
    return actuated(system, embedding, bias + efforts)


@program("q place:3 turn:4", output="error", about="link")
def link_error(system: System, q: SX, z: SX, place: SX, turn: SX, link: str) -> SX:
    """The displacement (6, 1) of a link to a wanted pose in world axes, as `pose_error`."""
    return pose_error(frame_pose(system, q, z, link), place, turn)


@program("q", output="pose", about="link")
def link_pose(system: System, q: SX, z: SX, link: str) -> SX:
    """Place and quaternion (x, y, z, w) (7, 1) of a link's frame in the world."""
    pose = frame_pose(system, q, z, link)
    return ca.densify(ca.vertcat(pose[:3, 3], quaternion(pose[:3, :3])))


def pose_error(pose: SX, place: SX, turn: SX) -> SX:
    """The displacement (6, 1) from a pose (4, 4) to a wanted one in world axes.

    The turn is 2 sin(angle / 2) about its axis, twice the vector part of the quaternion of what is
    left (Caccavale, Siciliano and Villani 1999): it grows up to half a revolution, along the
    shortest rotation.
    """
    present = quaternion(pose[:3, :3])
    vector, scalar = turn[:3], turn[3]
    left = scalar * -present[:3] + present[3] * vector - skew(vector) @ present[:3]
    cosine = scalar * present[3] + ca.dot(vector, present[:3])
    return ca.densify(ca.vertcat(place - pose[:3, 3], ca.if_else(cosine < 0, -2, 2) * left))


def quaternion(r: SX) -> SX:
    """The unit quaternion (x, y, z, w) of a rotation (3, 3), w >= 0 (Bar-Itzhack 2000).

    4 s s^T of the quaternion s is linear in the rotation: its column with the largest diagonal
    is never short.
    """
    off = [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]
    xy, zx, yz = r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1]
    a, b, c = r[0, 0], r[1, 1], r[2, 2]
    columns = [
        ca.vertcat(1 + a - b - c, xy, zx, off[0]),
        ca.vertcat(xy, 1 - a + b - c, yz, off[1]),
        ca.vertcat(zx, yz, 1 - a - b + c, off[2]),
        ca.vertcat(*off, 1 + a + b + c),
    ]
    best, size = columns[3], columns[3][3]
    for k in range(3):
        longer = columns[k][k] > size
        best, size = ca.if_else(longer, columns[k], best), ca.if_else(longer, columns[k][k], size)
    return ca.if_else(best[3] < 0, -1, 1) * best / ca.sqrt(ca.dot(best, best))


def _friction(system: System, embedding: Embedding, v: SX) -> SX:
    """Efforts (nv, 1) that overcome friction at a velocity."""
    return embedding.reduce(joint_friction(system.tree, embedding.velocity(v)))


@dataclass(frozen=True)
class Mode:
    """One mode of control.

    law : its program.
    follows : "joints" or "pose": a motion of the joints or of a link; "" for nothing.
    gains : inputs of the law by the names that users give them; "" for those of `YIELDING`, by
        which the reference gives way to external efforts (`control.controller.Admittance`).
    """

    law: Declaration
    follows: str
    gains: Mapping[str, str]


YIELDING = (
    "admittance_inertia", "admittance_damping", "admittance_stiffness", "admittance_dead_zone",
)  # fmt: skip
"""Gains of the reference of an admittance."""

MODES = {
    "gravity_compensation": Mode(
        gravity_compensation, "", {"guiding_damping": "damping"}
    ),
    "computed_torque": Mode(computed_torque, "joints", {"kp": "kp", "kd": "kd"}),
    "joint_impedance": Mode(
        joint_impedance, "joints", {"joint_stiffness": "stiffness", "joint_damping": "damping"}
    ),
    "virtual_decomposition": Mode(
        virtual_decomposition, "joints",
        {"required_rate": "rate", "body_rate": "body_rate", "required_damping": "damping"},
    ),
    "admittance": Mode(
        computed_torque, "joints",
        {"admittance_kp": "kp", "admittance_kd": "kd", **dict.fromkeys(YIELDING, "")},
    ),
    "cartesian_impedance": Mode(
        cartesian_impedance, "pose",
        {
            "link_stiffness": "stiffness", "link_damping": "damping",
            "posture_stiffness": "posture_stiffness", "posture_damping": "posture_damping",
        },
    ),
}  # fmt: skip
"""The modes by name. Gains of a link are along and about the world's axes (x y z, then about them),
all others are those of the independent joints."""

AXES_OF_LINK = ("x", "y", "z", "about x", "about y", "about z")
"""Directions of the numbers in a link's gains."""


def gains() -> dict[str, Mode]:
    """The mode of every gain, by its name."""
    return {name: mode for mode in MODES.values() for name in mode.gains}
