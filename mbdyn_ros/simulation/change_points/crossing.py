"""Through a change point by inertia: one long step that never asks what holds at the point.

At a change point two ways of a mechanism cross, and its equations determine no acceleration. But
each of the ways is smooth, and so is a motion along it: with velocities that do not jump, the
accelerations jump least, namely not at all, where it stays on its own. So the positions of all
joints, known before the point, are continued beyond it by a polynomial and closed there; this
chooses the branch. Then one step of collocation (`GaussStep`) with half of its points on
either side makes of both the solution of the equations of motion, to their full accuracy.

One long step through a whole interval, by collocation at Gauss points.

The slopes of a solution are known at the Gauss points alone, by a polynomial through them; with s
points the error of the end is of order 2 s (Hairer, Norsett and Wanner, II.7). What the equations
are between the points, they are never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from ...array import Array
from ...assembly.chart import Chart
from ...errors import SimulationError
from ...robot import Robot
from ..adaptive.chart_motion import SAMPLED, ChartMotion, joined
from ..adaptive.motion import Motion
from ..adaptive.run import Instant
from ..trajectory import Trajectory


class GaussStep:
    """The Gauss points of an interval, and polynomials through values there.

    times : (s,) the points, rising, none at an end of the interval.
    """

    def __init__(self, start: float, end: float, stages: int) -> None:
        self._start, self._length = start, end - start
        nodes, weights = legendre.leggauss(stages)
        self.times: Array = start + (1 + nodes) / 2 * self._length
        degrees = np.arange(stages)[:, None] + 0.5
        self._coefficients = degrees * legendre.legvander(nodes, stages - 1).T * weights
        self._integrals = self._integrated(nodes)
        self._whole = self._integrated(np.ones(1))[0]

    def states(self, initial: Array, slopes: Array) -> Array:
        """States (s, n) at the points, by slopes (s, n) there."""
        result: Array = initial + self._integrals @ slopes
        return result

    def end(self, initial: Array, slopes: Array) -> Array:
        """The state (n,) at the end of the interval."""
        result: Array = initial + self._whole @ slopes
        return result

    def between(self, values: Array, times: Array) -> Array:
        """Values (N, n) at times (N,) within the interval, by those (s, n) at the points."""
        shares = 2 * (times - self._start) / self._length - 1
        vander = legendre.legvander(shares, len(self.times) - 1)
        result: Array = vander @ (self._coefficients @ values)
        return result

    def roughness(self, values: Array) -> Array:
        """The last two coefficients (n,) of Legendre's series: what polynomials cannot follow."""
        result: Array = np.abs((self._coefficients @ values)[-2:]).max(axis=0)
        return result

    def _integrated(self, shares: Array) -> Array:
        """Factors (N, s) of slopes at the points for their integral from the start."""
        sums = legendre.legint(np.eye(len(self.times)), lbnd=-1)
        return np.asarray(
            self._length / 2 * legendre.legvander(shares, len(self.times)) @ sums
            @ self._coefficients
        )  # fmt: skip


STEP_POINTS = 16
"""Points of the step, half of them before the change point."""

RECENT, CONTINUED = 6, 2
"""Points that a polynomial goes through which continues the motion; points so reached."""

ASIDE = 0.1
"""Share of the way from point to point by which closing the loops may change what is continued."""

MOST_RATES = 1000
"""Evaluations of the equations within which each side must be integrated."""

MOST_ROUNDS = 60
"""Iterations within which the step must have converged."""

UNEVEN = 1e-8
"""Share of the motion in the step that its polynomials may miss."""

UNBALANCED = 1e-8
"""Share of the energy that moved which the step may leave unexplained."""


