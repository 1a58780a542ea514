"""Through a change point by inertia: one long step that never asks what holds at the point.

At a change point two ways of a mechanism cross, and its equations determine no acceleration. But
each of the ways is smooth, and so is a motion along it: with velocities that do not jump, the
accelerations jump least, namely not at all, where it stays on its own. So the positions of all
joints, told before the point, are continued beyond it by a polynomial and closed there; this
chooses the branch. Then one step of collocation (`integration.gauss`) with half of its points on
either side makes of both the solution of the equations of motion, to their full accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...array import Array
from ...assembly.chart import Chart
from ...integration.gauss import GaussStep
from ...robot import Robot
from ..trajectory import Trajectory
from .motion import Motion
from .part import Instant
from .prediction import predicted
from .segment import SAMPLED, joined
from .side import NoCrossingError, Side
from .soundness import UNEVEN, require_balance, require_even, require_free_motion, require_one_mode

STEP_POINTS = 16
"""Points of the step, half of them before the change point."""

MOST_ROUNDS = 60
"""Iterations within which the step must have converged."""


@dataclass(frozen=True)
class Crossing:
    """The motion from `start` through a change point at `time` to the state y at `end`.

    robot : in the coordinates of y, on the branch beyond. nodes : the motion at the points of
    the step. error : share of the motion, or of its energy, that the step may miss.
    """

    start: Instant
    time: float
    end: float
    y: Array
    tree_position: Array
    robot: Robot
    first: Trajectory
    nodes: Trajectory
    step: GaussStep
    error: float

    def trajectory(self, times: Array | None, duration: float) -> Trajectory:
        """The motion at those of the times that the step spans; None: where it begins.

        Where the step goes beyond the duration, the motion ends there.
        """
        last = self.end >= duration
        if times is None and not last:
            return self.first
        if times is None:
            times = np.array([self.start.time, duration])
        wanted = times[(times >= self.start.time) & ((times < self.end) | last)]
        values: dict[str, Any] = {
            name: self.step.between(getattr(self.nodes, name), wanted)
            for name in (*SAMPLED, "work")
        }
        return replace(self.nodes, **{**values, "time": wanted})


def crossing(
    near: Side,
    chart: Chart,
    start: Instant,
    middle: float,
    beyond: Callable[[Array], Side],
) -> Crossing:
    """Go through a change point.

    Parameters
    ----------
    near : the coordinates before it. chart : of the linkage that meets it.
    start, middle : where the step begins, and when about it is at the change point.
    beyond : coordinates that serve at tree positions behind it.

    Raises
    ------
    NoCrossingError
        The motion cannot be told to lead on; the message says why.
    """
    step = GaussStep(start.time, 2 * middle - start.time, STEP_POINTS)
    initial = start.y.copy()
    near.motion.work(initial)[:] = 0.0
    far, states, places = predicted(near, chart, step, initial, start, beyond)
    require_free_motion(near, far, places[-1], states[-1])
    sides = [near] * (STEP_POINTS // 2) + [far] * (STEP_POINTS // 2)

    def slopes_at(states: Array) -> Array:
        slopes = []
        for side, t, y, place in zip(sides, step.times.tolist(), states, places, strict=True):
            side.go(place)
            slopes.append(side.motion.rate(t, y))
        return np.array(slopes)

    states, slopes = _solved(near.motion, step, initial, states, slopes_at)
    places = np.array(
        [side.tree_position(y, at) for side, y, at in zip(sides, states, places, strict=True)]
    )
    end = step.end(initial, slopes)
    near.motion.normalize(end)
    require_one_mode([side.motion for side in sides], step, states)
    nodes, first = _sampled(near, far, step, states, places, start, initial)
    uneven = require_even(step, initial, end, slopes, nodes)
    place = far.tree_position(end, places[-1])
    if not np.isfinite(place).all():
        raise NoCrossingError("the loops do not close beyond it")
    near.go(start.tree_position)
    far.go(place)
    unbalanced = require_balance(near.motion, far.motion, start, end)
    return Crossing(
        start, _instant(chart, step, places), 2 * middle - start.time, end, place, far.robot,
        first, nodes, step, max(uneven, unbalanced),
    )  # fmt: skip


def _solved(
    motion: Motion,
    step: GaussStep,
    initial: Array,
    states: Array,
    slopes_at: Callable[[Array], Array],
) -> tuple[Array, Array]:
    """States and slopes at the points, by fixed-point iteration down to rounding."""
    before = np.inf
    for _ in range(MOST_ROUNDS):
        slopes = slopes_at(states)
        after = step.states(initial, slopes)
        motion.normalize(after)
        change = float(np.abs(after - states).max())
        states = after
        if not np.isfinite(change):
            break
        if change >= before / 2 and change <= UNEVEN * float(np.ptp(states, axis=0).max()):
            return states, slopes
        before = change
    raise NoCrossingError("no step across it converges")


def _sampled(
    near: Side,
    far: Side,
    step: GaussStep,
    states: Array,
    places: Array,
    start: Instant,
    initial: Array,
) -> tuple[Trajectory, Trajectory]:
    """The motion at the points, and where the step begins."""
    half = STEP_POINTS // 2
    times = np.concatenate([[start.time], step.times[:half]])
    before = near.sampled(
        times, np.vstack([initial, states[:half]]), np.vstack([start.tree_position, places[:half]])
    )
    after = far.sampled(step.times[half:], states[half:], places[half:])
    whole = joined([before, after], [np.zeros(2)] * 2, [])
    parts: tuple[dict[str, Any], ...] = tuple(
        {name: getattr(whole, name)[chosen] for name in (*SAMPLED, "work")}
        for chosen in (slice(1, None), slice(0, 1))
    )
    nodes, first = (replace(whole, **part) for part in parts)
    return nodes, first


def _instant(chart: Chart, step: GaussStep, places: Array) -> float:
    """When the rows lose their rank."""
    from scipy.optimize import minimize_scalar  # slow to import, and rarely needed

    def regularity(t: float) -> float:
        return chart.regularity(chart.matrix(step.between(places, np.array([t]))[0]))

    between = step.times[STEP_POINTS // 2 - 1 : STEP_POINTS // 2 + 1]
    found = minimize_scalar(regularity, bounds=between, method="bounded", options={"xatol": 1e-12})
    return float(found.x)
