"""Derivatives of inverse dynamics, recursive like the Newton-Euler method that they belong to.

A small change of body i's motion, (dw, dalpha, da) in its axes, with everything that it carries
moving as before relative to it, changes the wrench that its joint transmits by

    df = m da + dalpha x h + D_f dw
    dn = I dalpha + h x da + D_n dw

with the composite mass m, first moment h and inertia I of what it carries, and the composite
matrices D_f, D_n. Those of a rigid body are

    D_f = W(w, h),  D_n = skew(w) I - skew(I w),  W(w, x) = w x^T - 2 x w^T + (w.x) 1

(W is the derivative of w x (w x x) by w). What a child carries, in the parent's axes, with the
turning t and sliding s across its joint, adds

    D_f' = D_f + skew(h) skew(t) + W(w_p, m p) - 2 m skew(s)
    D_n' = D_n - I skew(t) + skew(h) (W(w_p, p) - 2 skew(s)) + skew(p) D_f'.

A coordinate of joint i changes the motion of body i alone. Its columns above the diagonal are
the wrench's change handed inward. Its rows are the linear form of the efforts of joint i over
(dw, dalpha, da), handed inward as well: the parts over dalpha and da are the wrench of a unit
acceleration, so the mass matrix comes along. Cost: O(n d) for n bodies at most d deep, as that
of Carpentier and Mansard (2018) and of Singh, Russo and Wensing (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..model.model import Array
from ..model.tree import WORLD, RigidInertia, Tree
from .composite_body import CompositeInertia
from .newton_euler import BodyMotion, inertial_wrenches, outward
from .spatial import SX, JointMotion, cross, skew


@dataclass(frozen=True)
class Derivatives:
    """Efforts of the tree coordinates (nv, 1) and their derivatives, (nv, nv) each.

    by_q : over a displacement of the positions along the velocity coordinates; of a floating
        joint that is a shift and a turn in the moving axes.
    by_v, by_a : over the velocities and the accelerations (the mass matrix).
    """

    efforts: SX
    by_q: SX
    by_v: SX
    by_a: SX


@dataclass(frozen=True)
class Change:
    """Changes of a body's motion, a column (3, n) for each coordinate of its joint."""

    w: SX
    alpha: SX
    a: SX


def position_change(joint: JointMotion, motion: BodyMotion) -> Change:
    """What displacements of a joint change of its body's motion."""
    w, alpha, a = [], [], []
    for k in range(joint.angular.shape[1]):
        turn, slide = joint.angular[:, k], joint.linear[:, k]
        w.append(cross(motion.carried, turn))
        alpha.append(cross(motion.spun, turn) + cross(w[-1], motion.turning))
        moved = cross(motion.spun, slide) + cross(motion.carried, cross(motion.carried, slide))
        a.append(cross(motion.moved, turn) + moved + 2 * cross(w[-1], motion.sliding))
    return Change(ca.horzcat(*w), ca.horzcat(*alpha), ca.horzcat(*a))


def velocity_change(joint: JointMotion, motion: BodyMotion) -> Change:
    """What velocities of a joint change of its body's motion."""
    alpha, a = [], []
    for k in range(joint.angular.shape[1]):
        turn, slide = joint.angular[:, k], joint.linear[:, k]
        alpha.append(cross(motion.carried, turn))
        across = 2 * motion.carried + motion.turning
        a.append(cross(across, slide) + cross(turn, motion.sliding))
    return Change(joint.angular, ca.horzcat(*alpha), ca.horzcat(*a))


def centrifugal(w: SX, x: SX) -> SX:
    """W(w, x): the derivative of w x (w x x) by w."""
    return w @ x.T - 2 * x @ w.T + ca.dot(w, x) * SX.eye(3)


@dataclass
class Response:
    """How the wrench that a joint transmits answers a change of its body's motion."""

    inertia: CompositeInertia
    by_w_force: SX
    by_w_moment: SX

    @staticmethod
    def of(inertia: RigidInertia, w: SX) -> Response:
        """That of one rigid body."""
        own = CompositeInertia.of(inertia)
        moment = skew(w) @ own.second - skew(own.second @ w)
        return Response(own, centrifugal(w, own.first), moment)

    def inward(self, joint: JointMotion, motion: BodyMotion, parent: BodyMotion) -> Response:
        """The same of a change of the parent's motion, about its origin in its axes."""
        transform, p, own = joint.transform, joint.transform.shift, self.inertia
        turning, sliding = skew(motion.turning), skew(motion.sliding)
        force = self.by_w_force + skew(own.first) @ turning - 2 * own.mass * sliding
        moment = self.by_w_moment - own.second @ turning - 2 * skew(own.first) @ sliding
        first = transform.inward(own.first)
        shifted = centrifugal(parent.w, p)
        force = transform.inward_matrix(force) + own.mass * shifted
        moment = transform.inward_matrix(moment) + skew(first) @ shifted + skew(p) @ force
        return Response(own.inward(transform), force, moment)

    def __add__(self, other: Response) -> Response:
        return Response(
            self.inertia + other.inertia,
            self.by_w_force + other.by_w_force,
            self.by_w_moment + other.by_w_moment,
        )

    def __call__(self, change: Change) -> Columns:
        """Change of the wrench."""
        inertial = Columns(*self.inertia.wrench(change.alpha, change.a))
        by_w = Columns(self.by_w_moment @ change.w, self.by_w_force @ change.w)
        return inertial + by_w


