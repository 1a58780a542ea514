"""Node `trajectory_converter`: trajectories converted to other joints of the same closed loops.

Planners move booms and jibs, hardware moves their cylinders: what comes in the one goes out in the
other, with velocities, accelerations and efforts.

`docs/ros.md` explains its topics.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from rclpy.subscription import MessageInfo
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError, MbdynError
from ...robot import Robot
from ..messages.trajectory_efforts import converted
from ..node.health import Health
from ..node.inbox import Gaps
from ..node.process import run
from ..node.refusals import Refusals
from ..node.robot_node import RobotNode
from .parameters import TRAJECTORY_CONVERTER

QUEUE = 100
"""Trajectories that may wait."""


class TrajectoryConverter(RobotNode):
    """Converts in the executor's thread, one trajectory after the other."""

    NAME = "trajectory_converter"
    PARAMETERS = TRAJECTORY_CONVERTER
    PROGRAMS = ("joint_position", "joint_velocity", "joint_acceleration")

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.robot: Robot | None = None
        self.refusals = Refusals(self, "trajectory message")
        self._sent = 0
        self._gaps = Gaps()
        self._beyond = ""
        self._trajectories = self.create_publisher(JointTrajectory, "~/trajectory_out", QUEUE)
        self.begin()

    def on_robot(self, robot: Robot) -> None:
        """Convert for this robot."""
        unknown = [one for one in self.parameters["joints"] if one not in robot.joint_names]
        if unknown:
            raise InputError(
                f"parameter joints: there is no joint {unknown[0]!r}; there are "
                f"{', '.join(robot.joint_names)}"
            )
        self.robot = robot
        joints = self.parameters["joints"] or robot.actuated_joints
        self.announce(f"trajectories of {robot.model.name} in {', '.join(joints)}")

    def open_inputs(self) -> None:
        """Trajectories in any joints that determine the others."""
        self.create_subscription(JointTrajectory, "~/trajectory_in", self._on_trajectory, QUEUE)

    def health(self) -> Health:
        """Refusals, what never arrived, and the last limit that was passed."""
        health = super().health()
        self.refusals.report(health)
        lost = self._gaps.since_asked()
        if lost:
            health.warnings.append(
                f"{lost} trajectories were lost: they came faster than it converts"
            )
        health.values["lost trajectories"] = self._gaps.count
        health.values["converted"] = self._sent
        health.values["limit passed last"] = self._beyond or "none"
        return health

    def _on_trajectory(self, message: JointTrajectory, info: MessageInfo) -> None:
        self._gaps.heed(info)
        try:
            robot = self.require(self.robot)
            answer, violation = converted(robot, message, self.parameters["joints"])
            self._beyond = str(violation or "")
            if violation is not None and self.parameters["check_limits"]:
                raise InputError(str(violation))
        except MbdynError as error:
            self.refusals.add(error)
            return
        self._trajectories.publish(answer)
        self._sent += 1


main = partial(run, TrajectoryConverter, TrajectoryConverter.NAME)

if __name__ == "__main__":
    sys.exit(main())
