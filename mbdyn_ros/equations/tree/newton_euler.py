"""Inverse dynamics by the recursive Newton-Euler method (Luh, Walker, Paul 1980).

Outward, body by body, with z the joint's motion subspace (angular S_w, linear S_v):

    w_i     = R^T w_p + S_w qd
    alpha_i = R^T alpha_p + (R^T w_p) x S_w qd + S_w qdd
    a_i     = R^T (a_p + U_p p) + 2 (R^T w_p) x S_v qd + (S_w qd) x (S_v qd) + S_v qdd
    U_i     = skew(alpha_i) + skew(w_i) skew(w_i)                (Balafoutis and Patel's tensor)
    f_i     = m a_i + U_i (m c)
    n_i     = I alpha_i + w_i x I w_i + (m c) x a_i

and backward: f_p += R f_i, n_p += R n_i + p x R f_i, tau_i = S_w^T n_i + S_v^T f_i + J_i qdd_i,
with the armature J_i of its drive.

Rotors, springs and friction act on the coordinates of joints, in addition to the bodies. A rotor
of inertia J turns r times as fast as its joint: it adds the armature r^2 J to the diagonal of the
mass matrix and takes part in nothing else. A spring asks for k (q - q_0) and stores
k (q - q_0)^2 / 2. Where no joint has them, they are structural zeros and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ...model.inertia import RigidInertia
from ...model.model import Array
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, JointMotion, constant, cross, inlined, second_moment, skew


def newton_euler(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> SX:
    """Efforts (nv, 1) of the tree coordinates at a motion.

    Parameters
    ----------
    tree : the bodies.
    joints : motion of each body's joint, at its position.
    v, a : tree velocities and accelerations (nv, 1).
    gravity : (3,), m/s^2, in the world.
    wrenches : (6, number of bodies) force and torque from outside on every body, about its
        frame's origin in its axes; none if None.
    """
    efforts = SX(tree.nv, 1)
    through = joint_wrenches(tree, joints, forward_pass(tree, joints, v, a, gravity), wrenches)
    for body, joint, (moment, force) in zip(tree.bodies, joints, through, strict=True):
        efforts[body.v] = joint.angular.T @ moment + joint.linear.T @ force
    return efforts + rotor_inertia(tree) @ a


def joint_wrenches(
    tree: Tree,
    joints: Sequence[JointMotion],
    motions: Sequence[BodyMotion],
    wrenches: SX | None = None,
) -> list[tuple[SX, SX]]:
    """Moment and force (3, 1) that every body's parent exerts on it through its joint.

    About the origin of the body's frame, in its axes; from the leaves to the root.
    """
    moments, forces = inertial_wrenches(tree, motions, wrenches)
    total_wrench(tree, joints, moments, forces)
    return list(zip(moments, forces, strict=True))


def total_wrench(
    tree: Tree, joints: Sequence[JointMotion], moments: list[SX], forces: list[SX]
) -> tuple[SX, SX]:
    """Moment about the world's origin and force (3, 1) of wrenches on all bodies, in world axes.

    The lists are filled with the sums of every body and of all that it carries.
    """
    whole = [SX.zeros(3), SX.zeros(3)]
    for i, (body, joint) in reversed(list(enumerate(zip(tree.bodies, joints, strict=True)))):
        moment, force = joint.transform.wrench_to_parent(moments[i], forces[i])
        if body.parent == WORLD:
            whole = [whole[0] + moment, whole[1] + force]
        else:
            moments[body.parent] += moment
            forces[body.parent] += force
    return whole[0], whole[1]


@dataclass(frozen=True)
class BodyMotion:
    """Motion of one body, in its axes.

    w, alpha, a : angular velocity and acceleration, acceleration of its origin less gravity.
    tensor : U = skew(alpha) + skew(w) skew(w), all (3, 1) or (3, 3).
    """

    w: SX
    alpha: SX
    a: SX
    tensor: SX


def forward_pass(
    tree: Tree, joints: Sequence[JointMotion], v: SX, a: SX, gravity: Array
) -> list[BodyMotion]:
    """Motion of every body, from the root to the leaves."""
    rest = constant([0.0, 0.0, 0.0])
    motions: list[BodyMotion] = []
    for body, joint in zip(tree.bodies, joints, strict=True):
        out, shift = joint.transform.to_child, joint.transform.shift
        turning, sliding = joint.angular @ v[body.v], joint.linear @ v[body.v]
        if body.parent == WORLD:
            carried, spun, moved = rest, rest, out(constant(-gravity))
        else:
            parent = motions[body.parent]
            carried, spun = out(parent.w), out(parent.alpha)
            moved = out(parent.a + parent.tensor @ shift)
        w = carried + turning
        alpha = spun + cross(carried, turning) + joint.angular @ a[body.v]
        acceleration = moved + cross(2 * carried + turning, sliding) + joint.linear @ a[body.v]
        tensor = skew(alpha) + skew_square(w)
        motions.append(BodyMotion(w, alpha, acceleration, tensor))
    return motions


def inertial_wrenches(
    tree: Tree, motions: Sequence[BodyMotion], wrenches: SX | None
) -> tuple[list[SX], list[SX]]:
    """Moment and force that each body's own motion asks for, less the wrenches from outside."""
    forces, moments = [], []
    for i, (body, motion) in enumerate(zip(tree.bodies, motions, strict=True)):
        first = constant(body.inertia.first)
        force = body.inertia.mass * motion.a + motion.tensor @ first
        moment = euler_moment(body.inertia, motion.w, motion.tensor) + cross(first, motion.a)
        if wrenches is not None:
            force, moment = force - wrenches[:3, i], moment - wrenches[3:, i]
        forces.append(force)
        moments.append(moment)
    return moments, forces


