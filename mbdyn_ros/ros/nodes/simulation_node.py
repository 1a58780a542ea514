"""The state of a simulator that its topics, services and views stand on."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

from rosgraph_msgs.msg import Clock as ClockMessage

from ...errors import InputError, MbdynError, ModelError
from ...robot import Robot
from ...simulation.world import World
from ..node.description import FLOATING_BASE, GRAVITY, WORLD
from ..node.refusals import Refusals
from ..node.robot_node import RobotNode
from .session import Session, Settings


class SimulationNode(RobotNode):
    """A node that simulates a robot: its session, its time, and whether it runs.

    Attributes
    ----------
    session : the robot under simulation; None where there is none yet.
    world : the robots and bodies of `session`, where the parameter `world` gives them.
    at_first : the world with which the simulation began.
    changing : is held while another world, or another gravity, is being prepared.
    paused : whether time stands still.
    held : whether it was paused by command: at the start, that is not to be stopped.
    settings : of the loop.
    refusals : of commands and goals.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.session: Session | None = None
        self.world: World | None = None
        self.at_first: World | None = None
        self.changing = threading.Lock()
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

    def read(self, source: str) -> Robot:
        """The robot of a description, or all those of a world with what was spawned since."""
        given = self.parameters
        if not (WORLD in given and given[WORLD]):
            return super().read(source)
        others = ("mechanism", "srdf", "xacro", "home", "home_joints", "environment")
        also = [name for name in others if given[name]]
        if given[FLOATING_BASE.name] or also:
            raise InputError(
                f"parameter {', '.join(also) or FLOATING_BASE.name} is that of one robot; write it "
                f"into the file of parameter {WORLD}"
            )
        if self.world is None:
            try:
                self.world = World.load(source)
            except MbdynError as error:
                raise ModelError(f"parameter {WORLD}: {error}") from None
            own = self.world.robot.gravity.tolist()
            if own != given["gravity"] and own != GRAVITY.default:
                said = f"gravity is {given['gravity']} by the parameter, not {own} of the world"
                self.get_logger().warning(said)
        self.world = self.world.varied(self.payloads.variable, given["gravity"])
        self.at_first = self.at_first or self.world
        return self.world.robot

    def replace(self, world: World, robot: Robot) -> Callable[[], None]:
        """Prepare another world, whose robot this is; what is returned goes on in it, or raises."""
        raise NotImplementedError

    def start_again(self, session: Session) -> str:
        """Go back to the start, under `lock`; return the fault that this cleared."""
        session.reset()
        self.held = False
        return self.clear_fault()
