"""Bodies that coordinates carry, and how the wrenches on it answer to changes of its motion.

All vectors have the axes of the frame of the root body, all moments are about its origin O, linear
velocities are those of the point of a body that is at O, and accelerations are their rates there
(Featherstone's spatial ones), so what a coordinate does is the same screw for every body that it
carries. A screw (s, l) moves the point x by l + s x x; [V, S] = (w x s, w x l + v x s) is the
product of two of them. With S_j the screw of coordinate j, V and A the velocity and acceleration of
body j, V_p and A_p those of its parent, gravity taken off, let

    S'_j = [V_p, S_j],   S''_j = [A_p, S_j] + [V_p, S'_j],   T_j = S'_j + [V, S_j].

Seen along with what j carries, a displacement of j gives every carried particle at x, which moves
with u, the acceleration S''_j(x) + 2 s'_j x u; a velocity of j gives it T_j(x) + 2 s_j x u; an
acceleration of j gives it S_j(x). (The last terms are Coriolis'.) A field of accelerations
(alpha, a) with the Coriolis term of the angular velocity d asks of all that i carries the wrench

    f = m a + alpha x h + 2 d x P,    n = I alpha + h x a + 2 (tr Q - Q) d

about O, with the composite mass m, first moment h, moments I, momentum P and Q = sum m u x^T,
which are sums over the carried bodies. A rigid body has

    P = m v + w x h,    Q = skew(w) J + v h^T,    J = (tr I / 2) 1 - I,
    f = m a + alpha x h + w x P,    n = I alpha + h x a + (tr Q - Q) w.

The efforts tau_i = S_i . F_i thus have, for i carried by j or on its body,

    d tau_i / d q_j = S_i . W_i(S''_j, s'_j),    d tau_i / d v_j = S_i . W_i(T_j, s_j)

and for i that carries the body of j, where the wrench F_j turns with it,

    d tau_i / d q_j = S_i . (W_j(S''_j, s'_j) + S_j x* F_j),
    d tau_i / d v_j = S_i . W_j(T_j, s_j).

Every entry is the product of numbers of i with numbers of j. Cost: O(n d) for n bodies at most d
deep, as that of Carpentier and Mansard (2018) and of Singh, Russo and Wensing (2022), who have
the composite Coriolis matrix (6 x 6) where P and Q stand here.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..algebra.spatial import SX, Transform, cross, second_moment, skew, symmetric_of, upper_of
from .composite_body import CompositeInertia


def screw_product(first: SX, second: SX) -> SX:
    """[V, S] of two screws (6, 1), angular part first."""
    angular = cross(first[:3], second[:3])
    return ca.vertcat(angular, cross(first[:3], second[3:]) + cross(first[3:], second[:3]))


@dataclass(frozen=True)
class Carried:
    """First moment h, moments I, momentum P and Q of some bodies; one column of a table."""

    first: SX
    second: SX
    momentum: SX
    mixed: SX

    @staticmethod
    def of(column: SX) -> Carried:
        """From a column (21, 1)."""
        mixed = ca.reshape(column[12:21], 3, 3)
        return Carried(column[:3], symmetric_of(column[3:9]), column[9:12], mixed)

    @property
    def column(self) -> SX:
        """The column (21, 1)."""
        return ca.vertcat(self.first, upper_of(self.second), self.momentum, ca.vec(self.mixed))

    def spin(self, d: SX) -> SX:
        """(tr Q - Q) d."""
        return ca.trace(self.mixed) * d - self.mixed @ d

    def inertial(self, mass: SX, field: SX) -> SX:
        """The wrench (6, 1), moment first, that a field of accelerations asks for."""
        moment = self.second @ field[:3] + cross(self.first, field[3:])
        return ca.vertcat(moment, mass * field[3:] + cross(field[:3], self.first))

    def coriolis(self, d: SX) -> SX:
        """The wrench of the accelerations d x u."""
        return ca.vertcat(self.spin(d), cross(d, self.momentum))


SCREW, RATE = slice(6, 12), slice(12, 18)
"""Rows of a table of rates: T, then S, then S'."""


