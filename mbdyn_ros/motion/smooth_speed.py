"""A speed along a path whose jerk is limited: the fastest one, averaged over a window of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..array import Array
from .path_speed import PathSpeed

TIMES_LOOKED_AT = 3000
"""Times at which jerk and limits of a smoothed motion are looked at."""

WINDOWS_TRIED = 14
"""Windows that are tried, between a five-hundredth and half of the fastest duration."""


@dataclass(frozen=True, eq=False)
class SmoothSpeed:
    """The moving average of a motion s(t), `stretch` times as slow.

    fast : what is averaged. window : s, of its own time. Derivatives of averages are differences:
    ds/dt = (s(t + T/2) - s(t - T/2)) / T, and so on; before its start and after its end the fast
    motion goes on at the speed it has there.
    """

    fast: PathSpeed
    window: float
    stretch: float = 1.0
    _sums: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        fast, time = self.fast, self.fast.time
        span, root = np.diff(time), np.sqrt(fast.x)
        parts = fast.rows.s[:-1] * span + root[:-1] * span**2 / 2 + fast.u * span**3 / 6
        object.__setattr__(self, "_sums", np.concatenate([[0.0], np.cumsum(parts)]))

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return self.stretch * (self.fast.duration + self.window)

    def at(self, time: Array) -> tuple[Array, Array, Array]:
        """s and its first and second derivatives by time (M,)."""
        return self.with_jerk(time)[:3]

    def with_jerk(self, time: Array) -> tuple[Array, Array, Array, Array]:
        """The same and the third derivative."""
        own = time / self.stretch
        before, after = self._extended(own - self.window), self._extended(own)
        s, speed, curve, jerk = (
            (late - early) / self.window for early, late in zip(before, after, strict=True)
        )
        k = self.stretch
        return np.clip(s, 0, self.fast.path.length), speed / k, curve / k**2, jerk / k**3

    def _extended(self, time: Array) -> tuple[Array, Array, Array, Array]:
        """The integral of s, and s, ds/dt, d2s/dt2 of the fast motion, at any time."""
        fast, times = self.fast, self.fast.time
        inside = np.clip(time, 0.0, times[-1])
        s, speed, curve = fast.at(inside)
        k = np.clip(np.searchsorted(times, inside, side="right") - 1, 0, len(fast.u) - 1)
        since = inside - times[k]
        whole = (
            self._sums[k] + fast.rows.s[k] * since + np.sqrt(fast.x[k]) * since**2 / 2
            + fast.u[k] * since**3 / 6
        )  # fmt: skip
        beyond = time - inside
        curve = np.where(beyond == 0, curve, 0.0)
        return whole + s * beyond + speed * beyond**2 / 2, s + speed * beyond, speed, curve


def smoothed(fast: PathSpeed, worst: Callable[[SmoothSpeed, Array], float]) -> SmoothSpeed:
    """The shortest smoothed motion that keeps all limits.

    worst : how much of some limit a motion uses at some times, at most; 1 at the limit. It falls
        with the stretch.
    """
    found: SmoothSpeed | None = None
    for share in np.geomspace(0.002, 0.5, WINDOWS_TRIED):
        window = float(share) * fast.duration
        low, high = 1.0, 1.0
        while not _keeps(tried := SmoothSpeed(fast, window, high), worst) and high < 100:
            low, high = high, 1.3 * high
        while high - low > 1e-3:
            middle = (low + high) / 2
            tried = SmoothSpeed(fast, window, middle)
            low, high = (low, middle) if _keeps(tried, worst) else (middle, high)
        tried = SmoothSpeed(fast, window, high)
        if found is None or tried.duration < found.duration:
            found = tried
    assert found is not None
    return found


def _keeps(speed: SmoothSpeed, worst: Callable[[SmoothSpeed, Array], float]) -> bool:
    return worst(speed, np.linspace(0.0, speed.duration, TIMES_LOOKED_AT)) <= 1.0
