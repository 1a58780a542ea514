"""What the demonstration does with one robot: a client of the three nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..model.model import Array
from ..robot import Robot
from .messages.conversions import doubles, fill_time
from .node.inbox import Inbox
from .node.interfaces import srv

CALLS, POINTS = 100, 221
MOTION, REST, LEAD = 2.2, 0.3, 0.2
"""s: the motion, rest before and after it, and the time that nodes have to read a trajectory."""


class DemoError(RuntimeError):
    """The demonstration did not go as it should; the message says where."""


@dataclass
class Path:
    """How far the tool was from its way, m, at times, s."""

    time: Array = field(default_factory=lambda: np.zeros(1))
    error: Array = field(default_factory=lambda: np.zeros(1))

    @property
    def rms_mm(self) -> float:
        """Root of the mean square, mm."""
        return 1e3 * float(np.sqrt(np.mean(self.error**2)))

    @property
    def max_mm(self) -> float:
        """Largest, mm."""
        return 1e3 * float(self.error.max())


@dataclass
class Outcome:
    """What came back for one robot."""

    name: str
    service_error: float = 0.0
    service_ms: float = 0.0
    trajectory_error: float = 0.0
    trajectory_ms: float = 0.0
    received: int = 0
    rate: float = 0.0
    worst_gap_ms: float = 0.0
    work: float = 0.0
    loss: float = 0.0
    energy_change: float = 0.0
    imbalance: float = 0.0
    tracking_error: float = 0.0
    loops: bool = False
    path: Path = field(default_factory=lambda: Path())
    path_without: Path = field(default_factory=lambda: Path())
    pd_share: float = 0.0
    pd_shares: list[float] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    time: Array = field(default_factory=lambda: np.zeros(0))
    wanted: Array = field(default_factory=lambda: np.zeros((0, 0)))
    position: Array = field(default_factory=lambda: np.zeros((0, 0)))
    effort: Array = field(default_factory=lambda: np.zeros((0, 0)))


class DemoClient(Node):
    """Talks to the nodes of one robot in its namespace."""

    def __init__(self, robot: Robot, name: str, alive: Callable[[], str], **options: Any) -> None:
        super().__init__(f"demo_{name}", namespace=name, **options)
        self.robot, self._alive = robot, alive
        self._spinner = SingleThreadedExecutor(context=options.get("context"))
        self._spinner.add_node(self)
        self.states: list[tuple[float, list[float], list[float], list[float]]] = []
        self.state_names: list[str] = []
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

    def wait_for_nodes(self, limit: float) -> None:
        """Return when all three nodes are there."""
        for client in (self._inverse, self._trajectory, self._pause):
            self._until(client.service_is_ready, limit, f"service {client.srv_name}")
        self._until(
            lambda: self._reference.get_subscription_count() > 0, limit, "torque_feedforward"
        )
        self._until(lambda: bool(self.state_names), limit, "joint_states")

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

        The simulation waits, paused, until the torques for the start arrive.
        """
        start = self.get_clock().now().nanoseconds + int((REST + LEAD) * 1e9)
        fill_time(trajectory.header.stamp, start)
        for _ in self._commands:
            pass  # those of before
        self._reference.publish(trajectory)
        self._until(lambda: any(any(one.data) for one in self._commands), 5.0, "effort")
        self._spin(1e-9 * (start - self.get_clock().now().nanoseconds) - 0.4 * REST)
        self._read_states()
        self.states.clear()
        self._call(self._pause, SetBool.Request(data=False))
        self._spin(MOTION + 1.4 * REST)
        self._call(self._pause, SetBool.Request(data=True))
        return start * 1e-9

    def start_again(self, feedforward: str) -> None:
        """The robot back to its start, paused, and another source of efforts."""
        self._call(self._reset, Trigger.Request())
        value = Parameter("feedforward", value=feedforward).get_parameter_value()
        message = ParameterMessage(name="feedforward", value=value)
        self._call(self._set, SetParameters.Request(parameters=[message]))

    def _call(self, client: Any, request: Any) -> Any:
        future = client.call_async(request)
        self._spinner.spin_until_future_complete(future, timeout_sec=5.0)
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
    """What errors of efforts are measured by: the largest effort, at least 1 N m or N."""
    return max(1.0, float(np.abs(efforts).max()))


