"""Nodes as processes: how they start, how they end, and what they say when they do not start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, DOMAIN, GHOST, PATIENCE, Rig, rig, start
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from examples.children import interrupted_later

__all__ = ["rig", "start"]

NODES = ("inverse_dynamics_server", "simulator", "torque_feedforward")


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def urdf(tmp_path: Path) -> str:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return str(path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("node", NODES)
def test_a_signal_ends_it_cleanly(
    rig: Rig, start: Start, urdf: str, node: str, number: int
) -> None:
    process = start(node, "-p", f"urdf:={urdf}")
    rig.wait(lambda: node in rig.client.get_node_names())
    rig.wait(lambda: rig.client.count_publishers("/diagnostics") > 0)
    time.sleep(0.3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "Traceback" not in output and "Error" not in output


def test_zero_torque_is_the_last_word(rig: Rig, start: Start, urdf: str) -> None:
    process = start("torque_feedforward", "-p", f"urdf:={urdf}", "-p", "reference_timeout:=0.0")
    sent = rig.listen(Float64MultiArray, "torque_feedforward/commands")
    reference = rig.publisher(JointTrajectory, "torque_feedforward/reference")
    reference.publish(JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0, 0.0, 0.0])]))
    rig.wait(lambda: sent and any(sent[-1].data))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    rig.wait(lambda: not any(sent[-1].data))


def test_parameters_from_the_command_line(rig: Rig, start: Start, urdf: str) -> None:
    process = start(
        "simulator", "-p", f"urdf:={urdf}", "-p", "rate:=100.0", "-p", "start_paused:=true",
        "-p", "initial_positions:=[0.5, -0.5, 0.01]", "-r", "__ns:=/left",
    )  # fmt: skip
    states = rig.listen(JointState, "/left/joint_states")
    rig.wait(lambda: states)
    assert states[0].position.tolist() == pytest.approx([0.5, -0.5, 0.01, 0.02])
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("node", "arguments", "message"),
    [
        ("simulator", ["urdf:=/no/such.urdf"], "/no/such.urdf"),
        ("simulator", ["rate:=-5.0"], "rate is -5.0: it must be from 1 to 10000"),
        ("simulator", ["rate:=500"], "decimal point"),
        ("simulator", ["urdf:=GHOST"], "'nothing'"),
        ("inverse_dynamics_server", ["urdf:=BROKEN"], "broken.urdf"),
        ("torque_feedforward", ["urdf:=ARM", "joints:=[knee]"], "no actuated joint 'knee'"),
        ("torque_feedforward", ["urdf:=ARM", "kp:=[1.0, 2.0]"], "kp has 2 numbers"),
    ],
)
def test_refused_with_one_line(
    start: Start, tmp_path: Path, node: str, arguments: list[str], message: str
) -> None:
    for name, text in (("ARM", ARM), ("GHOST", GHOST), ("BROKEN", "<robot>\n<link/>")):
        path = tmp_path / f"{name.lower()}.urdf"
        path.write_text(text)
        arguments = [one.replace(name, str(path)) for one in arguments]
    options: list[Any] = [part for one in arguments for part in ("-p", one)]
    process = start(node, *options)
    output, _ = process.communicate(timeout=PATIENCE)
    lines = [line for line in output.splitlines() if not line.startswith(("[INFO]", "[WARN]"))]
    assert process.returncode == 1, output
    assert len(lines) == 1 and lines[0].startswith(f"{node}: ") and message in lines[0], output


def test_unreadable_arguments_are_one_line_too(start: Start) -> None:
    process = start("simulator", "-p", "rate")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "Traceback" not in output, output


DEAF = """
import signal, sys
from rclpy.node import Node
from mbdyn_ros.ros.node.process import run

class Deaf(Node):
    def __init__(self):
        super().__init__("deaf")
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            WHAT_FOLLOWS

    def stop(self):
        pass

sys.exit(run(Deaf, "deaf", []))
"""


@pytest.mark.parametrize("follows", ["pass", "raise NotImplementedError('wrong arguments')"])
def test_a_node_ends_though_a_library_lost_the_interrupt(follows: str) -> None:
    """That came while the node was made: CasADi goes on, or takes it for a wrong argument."""
    done = subprocess.run(
        [sys.executable, "-c", DEAF.replace("WHAT_FOLLOWS", follows)],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_interrupts_wait_until_a_process_is_made() -> None:
    made = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        with pytest.raises(KeyboardInterrupt), interrupted_later():
            signal.raise_signal(signal.SIGINT)
            made.append("node")
        assert made
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
