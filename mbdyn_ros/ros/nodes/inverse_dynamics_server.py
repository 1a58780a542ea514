"""Node `inverse_dynamics_server`: torques, accelerations, terms, and kinematics as services.

`docs/ros.md` explains its topics and services.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Twist
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...model.model import Array
from ...motion import Violation
from ...motion.poses import point_jacobian
from ...robot import Robot
from ..messages.base_pose import pose_matrix, pose_message
from ..messages.conversions import doubles, external_wrenches, joint_state_message
from ..messages.layout import Layout
from ..messages.named_numbers import (
    effort_blocks,
    joint_efforts,
    partial_position,
    require_reasonable,
)
from ..messages.trajectory_efforts import (
    ANSWER_RATE,
    converted,
    requested_limits,
    timed,
    unfit_for_a_controller,
    with_efforts,
)
from ..node.health import Health
from ..node.interfaces import service_types
from ..node.process import run
from ..node.refusals import Refusals, in_words
from ..node.robot_node import RobotNode
from .parameters import INVERSE_DYNAMICS_SERVER


def forward_kinematics(robot: Robot, request: Any, response: Any) -> None:
    """Poses and velocities of links, and the state of all joints."""
    q, v, _ = Layout(robot, request.name).state(request.position, request.velocity)
    links = list(request.links) or list(robot.links)
    poses, twists = [], []
    for link in links:
        poses.append(pose_message(Pose(), robot.frame_pose(q, link)))
        velocity, twist = robot.frame_velocity(q, v, link).tolist(), Twist()
        twist.linear.x, twist.linear.y, twist.linear.z = velocity[:3]
        twist.angular.x, twist.angular.y, twist.angular.z = velocity[3:]
        twists.append(twist)
    response.links, response.poses, response.twists = links, poses, twists
    response.joint_state = joint_state_message(robot, q, v, np.zeros(len(robot.effort_labels)))


def jacobian(robot: Robot, request: Any, response: Any) -> None:
    """The Jacobian of a point of a link, row by row."""
    layout = Layout(robot, request.name)
    q, _, _ = layout.state(request.position)
    whole = point_jacobian(robot, q, request.link, _point(request.point))
    response.name = list(layout.blocks)
    response.jacobian = doubles(whole.reshape(-1))


def energies(robot: Robot, request: Any, response: Any) -> None:
    """Kinetic and potential energy."""
    q, v, _ = Layout(robot, request.name).state(request.position, request.velocity)
    kinetic, potential = robot.energy(q, v)
    response.kinetic, response.potential = float(kinetic), float(potential)


def inverse_kinematics(robot: Robot, request: Any, response: Any) -> str:
    """Joints that bring a link to a pose; why they do not, empty where they do."""
    start = partial_position(robot, request.start_name, request.start_position, robot.home_position)
    found = robot.inverse_kinematics(
        request.link,
        pose_matrix(request.pose, not request.position_only),
        _point(request.point),
        request.position_only,
        start,
    )
    response.name = list(robot.system.coordinates.blocks)
    response.position = doubles(found.q)
    response.position_error = found.position_error
    response.orientation_error = found.orientation_error
    rest, nothing = np.zeros(robot.nv), np.zeros(len(robot.effort_labels))
    response.joint_state = joint_state_message(robot, found.q, rest, nothing)
    try:
        found.require()
    except InputError as error:
        return str(error)
    return ""


def convert_trajectory(robot: Robot, request: Any, response: Any) -> None:
    """A trajectory in other joints."""
    answer, violation = converted(robot, request.trajectory, request.joint_names)
    response.trajectory, response.violation = answer, str(violation or "")


def _point(point: Any) -> Array:
    numbers: Sequence[float] = [point.x, point.y, point.z]
    require_reasonable("point", numbers, "xyz")
    return np.array(numbers)


class InverseDynamicsServer(RobotNode):
    """Answers with `success` and `message`, and never ends over a bad request."""

    NAME = "inverse_dynamics_server"
    PARAMETERS = INVERSE_DYNAMICS_SERVER
    PROGRAMS = (
        "inverse_dynamics",
        "forward_dynamics",
        "mass_matrix",
        "coriolis_vector",
        "gravity_vector",
        "friction_vector",
        "energy",
        "joint_position",
        "joint_velocity",
        "joint_acceleration",
    )

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.robot: Robot | None = None
        self._calls = 0
        self._last_refusal = ""
        self.refusals = Refusals(self, "request")
        self._trajectories = self.create_publisher(JointTrajectory, "~/trajectory_out", 10)
        self._timed = self.create_publisher(JointTrajectory, "~/timed_out", 10)
        self.begin()

    def on_robot(self, robot: Robot) -> None:
        """Answer about this robot."""
        self.robot = robot
        self.announce(
            f"serving {robot.model.name}: {', '.join(robot.independent_joints) or 'no joints'}"
        )

    def open_inputs(self) -> None:
        """The services, and the topic twin of one."""
        self.create_subscription(JointTrajectory, "~/trajectory_in", self._on_trajectory, 10)
        self.create_subscription(JointTrajectory, "~/path_in", self._on_path, 10)
        srv = service_types(self, "only ~/trajectory_in and ~/path_in are answered")
        if srv is None:
            return
        for name, kind, answer in (
            ("inverse_dynamics", srv.InverseDynamics, self._inverse_dynamics),
            ("forward_dynamics", srv.ForwardDynamics, self._forward_dynamics),
            ("dynamic_terms", srv.DynamicTerms, self._dynamic_terms),
            ("inverse_dynamics_trajectory", srv.InverseDynamicsTrajectory, self._trajectory),
            ("time_trajectory", srv.TimeTrajectory, self._timing),
            ("convert_trajectory", srv.ConvertTrajectory, self._conversion),
            ("forward_kinematics", srv.ForwardKinematics, forward_kinematics),
            ("jacobian", srv.Jacobian, jacobian),
            ("energies", srv.Energies, energies),
            ("inverse_kinematics", srv.InverseKinematics, inverse_kinematics),
        ):
            self.create_service(kind, f"~/{name}", partial(self._serve, name, answer))

    def on_parameters(self, names: Collection[str]) -> None:
        """Build the robot anew for another gravity."""
        if "gravity" in names and self.description.source is not None:
            self.on_robot(self.load(self.description.source))

    def health(self) -> Health:
        """The condition of the node, with the calls and refusals."""
        health = super().health()
        health.values |= {
            "robot": self.robot.model.name if self.robot is not None else "none",
            "calls": self._calls,
            "refused": self.refusals.count,
            "last refusal": self._last_refusal or "none",
        }
        return health

    def _serve(
        self,
        name: str,
        answer: Callable[[Robot, Any, Any], str | None],
        request: Any,
        response: Any,
    ) -> Any:
        """Fill the response, or say in it why not."""
        self._calls += 1
        try:
            short = answer(self.require(self.robot), request, response) or ""
        except Exception as error:
            self._refuse(name, error)
            response = type(response)(success=False, message=in_words(error))
        else:
            response.success = not short  # else: not a solution, but the nearest to one
            if short:
                response.message = short
                self._refuse(name, InputError(short))
        return response

    def _refuse(self, name: str, error: Exception) -> None:
        self._last_refusal = f"{name}: {in_words(error)}"
        self.refusals.add(error)

    def _inverse_dynamics(self, robot: Robot, request: Any, response: Any) -> None:
        layout = Layout(robot, request.name)
        self._require_room(len(request.external_wrenches), "wrenches")
        q, v, a = layout.state(request.position, request.velocity, request.acceleration)
        effort = robot.inverse_dynamics(q, v, a, external_wrenches(request.external_wrenches))
        response.name = list(effort_blocks(robot))
        response.effort = doubles(effort)
        response.joint_state = joint_state_message(robot, q, v, effort)

    def _forward_dynamics(self, robot: Robot, request: Any, response: Any) -> None:
        layout = Layout(robot, request.name)
        q, v, _ = layout.state(request.position, request.velocity)
        effort = joint_efforts(robot, request.effort_name, request.effort)
        acceleration = robot.forward_dynamics(q, v, effort)
        response.name = list(layout.blocks)
        response.acceleration = doubles(acceleration)
        response.joint_state = joint_state_message(robot, q, v, effort)

    def _dynamic_terms(self, robot: Robot, request: Any, response: Any) -> None:
        layout = Layout(robot, request.name)
        q, v, _ = layout.state(request.position, request.velocity)
        response.name = list(layout.blocks)
        response.mass_matrix = doubles(robot.mass_matrix(q).reshape(-1))
        response.coriolis = doubles(robot.coriolis_vector(q, v))
        response.gravity = doubles(robot.gravity_vector(q))
        response.friction = doubles(robot.friction_vector(q, v))

    def _trajectory(self, robot: Robot, request: Any, response: Any) -> None:
        self._require_room(len(request.external_wrenches), "wrenches")
        tolerance = request.effort_tolerance
        if not 0 <= tolerance < math.inf:
            raise InputError(f"effort_tolerance is {tolerance:g}: it must be 0 or more")
        response.trajectory, violation = self._filled(
            robot, request.trajectory, external_wrenches(request.external_wrenches), tolerance
        )
        response.violation = str(violation or "")
        unfit = unfit_for_a_controller(response.trajectory)
        if unfit:
            response.message = f"joint_trajectory_controller would refuse this trajectory: {unfit}"

    def _timing(self, robot: Robot, request: Any, response: Any) -> None:
        self._require_room(len(request.path.points), "points")
        for field in ("max_jerk", "blend", "rate"):
            number = getattr(request, field)
            if not 0 <= number < math.inf:
                raise InputError(f"{field} is {number:g}: it must be finite, 0 or more")
        response.trajectory, found = timed(
            robot,
            request.path,
            self.parameters["largest_request"],
            requested_limits(request),
            request.blend if request.straight else None,
            request.max_jerk or None,
            request.rate or ANSWER_RATE,
        )
        reached = found.limiting()
        response.limits = [one.limit for one in reached]
        response.since = doubles(np.array([one.start for one in reached]))

    def _conversion(self, robot: Robot, request: Any, response: Any) -> None:
        self._require_room(len(request.trajectory.points), "points")
        convert_trajectory(robot, request, response)

    def _filled(
        self,
        robot: Robot,
        trajectory: JointTrajectory,
        wrenches: dict[str, list[float]] | None = None,
        tolerance: float = 0.0,
    ) -> tuple[JointTrajectory, Violation | None]:
        self._require_room(len(trajectory.points), "points")
        most = self.parameters["largest_request"]
        return with_efforts(robot, trajectory, wrenches, tolerance, most)

    def _require_room(self, count: int, what: str) -> None:
        """Refuse a request that would keep all others waiting."""
        most = self.parameters["largest_request"]
        if count > most:
            raise InputError(
                f"the request has {count} {what}, and the parameter largest_request is {most}: "
                "ask in parts, or set it higher"
            )

    def _on_trajectory(self, message: JointTrajectory) -> None:
        self._reply(
            "trajectory_in", self._trajectories, lambda robot: self._filled(robot, message)[0]
        )

    def _on_path(self, message: JointTrajectory) -> None:
        most = self.parameters["largest_request"]

        def answer(robot: Robot) -> JointTrajectory:
            self._require_room(len(message.points), "points")
            return timed(robot, message, most)[0]

        self._reply("path_in", self._timed, answer)

    def _reply(self, name: str, publisher: Any, answer: Callable[[Robot], JointTrajectory]) -> None:
        """Publish an answer to a topic, or count why there is none."""
        self._calls += 1
        try:
            publisher.publish(answer(self.require(self.robot)))
        except Exception as error:
            self._refuse(name, error)


main = partial(run, InverseDynamicsServer, InverseDynamicsServer.NAME)

if __name__ == "__main__":
    sys.exit(main())
