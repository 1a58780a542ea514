"""Joints that move no mass: where forward dynamics has no answer.

Articulated bodies show them (see `articulated_body`), here as numbers, from tips to root: what
resists the motion of a cluster while all that it carries moves as it likes. A motion that nothing
resists is left out, and the cluster that carries it is asked next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..model.inertia import RigidInertia
from ..model.model import Array
from ..prepare.clusters import Cluster
from ..prepare.tree import WORLD
from ..program.symbols import serialized
from .algebra.spatial import SX
from .system import System

NO_EIGENVALUE = 1e-12
"""Eigenvalue of a cluster's inertia, scaled to a unit diagonal, under which it counts as zero."""

NO_DIAGONAL = 1e-15
"""Ratio of the square roots of two diagonal elements under which the smaller counts as zero."""

LOST = 1e-3
"""Share of a body's inertia that no joint feels less of: `NO_EIGENVALUE` of that is rounding."""

NO_PART = 1e-6
"""Share of a coordinate in a direction of motion under which it takes no part in it."""


@serialized
def massless_directions(system: System) -> list[int]:
    """Independent velocity coordinates along which nothing with mass moves.

    They are the null vectors of the mass matrix at several configurations. Of the bodies that
    take part in one, the one nearest to the root is named: the others move to keep still what
    it carries. Each body is named by its first coordinate.
    """
    bodies = system.tree.bodies
    if all(_positive(body.inertia.mass, body.inertia.second) for body in bodies):
        return []
    coordinates = system.coordinates
    parts = _Parts(system)
    random = np.random.default_rng(0)
    empty = np.ones(coordinates.nv, dtype=bool)
    home = system.home[list(coordinates.q)]
    coupled = {bodies[body].q.start for one in system.linkages for body in one.cluster.coupled}
    loose = np.array([row not in coupled for row in coordinates.q])
    dependent = system.home[system.numerical_dependent_rows]
    for _ in range(3):
        position = home + loose * random.uniform(-1.0, 1.0, coordinates.nq)
        for start in coordinates.quaternions:
            position[start : start + 4] /= np.linalg.norm(position[start : start + 4])
        empty &= _unresisted(system, parts.at(position, dependent))
    return [int(k) for k in np.flatnonzero(empty)]


def _positive(mass: float, second: Array) -> bool:
    """Whether a body resists acceleration in every direction, for certain."""
    return mass > 0 and bool(np.linalg.eigvalsh(second)[0] > NO_EIGENVALUE * np.trace(second))


@dataclass
class _Part:
    """A cluster of b bodies and n coordinates at one configuration.

    hub : the body that carries it.
    bodies : its bodies (b,).
    columns, owners : its coordinates (n,) among those of the robot, and the body of each.
    carried, moved : accelerations of its bodies (angular and linear, in their axes at their
        origins) by those of the hub, (b, 6, 6), and by its own coordinates, (b, 6, n).
    rotors : what rotors add to its inertia (n, n).
    """

    hub: int
    bodies: list[int]
    columns: list[int]
    owners: Array
    carried: Array
    moved: Array
    rotors: Array

    def gathered(self, inertias: Array) -> tuple[Array, Array, Array]:
        """Inertias (b, 6, 6) of its bodies as the hub and its coordinates feel them.

        Returns (6, 6) of the hub alone, (6, n) of both, and (n, n) of the coordinates.
        """
        forces = inertias[self.bodies] @ np.concatenate([self.carried, self.moved], axis=2)
        on_hub = (self.carried.transpose(0, 2, 1) @ forces).sum(axis=0)
        own = (self.moved.transpose(0, 2, 1) @ forces[:, :, 6:]).sum(axis=0)
        return on_hub[:, :6], on_hub[:, 6:], own + self.rotors


