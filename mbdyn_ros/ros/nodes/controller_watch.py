"""The controllers of a controller manager, watched: commands that none of them stands for end.

Hardware of ros2_control goes on sending what a controller wrote last when that is deactivated.
"""

from __future__ import annotations

from typing import Any

from ..messages.joint_commands import QUANTITIES, JointCommands
from ..node.description import LATCHED
from ..node.health import Health
from ..node.interfaces import where_installed
from .simulation_node import SimulationNode

PROCESS = 12
"""Bytes of a publisher's id that all those of one process share (DDS: the participant)."""

Unclaimed = frozenset[tuple[str, str]]
"""Joints, and what no controller commands of them."""

NONE: Unclaimed = frozenset()
"""Nothing is known, or everything claimed."""


class ControllerWatch:
    """Watches which joints a controller manager's controllers command; asks at each switch."""

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
        pairs = [
            (one.name.rpartition("/"), one.is_claimed) for one in answer.command_interfaces
        ]
        idle = [(name, kind) for (name, _, kind), claimed in pairs if not claimed]
        self._unclaimed = frozenset(pair for pair in idle if pair[1] in QUANTITIES)
        topic = self._activity.topic_name
        # A manager that was killed stays among them for a while, beside the one that answers.
        found = self._simulator.get_publishers_info_by_topic(topic)
        self._processes = tuple({bytes(one.endpoint_gid)[:PROCESS] for one in found})
        self._released = False
