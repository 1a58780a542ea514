"""Efforts of joints and of actuators, brought to the independent coordinates; dead points.

In a closed loop actuators need not be the independent joints. Where the robot can move while an
actuator is at rest (a piston with its crank and rod in line), the actuator is at a dead point: no
effort of it moves the robot, and near there it takes efforts beyond all bounds. How near is
measured by the share that the actuators have in the motions of their loop: of all motions with the
sum of squares 1, the least sum of squares of the actuators (lengths relative to that of the loop).

The formulations work on the coordinates of the spanning tree. The loops give the tree's motion
as v_tree = G v, a_tree = G a + g, so by d'Alembert the efforts reduce to G^T tau_tree and the
mass matrix to G^T H G. The efforts of the actuated joints do the same work:
G_act^T effort = G^T tau_tree, with the rows G_act of G.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..program.program import program
from .algebra.spatial import SX
from .loops.embedding import Embedding
from .loops.linkage import Linkage
from .loops.units import loop_length
from .system import System
from .tree.newton_euler import joint_friction, newton_euler, spring_efforts

LEAST_SHARE = 1e-6
"""Share of the actuators in the motion of their loop under which they are at a dead point.

Loops are closed to 1e-12, so an effort has six digits there.
"""


def actuated(system: System, embedding: Embedding, reduced: SX) -> SX:
    """Efforts of the actuators that do the work of the independent coordinates' efforts.

    With more actuators than mobility they are those of least norm; at dead points NaN. What moves
    as given needs none.
    """
    coordinates = system.coordinates
    given = {coordinates.v[k] for k in system.given}
    place = {row: k for k, row in enumerate(coordinates.v)}
    efforts = SX.zeros(len(coordinates.effort))
    free = [k for k, row in enumerate(coordinates.effort) if row in place]
    for linkage in system.linkages:
        acting, own = _actuators(system, linkage), _own(linkage)
        rows = [coordinates.effort[k] for k in acting]
        if set(rows) == set(own) or set(own) <= given:
            continue
        if linkage.is_rigid:  # no effort there does any work
            free = [k for k in free if k not in acting]
            continue
        free = [k for k in free if k not in acting]
        columns = [place[row] for row in own]
        rates = embedding.matrix[:, columns]
        efforts[acting] = _of_least_norm(rates[rows, :], reduced[columns])
        if not linkage.linear:
            efforts[acting] *= _alive(system, linkage, rates, rows)
    for k in free:
        efforts[k] = reduced[place[coordinates.effort[k]]]
    idle = set(coordinates.v) - {row for one in system.linkages for row in one.coordinates} - given
    if not idle <= set(coordinates.effort):  # they move with nothing to drive them
        return efforts * math.nan
    return efforts


def _of_least_norm(rates: SX, reduced: SX) -> SX:
    """The efforts of least norm that do the work of `reduced` at the rates (efforts, n)."""
    count, size = rates.shape
    if count < size:
        return SX.ones(count, 1) * math.nan
    if size == 1:
        return rates * (reduced / ca.dot(rates, rates)) if count > 1 else reduced / rates
    if count == size:
        return ca.solve(rates.T, reduced)
    return rates @ ca.solve(rates.T @ rates, reduced)


def _alive(system: System, linkage: Linkage, rates: SX, rows: list[int]) -> SX:
    """1 where the actuators at `rows` move their loop, NaN at their dead points."""
    own = _own(linkage)
    units = {row: 1.0 / unit for row, unit in _units(system, linkage).items()}
    scaled = (
        ca.diag(ca.vertcat(*(units[row] for row in linkage.coordinates)))
        @ rates[list(linkage.coordinates), :]
    )
    scaled = scaled @ ca.diag(ca.vertcat(*(1.0 / units[row] for row in own)))
    acting = scaled[[linkage.coordinates.index(row) for row in rows], :]
    least: SX = acting if acting.numel() == 1 else ca.qr(ca.densify(acting))[1]
    least = ca.mmin(ca.fabs(ca.diag(least)))
    return ca.if_else(least > LEAST_SHARE * ca.norm_fro(scaled), 1.0, math.nan)


def _own(linkage: Linkage) -> list[int]:
    """Tree velocity coordinates of the independent joints of a linkage."""
    return [linkage.coordinates[place] for place in linkage.independent]


def _actuators(system: System, linkage: Linkage) -> list[int]:
    """The places of a linkage's joints among the efforts."""
    coupled = set(linkage.coordinates)
    return [k for k, row in enumerate(system.coordinates.effort) if row in coupled]


def _units(system: System, linkage: Linkage) -> dict[int, Any]:
    """Velocities that count as 1, by tree coordinate: 1 rad/s, or the loop's length in 1 s.

    Expressions where lengths are.
    """
    length = loop_length(system.tree, linkage.cluster)
    if not isinstance(length, SX):
        length = length or 1.0
    bodies = [system.tree.bodies[body] for body in linkage.cluster.coupled]
    return {body.v.start: length if body.motion.slides else 1.0 for body in bodies}