def wanted_motion(times: Array, home: Array, goal: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations (N, n): to the goal and back, resting at the ends."""
    half = MOTION / 2
    s = np.clip(1 - np.abs(times - half) / half, 0, 1)[:, None]
    sign = np.sign(half - times)[:, None]
    inside = ((times > 0) & (times < MOTION))[:, None]
    way = goal - home
    q = home + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    v = inside * way * sign / half * (30 * s**2 - 60 * s**3 + 30 * s**4)
    a = inside * way / half**2 * (60 * s - 180 * s**2 + 120 * s**3)
    return q, v, a


def trajectory_message(robot: Robot, home: Array, goal: Array) -> JointTrajectory:
    """The motion as a message."""
    times = np.linspace(0, MOTION, POINTS)
    q, v, a = wanted_motion(times, home, goal)
    message = JointTrajectory(joint_names=list(robot.independent_joints))
    for k, moment in enumerate(times.tolist()):
        point = JointTrajectoryPoint()
        point.positions, point.velocities = doubles(q[k]), doubles(v[k])
        point.accelerations = doubles(a[k])
        fill_time(point.time_from_start, round(moment * 1e9))  # type: ignore[arg-type]
        message.points.append(point)
    return message


def judge(
    robot: Robot, client: DemoClient, outcome: Outcome, start: float, home: Array, goal: Array
) -> None:
    """Compare what was simulated with what was wanted, and energy with work."""
    while client.states and not any(client.states[0][3]):
        client.states.pop(0)  # from before the start
    if len(client.states) < 100:
        raise DemoError(f"only {len(client.states)} joint states came from {outcome.name}")
    columns = [client.state_names.index(label) for label in robot.velocity_labels]
    driven = [client.state_names.index(label) for label in robot.effort_labels]
    stamps = np.array([one[0] for one in client.states])
    whole = [np.array([one[k] for one in client.states]) for k in (1, 2, 3)]
    q, v, effort = whole[0][:, columns], whole[1][:, columns], whole[2][:, driven]
    way, driven_way = np.diff(q, axis=0), np.diff(whole[0][:, driven], axis=0)
    friction = robot.friction_vector(q, v)
    outcome.received = len(stamps)
    outcome.rate = float((len(stamps) - 1) / (stamps[-1] - stamps[0]))
    outcome.worst_gap_ms = 1e3 * float(np.diff(stamps).max())
    # Efforts are constant over a step of the simulator, so this sum is their exact work.
    work = np.cumsum((effort[1:] * driven_way).sum(axis=1))
    loss = np.cumsum(((friction[1:] + friction[:-1]) / 2 * way).sum(axis=1))
    change = np.array([sum(robot.energy(*one)) for one in zip(q, v, strict=True)])
    change = change[1:] - change[0]
    k = int(np.argmax(np.abs(change)))
    outcome.work, outcome.loss, outcome.energy_change = work[k], loss[k], change[k]
    outcome.imbalance = float(np.abs(change - work + loss).max() / np.abs(change).max())
    times = stamps - start
    wanted, _, _ = wanted_motion(times, home, goal)
    outcome.tracking_error = float(np.abs(q - wanted).max())
    outcome.labels = list(robot.velocity_labels)
    outcome.time, outcome.wanted, outcome.position, outcome.effort = times, wanted, q, effort


def path(robot: Robot, client: DemoClient, start: float, home: Array, goal: Array) -> Path:
    """How far the tool was from its way while it moved."""
    columns = [client.state_names.index(label) for label in robot.velocity_labels]
    times = np.array([one[0] for one in client.states]) - start
    moving = (times >= 0) & (times <= MOTION)
    q = np.array([one[1] for one in client.states])[moving][:, columns]
    wanted, _, _ = wanted_motion(times[moving], home, goal)
    link = robot.model.links[-1].name
    tips = [robot.frame_pose(one, link)[:, :3, 3] for one in (q, wanted)]
    return Path(times[moving], np.linalg.norm(tips[0] - tips[1], axis=1))


def pd_share(robot: Robot, client: DemoClient, start: float, ends: tuple[Array, Array],
             gains: tuple[Array, Array]) -> tuple[float, list[float]]:  # fmt: skip
    """What part of the efforts the PD gave: by power in all, by root mean square in each joint."""
    columns = [client.state_names.index(label) for label in robot.velocity_labels]
    times = np.array([one[0] for one in client.states]) - start
    moving = (times >= 0) & (times <= MOTION)
    q, v, effort = (
        np.array([one[k] for one in client.states])[moving][:, columns] for k in (1, 2, 3)
    )
    wanted_q, wanted_v, _ = wanted_motion(times[moving], *ends)
    given = gains[0] * (wanted_q - q) + gains[1] * (wanted_v - v)
    by_joint = np.sqrt((given**2).sum(axis=0) / (effort**2).sum(axis=0))
    return float(np.abs(given * v).sum() / np.abs(effort * v).sum()), by_joint.tolist()
