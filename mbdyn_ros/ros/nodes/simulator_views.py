"""Markers, odometry and transforms of the simulator, at the rate of a display."""

from __future__ import annotations

import contextlib

from visualization_msgs.msg import MarkerArray

from ...errors import MbdynError
from ...robot import Robot
from ..messages.base_pose import PosePublisher
from ..node.description import LATCHED
from ..node.steady_timer import steady_timer
from ..show.markers import RobotMarkers
from .impact_reports import ImpactReports
from .session import Session
from .simulation_node import SimulationNode

POSE_RATE = 60.0
"""Hz, of odometry and transforms."""


class SimulatorViews:
    """Publishes from timers of the executor, on a clock that never stands still."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        self._poses: PosePublisher | None = None
        self._markers: RobotMarkers | None = None
        self.impacts: ImpactReports | None = None
        self._markers_out = simulator.create_publisher(MarkerArray, "~/markers", LATCHED)
        timer = steady_timer(simulator, POSE_RATE, self._publish_poses)
        self._timers = [(timer, lambda: self._poses is not None and self._poses.needed)]
        rate = simulator.parameters["marker_rate"]
        if rate > 0:
            timer = steady_timer(simulator, rate, self._publish_markers)
            self._timers.append((timer, lambda: self._markers_out.get_subscription_count() > 0))
            timer = steady_timer(simulator, rate, self._show_impacts)
            self._timers.append((timer, lambda: self.impacts is not None and self.impacts.needed))
        self.switch_timers()

    def show(self, robot: Robot, names: list[str]) -> None:
        """Show another robot; `names` orders the efforts of its markers."""
        if self._poses is not None:
            self._poses.destroy()
        self._poses = PosePublisher(self._simulator, robot)
        scale = self._simulator.parameters["marker_scale"]
        self._markers = RobotMarkers(robot, names, scale)
        session = self._simulator.session
        if session is not None and session.motion.environment is not None:
            self.impacts = ImpactReports(self._simulator, session, session.motion.environment)
        if session is not None and robot.model.loops and len(self._timers) > 1:
            self._show_loops(self._markers, session)  # here, as the first forces take long
        self.switch_timers()

    def end_impacts(self) -> None:
        """Take the walls and impacts of the robot so far away; the caller holds the lock."""
        if self.impacts is not None:
            self.impacts.destroy()
            self.impacts = None

    def switch_timers(self) -> None:
        """Run only the timers that somebody needs: each tick of one disturbs the loop."""
        for timer, needed in self._timers:
            if not needed():
                timer.cancel()
            elif timer.is_canceled():
                timer.reset()

    def _publish_markers(self) -> None:
        simulator, session = self._simulator, self._simulator.session
        if session is not None and self._markers is not None:
            if session.robot.model.loops and not simulator.fault:
                self._show_loops(self._markers, session)
            self._markers_out.publish(self._markers.update(session.efforts()))

    def _show_impacts(self) -> None:
        if self.impacts is not None:
            self.impacts.show()

    def _show_loops(self, markers: RobotMarkers, session: Session) -> None:
        with self._simulator.lock:
            state = session.motion.snapshot()
        with contextlib.suppress(MbdynError):  # the state may have no finite answer
            markers.update_loops(*state())

    def _publish_poses(self) -> None:
        simulator, session = self._simulator, self._simulator.session
        if session is None or self._poses is None or simulator.fault:
            return
        with simulator.lock:
            q, v = session.motion.q.copy(), session.motion.v.copy()
            stamp = simulator.stamp(session)
        self._poses.publish(q, v, stamp)
