"""The topics on which a simulator is commanded and pushed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

from ...errors import InputError
from ..messages.conversions import seconds
from ..messages.joint_commands import QUANTITIES, NamedCommand
from ..messages.joint_state_inbox import joint_state_inbox
from ..node.health import Health
from ..node.inbox import Inbox
from ..node.refusals import one_line
from .controller_watch import ControllerWatch
from .session import Session
from .simulation_node import SimulationNode

ARRAYS = {"commands": "effort", "velocity_commands": "velocity", "position_commands": "position"}
"""Topics of numbers in the order of the parameter `joints`, and what they are."""

NAMED = {
    "effort_command": ("effort",),
    "velocity_command": ("velocity",),
    "position_command": ("position", "velocity"),
    "joint_command": ("position", "velocity", "effort"),
}
"""Topics of joint states that are asked for, and which of their fields count."""


class CommandInboxes:
    """Commands and pushes for the robot of a simulator, as they come; bad ones are refused."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        one, several = QoSProfile(depth=1), QoSProfile(depth=10)
        self._arrays = [
            (Inbox(simulator, Float64MultiArray, f"~/{topic}", one), quantity)
            for topic, quantity in ARRAYS.items()
        ]
        self._named = [
            (joint_state_inbox(simulator, f"~/{topic}", several), fields)
            for topic, fields in NAMED.items()
        ]
        self._wrenches = Inbox(simulator, WrenchStamped, "~/wrench", several)
        self._watch = ControllerWatch(simulator)
        self._said: set[str] = set()

    def take(self, session: Session, now: float, begin: float) -> None:
        """Read what came since the last tick, for steps from the time `begin` on, s."""
        commands, simulator = session.commands, self._simulator
        for inbox, quantity in self._arrays:
            for message in inbox:
                take = partial(commands.set_array, message.data, now, inbox.sender, quantity)
                self._try(inbox, take)
        for inbox, fields in self._named:
            for message in inbox:
                self._try(inbox, partial(self._take_named, session, inbox, message, fields, now))
        for message in self._wrenches:
            until = begin + simulator.parameters["wrench_duration"]
            self._try(self._wrenches, partial(session.pushes.take, message, until))
        self._watch.release(commands)
        if len(commands.remarks) > len(self._said):
            for remark in commands.remarks.keys() - self._said:
                simulator.get_logger().info(one_line(f"{remark}; this is said once"))
            self._said |= commands.remarks.keys()

    def report(self, health: Health) -> None:
        """Say what was refused, and who commands."""
        self._simulator.refusals.report(health)
        self._watch.report(health)
        inboxes = [inbox for inbox, _ in (*self._arrays, *self._named)]
        names = sorted({name for inbox in inboxes for name in inbox.senders()})
        health.values["commands from"] = ", ".join(names) or "nobody"

    def _try(self, inbox: Inbox, take: Callable[[], None]) -> None:
        try:
            take()
            inbox.heed()
        except InputError as error:
            self._simulator.refusals.add(error)

    def _take_named(
        self, session: Session, inbox: Inbox, message: Any, fields: tuple[str, ...], now: float
    ) -> None:
        stamp = self._stamp_of_now(message, now)
        left_out = [one for one in QUANTITIES if one not in fields and len(getattr(message, one))]
        if left_out:
            topic = inbox.topic.rpartition("/")[2]
            said = f"~/{topic} takes no {' and no '.join(left_out)}: send them on ~/joint_command"
            session.commands.remarks[said] = None
        given = {one: getattr(message, one) for one in fields}
        sender = inbox.sender
        command = NamedCommand(
            message.name, **given, stamp=stamp, expected=fields[0],
            unclaimed=self._watch.unclaimed(sender),
        )  # fmt: skip
        session.commands.set_named(command, now, sender)

    def _stamp_of_now(self, message: Any, now: float) -> float:
        """The time of a command, s; refused where it is no more, or not yet, of this time."""
        simulator, stamp = self._simulator, message.header.stamp
        timeout = simulator.settings.timeout
        if simulator.makes_clock:
            sent = seconds(stamp) or now
        else:
            sent = simulator.clock.at(stamp, now)
        if abs(sent - now) > timeout:
            way = "ahead of" if sent > now else "behind"
            raise InputError(
                f"it is stamped {abs(sent - now):.4g} s {way} this node's time, more than "
                f"command_timeout ({timeout:g} s)"
            )
        return sent
