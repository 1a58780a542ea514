"""A rough motion through a change point, from which a step across it begins to be solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...array import Array
from ...assembly.chart import Chart
from ...integration.gauss import GaussStep
from .part import Instant
from .side import NoCrossingError, Side

RECENT, CONTINUED = 6, 2
"""Points that a polynomial goes through which continues the motion; points so reached."""

ASIDE = 0.1
"""Share of the way from point to point by which closing the loops may change what is continued."""

MOST_RATES = 1000
"""Evaluations of the equations within which each side must be integrated."""


def predicted(
    near: Side,
    chart: Chart,
    step: GaussStep,
    initial: Array,
    start: Instant,
    beyond: Callable[[Array], Side],
) -> tuple[Side, Array, Array]:
    """The other side, and states (s, n) and tree positions at the points of a step, roughly.

    Integrated to the middle, continued beyond it by polynomials, and integrated there; see
    `crossing.crossing` for the arguments.

    Raises
    ------
    NoCrossingError
        Nothing beyond continues the motion.
    """
    half = len(step.times) // 2
    before = np.concatenate([[start.time], step.times[:half]])
    states, places = _integrated(near, initial, before, start.tree_position)
    rows = list(near.robot.system.coordinates.q)
    for k in range(half, half + CONTINUED):
        factors = lagrange(step.times[k - RECENT : k], step.times[k])
        place = _continued(chart, factors @ np.array(places[-RECENT:]), places[-1])
        y = factors @ np.array(states[-RECENT:])
        y[: near.motion.nq] = place[rows]
        states.append(y)
        places.append(place)
    far = beyond(places[-1])
    more, there = _integrated(far, states[-1], step.times[half + CONTINUED - 1 :], places[-1])
    states, places = [*states[1:-1], *more], [*places[1:-1], *there]
    if not np.isfinite(places).all():
        raise NoCrossingError("the loops do not close beyond it")
    return far, np.array(states), np.array(places)


def _continued(chart: Chart, expected: Array, before: Array) -> Array:
    """Closed tree positions where a polynomial leads, refused where they lie aside."""
    place = chart.closed(expected)
    way = np.abs(expected - before).max()
    if place is None or not np.abs(place - expected).max() < ASIDE * way:
        raise NoCrossingError("the way that continues the motion closes no loop beyond it")
    return place


def _integrated(
    side: Side, y: Array, times: Array, place: Array
) -> tuple[list[Array], list[Array]]:
    """States and tree positions at times, roughly; the first are given."""
    from scipy.integrate import solve_ivp  # slow to import, and rarely needed

    side.go(place)
    count = 0

    def rate(t: float, y: Array) -> Array:
        nonlocal count
        count += 1
        if count > MOST_RATES:
            raise NoCrossingError("the motion beside it is too wild for one step")
        return side.motion.rate(t, y)

    found = solve_ivp(rate, (times[0], times[-1]), y, "DOP853", times, rtol=1e-9, atol=1e-11)
    if not found.success:
        raise NoCrossingError("the motion beside it cannot be integrated")
    places = [place]
    for one in found.y.T[1:]:
        places.append(side.tree_position(one, places[-1]))
    return list(found.y.T), places


def lagrange(times: Sequence[float] | Array, t: float) -> Array:
    """Factors of values at times for the polynomial through them, at t."""
    at = np.array(times)
    return np.array(
        [np.prod((t - np.delete(at, k)) / (at[k] - np.delete(at, k))) for k in range(len(at))]
    )