@inlined(3)
def skew_square(w: SX) -> SX:
    """skew(w) skew(w) = w w^T - |w|^2 1, six products."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return ca.blockcat([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])


def euler_moment(inertia: RigidInertia, w: SX, tensor: SX) -> SX:
    """I alpha + w x I w about the body's origin: the vector of J U^T - U J.

    J is the second moment of the mass, U the tensor of the motion: sums of alpha_i and w_j w_k
    that other terms need as well.
    """
    j, u = second_moment(constant(inertia.second)), tensor
    if inertia.spread is not None:
        for k in range(3):
            j[k, k] = inertia.spread[k]
    rows = []
    for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        rows.append(
            _difference(j[y, y], u[z, y], j[z, z], u[y, z])
            + j[x, y] * u[z, x]
            - j[x, z] * u[y, x]
            + j[y, z] * (w[z] * w[z] - w[y] * w[y])
        )
    return ca.vertcat(*rows)


def _difference(a: SX, x: SX, b: SX, y: SX) -> SX:
    """a x - b y, by one product where x and y are equal or opposite: in the plane, or at rest."""
    if ca.is_equal(x, y):
        return (a - b) * x
    return (a + b) * x if ca.is_equal(x, -y) else a * x - b * y


def acting(tree: Tree, number: str) -> SX:
    """A number of `Joint` for each of the tree's coordinates (nv, 1), zeros structural."""
    column = SX(tree.nv, 1)
    for body in tree.bodies:
        value = getattr(body, number)
        if isinstance(value, SX) or value:
            column[body.v] = value
    return column


def rotor_inertia(tree: Tree) -> SX:
    """Share of the rotors in the mass matrix (nv, nv): a diagonal."""
    return ca.diag(acting(tree, "armature"))


def spring_efforts(tree: Tree, positions: SX) -> SX:
    """Efforts (nv, 1) that hold the springs at the tree's positions (nq_tree, 1)."""
    efforts = SX(tree.nv, 1)
    for body in tree.bodies:
        stiffness = body.spring_stiffness
        if isinstance(stiffness, SX) or stiffness:
            efforts[body.v] = stiffness * (positions[body.q] - body.spring_reference)
    return efforts


def spring_energy(tree: Tree, positions: SX) -> SX:
    """Energy (J) of the springs at the tree's positions (nq_tree, 1)."""
    total = SX(0)
    for body in tree.bodies:
        stiffness = body.spring_stiffness
        if isinstance(stiffness, SX) or stiffness:
            total += 0.5 * stiffness * (positions[body.q] - body.spring_reference) ** 2
    return total


def damping_efforts(tree: Tree, v: SX) -> SX:
    """damping v of the tree's joints (nv, 1)."""
    return ca.densify(acting(tree, "damping") * v)


def joint_friction(tree: Tree, v: SX) -> SX:
    """damping v + friction sign(v) of the tree's joints (nv, 1)."""
    return ca.densify(acting(tree, "damping") * v + acting(tree, "friction") * ca.sign(v))
