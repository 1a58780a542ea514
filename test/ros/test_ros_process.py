"""Nodes as processes: how they start and how they end."""

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
from night import at_night, is_night

pytest.importorskip("rclpy")

from ros_rig import ARM, DOMAIN, PATIENCE, Forks, Rig, rig, start
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from examples.children import interrupted_later
from mbdyn_ros.ros.node.signals import ENDING, hear

__all__ = ["rig", "start"]

ENDED = (
    ("simulator", signal.SIGINT),
    pytest.param("inverse_dynamics_server", signal.SIGTERM, marks=pytest.mark.long),
    pytest.param("inverse_dynamics_server", signal.SIGINT, marks=pytest.mark.long),
    pytest.param("torque_feedforward", signal.SIGINT, marks=pytest.mark.long),
)
"""Nodes and signals: what ends them is the same code in all."""

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def urdf(tmp_path: Path) -> str:
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return str(path)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("node", "number"), ENDED)
def test_a_signal_ends_it_cleanly(
    rig: Rig, start: Start, urdf: str, node: str, number: int
) -> None:
    """SIGTERM ends the other nodes where their parameter files are tested."""
    process = start(node, "-p", f"urdf:={urdf}")
    rig.wait(lambda: node in rig.client.get_node_names())
    rig.wait(lambda: rig.client.count_publishers("/diagnostics") > 0)
    time.sleep(0.3)
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "Traceback" not in output and "Error" not in output


def holding(rig: Rig, forks: Forks, urdf: str) -> tuple[int, list[Any]]:
    """A process of torque_feedforward that holds the arm, wherever that is, and what it sends."""
    settings = [f"urdf:={urdf}", "longest_gap:=1.0"]
    zeros = ("reference_timeout", "start_tolerance", "following_tolerance")
    settings += [f"{name}:=0.0" for name in zeros]
    process = forks.start("torque_feedforward", *(part for one in settings for part in ("-p", one)))
    sent = rig.listen(Float64MultiArray, "torque_feedforward/commands")
    reference = rig.publisher(JointTrajectory, "torque_feedforward/reference")
    reference.publish(JointTrajectory(points=[JointTrajectoryPoint(positions=[0.0, 0.0, 0.0])]))
    rig.wait(lambda: sent and any(sent[-1].data))
    return process, sent


@pytest.mark.alone
def test_a_node_that_was_stopped_starts_anew(rig: Rig, forks: Forks, urdf: str) -> None:
    """With zeros: where the robot is by then is unknown."""
    process, sent = holding(rig, forks, urdf)
    os.kill(process, signal.SIGSTOP)
    time.sleep(1.5)
    sent.clear()
    os.kill(process, signal.SIGCONT)
    rig.wait(lambda: len(sent) > 20)
    # It may have been stopped between computing a command and sending it.
    assert not any(any(one.data) for one in sent[1:])
    os.kill(process, signal.SIGTERM)  # the middleware may crash where a client goes before
    forks.ended()


@pytest.mark.parametrize("number", [signal.SIGHUP, *at_night(signal.SIGTERM)])
def test_zero_torque_is_the_last_word(rig: Rig, forks: Forks, urdf: str, number: int) -> None:
    process, sent = holding(rig, forks, urdf)
    os.kill(process, number)
    code, output = forks.ended()
    assert code == 0, output
    rig.wait(lambda: not any(sent[-1].data))


@pytest.mark.usefixtures("compiled")
def test_parameters_from_the_command_line(rig: Rig, forks: Forks, urdf: str) -> None:
    process = forks.start(
        "simulator", "-p", f"urdf:={urdf}", "-p", "rate:=100.0", "-p", "start_paused:=true",
        "-p", "initial_positions:=[0.5, -0.5, 0.01]", "-r", "__ns:=/left",
    )  # fmt: skip
    states = rig.listen(JointState, "/left/joint_states")
    rig.wait(lambda: states)
    assert states[0].position.tolist() == pytest.approx([0.5, -0.5, 0.01, 0.02])
    os.kill(process, signal.SIGINT)
    code, output = forks.ended()
    assert code == 0, output


