"""Forces in the closing joints: the multipliers of the constraint rows.

With the efforts t that the tree's joints would need and the efforts e that they have, the
constraints carry K^T lambda = t - e. Where rows are redundant, as in a planar loop in space, the
multipliers of least norm are taken; the forces across the plane are then zero.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..model.model import Array
from .newton_euler import newton_euler
from .spatial import SX
from .system import System

REDUNDANT = 1e-10
"""Singular values below this share of the largest belong to redundant rows."""


class LoopForces:
    """Loop forces of a system at independent motions; positions z as `System` has them."""

    def __init__(self, system: System) -> None:
        sizes = system.coordinates.nq, system.nz, system.coordinates.nv, system.coordinates.nv
        q, z, v, a = (SX.sym(name, size) for name, size in zip("qzva", sizes, strict=True))
        embedding = system.embedding(q, z)
        velocity = embedding.velocity(v)
        acceleration = embedding.velocity(a) + embedding.drift(velocity)
        needed = newton_euler(
            system.tree, embedding.joints, velocity, acceleration, system.gravity
        ) + system.friction(velocity)
        given = SX.zeros(system.tree.nv)
        effort = system.inverse_dynamics(q, z, v, a)
        for k, row in enumerate(system.coordinates.effort):
            given[row] = given[row] + effort[k]
        missing = needed - given
        self.linkages = [one for one in system.linkages if one.cluster.closures]
        outputs = []
        for linkage in self.linkages:
            rows = embedding.rows(linkage, velocity)
            outputs += [rows.matrix, missing[list(linkage.coordinates)], *rows.wrenches]
        outputs = [ca.densify(output) for output in outputs]
        self._function = ca.Function("loop_forces", [q, z, v, a], outputs, {"cse": True})

    def __call__(self, q: Array, z: Array, v: Array, a: Array) -> dict[str, Array]:
        """Force and moment (6,) of predecessor on successor in every loop, by name."""
        outputs = iter(np.array(part) for part in self._function.call([q, z, v, a]))
        result: dict[str, Array] = {}
        for linkage in self.linkages:
            matrix, missing = next(outputs), next(outputs).ravel()
            multipliers = np.linalg.lstsq(matrix.T, missing, rcond=REDUNDANT)[0]
            first = 0
            for closure in linkage.cluster.closures:
                wrench = next(outputs)
                last = first + wrench.shape[1]
                result[closure.name] = wrench @ multipliers[first:last]
                first = last
        return result
