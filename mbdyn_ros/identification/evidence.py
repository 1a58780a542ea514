"""Weighted least squares of efforts in blocks of a recording, from sums of products alone.

Rows of a joint have one standard deviation, which their residuals tell (Gautier 1997); blocks of
neighbouring rows are left out by turns to judge a part of the model by rows that it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array import Array
from .least_squares import held_columns

RIDGE = 1e-10
"""Share of a column's square that is added to it: what nothing tells stays near 0."""

HUBER = 2.0
"""Deviations from which a residual counts by its size alone."""

FINEST_NOISE = 1e-4
"""Noise over the size of an effort that is the least: no sensor has more digits."""

WEIGHTINGS = 4
BLOCKS = 6
"""Blocks of a recording."""

OPEN_SHARE = 1e-7
"""Share of the largest eigenvalue (columns of unit size) below which a direction is open."""

Places = list[int]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Sums of products of rows [A tau] by block and joint.

    products : (blocks, joints, n + 1, n + 1). counts : (blocks, joints) of rows.
    """

    products: Array
    counts: Array

    @staticmethod
    def of(rows: Array, effort: Array, weight: Array, part: Array) -> Evidence:
        """That of rows (N, joints, n), efforts and weights (N, joints), and the parts (N,)."""
        whole = np.concatenate([rows, effort[:, :, None]], axis=2)
        whole = whole * np.sqrt(weight)[:, :, None]
        places = [
            block for one in np.unique(part)
            for block in np.array_split(np.flatnonzero(part == one), BLOCKS)
        ]  # fmt: skip
        columns = [whole[block].transpose(1, 2, 0) for block in places]
        return Evidence(
            np.array([one @ one.transpose(0, 2, 1) for one in columns]),
            np.array([(weight[block] > 0).sum(axis=0) for block in places], dtype=float),
        )

    def normal(self, noise: Array, chosen: Places) -> Array:
        """Weighted products (k + 1, k + 1) of chosen columns and efforts."""
        result: Array = self._blocks(noise, chosen).sum(axis=0)
        return result

    def _blocks(self, noise: Array, chosen: Places) -> Array:
        """Weighted products (blocks, k + 1, k + 1)."""
        both = [*chosen, self.products.shape[-1] - 1]
        part = self.products[:, :, both][:, :, :, both]
        result: Array = np.tensordot(part, 1 / noise**2, axes=(1, 0))
        return result

    def weighted(self, chosen: Places) -> tuple[Array, Array]:
        """Parameters (k,) of chosen columns, and the noise of each joint, found in turns."""
        both = [*chosen, self.products.shape[-1] - 1]
        by_joint = self.products.sum(axis=0)[:, both][:, :, both]
        counts = np.maximum(self.counts.sum(axis=0), 1.0)
        size = np.sqrt(by_joint[:, -1, -1] / counts)
        noise, x = size + 1e-12, np.zeros(len(chosen))
        share = min(len(chosen) / max(counts.sum(), 1.0), 0.9)
        for _ in range(WEIGHTINGS):
            x = solved((by_joint / noise[:, None, None] ** 2).sum(axis=0))
            ends = np.append(-x, 1.0)
            squares = np.maximum(np.einsum("i,jik,k->j", ends, by_joint, ends), 0.0)
            noise = np.sqrt(squares / (counts * (1 - share)))
            noise = np.maximum(noise, FINEST_NOISE * size + 1e-12)
        return x, noise

    def unseen(self, noise: Array, chosen: Places) -> Array:
        """Weighted squares of the residuals of every block (blocks,) that the others predict.

        Their sum is that of all rows, mean 1 where noise is all that is left.
        """
        blocks = self._blocks(noise, chosen)
        whole = blocks.sum(axis=0)
        ends = [np.append(-solved(whole - own), 1.0) for own in blocks]
        squares = np.array([one @ own @ one for one, own in zip(ends, blocks, strict=True)])
        result: Array = squares / max(float(self.counts.sum()), 1.0)
        return result


def estimated(both: Array, start: Array, readiness: Array) -> tuple[Array, Array, list[int]]:
    """Parameters (n,) of least squares, those that nothing tells held at their start.

    both : products (n + 1, n + 1) as `normal` gives. readiness : as in `held_columns`.

    Returns
    -------
    The parameters, their covariances (n, n), and the places of those that are held.
    """
    normal, right = both[:-1, :-1], both[:-1, -1]
    unit = 1 / np.sqrt(np.maximum(np.diag(normal), 1e-300))
    values, vectors = np.linalg.eigh(normal * unit[:, None] * unit)
    held = held_columns(vectors[:, values <= OPEN_SHARE * values.max()], readiness)
    free = np.setdiff1d(np.arange(len(start)), held)
    scaled = normal[np.ix_(free, free)] * unit[free, None] * unit[free]
    known = right[free] - normal[np.ix_(free, held)] @ start[held]
    x = start.copy()
    x[free] = np.linalg.solve(scaled, known * unit[free]) * unit[free]
    covariance = np.zeros((len(x), len(x)))
    covariance[np.ix_(free, free)] = np.linalg.inv(scaled) * unit[free, None] * unit[free]
    return x, covariance, held.tolist()


def solved(normal: Array) -> Array:
    """The parameters (k,) of least squares, by their products with each other and the efforts."""
    unit = 1 / np.sqrt(np.maximum(np.diag(normal)[:-1], 1e-300))
    scaled = normal[:-1, :-1] * unit[:, None] * unit
    scaled[np.diag_indices_from(scaled)] += RIDGE
    result: Array = np.linalg.solve(scaled, normal[:-1, -1] * unit) * unit
    return result
