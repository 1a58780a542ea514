"""A simulator that runs for a minute: its rate, what is lost, and its memory."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from rclpy.qos import QoSProfile
from ros_rig import ARM, Rig, rig, start
from sensor_msgs.msg import JointState
from soak.watch import resident

from mbdyn_ros.ros.node.inbox import Inbox

__all__ = ["rig", "start"]

RATE = 500.0
"""Hz"""

SECONDS = 60.0


@pytest.fixture
def simulator(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> subprocess.Popen[str]:
    """A simulator of its own process."""
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return start("simulator", "-p", f"urdf:={path}", "-p", f"rate:={RATE}")


@pytest.mark.alone
@pytest.mark.long
def test_a_minute_at_rate(rig: Rig, simulator: subprocess.Popen[str]) -> None:
    inbox = Inbox(rig.client, JointState, "joint_states", QoSProfile(depth=5000))
    rig.wait(lambda: any(True for _ in inbox))
    time.sleep(5)  # what is made once is made
    for _ in inbox:
        pass
    memory, stamps = resident(simulator.pid), []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(0.05)
        stamps += [one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec for one in inbox]
    assert len(stamps) > 0.97 * RATE * SECONDS
    assert all(later > earlier for earlier, later in zip(stamps, stamps[1:], strict=False))
    assert resident(simulator.pid) - memory < 2.0
