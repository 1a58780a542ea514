"""The faults that the nodes are hurt by, and how long efforts may go on after each."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rclpy.impl.implementation_singleton import rclpy_implementation
from ros_rig import ARM, DOMAIN, PATIENCE, Rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .watch import DRIVER, Watch

Process = subprocess.Popen[bytes]

RATE = 500.0
"""Hz of both nodes."""

TIMEOUT = 0.1
"""s after which the simulator takes no more of a command."""

SEEN = 0.05
"""s within which efforts are zero where a node sees the fault, by the cycles of that time."""

GOES_ON = 4.0
"""s for which commands may come where a fault is none of the reference, which has its own end."""

REFERENCE = 3.0
"""s that a reference lasts."""

LISTENER = """import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("listener")
node.create_subscription(JointState, "joint_states", lambda message: None, QoSProfile(depth=10))
rclpy.spin(node)
"""
"""Somebody else's program, as RViz would be."""


DRIVERS: dict[str, dict[str, object]] = {
    "torque_feedforward": {}, "computed_torque": {"mode": "computed_torque"}
}  # fmt: skip
"""The nodes that drive in turn, and what they are given besides."""


KEPT_WAITING = "joint_states jump"
"""Fault of a node that a busy machine has kept from its joint states while it drove: it sends zeros
until it is reset, as it should. One that was stopped knows of no state before, and has none."""

LINES = 30
"""Of what a node printed, where a soak ends because of it."""


