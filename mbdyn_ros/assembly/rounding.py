"""Loops whose numbers are rounded: closed as well as they can be, and what stays open then.

A planar loop in space has redundant rows. Where a description is rounded they contradict each
other a little, and no configuration closes all of them. The rows that count, which are as many as
the rank (see `rank`), are closed; the gaps that the others leave are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..model.model import Array
from ..program.continuation import CLOSED
from .closure_gap import ClosureGap
from .constraint_equations import LEFT_OPEN, ClusterEquations
from .rank import CLEAR, Rank, rank_of, singular_values

WRONG = 1e-4
"""Gap, as a share of the way around a loop, beyond which a file is not rounded but wrong."""

ALMOST = 1e-2
"""Largest gap (rad, or share of the size) from which the rows that count are tried alone."""

HOLD = 1e-3
"""Weight of the way that joints move where they shall not follow rounded rows far."""

AROUND = (0.02, 0.02, 0.02, 0.02, 0.02, 0.1, 0.1, 0.1)
"""Distances (rad, or share of the size) at which rank and joints are judged near home."""

FARTHER = (0.3,) * 8 + (0.6,) * 4
"""The same, at which a home is looked for that is not singular."""


@dataclass(frozen=True)
class Rounding:
    """Gap that rounding leaves open at home, the loop where it is widest, and the rank."""

    loop: str
    gap: ClosureGap
    rank: Rank

    def __str__(self) -> str:
        return (
            f"loop {self.loop!r} has rounded numbers and stays open by {self.gap} at home, in "
            "directions in which its joints cannot move"
        )


def rounding_at(equations: ClusterEquations, closed: Array, rank: Rank) -> Rounding:
    """The gap that is left open where the rows that count are closed."""
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


def is_opposite(equations: ClusterEquations, x: Array) -> bool:
    """Whether a configuration is closed up to a half turn, which the residual cannot detect."""
    closed = is_tolerable(equations, x) or equations.gap(x) <= CLOSED
    return closed and not equations.aligned(x)


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
    rank, residual = rank_at(equations, near), equations.misfit(near)
    count = rank.count if residual <= LEFT_OPEN else int((rank.values > CLEAR * residual).sum())
    settled = equations.settle(near, count)
    return settled if settled is not None and equations.aligned(settled) else None


def closed_around(
    equations: ClusterEquations, closed: Array, spreads: Sequence[float] = AROUND
) -> Iterator[Array]:
    """Configurations around a closed one that are closed as well as it.

    spreads : how far from it they are looked for, rad or share of the size.
    """
    random, count = np.random.default_rng(1), rank_at(equations, closed).count
    for spread in spreads:
        away = spread * random.normal(size=len(closed)) * equations.units.columns
        near = equations.settle(closed + away, count)
        if near is not None and equations.misfit(near) <= LEFT_OPEN:
            yield near


def regular_near(equations: ClusterEquations, closed: Array, rank: int) -> Array | None:
    """The closed configuration around a singular one that is farthest from singular ones."""
    found = [closed, *closed_around(equations, closed, FARTHER)]
    best = max(found, key=lambda x: singular_values(equations.scaled(x))[rank - 1])
    return None if best is closed else best


def generic_rank(equations: ClusterEquations, around: Sequence[Array]) -> Rank:
    """The rank at closed configurations, by the largest singular values seen."""
    values = [singular_values(equations.scaled(x)) for x in around]
    return rank_of(np.max(values, axis=0), max(equations.misfit(x) for x in around))


def open_text(equations: ClusterEquations, best: Array, almost: Array | None) -> str:
    """Words about loops that stay open.

    best : where the gap was least. almost : a configuration that closes the rows that count, and
    leaves more open than rounding explains; None where there is none.
    """
    if is_opposite(equations, best):
        return (
            "a gap of half a turn is left: the two frames of the closing joint point opposite "
            "ways. Turn one of them by pi (across the axis, if the axes themselves are opposite)"
        )
    if almost is None:
        return f"a gap of {equations.gap_at(best)} is left"
    loop, gap = equations.worst_gap(almost)
    return (
        f"a gap of {gap} is left in loop {loop!r} in directions in which its joints cannot move. "
        f"Rounding explains no more than {WRONG * equations.units.around:.2g} m ({WRONG:g} of the "
        f"way around the loop) and {LEFT_OPEN:g} rad: a length, an axis or a frame of this loop "
        "is wrong, in its closing joint or in a joint on the way"
    )
