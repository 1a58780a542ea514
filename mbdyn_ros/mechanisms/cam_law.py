"""Laws of motion of cam followers: displacement over one turn of the cam, segment by segment.

Each segment goes from one displacement to another by a law (Norton, Cam Design and Manufacturing
Handbook; VDI 2143), whose velocity, acceleration and jerk are its exact derivatives. Segments must
join without a jump of velocity; jumps of acceleration are reported.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..array import Array
from ..equations.algebra.spatial import SX
from ..errors import InputError, unknown
from ..program.columns import Columns

Rise = Callable[[Array], tuple[Array, ...]]
"""A rise from 0 to 1 over x from 0 to 1: displacement and its three derivatives by x, each (N,)."""


def _rise(law: Callable[[SX], SX]) -> Rise:
    """A rise by its displacement."""
    x = SX.sym("x")
    orders = [law(x)]
    for _ in range(3):
        orders.append(ca.jacobian(orders[-1], x))
    columns = Columns([x], ca.vertcat(*orders))

    def rise(at: Array) -> tuple[Array, ...]:
        return tuple(one if np.ndim(one) else np.full_like(at, one) for one in columns([at]))

    return rise


def _modified_sine(x: SX) -> SX:
    """Sines of acceleration: a quarter of a quick one, half of a slow one, a quarter of a quick."""
    middle = ca.logic_and(x > 1 / 8, x < 7 / 8)
    pace, size = (ca.if_else(middle, slow, quick) for slow, quick in ((4 / 3, 4), (9 / 4, 1 / 4)))
    start = ca.if_else(middle, 2, ca.if_else(x < 1 / 2, 0, 4))
    phase = math.pi * (pace * x + middle / 3)
    return (start + math.pi * x - size * ca.sin(phase)) / (4 + math.pi)


RISES: Mapping[str, Rise] = {
    name: _rise(law)
    for name, law in {
        "cycloidal": lambda x: x - ca.sin(math.tau * x) / math.tau,
        "modified_sine": _modified_sine,
        "polynomial_345": lambda x: x * x * x * (10 + x * (6 * x - 15)),
        "polynomial_4567": lambda x: x * x * x * x * (35 + x * (x * (70 - 20 * x) - 84)),
        "harmonic": lambda x: (1 - ca.cos(math.pi * x)) / 2,
        "constant_velocity": lambda x: x,
    }.items()
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
        found = self._at(np.shape(angle), np.asarray(angle, dtype=np.float64).tobytes())
        return found[0], found[1], found[2], found[3]

    @functools.lru_cache(maxsize=16)  # noqa: B019 (of few laws, asked for the same angles again)
    def _at(self, shape: tuple[int, ...], angles: bytes) -> Array:
        within = np.mod(np.frombuffer(angles).reshape(shape), self.starts[-1])
        place = np.searchsorted(self.starts[1:-1], within, side="right")
        found = np.zeros((4, *shape))
        for k in np.unique(place).tolist():
            here, over = place == k, self.segments[k].over
            found[:, here] = self._segment(k, (within[here] - self.starts[k]) / over)
        found.setflags(write=False)
        return found

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
