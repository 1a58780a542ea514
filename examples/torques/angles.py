"""The crane's chapter: planned in angles of boom and jib, moved by its cylinders.

The plan goes through the service that converts trajectories. Then the cylinders follow it twice: by
forces, which the trajectory service fills in, and by positions, which the simulator holds with
servos as hardware does.
"""

from __future__ import annotations

import gc
import math
import warnings
from typing import Any

import numpy as np
import rclpy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from examples.children import Children
from examples.demonstration import PRIORITY, DemoError, environment
from mbdyn_ros.model.read.installed import find_robot
from mbdyn_ros.motion import convert_trajectory
from mbdyn_ros.robot import Robot, load
from mbdyn_ros.ros.messages.conversions import doubles, fill_time
from mbdyn_ros.ros.messages.trajectory_message import read_reference
from mbdyn_ros.ros.node.interfaces import srv
from mbdyn_ros.ros.node.loops import RateLoop

from .client import PATIENCE, DemoClient
from .judge import longest_hold, moving_states, tool_gap
from .motion import MOTION, REST, trajectory_message, wanted_motion
from .outcome import Path, PlannedPaths

ANGLES = ("slew_joint", "boom_joint", "jib_joint", "telescope_joint")
START, GOAL = [-0.15, 0.04, 0.0, -0.1], [0.25, 0.35, 0.25, 0.1]
"""rad, rad, rad, m."""

EFFORT_TOLERANCE = 20.0
"""N or N m by which efforts between points may leave those of the motion."""

STREAM_RATE = 500.0
"""Positions per second, Hz."""

SERVO_FREQUENCY = 15.0
"""Hz: positions come late on a busy machine, which stiffer servos answer with all their force."""


class AnglesClient(DemoClient):
    """A client that plans in angles.

    latest_position : s by which a position was sent late, at most.
    """

    def __init__(self, robot: Robot, name: str, alive: Any, **options: Any) -> None:
        super().__init__(robot, name, alive, **options)
        self._convert: Any = self.create_client(
            srv.ConvertTrajectory, "inverse_dynamics_server/convert_trajectory"
        )
        self.latest_position = 0.0
        self._positions = self.create_publisher(JointState, "simulator/position_command", 10)

    def converted(self, plan: JointTrajectory) -> JointTrajectory:
        """The plan in lengths of the cylinders, within all limits."""
        self._until(self._convert.service_is_ready, PATIENCE, "the service that converts")
        answer = self._call(self._convert, srv.ConvertTrajectory.Request(trajectory=plan))
        if answer.violation:
            raise DemoError(f"the plan of the crane passes a limit: {answer.violation}")
        found: JointTrajectory = answer.trajectory
        return found

    def filled(self, trajectory: JointTrajectory) -> JointTrajectory:
        """The trajectory with efforts, and as many points as they take."""
        request = srv.InverseDynamicsTrajectory.Request(
            trajectory=trajectory, effort_tolerance=EFFORT_TOLERANCE
        )
        answer = self._call(self._trajectory, request)
        if answer.violation or answer.message:
            raise DemoError(f"the crane cannot be moved so: {answer.violation or answer.message}")
        found: JointTrajectory = answer.trajectory
        return found

    def stream(self, trajectory: JointTrajectory) -> float:
        """Send positions along the trajectory; return when it started (s).

        Time stands still in the simulator until it is ready to follow, which its forces show.
        """
        self._until(
            lambda: self._positions.get_subscription_count() > 0 and bool(self.state_names),
            PATIENCE, "the simulator",
        )  # fmt: skip
        reference = read_reference(self.robot, trajectory)
        message = JointState(name=list(self.robot.independent_joints))
        start = math.inf
        faults: list[Exception] = []

        def send(skipped: int) -> None:
            now = self._now()
            q, v, _ = reference.at(max(now - start, 0.0))
            message.position, message.velocity = doubles(q), doubles(v)
            fill_time(message.header.stamp, round(1e9 * now))
            self._positions.publish(message)

        loop = RateLoop(
            send, STREAM_RATE, faults.append, "positions", PRIORITY["realtime_priority"]
        )
        gc.collect()
        gc.disable()  # to look through all that Python holds takes 0.1 s, in which nothing is sent
        try:
            loop.start()
            self._spin(REST)
            self._release()  # it knows the first position by now
            self._until(
                lambda: any(any(one[3]) for one in self.states),
                PATIENCE, "the force that holds the crane",
            )  # fmt: skip
            self.states.clear()
            start = self._now() + REST
            self._spin(MOTION + 2 * REST)
        finally:
            loop.stop()
            gc.enable()
        self.latest_position = loop.report().worst_overrun
        if faults:
            raise DemoError(f"positions were not sent: {faults[0]}")
        return start

    def _now(self) -> float:
        """The system's time, s, as the joint states are stamped."""
        return 1e-9 * float(self.get_clock().now().nanoseconds)


def run_angles(context: rclpy.Context, domain: int, delay: float, frequency: float) -> PlannedPaths:
    """Plan in angles, convert, and move the crane by forces and by positions.

    delay : s that efforts take to the simulator. frequency : rad/s of a small PD.
    """
    path = find_robot("manipulator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the nodes log them
        robot = load(path)
    plan = trajectory_message(robot, np.array(START), np.array(GOAL), ANGLES)
    found = PlannedPaths()
    for mode in ("effort", "position"):
        name = f"crane_{mode}"
        with Children(environment(domain)) as children:
            children.start("inverse_dynamics_server", name, {"urdf": path})
            begin = convert_trajectory(robot, ANGLES, np.array([START])).position[0].tolist()
            settings = {"initial_positions": begin, "start_paused": True}
            settings["servo_frequency"] = SERVO_FREQUENCY
            children.start("simulator", name, {"urdf": path, **PRIORITY, **settings})
            if mode == "effort":
                inertia = np.diag(robot.mass_matrix(np.array(begin)))
                parameters = {
                    "urdf": path, **PRIORITY, "reference_timeout": 2.0, "rate": 1000.0,
                    "feedforward": "reference", "lead": delay,
                    "kp": (frequency**2 * inertia).tolist(),
                    "kd": (2 * frequency * inertia).tolist(),
                }  # fmt: skip
                children.start(
                    "torque_feedforward", name, parameters, ["~/commands:=simulator/commands"]
                )
            client = AnglesClient(robot, name, children.dead, context=context)
            try:
                moved = client.converted(plan)
                if mode == "effort":
                    client.wait_for_nodes()
                    filled = client.filled(moved)
                    found.points = len(moved.points), len(filled.points)
                    found.effort = planned_path(robot, client, client.drive(filled))
                else:
                    found.position = planned_path(robot, client, client.stream(moved))
            finally:
                client.destroy_node()
            bad = children.stop()
        if bad:
            raise DemoError("; ".join(bad))
    return found


def planned_path(robot: Robot, client: AnglesClient, start: float) -> Path:
    """The gap between the tool and the way that was planned in angles, while it moved."""
    times, q, _, effort = moving_states(robot, client, start)
    if len(times) < 100:
        raise DemoError(f"only {len(times)} joint states came from the crane")
    angles, _, _ = wanted_motion(times, np.array(START), np.array(GOAL))
    wanted = convert_trajectory(robot, ANGLES, angles, to=robot.independent_joints).position
    hold = max(longest_hold(times, effort), np.diff(times).max(), client.latest_position)
    return Path(times, tool_gap(robot, q, wanted), hold)
