"""Weighted least squares of efforts in blocks of a recording, from sums of products alone.

Rows of a joint have one standard deviation, that of their residuals (Gautier 1997); blocks of
neighbouring rows are left out by turns to judge a part of the model by rows that it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array import Array
from .least_squares import held_columns

RIDGE = 1e-10
"""Share of a column's square that is added to it: what no row determines stays near 0."""

HUBER = 2.0
"""Deviations from which a residual counts by its size alone."""

FINEST_NOISE = 1e-4
"""Noise over the size of an effort that is the least: no sensor has more digits."""

WEIGHTINGS = 4
BLOCKS = 6
"""Blocks of a recording."""

OPEN_SHARE = 1e-7
"""Share of the largest eigenvalue (columns of unit size) below which a direction is open."""

MOST_LAGS = 50
"""Rows that residuals are correlated over at most."""

NO_CORRELATION = 0.05
"""Correlation from which on, over more rows, there is none."""

LEAST_FREE = 0.1
"""Share of the rows that a fit leaves to noise, at least."""

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


def undetermined(both: Array, readiness: Array) -> list[int]:
    """Places of parameters to hold, so that products (n + 1, n + 1) leave no direction open.

    readiness : as in `held_columns`.
    """
    values, vectors, _ = _directions(both)
    places = held_columns(vectors[:, values <= OPEN_SHARE * values.max()], readiness)
    return [int(one) for one in places]


def _directions(both: Array) -> tuple[Array, Array, Array]:
    """Eigenvalues and vectors of products of columns of unit size, and the units (n,)."""
    normal = both[:-1, :-1]
    unit = 1 / np.sqrt(np.maximum(np.diag(normal), 1e-300))
    return *np.linalg.eigh(normal * unit[:, None] * unit), unit


def estimated(
    both: Array, start: Array, readiness: Array, blurs: Sequence[Array] = ()
) -> tuple[Array, Array, list[int]]:
    """Parameters (n,) of least squares, those that no row determines held at their start.

    both : products (n + 1, n + 1) as `normal` gives. readiness : as in `held_columns`.
    blurs : products (n, n) that noise in the columns themselves has, by draws. Their mean is taken
    off, for it draws parameters towards 0 (Fuller, Measurement Error Models, 1987, ch. 2), and
    their scatter adds to the deviations; a direction of which noise makes half is open.

    Returns
    -------
    The parameters, their covariances (n, n), and the places of those that are held.
    """
    normal, right = both[:-1, :-1], both[:-1, -1]
    blur = np.mean(blurs, axis=0) if len(blurs) else np.zeros_like(normal)
    clear, halved = normal - blur, both.copy()
    halved[:-1, :-1] -= 2 * blur
    held = np.array(undetermined(halved, readiness), dtype=np.intp)
    free = np.setdiff1d(np.arange(len(start)), held)
    unit = 1 / np.sqrt(np.maximum(np.diag(normal)[free], 1e-300))
    known = right[free] - clear[np.ix_(free, held)] @ start[held]
    inverse = np.linalg.inv(clear[np.ix_(free, free)] * unit[:, None] * unit)
    x = start.copy()
    x[free] = inverse @ (known * unit) * unit
    scaled = normal[np.ix_(free, free)] * unit[:, None] * unit
    if len(blurs):
        drawn = np.array([(one - blur)[free] @ x * unit for one in blurs])
        scaled = scaled + drawn.T @ drawn * (1 + 1 / len(blurs)) / (len(blurs) - 1)
    covariance = np.zeros((len(x), len(x)))
    covariance[np.ix_(free, free)] = inverse @ scaled @ inverse * unit[:, None] * unit
    return x, covariance, held.tolist()


def lasting_noise(
    rows: Sequence[Array], left: Sequence[Array], noise: Array, both: Array
) -> Array:
    """Deviations (joints,) of noise that decides slow columns: neighbours count together.

    A fit takes noise e away with its residuals r = (1 - P) e. For columns that vary more slowly
    than e is correlated, the sum over lags l of r_t r_t+l is s^2 (n - sum P_t,t+l), s^2 that of e
    (Newey and West 1987; the lags are those before correlation vanishes, as of Geyer 1992). With
    few rows that are independent the second part is large.

    Parameters
    ----------
    rows, left : of each recording its columns (N, joints, n) and residuals (N, joints), both
        weighted (0: not used). noise, both : deviations (joints,) of the `normal` products.
    """
    values, vectors, unit = _directions(both)
    determined = values > OPEN_SHARE * values.max()
    basis = unit[:, None] * vectors[:, determined] / np.sqrt(values[determined])
    squares, taken = np.zeros((2, len(noise)))
    for matrix, own in zip(rows, left, strict=True):
        lasting = np.cumprod(correlations(own) > NO_CORRELATION, axis=0).sum(axis=0)
        for j, lags in enumerate(lasting):
            fitted = matrix[:, j] @ basis / noise[j]
            for lag in range(lags):
                times, stop = (2.0 if lag else 1.0), len(own) - lag
                squares[j] += times * (own[lag:, j] @ own[:stop, j])
                taken[j] += times * np.vdot(fitted[lag:], fitted[:stop])
    count = np.maximum(sum((own != 0).sum(axis=0) for own in left), 1)
    lasting_squares = squares / np.maximum(count - taken, LEAST_FREE * count)
    result: Array = np.maximum(np.sqrt(lasting_squares), noise)
    return result


def correlations(residual: Array, lags: int = MOST_LAGS) -> Array:
    """Of residuals (N, n) with those of earlier rows, (lags, n)."""
    centred = residual - residual.mean(axis=0)
    power = np.maximum((centred**2).sum(axis=0), 1e-300)
    return np.array([
        (centred[lag:] * centred[: max(len(centred) - lag, 0)]).sum(axis=0) / power
        for lag in range(max(min(lags, len(residual) // 4), 2))
    ])  # fmt: skip


def solved(normal: Array) -> Array:
    """The parameters (k,) of least squares, by their products with each other and the efforts."""
    unit = 1 / np.sqrt(np.maximum(np.diag(normal)[:-1], 1e-300))
    scaled = normal[:-1, :-1] * unit[:, None] * unit
    scaled[np.diag_indices_from(scaled)] += RIDGE
    result: Array = np.linalg.solve(scaled, normal[:-1, -1] * unit) * unit
    return result
