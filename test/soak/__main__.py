"""Drive a simulated arm, and hurt its nodes in turn: `python -m soak --seconds 600`.

The feed-forward node is killed, stopped and continued, and ended by each signal; the simulator is
stopped and continued; references end, jump, and are nonsense; commands come in floods. After
every fault the efforts must be zero: within a period where a node can see it, else within the
timeout (longer by what a busy machine keeps the simulator from its joint states); and a new
reference must be followed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from rclpy.executors import ExternalShutdownException
from ros_rig import ARM, DOMAIN, PATIENCE, Rig
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .watch import Watch, resident

RATE = 500.0
"""Hz of both nodes."""

TIMEOUT = 0.1
"""s after which the simulator takes no more of a command."""

SEEN = 0.05
"""s within which efforts are zero where a node sees the fault: a period, and what a message and
a busy machine take."""

GROWTH = 2.0
"""MiB that the simulator may grow after it has met each fault once."""

GROWTH_BY_RESTART = 0.05
"""MiB besides for every node that came and went: the middleware alone, with rclpy and nothing of
ours, keeps so much of each that was killed."""


class Soak:
    """Two nodes, a watch, and faults."""

    def __init__(self, rig: Rig, folder: Path) -> None:
        self._urdf = folder / "arm.urdf"
        self._urdf.write_text(ARM)
        self.restarts = 0
        self.simulator = self._start("simulator", command_timeout=TIMEOUT)
        self.feedforward = self._start_feedforward()
        self.watch = Watch(rig.client)
        client = rig.client
        self._reference = client.create_publisher(
            JointTrajectory, "torque_feedforward/reference", 10
        )
        self._named = client.create_publisher(JointState, "simulator/effort_command", 10)
        self._array = client.create_publisher(Float64MultiArray, "simulator/commands", 10)

    def close(self) -> None:
        """End the nodes."""
        self.watch.close()
        for process in (self.feedforward, self.simulator):
            process.terminate()
            process.wait(timeout=20)

    def _start(self, node: str, *remap: str, **parameters: object) -> subprocess.Popen[bytes]:
        given = [f"{name}:={value}" for name, value in parameters.items()]
        given += [f"urdf:={self._urdf}", f"rate:={RATE}"]
        arguments = [part for one in given for part in ("-p", one)]
        return subprocess.Popen(
            [str(Path(sys.executable).with_name(node)), "--ros-args", *arguments, *remap],
            env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _start_feedforward(self) -> subprocess.Popen[bytes]:
        return self._start(
            "torque_feedforward", "-r", "~/commands:=simulator/commands", reference_timeout=0.5,
            start_tolerance=0.0, following_tolerance=0.0,
        )  # fmt: skip

    def drive(self, seconds: float = 3.0) -> None:
        """Send a reference, and wait until efforts come."""
        message = JointTrajectory(joint_names=["shoulder", "elbow", "grip"])
        for k in range(2):
            point = JointTrajectoryPoint(positions=[0.3 + 0.1 * k, -0.7, 0.02])
            point.time_from_start.sec = int(k * seconds)
            message.points.append(point)
        end = time.monotonic() + PATIENCE
        while not self.watch.driven(0.5):  # a node that was killed counts as a subscriber for long
            if time.monotonic() > end:
                raise AssertionError(f"no effort reaches the robot: {self.watch.complaints}")
            self._reference.publish(message)
        time.sleep(0.2)

    # ---- faults: each returns how long efforts may go on ------------------------------------

    def kill(self) -> float:
        """SIGKILL of the feed-forward: nobody sees it but the simulator's timeout."""
        self.feedforward.kill()
        return self._restarted(TIMEOUT + SEEN)

    def ended_by(self, number: signal.Signals) -> Callable[[], float]:
        """A signal that ends the feed-forward in order."""

        def fault() -> float:
            self.feedforward.send_signal(number)
            return self._restarted(SEEN)

        return fault

    def _restarted(self, allowed: float) -> float:
        self.feedforward.wait(timeout=20)
        self.restarts += 1
        self.feedforward = self._start_feedforward()
        return allowed

    def pause(self) -> float:
        """SIGSTOP, and SIGCONT after a second, of the feed-forward."""
        self.feedforward.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        self.feedforward.send_signal(signal.SIGCONT)
        return 1.0 + SEEN  # it starts anew, with zeros

    def pause_simulator(self) -> float:
        """SIGSTOP, and SIGCONT after a second, of the simulator."""
        self.watch.excused = True
        self.simulator.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        self.simulator.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        return 4.0  # the reference goes on; its own end counts

    def nonsense(self) -> float:
        """References that nobody can follow: the one before goes on to its end."""
        for values in ([float("nan")] * 3, [50.0, 0.0, 0.0], [1e308] * 3, [0.0]):
            message = JointTrajectory(joint_names=["shoulder", "elbow", "grip"])
            message.points = [JointTrajectoryPoint(positions=values)]
            self._reference.publish(message)
        return 4.0

    def flood(self) -> float:
        """Two seconds of wrong commands, as fast as they go."""
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            self._named.publish(JointState(name=["nobody"], effort=[1.0]))
            self._array.publish(Float64MultiArray(data=[0.0] * 7))
            time.sleep(1e-4)
        return 4.0


def main() -> int:
    """Soak, print the numbers, and return 1 where one is not as it must be."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    end = time.monotonic() + parser.parse_args().seconds
    rig = Rig()
    late: list[str] = []
    took: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(rig, Path(folder))
        try:
            faults = {
                "kill -9": soak.kill,
                **{
                    number.name: soak.ended_by(number)
                    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
                },
                "stopped for 1 s": soak.pause,
                "simulator stopped for 1 s": soak.pause_simulator,
                "nonsense references": soak.nonsense,
                "flood of wrong commands": soak.flood,
            }
            soak.drive()
            memory, restarts = 0.0, 0
            for number, name in enumerate(itertools.cycle(faults)):
                if number <= len(faults):  # what is made once is made
                    memory, restarts = resident(soak.simulator.pid), soak.restarts
                soak.watch.excused = False
                soak.drive()
                since, soak.watch.starved = time.monotonic(), 0.0
                allowed = faults[name]()
                effort, command = soak.watch.zero_after(since, limit=20.0)
                took[name].append((effort, command))
                starved = soak.watch.starved
                if effort > allowed + starved:
                    late.append(f"{name}: {effort:.3f} s, joint states overdue {starved:.3f} s")
                if time.monotonic() > end:
                    break
            grown = resident(soak.simulator.pid) - memory
            most = GROWTH + GROWTH_BY_RESTART * (soak.restarts - restarts)
        except (AssertionError, ExternalShutdownException) as error:
            print(f"soak: {error}")
            return 1
        finally:
            soak.close()
            rig.close()
    print(f"{'fault':28s}{'times':>6s}{'effort zero after, s':>24s}{'commands zero, s':>20s}")
    for name, times in took.items():
        efforts, commands = zip(*times, strict=True)
        print(f"{name:28s}{len(times):6d}{max(efforts):24.3f}{max(commands):20.3f}")
    watch = soak.watch
    print(
        f"joint states {watch.received}, lost {watch.lost}, out of order {watch.disordered}, "
        f"longest gap {1e3 * watch.longest_gap:.1f} ms, the simulator grew by {grown:.1f} MiB "
        f"(to {memory + grown:.1f} MiB; {most:.1f} allowed)"
    )
    for one in late:
        print(f"late: {one}")
    return int(bool(late or watch.lost or watch.disordered or grown > most))


if __name__ == "__main__":
    sys.exit(main())
