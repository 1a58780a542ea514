"""Forward dynamics by articulated bodies (Featherstone 2008, ch. 7).

Written on classical accelerations: with the acceleration (alpha, a) of a body's origin, the
wrench on an articulated body is (n, f) = I^A (alpha, a) + p^A, so the recursion is
Featherstone's, and velocity enters through w alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..model.model import Array
from ..model.tree import WORLD, RigidInertia, Tree
from .composite_body import solve_ltl
from .newton_euler import euler_moment, skew_square
from .spatial import SX, Transform, constant, cross, joint_motion, skew, symmetric


@dataclass
class ArticulatedInertia:
    """Blocks of I^A: n = angular alpha + mixed a, f = mixed^T alpha + linear a; (3, 3) each."""

    angular: SX
    mixed: SX
    linear: SX

    @staticmethod
    def of(inertia: RigidInertia) -> ArticulatedInertia:
        """That of one rigid body."""
        return ArticulatedInertia(
            constant(inertia.second), skew(constant(inertia.first)), inertia.mass * SX.eye(3)
        )

    def inward(self, transform: Transform) -> ArticulatedInertia:
        """The same about the parent's origin in the parent's axes."""
        linear = transform.inward_symmetric(self.linear)
        mixed = transform.inward_matrix(self.mixed)
        p = skew(transform.shift)
        lever = p @ linear
        half = mixed + 0.5 * lever
        product = half @ p  # (mixed + p linear / 2) p^T, up to sign
        angular = transform.inward_symmetric(self.angular) - product - product.T
        return ArticulatedInertia(symmetric(angular), mixed + lever, linear)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(
            self.angular + other.angular, self.mixed + other.mixed, self.linear + other.linear
        )

    def wrench(self, alpha: SX, a: SX) -> tuple[SX, SX]:
        """Moments and forces (3, n) of the accelerations (3, n), (3, n)."""
        return self.angular @ alpha + self.mixed @ a, self.mixed.T @ alpha + self.linear @ a


def articulated_body(
    tree: Tree, q: SX, v: SX, efforts: SX, gravity: Array, wrenches: SX | None = None
) -> SX:
    """Accelerations (nv, 1) of the tree coordinates; parameters as in `newton_euler`."""
    joints = [joint_motion(body, q[body.q]) for body in tree.bodies]
    inertias, moments, forces, drifts = [], [], [], []
    w: list[SX] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        turning, sliding = joint.angular @ v[body.v], joint.linear @ v[body.v]
        carried, swing = SX.zeros(3), SX.zeros(3)
        if body.parent != WORLD:
            carried = joint.transform.outward(w[body.parent])
            swing = joint.transform.outward(skew_square(w[body.parent]) @ joint.transform.shift)
        w.append(carried + turning)
        drifts.append(
            (cross(carried, turning), swing + cross(2 * carried + turning, sliding))
        )
        inertias.append(ArticulatedInertia.of(body.inertia))
        moment = euler_moment(body.inertia, w[i], SX.zeros(3))
        force = skew_square(w[i]) @ constant(body.inertia.first)
        if wrenches is not None:
            moment, force = moment - wrenches[3:, i], force - wrenches[:3, i]
        moments.append(moment)
        forces.append(force)

    quotients: dict[int, SX] = {}
    for i, (body, joint) in reversed(list(enumerate(zip(tree.bodies, joints, strict=True)))):
        inertia, (spin, swing) = inertias[i], drifts[i]
        moment, force = inertia.wrench(spin, swing)
        moments[i], forces[i] = moments[i] + moment, forces[i] + force
        u_moment, u_force = inertia.wrench(joint.angular, joint.linear)
        d = symmetric(joint.angular.T @ u_moment + joint.linear.T @ u_force)
        bias = joint.angular.T @ moments[i] + joint.linear.T @ forces[i]
        effort = efforts[body.v] - bias
        columns = ca.horzcat(effort, u_moment.T, u_force.T)
        quotient = ca.horzcat(*(solve_ltl(d, columns[:, k]) for k in range(7)))
        quotients[i] = quotient
        if body.parent == WORLD:
            continue
        share = ArticulatedInertia(
            symmetric(inertia.angular - u_moment @ quotient[:, 1:4]),
            inertia.mixed - u_moment @ quotient[:, 4:7],
            symmetric(inertia.linear - u_force @ quotient[:, 4:7]),
        )
        inertias[body.parent] += share.inward(joint.transform)
        moment, force = joint.transform.inward_wrench(
            moments[i] + u_moment @ quotient[:, 0], forces[i] + u_force @ quotient[:, 0]
        )
        moments[body.parent] += moment
        forces[body.parent] += force

    result = SX(tree.nv, 1)
    spins: list[SX] = []
    accelerations: list[SX] = []
    for i, (body, joint) in enumerate(zip(tree.bodies, joints, strict=True)):
        if body.parent == WORLD:
            spin, acceleration = SX.zeros(3), joint.transform.outward(constant(-gravity))
        else:
            p = body.parent
            spin = joint.transform.outward(spins[p])
            lifted = accelerations[p] + cross(spins[p], joint.transform.shift)
            acceleration = joint.transform.outward(lifted)
        quotient = quotients[i]
        a = quotient[:, 0] - quotient[:, 1:4] @ spin - quotient[:, 4:7] @ acceleration
        result[body.v] = a
        spins.append(spin + drifts[i][0] + joint.angular @ a)
        accelerations.append(acceleration + drifts[i][1] + joint.linear @ a)
    return result
