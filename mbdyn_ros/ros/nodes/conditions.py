"""The conditions under which `torque_feedforward` follows a reference, from its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages.playback import patience
from ..node.parameters import Parameters


@dataclass(frozen=True)
class Conditions:
    """Times of the node's clock, s.

    reference_timeout : after the last point, until efforts become zero; infinite for never.
    longest_wait : until the first point.
    state_timeout : age at which joint states are stale.
    """

    reference_timeout: float
    longest_wait: float
    state_timeout: float

    @staticmethod
    def read(values: Parameters) -> Conditions:
        """The conditions for the values of the parameters."""
        return Conditions(
            reference_timeout=patience(values["reference_timeout"]),
            longest_wait=values["longest_wait"],
            state_timeout=values["state_timeout"],
        )
