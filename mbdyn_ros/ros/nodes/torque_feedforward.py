"""Node `torque_feedforward`: efforts for a wanted motion, at a rate.

It sends the efforts of inverse dynamics along a reference, and adds a small PD where asked. The
controller that takes them holds the last ones forever, so this node sends zeros when it has no
fresh reference, when something fails, when it is deactivated, and when it ends.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from ...errors import InputError
from ...robot import Robot
from ..node.process import run
from .effort_node import EffortNode
from .feedforward import Feedforward
from .follower import Conditions, Follower
from .parameters import TORQUE_FEEDFORWARD


class TorqueFeedforward(EffortNode):
    """Sends the efforts of `Feedforward`."""

    NAME = "torque_feedforward"
    PARAMETERS = TORQUE_FEEDFORWARD
    PROGRAMS = ("inverse_dynamics", "joint_position", "joint_velocity")
    LOOP = "feedforward"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.begin()

    def make(self, robot: Robot) -> Feedforward:
        """The follower that computes for a robot, by the parameters."""
        try:
            feedforward = Feedforward(
                robot, self.parameters["joints"], Conditions.read(self.parameters)
            )
            self.set_up(feedforward)
        except InputError as error:
            raise InputError(f"parameter joints, kp or kd: {error}") from None
        return feedforward

    def set_up(self, follower: Follower) -> None:
        """Hand on the parameters that may change."""
        assert isinstance(follower, Feedforward)
        given = self.parameters
        follower.conditions = Conditions.read(given)
        follower.set_gains(given["kp"], given["kd"])
        follower.source, follower.lead = given["feedforward"], given["lead"]
        follower.period = 1 / given["rate"]
        follower.limits.enforced = given["enforce_effort_limits"]


main = partial(run, TorqueFeedforward, TorqueFeedforward.NAME)

if __name__ == "__main__":
    sys.exit(main())
