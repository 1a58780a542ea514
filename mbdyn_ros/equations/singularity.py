"""Joints that move no mass: where forward dynamics has no answer."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..model.model import Array
from ..program.symbols import alone
from .algebra.spatial import SX
from .programs import mass_matrix
from .system import System

NO_EIGENVALUE = 1e-12
"""Eigenvalue of the mass matrix, scaled to a unit diagonal, under which it counts as zero."""

NO_DIAGONAL = 1e-15
"""Ratio of the square roots of two diagonal elements under which the smaller counts as zero."""

NO_PART = 1e-6
"""Share of a coordinate in a direction of motion under which it takes no part in it."""


@alone
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
    q, z = SX.sym("q", coordinates.nq), SX.sym("z", system.nz)
    matrix = ca.Function("mass_matrix", [q, z], [ca.densify(mass_matrix(system, q, z))])
    random = np.random.default_rng(0)
    empty = np.ones(coordinates.nv, dtype=bool)
    home = system.home[list(coordinates.q)]
    tied = {bodies[body].q.start for one in system.linkages for body in one.cluster.tied}
    loose = np.array([row not in tied for row in coordinates.q])
    dependent = system.home[system.walked_rows]
    body_of = {row: i for i, body in enumerate(bodies) for row in range(body.v.start, body.v.stop)}
    carrier = np.array([body_of[row] for row in coordinates.v], dtype=int)
    for _ in range(3):
        position = home + loose * random.uniform(-1.0, 1.0, coordinates.nq)
        for start in coordinates.quaternions:
            position[start : start + 4] /= np.linalg.norm(position[start : start + 4])
        empty &= _first_in_null_space(np.array(matrix(position, dependent)), carrier)
    return [int(k) for k in np.flatnonzero(empty)]


def _positive(mass: float, second: Array) -> bool:
    """Whether a body resists acceleration in every direction, for certain."""
    return mass > 0 and bool(np.linalg.eigvalsh(second)[0] > NO_EIGENVALUE * np.trace(second))


def _first_in_null_space(matrix: Array, body: np.ndarray) -> np.ndarray:
    """Marks of the coordinates that name the null vectors of a mass matrix.

    body : the body that each coordinate moves, parents first.
    """
    marks = np.zeros(len(matrix), dtype=bool)
    size = np.sqrt(np.abs(np.diag(matrix)))
    moved = size > NO_DIAGONAL * size.max(initial=0.0)
    scale = np.where(moved, 1 / np.where(moved, size, 1.0), 0.0)
    values, vectors = np.linalg.eigh(matrix * np.outer(scale, scale))
    null = vectors[:, values <= NO_EIGENVALUE].T
    for k in np.argsort(body, kind="stable"):
        if not len(null):
            break
        row = int(np.abs(null[:, k]).argmax())
        if abs(null[row, k]) <= NO_PART:
            continue
        marks[np.flatnonzero(body == body[k])[0]] = True
        null = np.delete(null - np.outer(null[:, k] / null[row, k], null[row]), row, axis=0)
        null /= np.maximum(np.linalg.norm(null, axis=1, keepdims=True), NO_DIAGONAL)
    return marks