class Soak:
    """A simulator, a node that drives it, a listener, a watch, and faults.

    Attributes
    ----------
    driver : the process that drives; another node after each restart.
    wrong : what was not as it must be.
    resets : of drivers that were kept waiting.
    """

    def __init__(self, rig: Rig, folder: Path) -> None:
        self._folder = folder
        self._urdf = folder / "arm.urdf"
        self._urdf.write_text(ARM)
        self.wrong: list[str] = []
        self.restarts = self.resets = 0
        self._paused = False
        self._rig = rig
        self.simulator = self._start("simulator", command_timeout=TIMEOUT)
        self.driver = self._start_driver()
        self._listener = self._run("listener", sys.executable, "-c", LISTENER)
        self.watch = Watch(rig.client)
        client = rig.client
        self._reference = client.create_publisher(JointTrajectory, f"{DRIVER}/reference", 10)
        self._named = client.create_publisher(JointState, "simulator/effort_command", 10)
        self._array = client.create_publisher(Float64MultiArray, "simulator/commands", 10)
        endings = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
        self.faults: dict[str, Callable[[], float]] = {
            "kill -9": self.kill,
            **{number.name: self.ended_by(number) for number in endings},
            "stopped for 1 s": self.pause,
            "simulator stopped for 1 s": self.pause_simulator,
            "listener stopped 8 times": self.pause_listener,
            "nonsense references": self.nonsense,
            "flood of wrong commands": self.flood,
        }

    def close(self) -> None:
        """End the nodes."""
        self.watch.close()
        self._listener.kill()
        self._listener.wait()
        for process in (self.driver, self.simulator):
            process.terminate()
            process.wait(timeout=20)

    def output(self) -> str:
        """Whether the simulator and the driver run, and the end of what they printed."""
        words = []
        for name, process in (("simulator", self.simulator), (DRIVER, self.driver)):
            lines = self._printed(name).read_text(errors="replace").splitlines()
            state = "runs" if process.poll() is None else f"ended with code {process.returncode}"
            words += [f"the {name} {state}; it printed", *lines[-LINES:]]
        return "\n  ".join(words)

    def _printed(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _run(self, name: str, *arguments: str) -> Process:
        with self._printed(name).open("wb") as output:
            return subprocess.Popen(
                arguments, env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def _start(self, node: str, *remap: str, **parameters: object) -> Process:
        given = [f"{name}:={value}" for name, value in parameters.items()]
        given += [f"urdf:={self._urdf}", f"rate:={RATE}"]
        arguments = [part for one in given for part in ("-p", one)]
        executable = str(Path(sys.executable).with_name(f"mbdyn_{node}"))
        name = DRIVER if node in DRIVERS else node
        return self._run(name, executable, "--ros-args", *arguments, *remap)

    def _start_driver(self) -> Process:
        node, given = list(DRIVERS.items())[self.restarts % len(DRIVERS)]
        return self._start(
            node, "-r", "~/commands:=simulator/commands", "-r", f"__node:={DRIVER}",
            reference_timeout=0.5, start_tolerance=0.0, following_tolerance=0.0, **given,
        )  # fmt: skip

    def drive(self) -> None:
        """Send a reference, and wait until efforts come."""
        message = JointTrajectory(joint_names=["shoulder", "elbow", "grip"])
        for k in range(2):
            point = JointTrajectoryPoint(positions=[0.3 + 0.1 * k, -0.7, 0.02])
            point.time_from_start.sec = int(k * REFERENCE)
            message.points.append(point)
        end = self.watch.lived + PATIENCE
        while not self.watch.driven(0.5):  # a node that was killed counts as a subscriber for long
            if self.watch.lived > end:
                raise AssertionError(f"no effort reaches the robot: {self.watch.complaints}")
            if fault := self.watch.faults.pop(DRIVER, ""):
                self._reset(fault)
            self._reference.publish(message)
        self._paused = False
        time.sleep(0.2)

    def _reset(self, fault: str) -> None:
        """Do what the driver asks for, as whoever looks after it would."""
        if KEPT_WAITING not in fault or self._paused:
            self.wrong.append(f"the driver stopped: {fault}")
        self._rig.call(Trigger, f"{DRIVER}/reset")
        self.resets += 1

    # ---- faults: each returns how long commands may go on ------------------------------------

    def kill(self) -> float:
        """SIGKILL of the driver: nobody sees it but the simulator's timeout."""
        self.driver.kill()
        self.driver.wait()
        self._restart()
        return 0.0

    def ended_by(self, number: signal.Signals) -> Callable[[], float]:
        """A signal that ends the driver in order: its last command is zero."""

        def fault() -> float:
            since = time.time()
            self.driver.send_signal(number)
            if not self.watch.wait(lambda: self.driver.poll() is not None, PATIENCE):
                raise AssertionError(f"{number.name}: it did not end")
            if code := self.driver.returncode:
                self.wrong.append(f"{number.name}: it ended with code {code}")
            if not self.watch.command_after(since):
                self.wrong.append(f"{number.name}: no command came after it")
            elif any(self.watch.last_command):
                self.wrong.append(f"{number.name}: the last command was not zero")
            self._restart()
            return SEEN

        return fault

    def _restart(self) -> None:
        self.restarts += 1
        self.watch.faults.pop(DRIVER, "")
        self.driver = self._start_driver()

    def pause(self) -> float:
        """SIGSTOP, and SIGCONT after a second, of the driver."""
        self._paused = True
        self.driver.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        self.driver.send_signal(signal.SIGCONT)
        return SEEN  # it starts anew, with zeros

    def pause_simulator(self) -> float:
        """SIGSTOP, and SIGCONT after a second, of the simulator."""
        self.watch.excused = True
        self.simulator.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        self.simulator.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        return GOES_ON

    def pause_listener(self) -> float:
        """SIGSTOP and SIGCONT of a listener, which may hold a lock by which it was sent to."""
        for _ in range(8):
            time.sleep(random.uniform(0.0, 0.1))
            self._listener.send_signal(signal.SIGSTOP)
            time.sleep(0.6)
            self._listener.send_signal(signal.SIGCONT)
        return GOES_ON

    def nonsense(self) -> float:
        """References that nobody can follow: they are refused, and the one before goes on."""
        before = self.watch.refused(DRIVER)
        refused = ([float("nan")] * 3, [50.0, 0.0, 0.0], [1e308] * 3, [0.0])
        for values in refused:
            message = JointTrajectory(joint_names=["shoulder", "elbow", "grip"])
            message.points = [JointTrajectoryPoint(positions=values)]
            self._reference.publish(message)
        self._require_refused(DRIVER, before + len(refused))
        return GOES_ON

    def flood(self) -> float:
        """Two seconds of wrong commands, as fast as they go: they are refused."""
        before, end = self.watch.refused("simulator"), self.watch.lived + 2.0
        while self.watch.lived < end:
            # A message for which the middleware has no room is one that was not sent.
            with contextlib.suppress(rclpy_implementation.RCLError):
                self._named.publish(JointState(name=["nobody"], effort=[1.0]))
                self._array.publish(Float64MultiArray(data=[0.0] * 7))
            time.sleep(1e-4)
        # Between two cycles the last array alone is kept, and ten named commands.
        self._require_refused("simulator", before + 100)
        return GOES_ON

    def _require_refused(self, node: str, count: int) -> None:
        """Wait until a node's diagnostics say that it refused that many messages in all."""
        if not self.watch.wait(lambda: self.watch.refused(node) >= count, PATIENCE):
            refused = self.watch.refused(node)
            self.wrong.append(f"{node} refused {refused} messages in all, of {count}")
