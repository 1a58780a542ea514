"""Answers of `inverse_dynamics_server` about poses, Jacobians, energies and other joints.

Each fills a response from a request, or raises an error whose words say why not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, Twist

from ...errors import InputError
from ...model.model import Array
from ...motion.poses import point_jacobian
from ...robot import Robot
from ..messages.conversions import doubles, joint_state_message
from ..messages.layout import Layout
from ..messages.named_numbers import partial_position, require_reasonable
from ..messages.poses import pose_matrix, pose_message
from ..messages.trajectory_conversion import converted


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
    start = partial_position(
        robot, request.start_name, request.start_position, robot.home_position
    )
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
