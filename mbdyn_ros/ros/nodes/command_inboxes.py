"""The topics on which a simulator is commanded and pushed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

from ...errors import InputError
from ..messages.base_pose import topic_word
from ..messages.conversions import seconds
from ..messages.joint_commands import QUANTITIES, JointCommands, NamedCommand
from ..messages.joint_state_bytes import joint_state_inbox
from ..node.description import LATCHED
from ..node.health import Health
from ..node.inbox import Inbox
from ..node.interfaces import where_installed
from ..node.refusals import one_line
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

PROCESS = 12
"""Bytes of a publisher's id that all those of one process share (DDS: the participant)."""

Unclaimed = frozenset[tuple[str, str]]
"""Joints, and what no controller commands of them."""

NONE: Unclaimed = frozenset()
"""Nothing is known, or everything claimed."""


class ControllerWatch:
    """Watches which joints a controller manager's controllers command; asks at each switch.

    Commands that none of them stands for end: hardware of ros2_control goes on sending what a
    controller wrote last when that is deactivated.
    """

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        self._manager = simulator.parameters["controller_manager"]
        self._unclaimed = NONE
        self._processes: tuple[bytes, ...] = ()
        self._released = True
        messages = where_installed("controller_manager_msgs.msg")
        services = where_installed("controller_manager_msgs.srv")
        if messages is None or services is None or not self._manager:
            return
        self._request = services.ListHardwareInterfaces.Request()
        self._activity = simulator.create_subscription(
            messages.ControllerManagerActivity, f"{self._manager}/activity", self._ask, LATCHED
        )
        self._client: Any = simulator.create_client(
            services.ListHardwareInterfaces, f"{self._manager}/list_hardware_interfaces"
        )

    def unclaimed(self, sender: bytes) -> Unclaimed:
        """Joints and quantities of a sender's commands that no controller stands for."""
        return self._unclaimed if sender.startswith(self._processes) else NONE

    def release(self, commands: JointCommands) -> None:
        """Forget commands whose controller was deactivated since this was called before."""
        if not self._released:
            self._released = True
            commands.release(self._unclaimed, self._processes)

    def report(self, health: Health) -> None:
        """Say which commands are dropped."""
        if self._processes:
            idle = sorted(f"{joint}/{quantity}" for joint, quantity in self._unclaimed)
            health.values["commanded by no controller"] = ", ".join(idle) or "none"

    def _ask(self, activity: Any) -> None:
        if self._client.service_is_ready():
            self._client.call_async(self._request).add_done_callback(self._take)

    def _take(self, future: Any) -> None:
        answer = future.result()
        if answer is None:
            return
        pairs = [(one.name.rpartition("/"), one.is_claimed) for one in answer.command_interfaces]
        idle = [(name, kind) for (name, _, kind), claimed in pairs if not claimed]
        self._unclaimed = frozenset(pair for pair in idle if pair[1] in QUANTITIES)
        topic = self._activity.topic_name
        # A manager that was killed stays among them for a while, next to the one that answers.
        found = self._simulator.get_publishers_info_by_topic(topic)
        self._processes = tuple({bytes(one.endpoint_gid)[:PROCESS] for one in found})
        self._released = False


class CommandInboxes:
    """Commands and pushes for the robot of a simulator, as they come; bad ones are refused."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        several = QoSProfile(depth=10)
        self._arrays = [(self._array(f"~/{topic}"), quantity) for topic, quantity in ARRAYS.items()]
        self._named = [
            (joint_state_inbox(simulator, f"~/{topic}", several), fields)
            for topic, fields in NAMED.items()
        ]
        self._wrenches = Inbox(simulator, WrenchStamped, "~/wrench", several)
        self._of_members: dict[tuple[str, ...], list[tuple[Inbox, str]]] = {}
        self._watch = ControllerWatch(simulator)
        self._said: set[str] = set()

    def serve(self, session: Session) -> None:
        """Listen to `~/MEMBER/commands` and the like of every robot of a world."""
        kept, self._of_members = self._of_members, {}
        for name, joints in session.driven.items():
            inboxes = kept.pop(joints, [])
            if not inboxes:
                word = topic_word(name)
                for topic, quantity in ARRAYS.items():
                    inboxes.append((self._array(f"~/{word}/{topic}"), quantity))
            self._of_members[joints] = inboxes
        for inboxes in kept.values():
            for inbox, _ in inboxes:
                inbox.close()

    def take(self, session: Session, now: float, begin: float) -> None:
        """Read what came since the last tick, for steps from the time `begin` on, s."""
        commands, simulator = session.commands, self._simulator
        for inbox, quantity in self._arrays:
            for message in inbox:
                take = partial(commands.set_array, message.data, now, inbox.sender, quantity)
                self._try(inbox, take)
        for joints, inboxes in self._of_members.items():
            for inbox, quantity in inboxes:
                for message in inbox:
                    given = {quantity: message.data}
                    sent = NamedCommand(joints, **given, stamp=now, expected=quantity)
                    self._try(inbox, partial(commands.set_named, sent, now, inbox.sender))
        for inbox, fields in self._named:
            for message in inbox:
                self._try(inbox, partial(self._take_named, session, inbox, message, fields, now))
        for message in self._wrenches:
            until = begin + simulator.parameters["wrench_duration"]
            self._try(self._wrenches, partial(session.pushes.take, message, until))
        self._watch.release(commands)
        if len(commands.remarks) > len(self._said):
            for remark in commands.remarks.keys() - self._said:
                simulator.get_logger().info(one_line(f"{remark} (reported once)"))
            self._said |= commands.remarks.keys()

    def _array(self, topic: str) -> Inbox:
        return Inbox(self._simulator, Float64MultiArray, topic, QoSProfile(depth=1))

    def report(self, health: Health) -> None:
        """Say what was refused, and who commands."""
        self._simulator.refusals.report(health)
        self._watch.report(health)
        of_members = (pair for pairs in self._of_members.values() for pair in pairs)
        inboxes = [inbox for inbox, _ in (*self._arrays, *self._named, *of_members)]
        names = sorted({name for inbox in inboxes for name in inbox.senders()})
        health.values["commands from"] = ", ".join(names) or "none"

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
            side = "ahead of" if sent > now else "behind"
            raise InputError(
                f"it is stamped {abs(sent - now):.4g} s {side} this node's time, more than "
                f"command_timeout ({timeout:g} s)"
            )
        return sent
