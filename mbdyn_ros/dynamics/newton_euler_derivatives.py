"""Derivatives of inverse dynamics, in closed form over composite bodies (`carried`).

The recursions hand poses, velocities and accelerations outward and sums inward; all else is one
formula for every coordinate, and every derivative the product of two coordinates' numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.model import Array
from ..model.tree import WORLD, Tree
from .carried import (
    RATE,
    SCREW,
    VELOCITY,
    carried_by_itself,
    common_wrench,
    own_wrench,
    response,
    screws_of,
    unit_response,
    upper_of,
)
from .spatial import SX, JointMotion, constant, cross
from .stages import Mask, Product, Stages, Table


@dataclass(frozen=True, eq=False)
class Motion:
    """What accelerations bring: efforts (nv, 1), and tables of F and of accelerations."""

    efforts: SX
    wrenches: Table
    accelerations: Table


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
        poses, velocities = self._motion(v)
        bodies = [ca.vertcat(pose, one) for pose, one in zip(poses, velocities, strict=True)]
        self._bodies = stages.written(self._columns(bodies))
        self._v = stages.written(v.T)
        self._carriers = self._carrier_table(velocities)
        axes = [ca.vertcat(joint.angular, joint.linear) for joint in joints]
        self.screws = stages.mapped(
            screws_of, self._bodies, stages.written(self._each(axes)), self._carriers
        )
        own = [
            ca.vertcat(
                body.inertia.mass,
                constant(body.inertia.first),
                upper_of(constant(body.inertia.second)),
            )
            for body in tree.bodies
        ]
        self._inertias = stages.written(self._columns(own, once=True))
        masses = [SX(body.inertia.mass) for body in tree.bodies]
        self._mass = stages.written(self._columns(self._sums(masses)))
        self._own = stages.mapped(carried_by_itself, self._bodies, self._inertias)
        self._carried = stages.written(self._columns(self._sums(self._firsts(self._own))))
        self.units = stages.mapped(unit_response, self._carried, self._mass, self.screws)
        self._outside: Table | None = None
        if wrenches is not None:
            given = stages.written(self._columns(ca.horzsplit(wrenches), once=True))
            self._outside = stages.mapped(common_wrench, self._bodies, given)

    def _motion(self, v: SX) -> tuple[list[SX], list[SX]]:
        """Rotation and origin (12, 1) and V (6, 1) of every body."""
        poses: list[tuple[SX, SX]] = []
        velocities: list[SX] = []
        for body, joint in zip(self._tree.bodies, self._joints, strict=True):
            rotation, origin, before = SX.eye(3), SX.zeros(3), SX.zeros(6)
            if body.parent != WORLD:
                rotation, origin = poses[body.parent]
                origin = origin + rotation @ joint.transform.shift
                for turn in joint.transform.turns:
                    rotation = rotation @ turn
                before = velocities[body.parent]
            poses.append((rotation, origin))
            turning = rotation @ joint.angular @ v[body.v]
            sliding = rotation @ joint.linear @ v[body.v] + cross(origin, turning)
            velocities.append(before + ca.vertcat(turning, sliding))
        return [ca.vertcat(ca.vec(rotation), origin) for rotation, origin in poses], velocities

    def _carrier_table(self, velocities: list[SX]) -> Table:
        """The velocities that `screws_of` asks for; V times 1 or 0 where that will do."""
        bodies = self._tree.bodies
        several = [body.v.stop - body.v.start > 1 for body in bodies]
        hanging = [body.parent != WORLD for body in bodies]
        if not any(more and below for more, below in zip(several, hanging, strict=True)):
            alone = self._stages.written(self._columns([SX(not more) for more in several]))
            return self._stages.mapped(lambda body, one: one * body[VELOCITY], self._bodies, alone)
        carriers = [
            velocities[body.parent] if more and body.parent != WORLD else SX(not more) * own
            for body, more, own in zip(bodies, several, velocities, strict=True)
        ]
        return self._stages.written(self._columns(carriers))

    def motion(self, a: SX) -> Motion:
        """Wrenches and efforts at the tree accelerations `a` (nv, 1)."""
        stages, tree = self._stages, self._tree
        changes = stages.mapped(
            lambda screws, v, a: screws[SCREW] * a + screws[RATE] * v,
            self.screws,
            self._v,
            stages.written(a.T),
        )
        accelerations: list[SX] = []
        whole = []
        for body, joint in zip(tree.bodies, self._joints, strict=True):
            if body.parent != WORLD:
                before = accelerations[body.parent]
            else:
                before = ca.vertcat(SX.zeros(3), joint.transform.outward(constant(-self._gravity)))
            change = ca.sum2(changes.symbols[:, body.v])
            accelerations.append(before + change)
            alone = body.v.stop - body.v.start == 1
            whole.append(ca.vertcat(accelerations[-1], accelerations[-1] if alone else before))
        table = stages.written(self._columns(whole))
        own = stages.mapped(own_wrench, self._bodies, self._inertias, self._own, table)
        wrenches = self._firsts(own)
        if self._outside is not None:
            outside = self._firsts(self._outside)
            wrenches = [one - other for one, other in zip(wrenches, outside, strict=True)]
        through = stages.written(self._columns(self._sums(wrenches)))
        efforts = ca.sum1(self.screws.symbols[SCREW, :] * through.symbols).T
        return Motion(efforts, through, table)

    def by_acceleration(self, where: Mask | None = None) -> tuple[Product, ...]:
        """The mass matrix (nv, nv), or part of it."""
        carried, carrying = self._related(where)
        unit, screw = self.units[0:6], self.screws[SCREW]
        return Product(unit, screw, carried), Product(screw, unit, carrying)

    def by_motion(self, motion: Motion) -> tuple[tuple[Product, ...], tuple[Product, ...]]:
        """Derivatives (nv, nv) of the efforts by q and by v.

        By q: over a displacement of the positions along the velocity coordinates; of a floating
        joint that is a shift and a turn in the moving axes.
        """
        columns = self._stages.mapped(
            response, self._carried, self._mass, motion.wrenches, self.screws, self._carriers,
            motion.accelerations,
        )  # fmt: skip
        carried, carrying = self._related()
        screw, unit = self.screws[SCREW], self.units[0:9]
        by_q = Product(unit, columns[0:9], carried), Product(screw, columns[9:15], carrying)
        by_v = Product(unit, self.screws[0:9], carried), Product(screw, columns[15:21], carrying)
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

    def _sums(self, parts: Sequence[SX]) -> list[SX]:
        """Sums over what every body carries."""
        sums = list(parts)
        for i, body in reversed(list(enumerate(self._tree.bodies))):
            if body.parent != WORLD:
                sums[body.parent] = sums[body.parent] + sums[i]
        return sums

    def _firsts(self, table: Table) -> list[SX]:
        """The bodies' first columns."""
        return [table.symbols[:, body.v.start] for body in self._tree.bodies]

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
    efforts, matrices = stages.inlined([motion.efforts, whole.symbols])
    return Derivatives(efforts, *ca.horzsplit(matrices, tree.nv))
