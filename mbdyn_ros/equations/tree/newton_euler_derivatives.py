"""Derivatives of inverse dynamics, in closed form over composite bodies (`carried`).

The recursions hand poses, velocities and accelerations forward and sums backward; all else is one
formula for every coordinate, and every derivative the product of two coordinates' numbers.
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
from ..algebra.spatial import SX, JointMotion, constant, upper_of
from .acting import acting, rotor_inertia
from .carried import (
    RATE,
    SCREW,
    carried_by_itself,
    common_wrench,
    coriolis_response,
    own_wrench,
    rates_of,
    response,
    screw_of,
    unit_response,
)


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

    def diagonal(self, number: str) -> tuple[StageProduct, ...]:
        """A number of `Joint` on the diagonal (nv, nv); nothing where no joint has it."""
        column = acting(self._tree, number)
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
