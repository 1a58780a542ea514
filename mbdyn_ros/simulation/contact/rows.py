"""Laws of motion of contacts as rows of numbers, and the vectors that they are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...equations.contact.rims import ON_END
from ...model.model import Array
from .impulses import Blocks

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rows:
    """Laws of motion of k contacts: normal velocity W v, normal acceleration W a + drift.

    places, normals : (k, 3) where they touch, m, and unit vectors into free space; NaN for stops.
    jacobians : (k, 3, nv) velocities, in the world, of the material points there.
    tangents : (k, 2, nv) velocities along the wall likewise; zero without friction.
    tangent_drift : (k, 2). friction : (k,).
    """

    places: Array
    normals: Array
    jacobians: Array
    W: Array
    drift: Array
    tangents: Array
    tangent_drift: Array
    friction: Array

    def assemble(self, cone: Flags, slides: Array) -> Assembly:
        """The rows and unknowns of contacts with a cone of friction, and of those that slide.

        Parameters
        ----------
        cone : (k,) which may pass any tangential force up to mu times the normal one.
        slides : (k, 2) unit direction in which one slides, else zero.
        """
        rows: list[Array] = []
        columns: list[Array] = []
        drift: list[float] = []
        for i in range(len(self.W)):
            rows.append(self.W[i])
            columns.append(self.W[i] - self.friction[i] * slides[i] @ self.tangents[i])
            drift.append(self.drift[i])
            if cone[i]:
                rows += list(self.tangents[i])
                columns += list(self.tangents[i])
                drift += self.tangent_drift[i].tolist()
        blocks = stacked(cone, self.friction)
        return Assembly(np.array(rows), np.array(columns), np.array(drift), blocks)


def stacked(cone: Flags, friction: Array) -> Blocks:
    """Where contacts (k,) stand one after the other, those with a cone with three rows."""
    normal = np.cumsum([0, *np.where(cone, 3, 1)])[:-1]
    return Blocks(normal, np.where(cone, normal + 1, -1), friction)


@dataclass(frozen=True, eq=False)
class Assembly:
    """Rows S (m, nv), directions of forces C (m, nv), drift (m,), and where contacts stand."""

    rows: Array
    columns: Array
    drift: Array
    blocks: Blocks


def skew(vectors: Array) -> Array:
    """The matrices (k, 3, 3) of cross products with vectors (k, 3)."""
    result = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    result[:, 0, 1], result[:, 0, 2], result[:, 1, 2] = -z, y, -x
    result[:, 1, 0], result[:, 2, 0], result[:, 2, 1] = z, -y, x
    return result


def rim_arm(n: Array, axis: Array, radius: float, turning: Array) -> tuple[Array, Array]:
    """The way (3,) from the centre of a rim to its point next to a plane, and the rate of that.

    n, axis : (3,) unit vectors. turning : (3,) rad/s of the rim; see `equations/contact/rims.py`.
    """
    swing = np.cross(turning, axis)
    across = n - (n @ axis) * axis
    size = float(np.linalg.norm(across))
    if size <= ON_END:
        return np.zeros(3), np.zeros(3)
    rate = -(n @ swing) * axis - (n @ axis) * swing
    unit = across / size
    return -radius * unit, -radius / size * (rate - (unit @ rate) * unit)


def tangent_planes(normals: Array) -> Array:
    """Two unit vectors (k, 2, 3) along each wall, for any normals (k, 3) (Duff et al. 2017)."""
    x, y, z = normals.T
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    result = np.empty((len(normals), 2, 3))
    result[:, 0, 0], result[:, 0, 1], result[:, 0, 2] = 1 + sign * x * x * a, sign * b, -sign * x
    result[:, 1, 0], result[:, 1, 1], result[:, 1, 2] = b, sign + y * y * a, -y
    return result
