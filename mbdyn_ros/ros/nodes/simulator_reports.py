"""Reports of the simulator: its sensors and contacts, and views at the rate of a display.

Views are markers, odometry and transforms; sensors are IMUs on links and force-torque sensors in
joints, as parameters say.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu as ImuMessage
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from ...errors import InputError, MbdynError, SimulationError
from ...model.model import Array
from ...model.write.urdf import urdf_text
from ...robot import Robot
from ...simulation.contact.environment import Environment
from ...simulation.contact.impulses import Impact
from ...simulation.sensors import Imu
from ..messages.base_pose import WORLD_FRAME, PosePublisher, topic_word
from ..messages.conversions import fill_time, held_contact, impact_contacts
from ..node.description import LATCHED, WORLD
from ..node.interfaces import NOT_BUILT, msg
from ..node.node_clock import steady_timer
from ..show.markers import ImpulseMarkers, RobotMarkers, wall_markers
from .session import Session
from .simulation_node import SimulationNode

POSE_RATE = 60.0
"""Hz, of odometry and transforms."""

MOST_KEPT = 200
"""Impacts whose arrows wait to be shown."""


class ImuReports:
    """Publishes `~/imu/LINK`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such link.
    """

    def __init__(self, simulator: SimulationNode, robot: Robot, links: Sequence[str]) -> None:
        self._simulator = simulator
        try:
            units = [Imu(robot, link) for link in links]
        except InputError as error:
            raise InputError(f"parameter imu_links: {error}") from None
        self._units = [
            (imu, simulator.create_publisher(ImuMessage, topic_of("imu", imu.link), 10))
            for imu in units
        ]

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for _, publisher in self._units:
            self._simulator.destroy_publisher(publisher)

    def publish(self, session: Session, stamp: int) -> None:
        """Send what they show now; `stamp` in ns."""
        motion = session.motion
        for imu, publisher in self._units:
            reading = imu.read(motion.time, motion.q, motion.v)
            message = ImuMessage()
            message.header.frame_id = imu.link
            fill_time(message.header.stamp, stamp)
            for field, numbers, names in (
                (message.orientation, reading.orientation, "xyzw"),
                (message.angular_velocity, reading.turning, "xyz"),
                (message.linear_acceleration, reading.acceleration, "xyz"),
            ):
                for name, number in zip(names, numbers.tolist(), strict=True):
                    setattr(field, name, number)
            publisher.publish(message)


class ForceTorqueReports:
    """Publishes `~/force_torque/JOINT`, with the stamps of the joint states.

    Raises
    ------
    InputError
        The robot has no such joint, or the effect of walls on it is unknown.
    """

    def __init__(self, simulator: SimulationNode, session: Session, joints: Sequence[str]) -> None:
        self._simulator = simulator
        try:
            for joint in joints:
                session.force_torque(joint)  # compiles now, and refuses now
        except (InputError, SimulationError) as error:
            raise InputError(f"parameter force_torque_joints: {error}") from None
        self._sensors = [
            (
                joint,
                session.robot.model.joint(joint).child,
                simulator.create_publisher(WrenchStamped, topic_of("force_torque", joint), 10),
            )
            for joint in joints
        ]

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for _, _, publisher in self._sensors:
            self._simulator.destroy_publisher(publisher)

    def publish(self, session: Session, stamp: int) -> None:
        """Send the means of the last step; `stamp` in ns."""
        for joint, link, publisher in self._sensors:
            message = WrenchStamped()
            message.header.frame_id = link
            fill_time(message.header.stamp, stamp)
            force, torque = message.wrench.force, message.wrench.torque
            numbers = session.force_torque(joint).tolist()
            force.x, force.y, force.z, torque.x, torque.y, torque.z = numbers
            publisher.publish(message)


def topic_of(kind: str, name: str) -> str:
    """The topic `~/kind/name`; what topics may not be called by becomes an underscore."""
    return f"~/{kind}/{topic_word(name)}"


class ImpactReports:
    """Publishes the walls, and every impact of a session."""

    def __init__(
        self, simulator: SimulationNode, session: Session, environment: Environment
    ) -> None:
        robot = session.robot
        self._simulator = simulator
        self._frame = WORLD_FRAME if robot.floating_base else robot.model.root
        self._points = environment.contact_points(robot)
        self._kept: list[Impact] = []
        self._reported = -np.inf
        masses = [link.inertia.mass for link in robot.model.links if link.inertia is not None]
        self._scale = simulator.parameters["marker_scale"]
        self._arrows = ImpulseMarkers(self._frame, self._scale, sum(masses))
        self._walls_out = simulator.create_publisher(MarkerArray, "~/walls", LATCHED)
        self._arrows_out = simulator.create_publisher(MarkerArray, "~/impulses", 100)
        self._out: Any = None
        self._held_out: Any = None
        if msg is not None and hasattr(msg, "Contacts"):  # it may be of an older version
            self._out = simulator.create_publisher(msg.Impact, "~/impacts", 100)
            self._held_out = simulator.create_publisher(msg.Contacts, "~/contacts", 10)
        else:
            simulator.get_logger().warning(
                "the package mbdyn_ros_interfaces is not built, or is older than this version: "
                f"contacts are not published on ~/impacts and ~/contacts. {NOT_BUILT}"
            )
        self._walls_out.publish(wall_markers(environment, self._frame))

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for publisher in (self._walls_out, self._arrows_out, self._out, self._held_out):
            if publisher is not None:
                self._simulator.destroy_publisher(publisher)

    @property
    def needed(self) -> bool:
        """Whether anybody looks at the arrows."""
        return bool(self._arrows_out.get_subscription_count())

    def publish(self, session: Session, stamp: int) -> None:
        """Send the impacts since the last call; `stamp` is of now, ns."""
        now = session.motion.time
        for impact in session.motion.take_impacts():
            self._kept = [*self._kept[1 - MOST_KEPT :], impact]
            if self._out is not None:
                before = round(1e9 * max(now - impact.time, 0.0))
                self._out.publish(self.message(impact, max(0, stamp - before)))

    def publish_held(self, session: Session, stamp: int) -> None:
        """Send the contacts that are held now, if anybody listens; `stamp` in ns."""
        rate, now = self._simulator.parameters["contact_rate"], session.motion.time
        waits = rate > 0 and self._reported <= now < self._reported + 1 / rate - 1e-9
        if self._held_out is None or waits or not self._held_out.get_subscription_count():
            return
        self._reported = now
        message = msg.Contacts()
        message.header.frame_id = self._frame
        fill_time(message.header.stamp, stamp)
        message.contacts = [held_contact(one, self._points) for one in session.motion.contacts]
        self._held_out.publish(message)

    def message(self, impact: Impact, stamp: int) -> Any:
        """An Impact message; `stamp` in nanoseconds."""
        message = msg.Impact(
            time=impact.time, energy_before=impact.energy_before, energy_after=impact.energy_after
        )
        message.header.frame_id = self._frame
        fill_time(message.header.stamp, stamp)
        message.contacts = impact_contacts(impact, self._points)
        return message

    def show(self) -> None:
        """Publish arrows of the impulses since the last call, and the energy."""
        simulator = self._simulator
        session = simulator.session
        if session is None or simulator.fault:
            return
        with simulator.lock:
            kept, self._kept = self._kept, []
            energy, lost = sum(session.motion.energy), session.motion.lost
            q = session.motion.q.copy()
            stamp = simulator.stamp(session)
        array = self._arrows.arrows(kept, stamp)
        array.markers.append(self._arrows.energy(self._above(session, q), energy, lost))
        self._arrows_out.publish(array)

    def _above(self, session: Session, q: Array) -> Array:
        """A place over the robot."""
        links = dict.fromkeys(link for link, _ in self._points)
        places = np.array([session.robot.frame_pose(q, link)[:3, 3] for link in links])
        top = float(places[:, 2].max()) + self._scale
        return np.array([*places[:, :2].mean(axis=0), top])


class SimulatorViews:
    """Publishes from timers of the executor, on a clock that never stands still."""

    def __init__(self, simulator: SimulationNode) -> None:
        self._simulator = simulator
        self._poses: PosePublisher | None = None
        self._markers: RobotMarkers | None = None
        self.impacts: ImpactReports | None = None
        self._markers_out = simulator.create_publisher(MarkerArray, "~/markers", LATCHED)
        self._description_out: Any = None
        if WORLD in simulator.parameters and simulator.parameters[WORLD]:
            self._description_out = simulator.sole(String, "robot_description", LATCHED)
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
        session, roots = self._simulator.session, None
        if self._description_out is not None and session is not None:
            roots = {name: links[0] for name, links in session.members.items()}
            self._description_out.publish(String(data=urdf_text(robot.model)))
        self._poses = PosePublisher(self._simulator, robot, roots)
        scale = self._simulator.parameters["marker_scale"]
        self._markers = RobotMarkers(robot, names, scale)
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
        """Run only the timers that are needed: each tick of one disturbs the loop."""
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
