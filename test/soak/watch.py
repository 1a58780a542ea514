"""What a client sees of a robot that is driven: stamps, efforts and memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mbdyn_ros.ros.node.inbox import Inbox

TICK = 1e-3
"""s between two looks."""

OVERDUE = 0.02
"""s after which joint states are overdue."""


def resident(process: int) -> float:
    """Memory (MiB) of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Reads joint states and commands in a thread.

    Attributes
    ----------
    received : joint states so far.
    lost : joint states that the simulator published, and that never came.
    disordered : stamps that do not increase.
    longest_gap : s between two joint states, by the clock of this process, while not `excused`,
        less the time that the machine kept this process from looking.
    starved : s for which joint states were overdue, since it was set to 0: a machine that is too
        busy lets nobody send zeros.
    hindered : longest time (s) for which this process could not look, since it was set to 0.
    last_command : the efforts that were commanded last.
    complaints : what each node's diagnostics said last.
    """

    def __init__(self, node: Any) -> None:
        self._states = Inbox(node, JointState, "joint_states", QoSProfile(depth=5000))
        self._diagnostics = Inbox(node, DiagnosticArray, "/diagnostics", QoSProfile(depth=50))
        self.complaints: dict[str, str] = {}
        self._refused: dict[str, int] = {}
        self.last_command: Sequence[float] = ()
        self._commands = Inbox(node, Float64MultiArray, "simulator/commands", QoSProfile(depth=500))
        self.received = self.lost = self.disordered = 0
        self._last_number = 0
        self.longest_gap = self.starved = self.hindered = 0.0
        self.excused = True
        self._last_stamp, self._last_at = 0, time.monotonic()
        self._effort_at = self._command_at = self._commanded_at = 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="watch")
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing = True
        self._thread.join()

    def zero_after(self, since: float, limit: float = 5.0) -> tuple[float, float]:
        """Time (s) from `since` to the last effort of the robot, and to the last command.

        Returns when both were zero for half a second.

        Raises
        ------
        AssertionError
            They were not, within `limit` s.
        """
        end = time.monotonic() + limit
        while (now := time.monotonic()) - max(self._effort_at, self._command_at, since) < 0.5:
            assert now < end, "efforts without end"
            time.sleep(0.01)
        return max(self._effort_at - since, 0.0), max(self._command_at - since, 0.0)

    def command_after(self, since: float, limit: float = 2.0) -> bool:
        """Whether commands came since then, until none comes any more: the last was read."""
        end = time.monotonic() + limit
        while (now := time.monotonic()) < end and now - max(self._commanded_at, since) < 0.1:
            time.sleep(0.01)
        return self._commanded_at > since

    def driven(self, limit: float) -> bool:
        """Whether efforts reach the robot within `limit` s from now."""
        since = time.monotonic()
        while self._effort_at < since:
            if time.monotonic() > since + limit:
                return False
            time.sleep(0.01)
        return True

    def refused(self, node: str) -> int:
        """How many messages a node said that it has refused."""
        return self._refused.get(node, 0)

    def _run(self) -> None:
        now, late = time.monotonic(), 0.0
        while not self._closing:
            time.sleep(TICK)
            before, now = now, time.monotonic()
            late += now - before - TICK
            self.hindered = max(self.hindered, now - before - TICK)
            for message in self._states:
                stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
                self.disordered += stamp <= self._last_stamp
                self._last_stamp = stamp
                self.received += 1
                number, before = self._states.sequence, self._last_number
                self.lost += number - before - 1 if before else 0
                self._last_number = number
                self.starved += max(now - self._last_at - OVERDUE, 0.0)
                if not self.excused:
                    self.longest_gap = max(self.longest_gap, now - self._last_at - late)
                self._last_at, late = now, 0.0
                if any(message.effort):
                    self._effort_at = now
            for array in self._diagnostics:
                self.complaints |= {one.name: one.message for one in array.status}
                for one in array.status:
                    self._refused[one.name] = sum(
                        int(value.value)
                        for value in one.values
                        if value.key.startswith("refused ")
                    )
            for command in self._commands:
                self.last_command, self._commanded_at = command.data, now
                if any(command.data):
                    self._command_at = now
