"""The choice of a cluster's independent joints where the description makes none.

The motions that the constraints allow are the null space of their matrix. Joints determine all
others where their rows of a basis of it are a regular matrix: they are chosen one after the
other, as pivots of an orthogonal elimination (QR) of these rows, at several configurations at
once. Slides are measured in lengths of the cluster, so that they compare with angles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.model import Array

PIVOT = 0.1
"""Share of the largest pivot from which on a joint that comes first is taken instead."""

MOVES = 1e-4
"""Least pivot (share of the whole motion) of a joint that is preferred, but would not be chosen."""

PRECISE = 1e-6
"""Least pivot that says more than rounding."""


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
    but for those with less than `PIVOT` of the largest.
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
    """The part (n, m) of motions in which the joints stand still."""
    rest = motion.copy()
    for joint in joints:
        if (size := np.linalg.norm(rest[joint])) > 0:
            direction = rest[joint] / size
            rest -= np.outer(rest @ direction, direction)
    return rest
