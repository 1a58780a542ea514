"""The action `follow_joint_trajectory` of the simulator, where control_msgs is installed.

As joint_trajectory_controller serves it: MoveIt drives the simulator without ros2_control.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from ...array import Array
from ...errors import InputError
from ..messages.conversions import fill_time, seconds
from ..messages.joint_path import JointPath, Tolerances
from ..messages.named_numbers import require_known
from ..node.interfaces import where_installed
from ..node.node_clock import steady_timer
from ..node.refusals import one_line
from .path_motion import DONE, RUNNING, PathMotion
from .session import Session
from .simulation_node import SimulationNode

LOOKS = 100.0
"""Hz at which ends of goals are looked for."""

FEEDBACK = 5
"""Looks between two messages of feedback."""

CANCELED = "canceled: its joints stay where they are"
"""The words of a goal that its client gave up."""


class TrajectoryAction:
    """One goal at a time; a new one ends the one before."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        actions = where_installed("control_msgs.action")
        self._active: tuple[Any, PathMotion, Future] | None = None
        self._server: ActionServer | None = None
        if actions is None:
            return
        self._type = actions.FollowJointTrajectory
        self._server = ActionServer(
            simulator, self._type, "~/follow_joint_trajectory", self._execute,
            goal_callback=self._review, handle_accepted_callback=self._begin,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )  # fmt: skip
        self._looks = 0
        self._timer = steady_timer(simulator, LOOKS, self._look)
        self._timer.cancel()

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.destroy()

    def _review(self, request: Any) -> GoalResponse:
        simulator = self._simulator
        try:
            with simulator.lock:
                self._motion_of(simulator.require(simulator.session), request)
        except InputError as error:
            simulator.refusals.add(error)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _motion_of(self, session: Session, request: Any) -> tuple[JointPath, list[int], float]:
        """The path of a goal, where its joints stand, and the simulated time of its start.

        Raises
        ------
        InputError
            What of the goal is wrong, or that there is a fault.
        """
        simulator = self._simulator
        if simulator.fault:
            raise InputError(f"there is a fault, call ~/reset first: {simulator.fault}")
        several = request.multi_dof_trajectory, request.component_path_tolerance
        if several[0].points or several[1] or request.component_goal_tolerance:
            raise InputError("joints of several coordinates follow no trajectory")
        names = request.trajectory.joint_names
        if not names:
            raise InputError("the trajectory names no joint")
        require_known(names, session.robot.actuated_joints, "actuated joint")
        labels, commands = session.robot.effort_labels, session.commands
        places = [labels.index(name) for name in names if name in labels]
        if len(places) < len(names) or not commands.can_follow[places].all():
            raise InputError(f"not all of {', '.join(names)} can follow a position")
        now, time = simulator.time(), session.motion.time
        stamp = request.trajectory.header.stamp
        made = simulator.makes_clock
        sent = (seconds(stamp) or now) if made else simulator.clock.at(stamp, now)
        session.commands.require_within(places, names, request.trajectory.points)
        path = JointPath(request.trajectory, self._present(session, places), now - sent)
        return path, places, time + sent - now

    def _present(self, session: Session, places: list[int]) -> tuple[Array, Array, Array]:
        """The state that a new path begins with: that of the one before, else the joints'."""
        rows = session.following.places[places]
        q, v = session.motion.joint_position[rows], session.motion.joint_velocity[rows]
        running = session.path
        if running is not None and running.places == places:
            return running.path.at(session.motion.time - running.start)
        return q, v, np.zeros(len(places))

    def _begin(self, goal: Any) -> None:
        """Follow an accepted goal; the one before ends."""
        simulator, request = self._simulator, goal.request
        parameters = simulator.parameters
        with simulator.lock:
            session = simulator.require(simulator.session)
            path, places, start = self._motion_of(session, request)
            kinds = (
                ("path_tolerance", request.path_tolerance),
                ("goal_tolerance", request.goal_tolerance),
            )
            tolerances = [Tolerances(path.joints, parameters[name], sent) for name, sent in kinds]
            patience = seconds(request.goal_time_tolerance) or parameters["goal_time"]
            if session.path is not None:
                session.path.outcome = "another goal came"
            both = tolerances[0], tolerances[1]
            motion = PathMotion(session, path, places, start, both, patience)
            session.path = motion
        if self._active is not None:
            self._finish(*self._active)
        self._active = goal, motion, Future(executor=simulator.executor)
        self._timer.reset()
        goal.execute()

    async def _execute(self, goal: Any) -> Any:
        """The result, when there is one."""
        active = self._active
        if active is None or active[0] is not goal:  # replaced before it began
            goal.abort()
            return self._type.Result(error_code=-1, error_string="another goal came")
        return await active[2]

    def _look(self) -> None:
        if self._active is None:
            self._timer.cancel()
            return
        goal, motion, _ = self._active
        simulator = self._simulator
        with simulator.lock:
            if simulator.fault and motion.outcome == RUNNING:
                motion.outcome = one_line(simulator.fault)
            elif goal.is_cancel_requested and motion.outcome == RUNNING:
                motion.end(CANCELED)
            session = simulator.require(simulator.session)
            if session.path is not motion and motion.outcome == RUNNING:
                motion.outcome = "another robot came"
            elif session.path is motion and motion.outcome != RUNNING:
                session.path = None
        if motion.outcome != RUNNING:
            self._finish(*self._active)
            self._active = None
            return
        self._looks += 1
        if self._looks % FEEDBACK == 0:
            goal.publish_feedback(self._feedback(motion))

    def _finish(self, goal: Any, motion: PathMotion, future: Future) -> None:
        """Hand over the result."""
        result = self._type.Result()
        if motion.outcome == DONE:
            goal.succeed()
        elif motion.outcome == CANCELED:
            goal.canceled()
            result.error_string = CANCELED
        else:
            goal.abort()
            kind = self._type.Result
            codes = {"path": kind.PATH_TOLERANCE_VIOLATED, "goal": kind.GOAL_TOLERANCE_VIOLATED}
            result.error_code = codes.get(motion.off, kind.INVALID_GOAL)
            result.error_string = motion.outcome
        future.set_result(result)

    def _feedback(self, motion: PathMotion) -> Any:
        with self._simulator.lock:
            session = self._simulator.require(self._simulator.session)
            moment, state = session.motion.time - motion.start, motion.state()
            stamp = self._simulator.stamp(session)
        feedback, wanted = self._type.Feedback(), motion.path.at(moment)
        fill_time(feedback.header.stamp, stamp)
        feedback.joint_names = list(motion.path.joints)
        feedback.index = motion.path.index(moment)
        feedback.desired.positions, feedback.desired.velocities = map(list, wanted[:2])
        feedback.desired.accelerations = list(wanted[2])
        feedback.actual.positions, feedback.actual.velocities = map(list, state)
        pairs = zip(wanted[:2], state, strict=True)
        errors = [list(want - have) for want, have in pairs]
        feedback.error.positions, feedback.error.velocities = errors
        for point in (feedback.desired, feedback.actual, feedback.error):
            fill_time(point.time_from_start, max(0, round(moment * 1e9)))
        return feedback
