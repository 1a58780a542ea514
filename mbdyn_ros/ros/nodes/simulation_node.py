"""The state of a simulator that its topics, services and views stand on."""

from __future__ import annotations

import math
from typing import Any

from rosgraph_msgs.msg import Clock as ClockMessage

from ..node.refusals import Refusals
from ..node.robot_node import RobotNode
from .session import Session, Settings


class SimulationNode(RobotNode):
    """A node that simulates a robot: its session, its time, and whether it runs.

    Attributes
    ----------
    session : the robot under simulation; None where there is none yet.
    paused : whether time stands still.
    held : whether it was paused by command: at the start, that is not to be stopped.
    settings : of the loop.
    refusals : of commands and goals.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.session: Session | None = None
        self.paused, self.held = self.parameters["start_paused"], False
        self.settings = Settings.read(self.parameters)
        self.refusals = Refusals(self, "command")
        self._clock_out: Any = None
        if self.parameters["publish_clock"]:
            self._clock_out = self.sole(ClockMessage, "/clock")

    @property
    def makes_clock(self) -> bool:
        """Whether time is what this node simulates."""
        return self._clock_out is not None

    def time(self, due: float = math.nan) -> float:
        """Simulated time where we make the clock, s, else that of the node."""
        if self._clock_out is not None and self.session is not None:
            return self.session.motion.time
        return super().time(due)

    def stamp(self, session: Session, now: float | None = None) -> int:
        """Simulated time, ns, where we make the clock, else the node's time `now` (s)."""
        if self._clock_out is not None:
            return round(session.motion.time * 1e9)
        return int(self.get_clock().now().nanoseconds) if now is None else self.clock.stamp(now)

    def start_again(self, session: Session) -> str:
        """Go back to the start, under `lock`; return the fault that this cleared."""
        session.reset()
        self.held = False
        return self.clear_fault()