@dataclass(frozen=True)
class Columns:
    """Moments and forces (3, n)."""

    moments: SX
    forces: SX

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.moments + other.moments, self.forces + other.forces)

    def inward(self, joint: JointMotion) -> Columns:
        """About the parent's origin, in its axes."""
        pairs = [
            joint.transform.inward_wrench(self.moments[:, k], self.forces[:, k])
            for k in range(self.moments.shape[1])
        ]
        return Columns(ca.horzcat(*(n for n, _ in pairs)), ca.horzcat(*(f for _, f in pairs)))

    def efforts(self, joint: JointMotion) -> SX:
        """Their projection on a joint: (its coordinates, n)."""
        return joint.angular.T @ self.moments + joint.linear.T @ self.forces


def carried_along(joint: JointMotion, moment: SX, force: SX) -> Columns:
    """Change of a wrench (moment, force), given in body axes, that displacements of the joint
    cause by turning and shifting those axes."""
    moments, forces = [], []
    for k in range(joint.angular.shape[1]):
        turn, slide = joint.angular[:, k], joint.linear[:, k]
        moments.append(cross(turn, moment) + cross(slide, force))
        forces.append(cross(turn, force))
    return Columns(ca.horzcat(*moments), ca.horzcat(*forces))


def form_inward(
    by_w: SX, unit: Columns, joint: JointMotion, motion: BodyMotion, parent: BodyMotion
) -> SX:
    """The part over dw of a linear form, (3, n), for a change of the parent's motion instead."""
    p, columns = joint.transform.shift, []
    for k in range(by_w.shape[1]):
        moment, force = unit.moments[:, k], unit.forces[:, k]
        own = by_w[:, k] + cross(motion.turning, moment) + 2 * cross(motion.sliding, force)
        force = joint.transform.inward(force)
        columns.append(joint.transform.inward(own) + centrifugal(parent.w, p).T @ force)
    return ca.horzcat(*columns)


def inverse_dynamics_derivatives(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> Derivatives:
    """Efforts of the tree coordinates and their derivatives; arguments of `newton_euler`."""
    motions = outward(tree, joints, v, a, gravity)
    moments, forces = inertial_wrenches(tree, motions, wrenches)
    responses = [
        Response.of(body.inertia, motion.w)
        for body, motion in zip(tree.bodies, motions, strict=True)
    ]
    for i, body in reversed(list(enumerate(tree.bodies))):
        if body.parent != WORLD:
            response = responses[i].inward(joints[i], motions[i], motions[body.parent])
            responses[body.parent] += response
            moment, force = joints[i].transform.inward_wrench(moments[i], forces[i])
            moments[body.parent] += moment
            forces[body.parent] += force

    by_position = [position_change(j, m) for j, m in zip(joints, motions, strict=True)]
    by_velocity = [velocity_change(j, m) for j, m in zip(joints, motions, strict=True)]
    n = tree.nv
    result = Derivatives(SX.zeros(n), SX(n, n), SX(n, n), SX(n, n))
    for i, body in enumerate(tree.bodies):
        joint, response = joints[i], responses[i]
        result.efforts[body.v] = joint.angular.T @ moments[i] + joint.linear.T @ forces[i]
        of_q, of_v = response(by_position[i]), response(by_velocity[i])
        unit = Columns(*response.inertia.wrench(joint.angular, joint.linear))
        form = response.by_w_moment.T @ joint.angular + response.by_w_force.T @ joint.linear
        result.by_q[body.v, body.v] = of_q.efforts(joint)
        result.by_v[body.v, body.v] = of_v.efforts(joint)
        result.by_a[body.v, body.v] = unit.efforts(joint)
        of_q = of_q + carried_along(joint, moments[i], forces[i])
        j = i
        while (parent := tree.bodies[j].parent) != WORLD:
            form = form_inward(form, unit, joints[j], motions[j], motions[parent])
            unit, of_q, of_v = (one.inward(joints[j]) for one in (unit, of_q, of_v))
            j, above = parent, tree.bodies[parent].v
            result.by_q[above, body.v] = of_q.efforts(joints[j])
            result.by_v[above, body.v] = of_v.efforts(joints[j])
            block = unit.efforts(joints[j])
            result.by_a[above, body.v], result.by_a[body.v, above] = block, block.T
            for change, target in (
                (by_position[j], result.by_q),
                (by_velocity[j], result.by_v),
            ):
                rows = form.T @ change.w + unit.moments.T @ change.alpha
                target[body.v, above] = rows + unit.forces.T @ change.a
    return result
