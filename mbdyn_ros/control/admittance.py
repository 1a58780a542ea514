"""How far joints give way to external efforts: a mass, a damper and a spring for each.

The displacement y of a joint from where it is wanted obeys

    I y'' + D y' + K y = r

under what is left of its external effort r beyond a dead zone (Hogan 1985; Ott, Mukherjee and
Nakamura 2010). It moves the reference of a stiff law, so that friction and a poor model of the
drives do not hold the joint back. Each step is implicit (backward Euler): stable for all gains.
"""

from __future__ import annotations

import numpy as np

from ..array import Array


class Admittance:
    """The displacements of n joints, cycle after cycle.

    Attributes
    ----------
    y, rate, acceleration : (n,) rad or m, and their rates.
    """

    def __init__(self, n: int) -> None:
        self.y, self.rate, self.acceleration = np.zeros((3, n))

    def rest(self) -> None:
        """Give way no more: zero, at rest."""
        self.y[:] = self.rate[:] = self.acceleration[:] = 0.0

    def advance(
        self,
        external: Array,
        step: float,
        inertia: Array,
        damping: Array,
        stiffness: Array,
        dead_zone: Array,
        room: tuple[Array, Array],
    ) -> None:
        """Advance by a step (s) under external efforts (n,).

        inertia, damping, stiffness : (n,) kg m^2 or kg, ...; a joint without inertia stays.
        dead_zone : (n,) N m or N that are not felt. room : lowest and highest y, where it stops.
        """
        felt = external - np.clip(external, -dead_zone, dead_zone)
        resisting = inertia + step * (damping + step * stiffness)
        pushed = inertia * self.rate + step * (felt - stiffness * self.y)
        gives = inertia > 0
        rate = np.where(gives, pushed / np.where(gives, resisting, 1.0), 0.0)
        there = np.clip(self.y + step * rate, *room)
        reached = (there - self.y) / step
        self.acceleration[:] = np.where(
            np.abs(reached - rate) <= 1e-9 * np.abs(rate), (reached - self.rate) / step, 0.0
        )
        self.y[:], self.rate[:] = there, reached
