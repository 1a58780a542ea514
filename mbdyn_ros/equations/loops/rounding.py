"""Loops whose numbers are rounded: closed as well as they can be, and what stays open then.

A planar loop in space has redundant rows. Where a description is rounded they contradict each
other a little, and no configuration closes all of them. The rows that count, which are as many as
the rank (see `rank`), are closed; what the others leave open is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.model import Array
from ...program.continuation import CLOSED
from .closure_gap import ClosureGap
from .cluster_equations import LEFT_OPEN, ClusterEquations
from .rank import Rank, rank_of, singular_values

WRONG = 1e-4
"""Gap, as a share of the way around a loop, beyond which a file is not rounded but wrong."""

ALMOST = 1e-2
"""Largest gap (rad, or share of the size) from which the rows that count are tried alone."""

HOLD = 1e-3
"""Weight of the way that joints move where they shall not follow rounded rows far."""

NEARBY = 0.02
"""How far (rad, or share of the size) configurations lie at which the rank is taken too."""


@dataclass(frozen=True)
class Rounding:
    """What rounding leaves open at home: the gap, the loop where it is widest, and the rank."""

    loop: str
    gap: ClosureGap
    rank: Rank

    def __str__(self) -> str:
        return (
            f"loop {self.loop!r} has rounded numbers and stays open by {self.gap} at home, in "
            "directions in which its joints cannot move"
        )


def rounding_at(equations: ClusterEquations, closed: Array, rank: Rank) -> Rounding:
    """What a configuration that closes the rows that count leaves open."""
    loop, gap = equations.worst_gap(closed)
    return Rounding(loop, gap, rank)


def rank_at(equations: ClusterEquations, x: Array) -> Rank:
    """The rank at a configuration that is closed, or nearly so."""
    return rank_of(singular_values(equations.scaled(x)), equations.misfit(x))


def is_exact(equations: ClusterEquations, x: Array) -> bool:
    """Whether a configuration closes all rows."""
    return equations.gap(x) <= CLOSED and equations.aligned(x)


def is_tolerable(equations: ClusterEquations, x: Array) -> bool:
    """Whether what a configuration leaves open can be rounding."""
    _, gap = equations.worst_gap(x)
    return gap.metres <= WRONG * equations.units.around and gap.radians <= LEFT_OPEN


def nearly_closed(
    equations: ClusterEquations, guess: Array, free: Sequence[int], closed: Array
) -> Array | None:
    """A configuration near `guess` that closes the rows that count.

    Parameters
    ----------
    closed : what closing all rows came to, by moving the coordinates `free`.

    Returns
    -------
    `closed` itself where it is exact and nothing is rounded; None where even the rows that count
    stay open. What the others leave open may be any gap.
    """
    if is_exact(equations, closed) and not rank_at(equations, closed).is_rounded:
        return closed
    if equations.linear or equations.misfit(closed) > ALMOST:
        return None
    near = guess
    for _ in range(2):  # the second time it has next to no way to go
        near = equations.close(near, free, HOLD)
    settled = equations.settle(near, rank_at(equations, near).count)
    return settled if settled is not None and equations.aligned(settled) else None


def generic_rank(equations: ClusterEquations, closed: Array) -> Rank:
    """The rank at a closed configuration and at others around it, by the largest values seen."""
    home = rank_at(equations, closed)
    random = np.random.default_rng(1)
    values, residual = home.values, equations.misfit(closed)
    for _ in range(5):
        away = NEARBY * random.normal(size=len(closed)) * equations.units.columns
        near = equations.settle(closed + away, home.count)
        if near is not None:
            values = np.maximum(values, singular_values(equations.scaled(near)))
            residual = max(residual, equations.misfit(near))
    return rank_of(values, min(residual, LEFT_OPEN))
