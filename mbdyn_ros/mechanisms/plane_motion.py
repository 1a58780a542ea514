"""Velocities and accelerations of the points of a mechanism in the plane."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .analysis import Analysis
from .layout import GROUND, turned

Points = NDArray[np.complex128]


class PlaneMotion:
    """How the parts of a mechanism move in a prescribed motion; points are x + i y.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> moves = PlaneMotion(Analysis(FourBar(), constant_speed(10.0)))
    >>> abs(moves.velocity("crank", (0.1, 0.0))).round(12).tolist()[:2]
    [1.0, 1.0]
    """

    def __init__(self, analysis: Analysis) -> None:
        self._pose = pose = analysis.pose
        layout = pose.layout
        places, rates, changes = analysis.joints
        self._w: Mapping[str, np.ndarray] = turned(layout, rates, rate=True)
        self._alpha: Mapping[str, np.ndarray] = turned(layout, changes, rate=True)
        still = np.zeros(len(places), dtype=complex)
        self._v: dict[str, Points] = {GROUND: still}
        self._a: dict[str, Points] = {GROUND: still}
        for k, part in enumerate(layout.parts):
            arm = pose.origins[part.name] - pose.origins[part.parent]
            v, a = self._carried(part.parent, arm)
            if part.slides:
                direction = pose.directions[part.name]
                v = v + rates[:, k] * direction
                a = a + (changes[:, k] + 2j * rates[:, k] * self._w[part.parent]) * direction
            self._v[part.name], self._a[part.name] = v, a

    def velocity(self, part: str, at: tuple[float, float]) -> Points:
        """Of a point of a part (N,), m/s; the point along and across it, m."""
        return self._carried(part, self._arm(part, at))[0]

    def acceleration(self, part: str, at: tuple[float, float]) -> Points:
        """Of a point of a part (N,), m/s^2."""
        return self._carried(part, self._arm(part, at))[1]

    def _arm(self, part: str, at: tuple[float, float]) -> Points:
        return self._pose.directions[part] * complex(*at)

    def _carried(self, part: str, arm: Points) -> tuple[Points, Points]:
        """Velocity and acceleration of the point of a part that is `arm` from its origin."""
        w, alpha = self._w[part], self._alpha[part]
        return self._v[part] + 1j * w * arm, self._a[part] + (1j * alpha - w * w) * arm
