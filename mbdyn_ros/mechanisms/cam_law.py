"""Laws of motion of cam followers: displacement over one turn of the cam, segment by segment.

Each segment goes from one displacement to another by a law whose derivatives are written out, so
that velocity, acceleration and jerk are exact (Norton, Cam Design and Manufacturing Handbook; VDI
2143). Segments must join without a jump of velocity; jumps of acceleration are reported.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from ..array import Array
from ..errors import InputError, unknown

Rise = Callable[[Array], tuple[Array, Array, Array, Array]]
"""A rise from 0 to 1 over x from 0 to 1: displacement and its derivatives by x, each (N,)."""


def _polynomial(*coefficients: float) -> Rise:
    orders = [Polynomial(coefficients)]
    for _ in range(3):
        orders.append(orders[-1].deriv())

    def rise(x: Array) -> tuple[Array, Array, Array, Array]:
        y, dy, ddy, dddy = (one(x) for one in orders)
        return y, dy, ddy, dddy

    return rise


def _harmonic(x: Array) -> tuple[Array, Array, Array, Array]:
    c, s = np.cos(np.pi * x), np.sin(np.pi * x)
    return (1 - c) / 2, np.pi / 2 * s, np.pi**2 / 2 * c, -(np.pi**3) / 2 * s


def _cycloidal(x: Array) -> tuple[Array, Array, Array, Array]:
    turn = 2 * np.pi
    c, s = np.cos(turn * x), np.sin(turn * x)
    return x - s / turn, 1 - c, turn * s, turn**2 * c


def _modified_sine(x: Array) -> tuple[Array, Array, Array, Array]:
    """Sines of acceleration: a quarter of a quick one, half of a slow one, a quarter of a quick."""
    middle = (x > 1 / 8) & (x < 7 / 8)
    pace = np.where(middle, 4 * np.pi / 3, 4 * np.pi)
    size = np.where(middle, 9 / 4, 1 / 4)
    phase = pace * x + np.where(middle, np.pi / 3, 0.0)
    start = np.where(middle, 2.0, np.where(x < 1 / 2, 0.0, 4.0))
    c, s, share = np.cos(phase), np.sin(phase), 1 / (4 + np.pi)
    return (
        share * (start + np.pi * x - size * s),
        share * (np.pi - size * pace * c),
        share * size * pace**2 * s,
        share * size * pace**3 * c,
    )


RISES: dict[str, Rise] = {
    "cycloidal": _cycloidal,
    "modified_sine": _modified_sine,
    "polynomial_345": _polynomial(0, 0, 0, 10, -15, 6),
    "polynomial_4567": _polynomial(0, 0, 0, 0, 35, -84, 70, -20),
    "harmonic": _harmonic,
    "constant_velocity": _polynomial(0, 1),
}
"""Laws of motion by name."""

JOINED = 1e-9
"""Gaps (rad, or share of the lift) that rounding of a file explains."""


@dataclass(frozen=True)
class LawSegment:
    """A segment of a law of motion.

    over : rad, of the cam. to : displacement of the follower at its end, m or rad; None: a dwell.
    by : its law, a name of `RISES`.
    """

    over: float
    to: float | None = None
    by: str = "cycloidal"


@dataclass(frozen=True)
class MotionLaw:
    """Displacement of a follower over one turn of its cam, which begins at displacement 0.

    Raises
    ------
    InputError
        The segments are not one turn, do not come back, or join with a jump of velocity; the
        words give the angle.

    Examples
    --------
    >>> law = MotionLaw((LawSegment(2.0, 0.02), LawSegment(1.0), LawSegment(2 * np.pi - 3.0, 0.0)))
    >>> law(np.array([1.0, 2.5]))[0].round(6)
    array([0.01, 0.02])
    """

    segments: tuple[LawSegment, ...]

    def __post_init__(self) -> None:
        for k, one in enumerate(self.segments, 1):
            if one.by not in RISES:
                raise InputError(
                    f"segment {k} of the law of motion: {unknown('law', one.by, RISES)}"
                )
            if not one.over > 0:
                raise InputError(
                    f"segment {k} of the law of motion lasts {math.degrees(one.over):g} deg; give "
                    "an angle above zero"
                )
        whole = math.degrees(self.starts[-1])
        if abs(whole - 360) > math.degrees(JOINED):
            raise InputError(
                f"the segments of the law of motion last {whole:g} deg together; give 360"
            )
        if min(self.levels) < 0 or self.lift <= 0:
            raise InputError(
                f"the law of motion goes from {min(self.levels):g} to {max(self.levels):g}; begin "
                "at the lowest place, 0, and rise from there"
            )
        if abs(self.levels[-1]) > JOINED * self.lift:
            raise InputError(
                f"the law of motion ends its turn at {self.levels[-1]:g}, where it began at 0; let "
                "the last segment go to 0"
            )
        for angle, jump in self._jumps(1):
            raise InputError(
                f"the law of motion: the velocity jumps by {jump:.4g} a rad at "
                f"{math.degrees(angle):g} deg, which no finite force can follow; join segments "
                "whose ends have the same velocity, as all laws but constant_velocity have with "
                "dwells"
            )

    @functools.cached_property
    def starts(self) -> tuple[float, ...]:
        """Angles (k + 1,) at which segments begin, rad, and the end of the last."""
        return tuple(np.append(0.0, np.cumsum([one.over for one in self.segments])).tolist())

    @functools.cached_property
    def levels(self) -> tuple[float, ...]:
        """Displacements (k + 1,) where segments begin, and at the end of the last."""
        found = [0.0]
        for one in self.segments:
            found.append(found[-1] if one.to is None else one.to)
        return tuple(found)

    @property
    def lift(self) -> float:
        """The largest displacement, m or rad."""
        return max(self.levels)

    @property
    def jumps(self) -> list[tuple[float, float]]:
        """Angles, rad, at which the acceleration jumps, and by how much (per rad^2)."""
        return self._jumps(2)

    def __call__(self, angle: Array) -> tuple[Array, Array, Array, Array]:
        """Displacement at angles (...) of the cam, rad, and its three derivatives by the angle."""
        within = np.mod(angle, self.starts[-1])
        place = np.searchsorted(self.starts[1:-1], within, side="right")
        found = [np.zeros(np.shape(angle)) for _ in range(4)]
        for k in np.unique(place).tolist():
            here = place == k
            values = self._segment(k, (within[here] - self.starts[k]) / self.segments[k].over)
            for whole, part in zip(found, values, strict=True):
                whole[here] = part
        return found[0], found[1], found[2], found[3]

    def _segment(self, k: int, x: Array) -> tuple[Array, ...]:
        """The same in a segment, at shares x (N,) of it."""
        (start, end), over = self.levels[k : k + 2], self.segments[k].over
        rise = RISES[self.segments[k].by](x)
        moved = [(end - start) * one / over**order for order, one in enumerate(rise)]
        return start + moved[0], *moved[1:]

    def _jumps(self, order: int) -> list[tuple[float, float]]:
        """Angles at which a derivative jumps, and by how much."""
        ends = np.array([0.0, 1.0])
        values = np.array([self._segment(k, ends)[order] for k in range(len(self.segments))])
        jumps = values[:, 0] - np.roll(values[:, 1], 1)
        near = JOINED * self.lift / min(one.over for one in self.segments) ** order
        angles = self.starts[:-1]
        return [
            (angle, float(jump))
            for angle, jump in zip(angles, jumps, strict=True)
            if abs(jump) > near
        ]
