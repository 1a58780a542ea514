"""Forces in joints: loads of the tree as if loops were open, and the multipliers of closing joints.

Equations 13-18 and 37 of the parallel-serial paper: f_i and n_i of each body, summed in the
backward pass. What the closing joints add is statics, in `robot.wrenches`.

With the efforts t that the tree's joints would need and the efforts e that they have, the
constraints carry K^T lambda = t - e. Where rows are redundant, as in a planar loop in space, the
multipliers of least norm are taken; the forces across the plane are then zero.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ..model.model import Array
from ..program.program import program
from .actuation import applied, joint_springs
from .algebra.spatial import SX, by_rows
from .loops.linkage import Linkage
from .programs import inverse_dynamics
from .system import System
from .tree.kinematics import body_poses
from .tree.newton_euler import forward_pass, joint_friction, joint_wrenches, newton_euler

LOADS = 18
"""Numbers of a body: its pose (rotation by rows, origin), and force and moment at its joint."""


@program("q v a", output="terms", loaded=True, internal=True)
def joint_loads(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
) -> SX:
    """Pose of every body in the world, and what its parent exerts on it with all loops open.

    Force and moment are about the origin of the body's frame, in its axes; friction is part of
    them, as all that acts between the two bodies.
    """
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    motions = forward_pass(system.tree, embedding.joints, velocity, acceleration, system.gravity)
    through = joint_wrenches(system.tree, embedding.joints, motions, wrenches)
    poses = body_poses(system.tree, embedding.joints)
    parts = [SX(0, 1)]
    for (rotation, origin), (moment, force) in zip(poses, through, strict=True):
        parts += [by_rows(rotation), origin, force, moment]
    return ca.densify(ca.vertcat(*parts))


REDUNDANT = 1e-10
"""Singular values below this share of the largest count as zero, in a singular configuration."""


@program("q v a", output="terms", loaded=True, internal=True)
def loop_terms(
    system: System, q: SX, z: SX, v: SX, a: SX, wrenches: SX | None = None, friction: bool = True
) -> SX:
    """K, t - e and the wrenches of unit multipliers of all linkages, one after the other.

    Every matrix is row-major.
    """
    embedding = system.embedding(q, z)
    velocity, acceleration = embedding.motion(v, a)
    needed = newton_euler(
        system.tree, embedding.joints, velocity, acceleration, system.gravity, wrenches
    )
    needed = needed + joint_springs(system, embedding)
    if friction:
        needed = needed + joint_friction(system.tree, velocity)
    driven = inverse_dynamics(system, q, z, v, a, wrenches, friction)
    missing = needed - applied(system, driven)
    parts = [SX(0, 1)]
    for linkage in closed_linkages(system):
        rows = embedding.rows(linkage, velocity)
        matrices = [rows.matrix, missing[list(linkage.coordinates)], *rows.wrenches]
        parts += map(by_rows, matrices)
    return ca.vertcat(*parts)


def closed_linkages(system: System) -> list[Linkage]:
    """The linkages that have closing joints."""
    return [one for one in system.linkages if one.cluster.closures]


def loop_forces(system: System, terms: Array) -> dict[str, Array]:
    """Force and moment (..., 6) of predecessor on successor in every loop, by name.

    terms : (..., n), results of `loop_terms`.
    """
    result: dict[str, Array] = {}
    for linkage, constraints, missing, units in _parts(system, terms):
        multipliers = _least_multipliers(constraints, list(linkage.rows), missing)
        result |= _wrenches(units, multipliers)
    return result


def self_stresses(system: System, terms: Array) -> list[dict[str, Array]]:
    """Wrenches (6,) that closing joints may carry on top of any others, {loop: wrench}.

    Each of them is in balance with itself, so that no motion and no effort reveals how much of it
    there is: K^T lambda = 0. `terms` (n,) are those of one state.
    """
    found = []
    for linkage, constraints, _, units in _parts(system, terms):
        inverse = np.linalg.pinv(constraints[list(linkage.rows)], rcond=REDUNDANT)
        vectors = np.linalg.svd((constraints @ inverse).T)[2]
        for vector in vectors[len(linkage.rows) :]:
            found.append(_wrenches(units, vector[:, None]))
    return found


Part = tuple[Linkage, Array, Array, dict[str, Array]]
"""A linkage, K (..., m, n), t - e (..., n, 1), and wrenches (..., 6, k) of unit multipliers."""


def _parts(system: System, terms: Array) -> Iterator[Part]:
    start = 0

    def matrix(rows: int, columns: int) -> Array:
        nonlocal start
        part = terms[..., start : start + rows * columns]
        start += rows * columns
        return part.reshape(*terms.shape[:-1], rows, columns)

    for linkage in closed_linkages(system):
        sizes = {one.name: 6 - one.closing.freedoms for one in linkage.cluster.closures}
        count = sum(sizes.values()) + len(linkage.cluster.gears)
        constraints = matrix(count, len(linkage.coordinates))
        missing = matrix(len(linkage.coordinates), 1)
        yield linkage, constraints, missing, {name: matrix(6, size) for name, size in sizes.items()}


def _wrenches(units: dict[str, Array], multipliers: Array) -> dict[str, Array]:
    """Wrenches (..., 6) in closing joints by their multipliers (..., m, 1)."""
    result, first = {}, 0
    for name, unit in units.items():
        size = unit.shape[-1]
        result[name] = (unit @ multipliers[..., first : first + size, :])[..., 0]
        first += size
    return result


def _least_multipliers(constraints: Array, kept: list[int], missing: Array) -> Array:
    """Multipliers (..., m, 1) of least norm with K^T lambda = `missing`.

    All rows of K are combinations K = T L of those that are `kept`. Rows that repeat others up to
    rounding carry their share, and not the forces that it would take to close them too.
    """
    # NaN stays NaN: the singular values of such a matrix would not converge.
    sound = np.isfinite(constraints).all(axis=(-2, -1), keepdims=True)
    rows = np.where(sound, constraints, 0.0)[..., kept, :]
    sizes = np.linalg.norm(rows, axis=-1, keepdims=True)  # metres may be tiny against radians
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    inverse = np.linalg.pinv(rows / sizes, rcond=REDUNDANT) / np.swapaxes(sizes, -2, -1)
    shares = np.where(sound, constraints, 0.0) @ inverse
    transposed = np.swapaxes(shares, -2, -1)
    spread = shares @ np.linalg.pinv(transposed @ shares, rcond=REDUNDANT, hermitian=True)
    return np.where(sound, spread, np.nan) @ (np.swapaxes(inverse, -2, -1) @ missing)
