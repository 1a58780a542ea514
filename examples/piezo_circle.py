"""A demonstration: two real nodes move the gripper of a simulated piezo robot round a circle.

`piezo_controller` and `piezo_simulator` run as processes on a DDS domain of their own; a client
here sends the path and judges the joint states that come back.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from examples.children import Children
from examples.demonstration import PRIORITY, DemoError, arguments, environment, run
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.piezo import JointPath, circle
from mbdyn_ros.robot import Robot, load
from mbdyn_ros.ros.messages.conversions import fill_time, seconds

HOME = [0.0, 0.3, 0.8, -0.5, 0.6, 0.0]
LINK = "gripper"

DELAY = 1.0
"""s from sending the path to its start."""

SETTLE = 1.5
"""s after its end."""

STARTING = 60.0
"""s that the nodes may take to compile and start."""


class PiezoClient(Node):
    """Sends the path, and records joint states and diagnostics."""

    def __init__(self, dead: Callable[[], str], context: rclpy.Context) -> None:
        super().__init__("piezo_demo", context=context)
        self._dead = dead
        self._executor = SingleThreadedExecutor(context=context)
        self._executor.add_node(self)
        self.recorded: list[tuple[float, list[float]]] = []
        self.torque_errors: list[float] = []
        self.pulses = 0
        self._path = self.create_publisher(JointTrajectory, "piezo_controller/reference", 10)
        self.create_subscription(JointState, "joint_states", self._on_states, 1000)
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)

    def spin_until(self, ready: Callable[[], bool], limit: float, what: str) -> None:
        """Serve callbacks until something is ready; DemoError where a node dies, or time is up."""
        end = time.monotonic() + limit
        while not ready():
            dead = self._dead()
            if dead or time.monotonic() > end:
                raise DemoError(dead or f"{what} after {limit:g} s")
            self._executor.spin_once(timeout_sec=0.1)

    def wait_for_nodes(self) -> None:
        """Until joint states come and the controller listens."""
        self.spin_until(
            lambda: bool(self.recorded) and self._path.get_subscription_count() > 0,
            STARTING, "the nodes are not ready",
        )  # fmt: skip

    def drive(self, robot: Robot, path: JointPath) -> float:
        """Send the path; return the time of the world at which it starts."""
        message = JointTrajectory(joint_names=list(robot.joint_names))
        start = self.get_clock().now().nanoseconds + int(1e9 * DELAY)
        fill_time(message.header.stamp, start)
        for moment, position in zip(path.times.tolist(), path.positions.tolist(), strict=True):
            point = JointTrajectoryPoint(positions=position, velocities=path.at(moment)[1].tolist())
            fill_time(point.time_from_start, int(1e9 * moment))  # type: ignore[arg-type]
            message.points.append(point)
        self._path.publish(message)
        self.recorded.clear()
        self.torque_errors.clear()
        end = time.monotonic() + DELAY + path.times[-1] + SETTLE
        self.spin_until(lambda: time.monotonic() > end, 1e6, "")
        return 1e-9 * start

    def _on_states(self, message: JointState) -> None:
        self.recorded.append((seconds(message.header.stamp), message.position.tolist()))

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "piezo_simulator":
                values = {one.key: one.value for one in status.values}
                self.torque_errors.append(float(values["largest error of a mean torque (%)"]))
                self.pulses += int(values["pulses"])


def demonstrate(context: rclpy.Context, domain: int, radius: float, duration: float) -> str:
    """Run both nodes and drive them; return what came of it, in words."""
    source = find_robot("piezo_robot")
    robot = load(source)
    path = circle(robot, LINK, np.array(HOME), radius, duration)
    with Children(environment(domain)) as children:
        robot_and_rank = {"urdf": source, **PRIORITY}
        start = {"initial_positions": HOME}
        pulses = ["~/pulses:=piezo_controller/pulses"]
        children.start("piezo_simulator", "", {**robot_and_rank, **start}, pulses)
        children.start("piezo_controller", "", robot_and_rank)
        client = PiezoClient(children.dead, context)
        try:
            client.wait_for_nodes()
            begin = client.drive(robot, path)
        finally:
            client.destroy_node()
        bad = children.stop()
    if bad:
        raise DemoError("; ".join(bad))
    times = np.array([moment for moment, _ in client.recorded]) - begin
    q = np.array([position for _, position in client.recorded])
    wanted = np.array([path.at(moment)[0] for moment in times])
    places, goals = (robot.frame_pose(one, LINK)[:, :3, 3] for one in (q, wanted))
    gap = 1e3 * np.linalg.norm(places - goals, axis=1)
    if not gap[-1] < 0.1:
        raise DemoError(f"the gripper ended {gap[-1]:.3f} mm from its target")
    return (
        f"{client.pulses} pulses led the gripper round a circle of {1e3 * radius:g} mm in "
        f"{duration:g} s: {np.sqrt(np.mean(gap**2)):.3f} mm from its path (rms), {gap.max():.3f} "
        f"mm at most, {gap[-1]:.5f} mm at the end; mean torques at most "
        f"{max(client.torque_errors, default=0.0):.3f} % from those asked"
    )


def main(args: list[str] | None = None) -> int:
    """Run the demonstration; return the exit code."""
    parser = arguments("examples.piezo_circle", __doc__)
    parser.add_argument("--radius", type=float, default=0.008, help="of the circle, m")
    parser.add_argument("--duration", type=float, default=8.0, help="of the way round, s")
    options = parser.parse_args(args)
    return run(
        lambda context: print(
            demonstrate(context, options.domain, options.radius, options.duration)
        ),
        options.domain,
    )


if __name__ == "__main__":
    sys.exit(main())
