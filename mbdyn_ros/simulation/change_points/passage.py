"""Which change point a run has come to, and from where to cross it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...array import Array
from ...assembly.chart import Chart
from ...errors import MbdynError, SimulationWarning, warn
from ...robot import Robot
from ..adaptive.chart_motion import ChartMotion
from ..adaptive.run import NO_MOTION, Instant, Part, Run
from ..charts import SINGULAR, closes, suits, translated_velocity, with_joints
from ..trajectory import CHANGE_POINT, Transition
from .crossing import Crossing, NoCrossingError, crossing, lagrange

NEAR = 1e-2
"""Regularity below which a failure is put down to a change point."""

REGULAR = 10 * SINGULAR
"""Regularity from which on rounding leaves enough digits to begin with."""

BEGINNINGS = tuple(0.3 * 0.7**k for k in range(17))
"""Regularities at which a crossing is begun, one after the other: a long step errs by its
length, a short one by rounding."""

READINGS = 4
"""Regularities from which the time when they vanish is found."""

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


def by_inertia(run: Run, part: Part, near: ChartMotion) -> tuple[Robot, Instant] | None:
    """Go on through the change point that ended a part; None where it ended elsewhere.

    Both the part and what crosses the point are kept by the run.

    Parameters
    ----------
    near : the coordinates of the part.

    Returns
    -------
    Coordinates that serve beyond the change point, and an instant there in them.

    Raises
    ------
    NoCrossingError
        Inertia does not lead through it; the message says why.
    """
    passage = _passed(run, part, near)
    if passage is None:
        return None
    crossing, chart = passage.crossing, passage.chart
    part.recorder.rewind(passage.start.time)
    part.integrator.state = passage.start.y
    run.keep(part, near)
    run.parts.append(crossing.trajectory(run.times, run.duration))
    run.work.append(part.motion.work(crossing.y))
    run.happens(Transition(crossing.time, chart.linkage.cluster.name, CHANGE_POINT))
    warn(
        f"{run.robot.model.source}: at t = {crossing.time:.9g} s {chart.at_change_point()}; "
        "it continues by inertia, along the motion with the least change of acceleration",
        SimulationWarning,
    )
    return crossing.robot, Instant(crossing.end, crossing.y, crossing.tree_position)


def _passed(run: Run, part: Part, near: ChartMotion) -> Passage | None:
    """The passage with the least error; None where the part ended elsewhere."""
    if part.watch is None:
        return None
    steps = list(part.past)
    here = Instant(part.integrator.time, part.integrator.state, part.watch.tree_position)
    found = [(chart, _regularities(chart, [*steps, here])) for chart in part.watch.charts]
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
                side, start = _exchanged(run, near, joints, start)
            one = crossing(side, chart, start, middle, partial(_beyond, run, side.robot))
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


def _serving(chart: Chart, near: ChartMotion, instant: Instant) -> list[str] | None:
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


def _exchanged(
    run: Run, near: ChartMotion, joints: list[str], instant: Instant
) -> tuple[ChartMotion, Instant]:
    """The motion in other independent joints, and an instant of it in them."""
    chart, whole = near.robot, instant.tree_position
    side = run.in_coordinates(_at(run, chart, tuple(joints), whole))
    q = whole[list(side.robot.system.coordinates.q)]
    _, v = near.motion.split(instant.y)
    v = translated_velocity(chart, side.robot, whole, v)
    return side, replace(instant, y=side.motion.state(q, v))


def _beyond(run: Run, chart: Robot, whole: Array) -> ChartMotion:
    """The same coordinates on the branch of tree positions after a change point."""
    return run.in_coordinates(_at(run, chart, chart.independent_joints, whole))


def _at(run: Run, chart: Robot, joints: Sequence[str], whole: Array) -> Robot:
    """Coordinates that serve at tree positions on either side of a change point."""
    used = [one for one in run.charts if one is not chart and one.independent_joints == joints]
    moved = [chart.with_home(whole)] if joints == chart.independent_joints else []
    for other in (*used, *moved):
        if suits(other, whole) and closes(other, whole):
            return other
    try:
        other = with_joints(chart, list(joints), whole)
    except MbdynError as error:
        raise NoCrossingError(f"its other side cannot be set up: {error}") from error
    if not closes(other, whole):
        raise NoCrossingError("the loops do not close near it")
    run.charts.append(other)
    return other
