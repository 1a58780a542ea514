"""How positions change with velocities: unit quaternions turn, everything else moves along."""

from __future__ import annotations

import numpy as np

from ..dynamics.position_rate import floating_places, floating_rate
from ..model.coordinates import Coordinates
from ..model.model import Array


class PositionRate:
    """The map from v to the rate of q: q' = v, but for floating joints; see `floating_rate`."""

    def __init__(self, coordinates: Coordinates) -> None:
        self.floating = floating_places(coordinates)
        in_q = np.ones(coordinates.nq, dtype=bool)
        in_v = np.ones(coordinates.nv, dtype=bool)
        for iq, iv in self.floating:
            in_q[iq : iq + 7] = False
            in_v[iv : iv + 6] = False
        self._in_q, self._in_v = np.flatnonzero(in_q), np.flatnonzero(in_v)

    def __call__(self, q: Array, v: Array, rate: Array) -> None:
        """Write the rate of q (nq,) at the velocity v (nv,)."""
        if not self.floating:
            rate[:] = v
            return
        rate[self._in_q] = v[self._in_v]
        for iq, iv in self.floating:
            rate[iq : iq + 7] = floating_rate(
                q[iq + 3 : iq + 7].tolist(), v[iv : iv + 6].tolist()
            )

    def normalize(self, q: Array) -> None:
        """Give the quaternions in q (nq,) or (N, nq) unit length, in place."""
        for iq, _ in self.floating:
            quaternion = q[..., iq + 3 : iq + 7]
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
