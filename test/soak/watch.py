"""What a client sees of a robot that is driven: stamps, efforts and memory."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from mbdyn_ros.ros.messages.conversions import seconds
from mbdyn_ros.ros.node.inbox import Inbox

TICK = 1e-3
"""s between two looks."""

AWAKE = 0.02
"""s of a look that count: what is longer, somebody else had the machine, or stopped us."""

DRIVER = "driver"
"""Name of the node that drives, whichever it is."""


def resident(process: int) -> float:
    """Memory (MiB) of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Reads joint states and commands in a thread; counts cycles, for no machine keeps the time.

    Attributes
    ----------
    lived : s for which this process could look: a clock that stands still while it cannot.
    received : joint states so far.
    lost : joint states that the simulator published, and that never came.
    disordered : stamps that do not increase.
    longest_gap : s between two joint states while not `excused`, as `lived`.
    last_command : the efforts that were commanded last.
    complaints : what each node's diagnostics said last.
    faults : of the nodes that stay in one until they are reset, in the words of their diagnostics.
    """

    def __init__(self, node: Any) -> None:
        self._states = Inbox(node, JointState, "joint_states", QoSProfile(depth=5000))
        self._diagnostics = Inbox(node, DiagnosticArray, "/diagnostics", QoSProfile(depth=50))
        self.complaints: dict[str, str] = {}
        self.faults: dict[str, str] = {}
        self._refused: dict[str, int] = {}
        self.last_command: Sequence[float] = ()
        self._commands = Inbox(node, JointState, f"{DRIVER}/effort", QoSProfile(depth=5000))
        self.received = self.lost = self.disordered = 0
        self._last_number = self._last_stamp = 0
        self.lived = self.longest_gap = self._last_at = 0.0
        self.excused = True
        self._active: list[float] = []
        self._driving: list[float] = []
        self._resting: list[float] = []
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="watch")
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closing = True
        self._thread.join()

    def wait(self, ready: Callable[[], object], limit: float) -> bool:
        """Wait until that, `limit` s that we live at most; whether it came."""
        end = self.lived + limit
        while not ready():
            if self.lived > end:
                return False
            time.sleep(TICK)
        return True

    def wait_for_rest(self, limit: float) -> None:
        """Wait until nobody commands and nothing moves the robot for half a second.

        Raises
        ------
        AssertionError
            They did not rest within `limit` s.
        """
        seen, since = (-1, -1), self.lived

        def quiet() -> bool:
            nonlocal seen, since
            if (now := (len(self._active), len(self._driving))) != seen:
                seen, since = now, self.lived
            return self.lived - since > 0.5

        assert self.wait(quiet, limit), "efforts without end"

    def cycles_after(self, since: float) -> tuple[int, int, int]:
        """Numbers of messages by whose stamps something was driven after a time (s since 1970).

        Commands after it; joint states with efforts after the last of these; and such after the
        zeros that followed them, where there were any.
        """
        driving = [stamp for stamp in self._driving if stamp > since]
        last = max(driving, default=since)
        hushed = min((stamp for stamp in self._resting if stamp > last), default=math.inf)
        active = [stamp for stamp in self._active if stamp > last]
        return len(driving), len(active), sum(stamp > hushed for stamp in active)

    def command_after(self, since: float) -> bool:
        """Whether commands were sent since then, once no more come: the last was read."""

        def count() -> int:
            return sum(one > since for one in (*self._driving, *self._resting))

        if not self.wait(count, 5.0):
            return False
        seen = 0
        while (now := count()) != seen:
            seen, end = now, self.lived + 0.1
            self.wait(lambda end=end: self.lived > end, 1.0)
        return True

    def driven(self, limit: float) -> bool:
        """Whether commands and efforts come within `limit` s from now."""
        self._active.clear()
        self._driving.clear()
        self._resting.clear()
        return self.wait(lambda: self._active and self._driving, limit)

    def refused(self, node: str) -> int:
        """How many messages a node said that it has refused."""
        return self._refused.get(node, 0)

    def _run(self) -> None:
        now = time.monotonic()
        while not self._closing:
            time.sleep(TICK)
            before, now = now, time.monotonic()
            self.lived += min(now - before, AWAKE)
            for message in self._states:
                stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
                self.disordered += stamp <= self._last_stamp
                self._last_stamp = stamp
                self.received += 1
                number, before_it = self._states.sequence, self._last_number
                self.lost += number - before_it - 1 if before_it else 0
                self._last_number = number
                if not self.excused:
                    self.longest_gap = max(self.longest_gap, self.lived - self._last_at)
                self._last_at = self.lived
                if any(message.effort):
                    self._active.append(seconds(message.header.stamp))
            for array in self._diagnostics:
                self.complaints |= {one.name: one.message for one in array.status}
                for one in array.status:
                    self.faults.pop(one.name, "")
                    if one.level == DiagnosticStatus.ERROR:
                        self.faults[one.name] = one.message
                    self._refused[one.name] = sum(
                        int(value.value) for value in one.values if value.key.startswith("refused ")
                    )
            for command in self._commands:
                self.last_command = command.effort
                kept = self._driving if any(command.effort) else self._resting
                kept.append(seconds(command.header.stamp))