def test_every_signal_that_ends_or_suspends_is_heard() -> None:
    before = {number: signal.getsignal(number) for number in ENDING}
    heard: list[int] = []
    try:
        for number in ENDING:  # a shell ignores some for what it starts in the background
            signal.signal(number, lambda number, frame: None)
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # as after `nohup`
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # not as behind an `&`
        for number in {signal.SIGINT, signal.SIGHUP, signal.SIGTSTP, signal.SIGALRM}:
            assert number in ENDING
        hear(lambda number, frame: heard.append(number))
        for number in ENDING:
            signal.raise_signal(number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert set(heard) == set(ENDING) - {signal.SIGUSR1}


@pytest.mark.parametrize("library", ["", "_casadi"])
def test_interrupted_while_it_starts(library: str, tmp_path: Path) -> None:
    """It says so in one line, whatever it is importing."""
    command = "from mbdyn_ros.executables import simulator; raise SystemExit(simulator())"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "--ros-args", "-p", f"urdf:={tmp_path}/none.urdf"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    proc = Path("/proc", str(process.pid))

    def hears() -> bool:
        caught = int((proc / "status").read_text().split("SigCgt:")[1].split()[0], 16)
        return bool(caught >> signal.SIGHUP - 1 & 1)

    end = time.monotonic() + PATIENCE
    while not (hears() and library in (proc / "maps").read_text()):
        assert time.monotonic() < end
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (0, "simulator: stopped while it was starting\n")


SIGNALLED = """
import os, signal, sys
from importlib import import_module
from mbdyn_ros import executables
from mbdyn_ros.ros.node.loops import RateLoop

node, urdf, *moments = sys.argv[1:]
import_module(executables.NODES[node], "mbdyn_ros")
hear, start = executables.hear, RateLoop.start

def hear_and_wait(handler):
    hear(handler)
    signal.setitimer(signal.ITIMER_REAL, float(moment))

def start_and_end(self):
    start(self)
    signal.raise_signal(signal.SIGTERM)

for moment in moments:
    child = os.fork()
    if not child:
        if moment == "loop":
            RateLoop.start = start_and_end
        else:
            executables.hear = hear_and_wait
        sys.argv = [node, "--ros-args", "-p", f"urdf:={urdf}"]
        executables.run(node)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Ends a node as its loop starts, or that many seconds after it began to hear signals."""

ALONG_THE_START = [0.02 * k for k in range(1, 50)]
"""Seconds; a node is up after about half a second."""


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("node", "delays"),
    [
        ("effort_observer", [0.1]),
        *at_night(("effort_observer", [0.001, 0.3])),
        *at_night(
            *((node, ALONG_THE_START) for node in ("loop_state_publisher", "computed_torque"))
        ),
    ],
)
def test_a_signal_at_any_moment_of_the_start_ends_it_in_order(
    urdf: str, node: str, delays: list[float]
) -> None:
    """Nothing of ROS is left half made, or in use by the loop, when it is destroyed."""
    moments = [*["loop"] * (3 if is_night() else 1), *map(str, delays)]
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED, node, urdf, *moments],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        capture_output=True, text=True, timeout=len(moments) * PATIENCE,
    )  # fmt: skip
    assert done.stdout.split() == ["0"] * len(moments), done.stderr
    assert "Traceback" not in done.stderr


BUSY = """
import os, signal, sys, time
from mbdyn_ros.ros.node.description import GRAVITY, PRIORITY, SPECS
from mbdyn_ros.ros.node.process import run
from mbdyn_ros.ros.node.robot_node import RobotNode

class Busy(RobotNode):
    NAME, LOOP, PARAMETERS = "busy", "busy", (*SPECS, GRAVITY, PRIORITY)

    def __init__(self):
        super().__init__()
        self.create_timer(0.01, self.be_busy)
        self.begin()

    def loop_rate(self):
        return 100.0

    def be_busy(self):
        self.asked = time.perf_counter()
        signal.raise_signal(signal.SIGHUP)
        time.sleep(600.0)

    def last_words(self):
        print(time.perf_counter() - self.asked)

code = run(Busy, "busy", [])
assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN, "one more would spoil the exit code"
sys.exit(code)
"""


@pytest.mark.long
def test_the_loop_ends_at_once_though_the_main_thread_is_busy() -> None:
    """And what keeps that one busy is interrupted a little later."""
    done = subprocess.run(
        [sys.executable, "-c", BUSY],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0


DEAF = """
import signal, sys
from rclpy.node import Node
from mbdyn_ros.ros.node.process import run
from mbdyn_ros.ros.node.signals import INTERRUPTION

class Deaf(Node):
    def __init__(self):
        super().__init__("deaf")
        try:
            with INTERRUPTION.allowed():
                signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            WHAT_FOLLOWS

    def quiet(self):
        pass

    stop = quiet

sys.exit(run(Deaf, "deaf", []))
"""


@pytest.mark.sparse
@pytest.mark.parametrize(
    ("follows", "said"),
    [
        ("pass", ""),
        ("raise NotImplementedError('wrong arguments')", "deaf: stopped while it was starting\n"),
    ],
)
def test_a_node_ends_though_a_library_lost_the_interrupt(follows: str, said: str) -> None:
    """That came while the node was made: CasADi goes on, or takes it for a wrong argument."""
    done = subprocess.run(
        [sys.executable, "-c", DEAF.replace("WHAT_FOLLOWS", follows)],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", said)


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
