"""The conditions under which `torque_feedforward` follows a reference, from its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ...motion.playback import patience
from ..node.parameters import Parameters


@dataclass(frozen=True)
class Conditions:
    """Times of the node's clock, s; distances of joints, rad or m.

    reference_timeout : after the last point, until efforts become zero; infinite for never.
    longest_wait : until the first point.
    state_timeout : age at which joint states are stale.
    check_limits : whether a reference must stay within the limits of the description.
    start_tolerance : how far from the robot a reference may start; 0 for anywhere.
    following_tolerance : how far the robot may be from its reference; 0 for anywhere.
    """

    reference_timeout: float
    longest_wait: float
    state_timeout: float
    check_limits: bool
    start_tolerance: float
    following_tolerance: float

    @staticmethod
    def read(values: Parameters) -> Conditions:
        """The conditions for the values of the parameters."""
        return Conditions(
            reference_timeout=patience(values["reference_timeout"]),
            longest_wait=values["longest_wait"],
            state_timeout=values["state_timeout"],
            check_limits=values["check_limits"],
            start_tolerance=values["start_tolerance"],
            following_tolerance=values["following_tolerance"],
        )
