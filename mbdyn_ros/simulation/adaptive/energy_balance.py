"""A watch on the energy: what no work explains is an error of the integration."""

from __future__ import annotations

import math

from ...errors import SimulationError
from ...model.model import Array
from .motion import Motion

ALLOWED = 1e-3
"""Share of the energy that moved which may be unexplained at the default tolerances."""

UNJUDGED = 1e-9
"""Energy (J), and share of the energy at the start, under which nothing is judged."""


class EnergyBalance:
    """Stops a simulation whose energy no longer balances.

    An integrator can be blind to a wrong turn: where a closed loop passes a singular
    configuration, say, small steps look good one by one. The balance is not.
    """

    def __init__(self, motion: Motion, y: Array, rtol: float) -> None:
        self._motion, self._walks = motion, motion.walks
        kinetic, self._potential = motion.energy(y)
        self._start = kinetic + self._potential
        self._noise = UNJUDGED * (1 + kinetic + abs(self._potential))
        self._allowed = max(ALLOWED, 1e4 * rtol)
        self._moved = 0.0

    def check(self, y: Array) -> None:
        """Compare the energy at y with the work done so far.

        Raises
        ------
        SimulationError
            Much is unexplained.
        """
        kinetic, potential = self._motion.energy(y)
        work, loss = self._motion.work(y).tolist()
        self._moved = max(self._moved, kinetic, abs(potential - self._potential), abs(work), loss)
        if self._walks and not math.isfinite(kinetic):
            return  # beyond what a loop can follow; the watch on the charts says so
        gap = abs(kinetic + potential - self._start - work + loss)
        if not gap <= self._allowed * self._moved + self._noise:
            raise SimulationError(
                f"the energy does not balance: no work explains {gap:.3g} J of the "
                f"{self._moved:.3g} J that moved. The motion passes a singular configuration, or "
                "the tolerances are too loose"
            )