def rate_units(system: System) -> Array:
    """The velocities (nv_tree,) that count as 1: 1 rad/s; of slides their loop's length in 1 s."""
    units = np.ones(system.tree.nv)
    for linkage in system.linkages:
        for row, unit in _units(system, linkage).items():
            units[row] = unit
    return units


@program("q", output="rates", internal=True, matrix=True)
def joint_rates(system: System, q: SX, z: SX) -> SX:
    """Velocities (nv_tree, nv) of all joints at unit velocities of the independent ones."""
    return ca.densify(system.embedding(q, z).matrix)


def condition_number(system: System, rates: Array) -> Array:
    """1 over the least share of the actuators in the motions of their loops, (...,) as `rates`.

    rates : (..., nv_tree, nv) of `joint_rates`; NaN where they are.
    """
    finite = np.asarray(np.isfinite(rates).all(axis=(-2, -1)))
    least = np.ones(finite.shape)
    for shares, acting in _shares(system, np.where(finite[..., None, None], rates, 0.0)):
        count = shares.shape[-1]
        values = np.linalg.svd(shares, compute_uv=False)[..., count - 1 :]
        least = np.minimum(least, values[..., 0] if len(acting) >= count else 0.0)
    with np.errstate(divide="ignore"):
        return np.where(finite, 1.0 / least, np.nan)


def least_share(system: System, rates: Array) -> tuple[int, float] | None:
    """The actuator nearest to a dead point: its place in the efforts, and the share left to it.

    rates : (nv_tree, nv) of `joint_rates`. None where no loop has enough actuators.
    """
    least: tuple[int, float] | None = None
    for shares, acting in _shares(system, rates):
        count = shares.shape[1]
        if len(acting) < count:
            continue
        left, values, _ = np.linalg.svd(shares)
        if least is None or values[count - 1] < least[1]:
            idle = left[:, count - 1]  # the efforts that move least
            least = acting[int(np.abs(idle).argmax())], float(values[count - 1])
    return least


def _shares(system: System, rates: Array) -> Iterator[tuple[Array, list[int]]]:
    """For every loop: the actuators' rows (..., k, n) of a basis of its motions, and which."""
    place = {row: k for k, row in enumerate(system.coordinates.v)}
    for linkage in system.linkages:
        acting, units = _actuators(system, linkage), _units(system, linkage)
        if linkage.linear or linkage.is_rigid:
            continue
        columns = [place[row] for row in _own(linkage)]
        weights = np.array([units[row] for row in linkage.coordinates])
        motions = rates[..., list(linkage.coordinates), :][..., columns] / weights[:, None]
        basis = np.linalg.qr(motions)[0]
        rows = [linkage.coordinates.index(system.coordinates.effort[k]) for k in acting]
        yield basis[..., rows, :], acting


def reduced_efforts(
    system: System, embedding: Embedding, v: SX, a: SX, wrenches: SX | None, friction: bool
) -> SX:
    """Efforts (nv, 1) of the independent coordinates, by Newton-Euler; those of springs too."""
    velocity, acceleration = embedding.motion(v, a)
    efforts = newton_euler(
        system.regrouped, embedding.joints, velocity, acceleration, system.gravity, wrenches
    )
    efforts = efforts + joint_springs(system, embedding)
    if friction:
        efforts = efforts + joint_friction(system.tree, velocity)
    return embedding.reduce(efforts)


def joint_springs(system: System, embedding: Embedding) -> SX:
    """Efforts (nv_tree, 1) of the tree's joints that hold their springs, zeros structural."""
    if not system.has("spring_stiffness"):
        return SX(system.tree.nv, 1)
    return spring_efforts(system.tree, embedding.values())


def without_springs(system: System) -> System:
    """The same robot without the efforts of its springs."""
    if not system.has("spring_stiffness"):
        return system
    tree = system.tree
    bodies = tuple(replace(body, spring_stiffness=0.0) for body in tree.bodies)
    return replace(system, tree=replace(tree, bodies=bodies))


def coriolis_product(system: System, embedding: Embedding, v: SX, other: SX) -> SX:
    """C(q, v) w (nv, 1), with the matrix of Christoffel's symbols, at other velocities w.

    It is symmetric and linear in both: with c(q, v) = C(q, v) v,
    4 C(q, v) w = c(q, v + w) - c(q, v - w).
    """
    rest = SX.zeros(v.shape[0])
    springless = replace(without_springs(system), gravity=0 * system.gravity)
    sum_, difference = (
        reduced_efforts(springless, embedding, speed, rest, None, False)
        for speed in (v + other, v - other)
    )
    return (sum_ - difference) / 4


def driving(system: System, embedding: Embedding, effort: SX) -> SX:
    """Efforts (nv, 1) of the independent coordinates that do the work of the actuators'."""
    rows = embedding.matrix[list(system.coordinates.effort), :]
    return ca.densify(rows.T @ effort)


def applied(system: System, effort: SX) -> SX:
    """Efforts (nv_tree, 1) of all joints of the tree, where the actuators have `effort`."""
    efforts = SX.zeros(system.tree.nv)
    for k, row in enumerate(system.coordinates.effort):
        efforts[row] = efforts[row] + effort[k]
    return efforts