def screw_of(pose: SX, axis: SX) -> SX:
    """S (6, 1) of a coordinate.

    pose : rotation and origin of its body (12, 1). axis : S in body axes.
    """
    rotation = ca.reshape(pose[:9], 3, 3)
    angular = rotation @ axis[:3]
    return ca.vertcat(angular, rotation @ axis[3:] + cross(pose[9:12], angular))


def rates_of(screw: SX, velocity: SX, carrier: SX) -> SX:
    """T, S and S' (18, 1) of a coordinate.

    carrier : V_p, or V where no other coordinate moves the body across its joint, since
    [S, S] = 0.
    """
    rate = screw_product(carrier, screw)
    return ca.vertcat(rate + screw_product(velocity, screw), screw, rate)


def carried_by_itself(pose: SX, velocity: SX, inertia: SX) -> SX:
    """The column of a rigid body, which carries itself.

    inertia : mass, first moment and moments in body axes (10, 1).
    """
    turned = Transform((ca.reshape(pose[:9], 3, 3),), pose[9:12])
    own = CompositeInertia(inertia[0], inertia[1:4], symmetric_of(inertia[4:10])).to_parent(turned)
    w, v = velocity[:3], velocity[3:]
    mixed = skew(w) @ second_moment(own.second) + v @ own.first.T
    return Carried(own.first, own.second, own.mass * v + cross(w, own.first), mixed).column


def own_wrench(velocity: SX, inertia: SX, own: SX, acceleration: SX) -> SX:
    """The wrench (6, 1) that a rigid body's motion asks for.

    acceleration : its rows behind the sixth are not used.
    """
    carried = Carried.of(own)
    return carried.inertial(inertia[0], acceleration[:6]) + carried.coriolis(velocity[:3])


def common_wrench(pose: SX, wrench: SX) -> SX:
    """Moment and force about O of a force and a torque at a body's origin in its axes."""
    rotation = ca.reshape(pose[:9], 3, 3)
    force = rotation @ wrench[:3]
    return ca.vertcat(rotation @ wrench[3:] + cross(pose[9:12], force), force)


def unit_response(carried: SX, mass: SX, screw: SX) -> SX:
    """The row's factor (9, 1) of derivatives: S . W(field, d) is its product with (field, d)."""
    composite = Carried.of(carried)
    s, linear = screw[:3], screw[3:]
    spun = ca.trace(composite.mixed) * s - composite.mixed.T @ s
    by_d = 2 * (cross(composite.momentum, linear) + spun)
    return ca.vertcat(composite.inertial(mass, screw), by_d)


def coriolis_response(carried: SX, mass: SX, rates: SX, velocity: SX) -> SX:
    """The column's factor (15, 1) of the Coriolis matrix: [V, S] and s / 2, then its wrench."""
    composite, screw = Carried.of(carried), rates[SCREW]
    moved = screw_product(velocity, screw)
    wrench = composite.inertial(mass, moved) + composite.coriolis(screw[:3])
    return ca.vertcat(moved, 0.5 * screw[:3], wrench)


def response(carried: SX, mass: SX, wrench: SX, rates: SX, carrier: SX, acceleration: SX) -> SX:
    """The column's factor (21, 1) of derivatives: S'' and s', then its two wrenches.

    carrier : see `rates_of`. acceleration : behind six other rows A_p, or A where V is the
    carrier: then [A, S] + [V, S'] gives the same S''.
    """
    composite = Carried.of(carried)
    by_velocity, screw, rate = rates[:6], rates[SCREW], rates[RATE]
    by_position = screw_product(acceleration[6:], screw) + screw_product(carrier, rate)
    moment, force = wrench[:3], wrench[3:]
    turned = ca.vertcat(cross(screw[:3], moment) + cross(screw[3:], force), cross(screw[:3], force))
    wrenches = [
        composite.inertial(mass, field) + 2 * composite.coriolis(d)
        for field, d in ((by_position, rate[:3]), (by_velocity, screw[:3]))
    ]
    return ca.vertcat(by_position, rate[:3], wrenches[0] + turned, wrenches[1])
