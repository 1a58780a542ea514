"""A client of the three nodes of one robot."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from examples.demonstration import DemoError
from mbdyn_ros.model.model import Array
from mbdyn_ros.robot import Robot
from mbdyn_ros.ros.messages.conversions import doubles, fill_time
from mbdyn_ros.ros.node.inbox import Inbox
from mbdyn_ros.ros.node.interfaces import srv

from .motion import LEAD, MOTION, REST
from .outcome import Outcome

CALLS = 100
"""Random states that the service is asked about."""

PATIENCE = 60.0
"""s that nodes have to start and to answer: a first answer may wait for a program's compilation."""


class DemoClient(Node):
    """Talks to the nodes of one robot in its namespace."""

    def __init__(self, robot: Robot, name: str, alive: Callable[[], str], **options: Any) -> None:
        super().__init__(f"demo_{name}", namespace=name, **options)
        self.robot, self._alive = robot, alive
        self._spinner = SingleThreadedExecutor(context=options.get("context"))
        self._spinner.add_node(self)
        self.states: list[tuple[float, list[float], list[float], list[float]]] = []
        self.state_names: list[str] = []
        self._met = False
        self._inbox = Inbox(self, JointState, "joint_states", QoSProfile(depth=2000))
        self._commands = Inbox(self, Float64MultiArray, "simulator/commands", QoSProfile(depth=10))
        self._reference = self.create_publisher(JointTrajectory, "torque_feedforward/reference", 1)
        server = "inverse_dynamics_server"
        self._inverse: Any = self.create_client(srv.InverseDynamics, f"{server}/inverse_dynamics")
        self._trajectory: Any = self.create_client(
            srv.InverseDynamicsTrajectory, f"{server}/inverse_dynamics_trajectory"
        )
        self._pause: Any = self.create_client(SetBool, "simulator/pause")
        self._reset: Any = self.create_client(Trigger, "simulator/reset")
        self._set: Any = self.create_client(SetParameters, "torque_feedforward/set_parameters")

    def wait_for_nodes(self) -> None:
        """Return when all three nodes are there."""
        for client in (self._inverse, self._trajectory, self._pause):
            self._until(client.service_is_ready, PATIENCE, f"service {client.srv_name}")
        self._until(
            lambda: self._reference.get_subscription_count() > 0, PATIENCE, "torque_feedforward"
        )
        self._until(lambda: bool(self.state_names), PATIENCE, "joint_states")

    def ask(self, outcome: Outcome, random: np.random.Generator) -> None:
        """Inverse dynamics of random states, against the library in this process."""
        robot, times = self.robot, []
        for _ in range(CALLS):
            q, v, a = random.uniform(-1, 1, (3, robot.nv))
            if robot.model.loops:
                q *= 0.2  # within the strokes
            request = srv.InverseDynamics.Request(name=list(robot.independent_joints))
            request.position, request.velocity = doubles(q), doubles(v)
            request.acceleration = doubles(a)
            start = time.perf_counter()
            response = self._call(self._inverse, request)
            times.append(time.perf_counter() - start)
            expected = robot.inverse_dynamics(q, v, a)
            error = np.abs(np.array(response.effort) - expected).max() / scale(expected)
            outcome.service_error = max(outcome.service_error, float(error))
        outcome.service_ms = 1e3 * float(np.median(times))

    def ask_trajectory(self, outcome: Outcome, trajectory: JointTrajectory) -> JointTrajectory:
        """The trajectory with efforts, which are compared with the library in this process."""
        request, times = srv.InverseDynamicsTrajectory.Request(trajectory=trajectory), []
        for _ in range(5):
            start = time.perf_counter()
            response = self._call(self._trajectory, request)
            times.append(time.perf_counter() - start)
        outcome.trajectory_ms = 1e3 * float(np.median(times))
        points = response.trajectory.points
        q, v, a, effort = (
            np.array([getattr(point, key) for point in points])
            for key in ("positions", "velocities", "accelerations", "effort")
        )
        expected = self.robot.inverse_dynamics(q, v, a)
        outcome.trajectory_error = float((np.abs(effort - expected) / scale(expected)).max())
        return response.trajectory

    def drive(self, trajectory: JointTrajectory) -> float:
        """Let the simulated robot follow the trajectory; return when it started (s, its stamps).

        The simulation waits, paused, until the torques that hold its start arrive for the first
        time: the nodes know of each other by then.
        """
        for _ in self._commands:
            pass  # those of before
        hold = JointTrajectory(joint_names=trajectory.joint_names, points=trajectory.points[:1])

        def held() -> bool:
            self._reference.publish(hold)  # refused before it knows where the robot is
            return any(any(one.data) for one in self._commands)

        if self._met:
            self._reference.publish(hold)  # without feed-forward it takes no effort
        else:
            self._until(held, PATIENCE, "effort")
        self._met = True
        start = self.get_clock().now().nanoseconds + int((REST + LEAD) * 1e9)
        fill_time(trajectory.header.stamp, start)
        self._reference.publish(trajectory)
        self._spin(1e-9 * (start - self.get_clock().now().nanoseconds) - 0.4 * REST)
        self._read_states()
        self.states.clear()
        self._release()
        self._spin(MOTION + 1.4 * REST)
        self._call(self._pause, SetBool.Request(data=True))
        return start * 1e-9

    def _release(self) -> None:
        """Let the simulation run."""
        self._call(self._pause, SetBool.Request(data=False))

    def start_again(self, feedforward: str) -> None:
        """Back to the start, paused, with another source of efforts, however well it follows."""
        self._call(self._reset, Trigger.Request())
        settings = Parameter("feedforward", value=feedforward), Parameter(
            "following_tolerance", value=0.0
        )
        messages = [
            ParameterMessage(name=one.name, value=one.get_parameter_value()) for one in settings
        ]
        self._call(self._set, SetParameters.Request(parameters=messages))

    def _call(self, client: Any, request: Any) -> Any:
        future = client.call_async(request)
        self._spinner.spin_until_future_complete(future, timeout_sec=PATIENCE)
        if not future.done():
            raise DemoError(f"no answer from {client.srv_name}. {self._alive()}")
        response = future.result()
        if not getattr(response, "success", True):
            raise DemoError(f"{client.srv_name}: {response.message}")
        return response

    def _until(self, ready: Callable[[], bool], limit: float, what: str) -> None:
        end = time.monotonic() + limit
        while not ready():
            dead = self._alive()
            if dead or time.monotonic() > end:
                raise DemoError(dead or f"{what} did not appear in {limit:g} s")
            self._spinner.spin_once(timeout_sec=0.05)
            self._read_states()

    def _spin(self, duration: float) -> None:
        end = time.monotonic() + duration
        while (left := end - time.monotonic()) > 0:
            self._spinner.spin_once(timeout_sec=min(left, 0.02))
            self._read_states()
        dead = self._alive()
        if dead:
            raise DemoError(dead)

    def _read_states(self) -> None:
        for message in self._inbox:
            self.state_names = message.name
            stamp = message.header.stamp
            self.states.append(
                (stamp.sec + 1e-9 * stamp.nanosec, message.position, message.velocity,
                 message.effort)
            )  # fmt: skip


def scale(efforts: Array) -> float:
    """The measure of errors of efforts: the largest effort, at least 1 N m or N."""
    return max(1.0, float(np.abs(efforts).max()))
