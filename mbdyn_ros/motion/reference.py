"""A wanted motion through the points of a trajectory, smooth enough for accelerations."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from ..model.model import Array

POWERS = np.arange(6)

State = tuple[Array, Array, Array]
"""Position, velocity and acceleration, (n,) each."""


SAMPLES = 16
"""Parts of the time between two points at whose ends a motion is looked at."""

PIECES_AT_ONCE = 128
"""Pieces that are looked at in one go: few, for a loop may wait for the interpreter meanwhile."""


class Reference:
    """A piecewise polynomial through points.

    Between two points: of degree 5 where both have velocities and accelerations, of degree 3
    where both have velocities; where no point has velocities, a cubic spline at rest at both
    ends. Before the first point the motion rests there. After the last it rests too, unless
    there is only one point: that state holds as it was given.

    Parameters
    ----------
    times : (N,) s, increasing.
    positions : (N, n).
    velocities, accelerations : (N, n), or None where not given.

    Attributes
    ----------
    times : of the points, s. end : the last of them.
    first : the state at the first point; zeros where not given.
    """

    def __init__(
        self,
        times: Array,
        positions: Array,
        velocities: Array | None = None,
        accelerations: Array | None = None,
    ) -> None:
        wrong = np.flatnonzero(np.diff(times) <= 0)
        if len(wrong):
            k = int(wrong[0]) + 1
            raise InputError(
                f"point {k}: time_from_start is {times[k]:g} s, not after the "
                f"{times[k - 1]:g} s of the point before"
            )
        if velocities is None and accelerations is not None and len(times) > 1:
            raise InputError("the points have accelerations but no velocities")
        self.times = times.tolist()
        self.end = self.times[-1]
        zero = np.zeros_like(positions[0])
        speed, curve = (zero if one is None else one[0] for one in (velocities, accelerations))
        self.first: State = positions[0], speed, curve
        if len(times) == 1:
            return
        self._spans = np.diff(times)
        self._before: State = positions[0], zero, zero
        self._after: State = positions[-1], zero, zero
        if velocities is None:
            velocities = spline_velocities(self._spans, positions)
        self._pieces = _pieces(self._spans, positions, velocities, accelerations)

    def at(self, time: float) -> State:
        """Position, velocity and acceleration (n,) at a time, s."""
        if len(self.times) == 1:
            return self.first
        if time < self.times[0]:
            return self._before
        if time > self.end:
            return self._after
        k = min(bisect.bisect_right(self.times, time), len(self.times) - 1) - 1
        powers = (time - self.times[k]) ** POWERS
        rates, curvatures = np.zeros(6), np.zeros(6)
        rates[1:] = POWERS[1:] * powers[:-1]
        curvatures[2:] = POWERS[2:] * POWERS[1:-1] * powers[:-2]
        piece = self._pieces[k]
        return powers @ piece, rates @ piece, curvatures @ piece

    def samples(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Times (M,) and states (M, n) at both ends of every piece and between, for many pieces."""
        if len(self.times) == 1:
            q, v, a = self.first
            yield np.array(self.times), q[None], v[None], a[None]
            return
        begins, size = np.array(self.times), len(self.first[0])
        part = np.linspace(0, 1, SAMPLES + 1)
        for k in range(0, len(self._spans), PIECES_AT_ONCE):
            spans = self._spans[k : k + PIECES_AT_ONCE, None]
            pieces = self._pieces[k : k + PIECES_AT_ONCE]
            states = []
            for order in range(3):  # of the derivative, by powers of the part of the time
                factor = np.prod(POWERS - np.arange(order)[:, None], axis=0)[order:]
                scaled = pieces[:, order:] * (factor * spans ** POWERS[: 6 - order])[:, :, None]
                powers = part[:, None] ** POWERS[: 6 - order]
                states.append((powers @ scaled).reshape(-1, size))
            times = begins[k : k + PIECES_AT_ONCE][: len(spans), None] + spans * part
            yield times.ravel(), states[0], states[1], states[2]


def _pieces(spans: Array, q: Array, v: Array, a: Array | None) -> Array:
    """Coefficients (N - 1, 6, n) by powers of the time since each piece's start."""
    h = spans[:, None]
    pieces = np.zeros((len(spans), 6, q.shape[1]))
    displacement, start, end = q[1:] - q[:-1], v[:-1], v[1:]
    pieces[:, 0], pieces[:, 1] = q[:-1], start
    if a is None:
        pieces[:, 2] = (3 * displacement / h - 2 * start - end) / h
        pieces[:, 3] = (start + end - 2 * displacement / h) / h**2
        return pieces
    first, last = a[:-1], a[1:]
    pieces[:, 2] = first / 2
    pieces[:, 3] = (20 * displacement - (8 * end + 12 * start) * h - (3 * first - last) * h**2) / (
        2 * h**3
    )
    pieces[:, 4] = (
        -30 * displacement + (14 * end + 16 * start) * h + (3 * first - 2 * last) * h**2
    ) / (2 * h**4)  # fmt: skip
    pieces[:, 5] = (12 * displacement - 6 * (end + start) * h - (first - last) * h**2) / (2 * h**5)
    return pieces


def spline_velocities(spans: Array, positions: Array) -> Array:
    """Velocities (N, n) of the cubic spline through the points that rests at both ends.

    Equal accelerations on both sides of every point make a tridiagonal system.
    """
    slopes = np.diff(positions, axis=0) / spans[:, None]
    velocities = np.zeros_like(positions)
    upper = np.zeros(len(positions))
    for k in range(1, len(positions) - 1):
        before, after = spans[k - 1], spans[k]
        pivot = 2 * (before + after) - after * upper[k - 1]
        upper[k] = before / pivot
        right = 3 * (after * slopes[k - 1] + before * slopes[k])
        velocities[k] = (right - after * velocities[k - 1]) / pivot
    for k in range(len(positions) - 2, 0, -1):
        velocities[k] -= upper[k] * velocities[k + 1]
    return velocities


def between(times: Array, rows: Array, time: float) -> Array:
    """Numbers (n,) at a time, on straight lines between rows (N, n); the ends hold beyond them."""
    return np.array([np.interp(time, times, column) for column in rows.T])


def mean_between(times: Array, rows: Array, start: float, end: float) -> Array:
    """Mean (n,) of `between` from one time to a later one: what a value held meanwhile is to be."""
    moments = np.concatenate([[start], times[(times > start) & (times < end)], [end]])
    values = np.array([np.interp(moments, times, column) for column in rows.T])
    return (values[:, 1:] + values[:, :-1]) @ np.diff(moments) / (2 * (end - start))
