"""One long step through a whole interval, by collocation at Gauss points.

The slopes of a solution are known at the Gauss points alone, by a polynomial through them; with s
points the error of the end is of order 2 s (Hairer, Norsett and Wanner, II.7). What the equations
are between the points, they are never asked.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from ..array import Array


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
