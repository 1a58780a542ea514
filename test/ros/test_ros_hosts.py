"""Nodes on two hosts: network namespaces, a switch between them, and cables that are pulled."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from ros_rig import ARM, DOMAIN, PATIENCE, Rig
from sensor_msgs.msg import JointState

pytestmark = [
    pytest.mark.alone,
    pytest.mark.long,
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or os.geteuid() != 0 or not shutil.which("ip"),
        reason="network namespaces take Linux, root and iproute2",
    ),
]

CLONE_NEWNET = 0x40000000
NODE = "import sys; from mbdyn_ros.executables import run; sys.exit(run(sys.argv[1]))"
TIMEOUT = 0.5
"""s, the simulator's `command_timeout`."""

LATE = 0.05
"""s, of a step of the simulator behind a command; its stamps do not wait for this process."""


def ip(*words: str) -> str:
    """Run iproute2."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout


def stamp(state: JointState) -> float:
    """When it was so, s."""
    return float(state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec)


class Network:
    """Two hosts at a switch: namespaces `robot` and `desk`, and one for the switch."""

    def __init__(self) -> None:
        self.switch, self.robot, self.desk = (
            f"mb{os.getpid()}{name}" for name in ("switch", "robot", "desk")
        )
        try:
            self._lay()
        except AssertionError as error:
            self.remove()
            pytest.skip(f"no network namespaces here: {error}")

    def _lay(self) -> None:
        for host in (self.switch, self.robot, self.desk):
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
        ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge", "up")
        for k, host in enumerate((self.robot, self.desk)):
            cable = f"port{k}"
            ip("-n", self.switch, "link", "add", cable, "type", "veth",
               "peer", "name", "eth0", "netns", host)  # fmt: skip
            ip("-n", self.switch, "link", "set", cable, "master", "bridge", "up")
            ip("-n", host, "addr", "add", f"10.87.0.{k + 1}/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
            ip("-n", host, "route", "add", "224.0.0.0/4", "dev", "eth0")

    def cable_of_desk(self, plugged: bool) -> None:
        """Pull or plug a cable: the hosts keep their addresses and routes."""
        ip("-n", self.switch, "link", "set", "port1", "up" if plugged else "down")

    def remove(self) -> None:
        """Take the hosts away."""
        for host in (self.switch, self.robot, self.desk):
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)

    @contextmanager
    def on(self, host: str) -> Iterator[None]:
        """What opens sockets in here does so on that host."""
        library = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net") as home, Path("/var/run/netns", host).open() as there:
            assert not library.setns(there.fileno(), CLONE_NEWNET)
            try:
                yield
            finally:
                assert not library.setns(home.fileno(), CLONE_NEWNET)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")  # memory is shared past cables
    one = Network()
    yield one
    one.remove()


@contextmanager
def node(host: str, name: str, *parameters: str) -> Iterator[subprocess.Popen[str]]:
    """A node on a host, with the robot in its parameters."""
    given = [part for one in parameters for part in ("-p", one)]
    process = subprocess.Popen(
        ["ip", "netns", "exec", host, sys.executable, "-c", NODE, name, "--ros-args",
         "-r", "computed_torque:~/commands:=simulator/commands", *given],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


@pytest.mark.parametrize("away", [2.0, pytest.param(25.0, marks=pytest.mark.long)])
def test_a_cable_that_is_pulled_and_plugged(network: Network, tmp_path: Path, away: float) -> None:
    """Zeros within the timeout; then all goes on, and nothing is restarted.

    After 25 s the hosts have forgotten each other, and find each other again.
    """
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(ARM)
    with network.on(network.robot):
        rig = Rig()
    try:
        states = rig.listen(JointState, "joint_states", 1)
        with (
            node(network.robot, "simulator", f"urdf:={urdf}", "rate:=200.0",
                 f"command_timeout:={TIMEOUT}"),
            node(network.desk, "computed_torque", f"urdf:={urdf}", "guiding_damping:=[20.0]",
                 "jump_tolerance:=0.0", "rate:=200.0", "state_timeout:=0.2"),
        ):  # fmt: skip

            def held() -> bool:
                return bool(states and any(states[-1].effort))

            rig.wait(held)
            network.cable_of_desk(plugged=False)
            cut = time.time()
            rig.wait(lambda: not held())
            assert max(stamp(one) for one in states if any(one.effort)) - cut < TIMEOUT + LATE
            time.sleep(max(0.0, away - (time.time() - cut)))
            assert not held()
            network.cable_of_desk(plugged=True)
            rig.wait(held)
    finally:
        rig.close()
