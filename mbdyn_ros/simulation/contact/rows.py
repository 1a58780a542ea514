"""Laws of motion of contacts as rows of numbers, filled in compiled code."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.library import structure
from ...model.model import Array
from .impulses import Blocks, solver

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

LEANING_SPEED = 1e-4
"""Tangential velocity (m/s) below which a sliding point leans to the direction that its friction
had: near rest the direction would turn ever faster. On a straight way this changes nothing."""

Held = structure("contact/held.hpp", "held")


@dataclass(frozen=True, eq=False)
class Assembly:
    """Rows S (m, nv), directions of forces C (m, nv), drift (m,), and where contacts stand."""

    rows: Array
    columns: Array
    drift: Array
    blocks: Blocks


@dataclass(frozen=True, eq=False)
class Table:
    """Places of contacts (k,) in the results of `contact_rows` and `contact_drift`.

    body, partner, normal, drift : (k,) see `RowsLayout`. point : (k, 4) with the radius.
    friction : (k,).
    """

    body: NDArray[np.int64]
    partner: NDArray[np.int64]
    normal: NDArray[np.int64]
    drift: NDArray[np.int64]
    point: Array
    friction: Array

    def of(self, which: Indices) -> Table:
        """The rows of some of them."""
        return Table(
            self.body[which], self.partner[which], self.normal[which], self.drift[which],
            self.point[which], self.friction[which],
        )  # fmt: skip


class Rows:
    """Laws of k contacts: along the normal and two tangents J v, with J a + drift; C fills them.

    Parameters
    ----------
    jacobians, drifts, v : results of the programs and velocities (nv,), in whose memory others put
        new ones.
    cone : (k,) which may pass any tangential force up to mu times the normal one.
    slides : (k,) which slide, in unit directions (k, 2) along the wall; those of the others are
        zero, or the last.

    Attributes
    ----------
    places, normals : (k, 3) where they touch, m, and unit vectors into free space; NaN for stops.
    J, drifts : (k, 3, nv), (k, 3) along the normal and two tangents; of the normal W, drift :
        (k, nv), (k,). friction : (k,).
    assembly : the rows that are held, and their forces. along : (k, 2) velocities along the walls.
    fill : takes the results of the programs as they are now.
    """

    def __init__(
        self, jacobians: Array, drifts: Array, v: Array, table: Table, cone: Flags,
        slides: Flags, directions: Array,
    ) -> None:  # fmt: skip
        nv, k, m = len(v), len(cone), len(cone) + 2 * int(cone.sum())
        places, J, bends = np.full((k, 2, 3), np.nan), np.zeros((k, 3, nv)), np.zeros((k, 3))
        rows, columns, drift = np.zeros((m, nv)), np.zeros((m, nv)), np.zeros(m)
        normal = np.cumsum([0, *np.where(cone, 3, 1)])[:-1]
        blocks = Blocks(normal, np.where(cone, normal + 1, -1), table.friction)
        self.assembly, self.along = Assembly(rows, columns, drift, blocks), np.zeros((k, 2))
        self.places, self.normals = places[:, 0], places[:, 1]
        self.W, self.drift = J[:, 0], bends[:, 0]
        self.friction, self.J, self.drifts = table.friction, J, bends
        self._mass, self._answers, self._a = np.zeros((nv, nv)), np.zeros((m, nv)), np.zeros(nv)
        self._matrix, self._force, self._load = np.zeros((m, m)), np.zeros(m), np.zeros(nv)
        given: list[NDArray[Any]] = [
            jacobians, drifts, table.body, table.partner, table.normal, table.drift, table.point,
            table.friction, directions, cone.astype(np.int64), slides.astype(np.int64),
            np.arange(nv, dtype=np.int32),
        ]  # fmt: skip
        results: list[NDArray[Any]] = [
            places, J, bends, rows, columns, drift, self.along, self._mass, self._answers,
            self._matrix, np.zeros((m, m)), self._force, self._load,
        ]  # fmt: skip
        self._kept = given, results
        before, after = ([array.ctypes.data for array in some] for some in self._kept)
        self._struct = Held(nv, k, *before, LEANING_SPEED, *after)
        own, free = ctypes.byref(self._struct), ctypes.c_void_p(self._a.ctypes.data)
        self.fill = functools.partial(solver().held_rows, own, ctypes.c_void_p(v.ctypes.data))
        self._solve = functools.partial(solver().held_forces, own, ctypes.c_size_t(m), free)

    @property
    def frames(self) -> Array:
        """Normals and both tangents (k, 3, 3) as rows."""
        return np.concatenate([self.normals[:, None], tangent_planes(self.normals)], axis=1)

    def forces(self, mass: Array, a: Array) -> tuple[Array, Array, Array] | None:
        """Accelerations (nv,) with the contacts held, forces (m,), and their load (nv,).

        None where rows depend on each other, so that forces are not determined.

        Parameters
        ----------
        mass : (nv, nv). a : (nv,) without contacts.
        """
        self._mass[:], self._a[:] = mass, a
        if self._solve():
            return self._a, self._force, self._load
        return None


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