class _Parts:
    """The clusters of a robot, at any configuration."""

    def __init__(self, system: System) -> None:
        self._system = system
        q, z = SX.sym("q", system.coordinates.nq), SX.sym("z", system.nz)
        embedding = system.embedding(q, z)
        placed = [
            ca.horzcat(one.transform.turned(SX.eye(3)), one.transform.shift)
            for one in embedding.joints
        ]
        moving = {
            body.v.start: ca.vertcat(one.angular, one.linear)
            for body, one in zip(system.tree.bodies, embedding.joints, strict=True)
        }
        columns = [moving[start] for start in sorted(moving)]
        outputs = [ca.densify(ca.horzcat(*placed)), ca.densify(ca.horzcat(*columns))]
        self._function = ca.Function("parts", [q, z], [*outputs, embedding.matrix])
        self._column = {row: k for k, row in enumerate(system.coordinates.v)}

    def at(self, q: Array, z: Array) -> list[_Part]:
        """All clusters at independent positions q, parents first; z as for `System.embedding`."""
        placed, moving, matrix = self._function(q, z)
        steps = [_forward_pass(one) for one in np.array(placed).T.reshape(-1, 4, 3)]
        axes = np.array(moving)
        return [self._part(one, steps, axes, matrix) for one in self._system.clusters]

    def _part(self, cluster: Cluster, steps: list[Array], axes: Array, matrix: ca.DM) -> _Part:
        """`steps` lead from each body's parent to it; `axes` (6, nv) are those of all joints."""
        tree, members = self._system.tree, list(cluster.bodies)
        own = {i: range(tree.bodies[i].v.start, tree.bodies[i].v.stop) for i in members}
        rows = [row for i in members for row in own[i]]
        columns = [self._column[row] for row in rows if row in self._column]
        owners = [i for i in members for row in own[i] if row in self._column]
        shares = np.array(matrix[rows, columns]) if cluster.constrained else np.eye(len(rows))
        carried: dict[int, Array] = {}
        moved: dict[int, Array] = {}
        for i in members:
            parent, first = tree.bodies[i].parent, rows.index(own[i].start) if own[i] else 0
            carried[i] = steps[i]
            moved[i] = axes[:, own[i]] @ shares[first : first + len(own[i])]
            if parent in carried:
                carried[i] = steps[i] @ carried[parent]
                moved[i] += steps[i] @ moved[parent]
        armature = np.array([tree.bodies[i].armature for i in members for _ in own[i]])
        return _Part(
            tree.bodies[members[0]].parent, members, columns, np.array(owners, dtype=int),
            np.stack(list(carried.values())), np.stack(list(moved.values())),
            shares.T @ (armature[:, None] * shares),
        )  # fmt: skip


def _forward_pass(placed: Array) -> Array:
    """Acceleration (6, 6) of a body by that of its parent; `placed` (4, 3): axes and origin."""
    turn, (x, y, z) = placed[:3], placed[3]
    arm = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])
    return np.block([[turn, np.zeros((3, 3))], [turn @ arm, turn]])


def _spatial(inertia: RigidInertia) -> Array:
    """Moment and force (6,) for acceleration (6,) of a rigid body, about its origin: (6, 6)."""
    x, y, z = inertia.first
    arm = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[inertia.second, arm], [arm.T, inertia.mass * np.eye(3)]])


def _unresisted(system: System, parts: list[_Part]) -> NDArray[np.bool_]:
    """Marks of the independent velocity coordinates that name motions without mass."""
    own = np.array([_spatial(body.inertia) for body in system.tree.bodies])
    size, held = np.zeros(system.coordinates.nv), own.copy()
    for part in reversed(parts):
        on_hub, _, resisting = part.gathered(held)
        size[part.columns] = _felt(part, held, np.diag(resisting))
        if part.hub != WORLD:
            held[part.hub] += on_hub
    moved = size > NO_DIAGONAL * size.max(initial=0.0)
    scale = np.where(moved, 1 / np.where(moved, size, 1.0), 0.0)
    marks = np.zeros(len(size), dtype=bool)
    for part in reversed(parts):
        on_hub, shared, resisting = part.gathered(own)
        unit = scale[part.columns]
        values, vectors = np.linalg.eigh(resisting * np.outer(unit, unit))
        empty = values <= NO_EIGENVALUE
        for k in _named(vectors[:, empty].T, part.owners):
            marks[part.columns[k]] = True
        if part.hub != WORLD:
            push = shared @ (unit[:, None] * vectors[:, ~empty])
            own[part.hub] += on_hub - (push / values[~empty]) @ push.T
    return marks


def _felt(part: _Part, inertias: Array, diagonal: Array) -> Array:
    """Square roots of the inertia that each coordinate (n,) feels, of what is not rounding."""
    largest = np.abs(inertias[part.bodies]).reshape(-1, 2, 3, 2, 3).max(axis=(2, 4))
    squared = (part.moved.reshape(len(largest), 2, 3, len(diagonal)) ** 2).sum(axis=2)
    most = (largest[:, 0, 0, None] * squared[:, 0] + largest[:, 1, 1, None] * squared[:, 1]).sum(
        axis=0
    )
    return np.sqrt(np.maximum(np.abs(diagonal), LOST * most))


def _named(null: Array, owners: Array) -> Iterator[int]:
    """Coordinates that name null vectors (m, n) of a cluster; `owners` (n,), parents first."""
    for k in np.argsort(owners, kind="stable"):
        if not len(null):
            return
        row = int(np.abs(null[:, k]).argmax())
        if abs(null[row, k]) <= NO_PART:
            continue
        yield int(np.flatnonzero(owners == owners[k])[0])
        null = np.delete(null - np.outer(null[:, k] / null[row, k], null[row]), row, axis=0)
        null /= np.maximum(np.linalg.norm(null, axis=1, keepdims=True), NO_DIAGONAL)
