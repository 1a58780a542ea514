"""The search for closed configurations of a cluster from a rough one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...model.model import Array
from .cluster_equations import ClusterEquations

FAR_FROM_GUESS = 0.5
"""Distance (rad or unit) from a rough guess over which other ways to close are tried."""

TRIALS = 12
"""How many other ways are tried."""

SAME = 1e-6
"""Distance (rad or unit) between configurations that are one."""


def closings(
    equations: ClusterEquations,
    rough: Array,
    free: Sequence[int],
    accepted: Callable[[Array, Array], Array | None],
) -> list[Array]:
    """Closed configurations that moving the coordinates `free` of `rough` gives, nearest first.

    A guess far from every closing may be drawn to a far one, so others are tried then. Closings
    within the joints' limits come first.

    Parameters
    ----------
    accepted : (guess, what closing it came to) -> the configuration that is taken, or None.
    """
    found: list[Array] = []
    for guess in _guesses(equations, rough, list(free)):
        x = accepted(guess, equations.close(guess, free))
        if x is None:
            continue
        x = _with_turns_of(equations, x, rough)
        if all(equations.way(x, other) > SAME for other in found):
            found.append(x)
        near = equations.way(found[0], rough) <= FAR_FROM_GUESS
        if near and not _is_outside(equations, found[0]):
            break
    return sorted(found, key=lambda x: (_is_outside(equations, x), equations.way(x, rough)))


def _guesses(equations: ClusterEquations, rough: Array, free: list[int]) -> Iterator[Array]:
    """Where to begin: `rough` itself, then others within the limits, the same at every call."""
    yield rough
    random = np.random.default_rng(2)
    reach = np.where(equations.turns, np.pi, equations.steps)[free]
    lower, upper = (np.clip(bound[free], -reach, reach) for bound in equations.limits)
    for _ in range(TRIALS):
        guess, share = rough.copy(), random.uniform(0.0, 1.0, len(free))
        guess[free] = np.where(
            lower < upper, lower + share * (upper - lower), rough[free] + reach * (2 * share - 1)
        )
        yield guess


def _with_turns_of(equations: ClusterEquations, x: Array, rough: Array) -> Array:
    """The same configuration, turned within half a turn of `rough`, or else within the limits."""
    turns = equations.turns
    near = x + np.where(turns, 2 * np.pi * np.round((rough - x) / (2 * np.pi)), 0.0)
    for turn in (2 * np.pi, -2 * np.pi):
        other = near + turn
        better = turns & (equations.beyond(near) != 0.0) & (equations.beyond(other) == 0.0)
        near = np.where(better, other, near)
    return near


def _is_outside(equations: ClusterEquations, x: Array) -> bool:
    return bool(np.abs(equations.beyond(x) / equations.steps).max(initial=0.0) > SAME)