class NoCrossingError(SimulationError):
    """A change point that inertia does not lead through, or not in a step from this state."""


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
    near: ChartMotion,
    chart: Chart,
    start: Instant,
    middle: float,
    beyond: Callable[[Array], ChartMotion],
) -> Crossing:
    """Go through a change point.

    Parameters
    ----------
    near : the coordinates before it. chart : of the linkage that meets it.
    start, middle : where the step begins, and when about it is at the change point.
    beyond : coordinates that serve at tree positions after it.

    Raises
    ------
    NoCrossingError
        It is not certain that the motion leads on; the message says why.
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
    near: ChartMotion,
    far: ChartMotion,
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


def predicted(
    near: ChartMotion,
    chart: Chart,
    step: GaussStep,
    initial: Array,
    start: Instant,
    beyond: Callable[[Array], ChartMotion],
) -> tuple[ChartMotion, Array, Array]:
    """The other side, and states (s, n) and tree positions at the points of a step, roughly.

    Integrated to the middle, continued beyond it by polynomials, and integrated there; see
    `crossing` for the arguments.

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
    side: ChartMotion, y: Array, times: Array, place: Array
) -> tuple[list[Array], list[Array]]:
    """States and tree positions at times, roughly; the first are given."""
    from scipy.integrate import solve_ivp  # slow to import, and rarely needed

    side.go(place)
    count = 0

    def rate(t: float, y: Array) -> Array:
        nonlocal count
        count += 1
        if count > MOST_RATES:
            raise NoCrossingError("the motion near it is too wild for one step")
        return side.motion.rate(t, y)

    found = solve_ivp(rate, (times[0], times[-1]), y, "DOP853", times, rtol=1e-9, atol=1e-11)
    if not found.success:
        raise NoCrossingError("the motion near it cannot be integrated")
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


def require_free_motion(near: ChartMotion, far: ChartMotion, place: Array, y: Array) -> None:
    """Refuse motions in which something sticks or leans; set the mode beyond the point."""
    touching = near.motion.touching
    if near.motion.dynamics.drifts or (touching is not None and len(touching.resting)):
        raise NoCrossingError("a joint sticks, or something rests on a wall or a stop there")
    far.go(place)
    far.motion.start(0.0, y.copy())
    if far.motion.take_impacts() or far.motion.dynamics.drifts:
        raise NoCrossingError("a wall or a stop is hit, or a joint comes to rest there")


def require_one_mode(motions: Sequence[Motion], step: GaussStep, states: Array) -> None:
    """Refuse steps in which joints come to rest or points pass into walls."""
    for motion, t, y in zip(motions, step.times.tolist(), states, strict=True):
        if motion.dynamics.switching and motion.violated(t, y):
            raise NoCrossingError("a joint comes to rest there")
        if motion.touching is not None:
            gaps, _, _ = motion.touching.contacts.distances(*motion.split(y))
            if not (gaps >= 0).all():
                raise NoCrossingError("a wall or a stop is hit there")


def require_even(
    step: GaussStep, initial: Array, end: Array, slopes: Array, nodes: Trajectory
) -> float:
    """Share of the motion that polynomials miss; refuse what is not one smooth motion."""
    if not nodes.joint_velocity[0] @ nodes.joint_velocity[-1] > 0:
        raise NoCrossingError("the motion turns back near it, and both ways are as good")
    length = float(step.times[-1] - step.times[0])
    moved = max(float(np.abs(end - initial).max()), length * float(np.abs(slopes).max()))
    rough = length * float(step.roughness(slopes).max())
    if not rough <= UNEVEN * moved:
        raise NoCrossingError("the accelerations on both sides do not match")
    positions = nodes.joint_position
    if not step.roughness(positions).max() <= 100 * UNEVEN * np.ptp(positions, axis=0).max():
        raise NoCrossingError("no way beyond it continues the motion smoothly")
    return rough / moved


def require_balance(near: Motion, far: Motion, start: Instant, end: Array) -> float:
    """Share of the energy that moved which a step leaves unexplained; refuse too much of it."""
    kinetic, potential = near.energy(start.y)
    kinetic_end, potential_end = far.energy(end)
    work, loss = far.work(end).tolist()
    gap = abs(kinetic_end + potential_end - kinetic - potential - work + loss)
    moved = max(kinetic, kinetic_end, abs(potential_end - potential), abs(work), loss)
    if not gap <= UNBALANCED * moved:
        raise NoCrossingError(f"a step across it leaves {gap:.2g} J of {moved:.2g} J unexplained")
    return gap / moved
