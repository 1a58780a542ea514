"""A difference of efforts that fades out: what changes its law makes no jump."""

from __future__ import annotations

from ..array import Array


class Fading:
    """Adds to the efforts of a new law what they differ from the last ones, less and less.

    The share that is left falls from 1 to 0 in `duration` (s) along the polynomial of degree 5 that
    begins and ends with no slope and no curvature.
    """

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self._is_new = False
        self._start = 0.0
        self._difference: Array | None = None

    def begin(self) -> None:
        """Fade from the last efforts to those of the next `blend`."""
        self._is_new = True

    def end(self) -> None:
        """Fade no more."""
        self._is_new, self._difference = False, None

    def blend(self, wanted: Array, last: Array, now: float) -> Array:
        """The efforts of a time (s) between the last ones and those that are wanted."""
        if self._is_new:
            self._is_new, self._start, self._difference = False, now, last - wanted
        if self._difference is None:
            return wanted
        part = (now - self._start) / self.duration if self.duration > 0 else 1.0
        if part >= 1:
            self._difference = None
            return wanted
        left = 1 - part**3 * (10 - part * (15 - 6 * part))
        return wanted + left * self._difference
