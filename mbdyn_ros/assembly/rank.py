"""The rank of constraint rows, which may be rounded, and the independent joints it leaves.

Rows that repeat others, as three of the five of a planar loop in space do, cease to repeat them
exactly when the description is rounded. Their singular values are then as small as the rounding,
and lie far below those of the rows that count.

The motions that the constraints allow are the null space of their matrix. Joints determine all
others where their rows of a basis of it are a regular matrix: they are chosen one after the
other, as pivots of an orthogonal elimination (QR) of these rows, at several configurations at
once. Slides are measured in lengths of the cluster, so that they compare with angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.model import Array

RANK = 1e-8
"""Singular values below this share of the largest count as zero."""

ROUNDED = 1e-3
"""Largest singular value (share of the largest) that rounded numbers can make of none."""

TILT = 0.02
"""Value under which a constraint that counts looks like an error of a drawing."""

CLEAR = 10.0
"""Least quotient of the singular values on both sides of a clear gap."""

PIVOT = 0.1
"""Share of the largest pivot from which on a joint that comes first is taken instead."""

MOVES = 1e-4
"""Least pivot (share of the whole motion) of a joint that is preferred, but would not be chosen."""

PRECISE = 1e-6
"""Least pivot that says more than rounding."""


@dataclass(frozen=True, eq=False)
class Rank:
    """How many of the singular values `values` count, all being shares of the largest.

    clear : whether those that do lie clearly above those that do not. threshold : value from which
    on they count, here and at other configurations.
    """

    count: int
    values: Array
    clear: bool = True

    @property
    def threshold(self) -> float:
        """Ten times the largest value that does not count."""
        rest = self.values[self.count :]
        return max(RANK, CLEAR * float(rest.max(initial=0.0)))

    def counts(self, matrix: Array) -> int:
        """How many singular values of other rows count."""
        return int((singular_values(matrix) > self.threshold).sum())

    @property
    def is_rounded(self) -> bool:
        """Whether some values that do not count are not zero."""
        return self.threshold > RANK

    @property
    def tilt_text(self) -> str:
        """Words about the least value that counts, where it is so small that it may be an error."""
        least = float(self.values[self.count - 1])
        return "" if least > TILT else (
            f" (the least counts {least:.2g} of the largest only: that is how far, in rad or as a "
            "share of its size, something misses a place in which it would not lock)"
        )  # fmt: skip

    def __str__(self) -> str:
        """The singular values, for messages."""
        return ", ".join(f"{value:.2g}" for value in self.values)


def singular_values(matrix: Array) -> Array:
    """Singular values as shares of the largest, in falling order."""
    if not matrix.size:
        return np.zeros(0)
    values = np.linalg.svd(matrix, compute_uv=False)
    return np.asarray(values / max(values[0], 1e-300))


def rank_of(values: Array, residual: float = 0.0) -> Rank:
    """The rank that singular values (shares of the largest, falling) stand for.

    Where all are either large or zero it is plain. Where some lie between, the widest gap parts
    those that count from those that rounding made. Nothing is reported below the rounding that the
    `residual` of the closed loops (without unit) gives away.
    """
    between = (values > RANK) & (values < ROUNDED)
    count = int((values > RANK).sum())
    if not between.any():
        return Rank(count, values)
    floor = max(RANK, residual)
    cuts = [k for k in range(1, len(values) + 1) if k == len(values) or values[k] < ROUNDED]
    quotients = [_quotient(values, k, floor) for k in cuts]
    best = int(np.argmax(quotients))
    return Rank(cuts[best], values, quotients[best] >= CLEAR)


def _quotient(values: Array, count: int, floor: float) -> float:
    """The ratio of the values before and after a cut."""
    after = values[count] if count < len(values) else 0.0
    return float(max(values[count - 1], floor) / max(after, floor))


def spanning_rows(matrix: Array, rank: int) -> tuple[int, ...]:
    """Rows that span the row space, the largest remaining one first (pivoted Gram-Schmidt)."""
    rest, rows = matrix.copy(), []
    for _ in range(rank):
        sizes = (rest**2).sum(axis=1)
        row = int(np.argmax((sizes / max(sizes.max(), 1e-300)).round(12)))
        rows.append(row)
        direction = rest[row] / np.linalg.norm(rest[row])
        rest -= np.outer(rest @ direction, direction)
    return tuple(sorted(rows))


def allowed_motions(matrix: Array, rank: int) -> Array:
    """An orthonormal basis (n, n - rank) of the motions that rows (m, n) without units allow."""
    return np.linalg.svd(matrix)[2][rank:].T


def choose_independent(motions: Sequence[Array], preferred: Sequence[Sequence[int]]) -> list[int]:
    """Joints that determine all others, in the order of their choice.

    Parameters
    ----------
    motions : bases (n, m) of `allowed_motions`, at home first, then at other configurations.
    preferred : joints 0 .. n - 1 in groups, the most wanted group first, and in each of them the
        most wanted joint first; what no group names comes last.

    Returns
    -------
    m joints. Of a group those are taken whose pivots are large enough: in the order of the group,
    except those with less than `PIVOT` of the largest.
    """
    size, count = motions[0].shape
    named = {joint for group in preferred for joint in group}
    groups = [*preferred, [joint for joint in range(size) if joint not in named]]
    chosen: list[int] = []
    for least, considered in ((MOVES, motions), (PRECISE, motions), (0.0, motions[:1])):
        rest = [_without(motion, chosen) for motion in considered]
        for group in groups:
            left = [joint for joint in group if joint not in chosen]
            while left and len(chosen) < count:
                pivots = [min(float(np.linalg.norm(one[joint])) for one in rest) for joint in left]
                largest = max(pivots)
                if largest <= least:
                    break
                joint = next(
                    joint
                    for joint, pivot in zip(left, pivots, strict=True)
                    if pivot >= PIVOT * largest
                )
                chosen.append(joint)
                left.remove(joint)
                rest = [_without(one, [joint]) for one in rest]
    return chosen


def _without(motion: Array, joints: Sequence[int]) -> Array:
    """The part (n, m) of motions in which the joints do not move."""
    rest = motion.copy()
    for joint in joints:
        if (size := np.linalg.norm(rest[joint])) > 0:
            direction = rest[joint] / size
            rest -= np.outer(rest @ direction, direction)
    return rest
