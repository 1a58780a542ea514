"""Which change point a motion has come to, and from where to cross it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...array import Array
from ...assembly.chart import Chart
from ..charts.quality import SINGULAR
from .crossing import Crossing, crossing
from .part import NO_MOTION, Instant, Part
from .prediction import lagrange
from .side import NoCrossingError, Side

NEAR = 1e-2
"""Regularity below which a failure is put down to a change point."""

REGULAR = 10 * SINGULAR
"""Regularity from which on rounding leaves enough digits to begin with."""

BEGINNINGS = tuple(0.3 * 0.7**k for k in range(17))
"""Regularities at which a crossing is begun, one after the other: a long step errs by its
length, a short one by rounding."""

READINGS = 4
"""Regularities from which it is told when they vanish."""

GOOD_ENOUGH = 1e-11
"""Error of a crossing that no shorter one need better."""

TOO_NEAR = "the motion starts, or something happens, too near it"


SERVES = 0.2
"""Share of the best choice's volume from which on joints are coordinates through a change point."""


@dataclass(frozen=True)
class Passage:
    """A change point of `chart`'s linkage, crossed from the state `start` of a part."""

    start: Instant
    chart: Chart
    crossing: Crossing


def passed(
    part: Part,
    near: Side,
    exchanged: Callable[[Side, list[str], Instant], tuple[Side, Instant]],
    beyond: Callable[[Side, Array], Side],
) -> Passage | None:
    """Cross the change point that ended a part; None where it ended elsewhere.

    Parameters
    ----------
    near : the part's coordinates.
    exchanged : those of other independent joints at an instant, and the instant in them.
    beyond : those of the same joints at tree positions behind a change point.

    Raises
    ------
    NoCrossingError
        Inertia does not lead through it; the message says why.
    """
    steps = list(part.past)
    here = Instant(part.integrator.time, part.integrator.state, part.watch.tree_position)
    found = [(chart, _regularities(chart, [*steps, here])) for chart in part.watch.charts]
    if not found:
        return None
    chart, values = min(found, key=lambda one: one[1][-1])
    if values[-1] >= NEAR:
        return None
    falling = len(steps)
    while falling and values[falling - 1] > values[falling]:
        falling -= 1
    steps, values = steps[falling:], values[falling:]
    middle = _vanishing([one.time for one in [*steps, here]], values)
    serving = [k for k, one in enumerate(steps) if values[k] >= REGULAR and one.time < middle]
    if not serving:
        raise NoCrossingError(TOO_NEAR)
    order = dict.fromkeys(
        min(serving, key=lambda k: abs(np.log(values[k] / wanted))) for wanted in BEGINNINGS
    )
    joints = _serving(chart, near, steps[serving[-1]])
    best: Passage | None = None
    failure: Exception = NoCrossingError("")
    for k in order:
        try:
            side, start = near, steps[k]
            if joints is not None:
                side, start = exchanged(near, joints, start)
            one = crossing(side, chart, start, middle, partial(beyond, side))
        except NO_MOTION as error:
            failure = error
            continue
        if best is not None and one.error >= best.crossing.error:
            break
        best = Passage(steps[k], chart, one)
        if one.error < GOOD_ENOUGH:
            break
    if best is None:
        raise NoCrossingError(str(failure)) from failure
    return best


def _serving(chart: Chart, near: Side, instant: Instant) -> list[str] | None:
    """Independent joints that serve at a change point; None where the present ones do."""
    matrix = chart.matrix(instant.tree_position)
    best = chart.best(matrix)
    if chart.volume(matrix, chart.linkage.independent) >= SERVES * chart.volume(matrix, best):
        return None
    return chart.exchanged(best, near.robot.independent_joints)


def _regularities(chart: Chart, instants: Sequence[Instant]) -> list[float]:
    return [chart.regularity(chart.matrix(one.tree_position)) for one in instants]


def _vanishing(times: Sequence[float], values: Sequence[float]) -> float:
    """When values that fall will vanish: where a polynomial through the last ones does."""
    if values[-1] < SINGULAR / 10:
        return times[-1]
    if len(values) == 1:
        raise NoCrossingError(TOO_NEAR)
    return float(lagrange(values[-READINGS:], 0.0) @ times[-READINGS:])
