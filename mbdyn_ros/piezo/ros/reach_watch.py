"""Joints whose wanted torque is out of the rotor's reach: for how long, and which are held."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ros.node.health import Health
from .. import PulseController


class ReachWatch:
    """Ends the pulses of joints whose wanted torque stays out of reach.

    A joint whose wanted torque is too large for a moment has the largest there is. After
    `timeout` (s) of that in a row, and at once where the rotor cannot move it at all, it gets no
    pulses until its wanted torque is within reach again.
    """

    def __init__(self, labels: Sequence[str], timeout: float) -> None:
        self.timeout = timeout
        self._labels = np.array(labels)
        self._since = np.full(len(labels), math.inf)
        self._held = np.zeros(len(labels), dtype=bool)
        self._slow = np.zeros(len(labels), dtype=bool)

    def hold(self, control: PulseController, now: float, fresh: bool) -> None:
        """Take the pulses of such joints out of the last cycle, at the time `now`.

        A cycle whose state is not `fresh` wants less than it would: it ends no count.
        """
        saturated = control.saturated != 0
        np.minimum(self._since, now, out=self._since)
        if fresh:
            self._since[~saturated] = math.inf
        held = saturated & (now - self._since > self.timeout) | (control.able == 0)
        if held.any():
            control.on[held] = control.off[held] = control.mean_torque[held] = 0.0
            self._held |= held
        self._slow |= saturated & ~held

    def restart(self) -> None:
        """Begin to count anew: the pulses are off, or the reference is another."""
        self._since[:] = math.inf

    def report(self, health: Health) -> None:
        """Say what was so since the last report."""
        held = ", ".join(self._labels[self._held])
        slow = ", ".join(self._labels[self._slow & ~self._held])
        self._held[:] = self._slow[:] = False
        if held:
            health.warnings.append(
                f"pulses off, the wanted torque is out of the rotor's reach: {held}"
            )
        if slow:
            health.warnings.append(f"saturated, slower than wanted: {slow}")
        health.values["out of reach"] = held or "none"
        health.values["saturated"] = slow or "none"
