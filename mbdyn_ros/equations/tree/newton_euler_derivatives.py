"""Derivatives of inverse dynamics, in closed form over composite bodies.

The recursions hand poses, velocities and accelerations forward and sums backward; all else is one
formula for every coordinate, and every derivative the product of two coordinates' numbers.

A coordinate carries a composite body; this is how the wrench on it changes with its motion.

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
the composite Coriolis matrix (6 x 6) where P and Q are here.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.model import Array
from ...prepare.tree import WORLD, Tree
from ...program.stages import Chains, Mask, StageProduct, Stages, StageTable
from ..algebra.spatial import (
    SX,
    JointMotion,
    Transform,
    constant,
    cross,
    second_moment,
    skew,
    symmetric_of,
    upper_of,
)
from .composite_body import CompositeInertia
from .newton_euler import acting, rotor_inertia


@dataclass(frozen=True, eq=False)
class MotionTables:
    """A motion with its accelerations: tables of F and of accelerations."""

    wrenches: StageTable
    accelerations: StageTable


class TreeDerivatives:
    """The dynamics of a tree at a motion, on tables of `stages`, for derivatives.

    A column of every table is one coordinate and its body; bodies of several coordinates have
    several alike, and their inertia in the first.

    Parameters
    ----------
    stages : where the tables are filled.
    tree : the bodies.
    joints : motion of each body's joint, at its position.
    v : tree velocities (nv, 1).
    gravity : (3,), m/s^2, in the world.
    wrenches : (6, number of bodies) from outside, as in `newton_euler`.
    """

    def __init__(
        self,
        stages: Stages,
        tree: Tree,
        joints: Sequence[JointMotion],
        v: SX,
        gravity: Array,
        wrenches: SX | None,
    ) -> None:
        self._stages, self._tree, self._joints, self._gravity = stages, tree, joints, gravity
        self._owner = [0] * tree.nv
        for i, body in enumerate(tree.bodies):
            self._owner[body.v] = [i] * (body.v.stop - body.v.start)
        columns = [body.v for body in tree.bodies]
        self._chains = Chains.of(columns, [body.parent for body in tree.bodies])
        self._apart = Chains.of(columns, [WORLD] * len(columns))
        poses = stages.written(self._columns(self._poses()))
        self._v = stages.written(v.T)
        self._starts = stages.written(self._columns(self._falling()))
        axes = self._each([ca.vertcat(joint.angular, joint.linear) for joint in joints])
        screws = stages.mapped(screw_of, poses, stages.written(axes))
        moved = stages.mapped(operator.mul, screws, self._v)
        self._velocities = stages.summed(moved, self._chains, backward=False)
        self._carriers = self._carried_over(self._velocities, moved)
        self.rates = stages.mapped(rates_of, screws, self._velocities, self._carriers)
        own = [
            ca.vertcat(
                body.inertia.mass,
                constant(body.inertia.first),
                upper_of(constant(body.inertia.second)),
            )
            for body in tree.bodies
        ]
        self._inertias = stages.written(self._columns(own, once=True))
        masses = self._columns([SX(body.inertia.mass) for body in tree.bodies], once=True)
        whole = self._chains.sums(masses, backward=True)
        self._mass = stages.written(ca.horzcat(*whole))
        self._own = stages.mapped(carried_by_itself, poses, self._velocities, self._inertias)
        self._carried = stages.summed(self._own, self._chains, backward=True)
        self.units = stages.mapped(unit_response, self._carried, self._mass, screws)
        self._outside: StageTable | None = None
        if wrenches is not None:
            given = stages.written(self._columns(ca.horzsplit(wrenches), once=True))
            self._outside = stages.mapped(common_wrench, poses, given)

    def _poses(self) -> list[SX]:
        """Rotation and origin (12, 1) of every body in its root body."""
        poses: list[tuple[SX, SX]] = []
        for body, joint in zip(self._tree.bodies, self._joints, strict=True):
            pose = SX.eye(3), SX.zeros(3)
            if body.parent != WORLD:
                pose = joint.transform.placed(*poses[body.parent])
            poses.append(pose)
        return [ca.vertcat(ca.vec(rotation), origin) for rotation, origin in poses]

    def _carried_over(self, sums: StageTable, changes: StageTable) -> StageTable:
        """The carriers that `rates_of` and `response` ask for, from sums of changes from the root:
        the parent's sums where several coordinates move the body, else its own."""
        bodies = self._tree.bodies
        several = [body.v.stop - body.v.start > 1 for body in bodies]
        if not any(several):
            return sums
        stages = self._stages
        if all(body.parent == WORLD for body, more in zip(bodies, several, strict=True) if more):
            alone = stages.written(self._columns([SX(not more) for more in several]))
            return stages.mapped(operator.mul, sums, alone)
        together = stages.written(self._columns([SX(more) for more in several]))
        own = stages.summed(changes, self._apart, backward=False)
        return stages.mapped(lambda x, own, more: x - more * own, sums, own, together)

    def motion(self, a: SX) -> MotionTables:
        """Wrenches at the tree accelerations `a` (nv, 1)."""
        stages = self._stages
        changes = stages.mapped(
            lambda rates, v, a: rates[SCREW] * a + rates[RATE] * v,
            self.rates,
            self._v,
            stages.written(a.T),
        )
        sums = stages.summed(changes, self._chains, backward=False)
        accelerations = stages.mapped(
            lambda x, carrier, start: ca.vertcat(
                x[:3], x[3:] + start, carrier[:3], carrier[3:] + start
            ),
            sums,
            self._carried_over(sums, changes),
            self._starts,
        )
        given = (self._velocities, self._inertias, self._own, accelerations)
        forces = stages.mapped(own_wrench, *given)
        if self._outside is not None:
            forces = stages.mapped(operator.sub, forces, self._outside)
        through = stages.summed(forces, self._chains, backward=True)
        return MotionTables(through, accelerations)

    def efforts(self, motion: MotionTables) -> SX:
        """The efforts (nv, 1)."""
        dots = self._stages.mapped(
            lambda rates, wrench: ca.dot(rates[SCREW], wrench), self.rates, motion.wrenches
        )
        return dots.symbols.T

    def _falling(self) -> list[SX]:
        """For every body the acceleration of its root's carrier in free fall (3, 1): -g."""
        starts: list[SX] = []
        for body, joint in zip(self._tree.bodies, self._joints, strict=True):
            if body.parent == WORLD:
                starts.append(joint.transform.to_child(constant(-self._gravity)))
            else:
                starts.append(starts[body.parent])
        return starts

    def by_acceleration(self, where: Mask | None = None) -> tuple[StageProduct, ...]:
        """The mass matrix (nv, nv), or part of it."""
        carried, carrying = self._related(where)
        unit, screw = self.units[0:6], self.rates[SCREW]
        bodies = StageProduct(unit, screw, carried), StageProduct(screw, unit, carrying)
        return *bodies, *self.diagonal("armature")

    def diagonal(self, number: str, times: SX | float = 1.0) -> tuple[StageProduct, ...]:
        """A number of `Joint` on the diagonal (nv, nv); nothing where no joint has it."""
        column = acting(self._tree, number) * times
        if not column.nnz():
            return ()
        where = np.zeros((self._tree.nv, self._tree.nv), dtype=bool)
        np.fill_diagonal(where, [column.sparsity().has_nz(k, 0) for k in range(self._tree.nv)])
        ones, numbers = (self._stages.written(row) for row in (SX.ones(1, len(where)), column.T))
        return (StageProduct(numbers[0:1], ones[0:1], where),)

    def coriolis(self) -> tuple[StageProduct, ...]:
        """The Coriolis matrix (nv, nv)."""
        columns = self._stages.mapped(
            coriolis_response, self._carried, self._mass, self.rates, self._velocities
        )
        carried, carrying = self._related()
        along = StageProduct(self.units[0:9], columns[0:9], carried)
        return along, StageProduct(self.rates[SCREW], columns[9:15], carrying)

    def by_motion(
        self, motion: MotionTables
    ) -> tuple[tuple[StageProduct, ...], tuple[StageProduct, ...]]:
        """Derivatives (nv, nv) of the efforts by q and by v.

        By q: over a displacement of the positions along the velocity coordinates; of a floating
        joint that is a shift and a turn in the moving axes.
        """
        columns = self._stages.mapped(
            response, self._carried, self._mass, motion.wrenches, self.rates, self._carriers,
            motion.accelerations,
        )  # fmt: skip
        carried, carrying = self._related()
        screw, unit = self.rates[SCREW], self.units[0:9]
        by_q = (
            StageProduct(unit, columns[0:9], carried),
            StageProduct(screw, columns[9:15], carrying),
        )
        by_v = (
            StageProduct(unit, self.rates[0:9], carried),
            StageProduct(screw, columns[15:21], carrying),
        )
        return by_q, by_v

    def _related(self, where: Mask | None = None) -> tuple[Mask, Mask]:
        """Where the column's body carries the row's or is the same; where the row's carries it."""
        above = np.eye(len(self._tree.bodies), dtype=bool)
        for i, body in enumerate(self._tree.bodies):
            if body.parent != WORLD:
                above[i] |= above[body.parent]
        carried = above[np.ix_(self._owner, self._owner)]
        carrying = carried.T & ~carried
        return (carried, carrying) if where is None else (carried & where, carrying & where)

    def _columns(self, parts: Sequence[SX], once: bool = False) -> SX:
        """The coordinates' columns from the bodies'; `once`: in the first of each, zero else."""
        columns = [parts[i] for i in self._owner]
        if once:
            firsts = {body.v.start for body in self._tree.bodies}
            columns = [one if k in firsts else 0 * one for k, one in enumerate(columns)]
        return ca.densify(ca.horzcat(*columns))

    def _each(self, parts: Sequence[SX]) -> SX:
        """The coordinates' columns from matrices with a column for each of a body's."""
        table = SX.zeros(parts[0].shape[0], self._tree.nv)
        for body, part in zip(self._tree.bodies, parts, strict=True):
            table[:, body.v] = part
        return table


@dataclass(frozen=True)
class Derivatives:
    """Efforts of the tree coordinates (nv, 1) and their derivatives by q, v, a, (nv, nv) each."""

    efforts: SX
    by_q: SX
    by_v: SX
    by_a: SX


def inverse_dynamics_derivatives(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    gravity: Array,
    wrenches: SX | None = None,
) -> Derivatives:
    """Efforts of the tree coordinates and their derivatives; arguments of `newton_euler`."""
    if not tree.nv:
        return Derivatives(SX(0, 1), SX(0, 0), SX(0, 0), SX(0, 0))
    stages = Stages()
    dynamics = TreeDerivatives(stages, tree, joints, v, gravity, wrenches)
    motion = dynamics.motion(a)
    by_q, by_v = dynamics.by_motion(motion)
    whole = stages.multiplied(by_q, by_v, dynamics.by_acceleration())
    efforts, matrices = stages.inlined([dynamics.efforts(motion), whole.symbols])
    efforts = efforts + rotor_inertia(tree) @ a
    return Derivatives(efforts, *ca.horzsplit(matrices, tree.nv))


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

    acceleration : its rows after the sixth are not used.
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

    carrier : see `rates_of`. acceleration : after six other rows A_p, or A where V is the
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
