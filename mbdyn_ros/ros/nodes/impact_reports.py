"""Impacts as the simulator publishes them: a message for each, and arrows in the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import Vector3
from visualization_msgs.msg import MarkerArray

from ...model.model import Array
from ...simulation.contact.environment import Environment
from ...simulation.contact.impacts import Impact
from ...simulation.contact.points import Point
from ..messages.base_pose import WORLD_FRAME
from ..messages.conversions import fill_time
from ..node.description import LATCHED
from ..node.interfaces import NOT_BUILT, msg
from ..show.markers import point
from ..show.wall_markers import ImpulseMarkers, wall_markers
from .session import Session

if TYPE_CHECKING:
    from .simulator import Simulator

MOST_KEPT = 200
"""Impacts whose arrows wait to be shown."""


class ImpactReports:
    """Publishes the walls, and every impact of a session."""

    def __init__(self, simulator: Simulator, session: Session, environment: Environment) -> None:
        robot = session.robot
        self._simulator = simulator
        self._frame = WORLD_FRAME if robot.floating_base else robot.model.root
        self._points = environment.contact_points(robot)
        self._kept: list[Impact] = []
        masses = [link.inertia.mass for link in robot.model.links if link.inertia is not None]
        self._scale = simulator.parameters["marker_scale"]
        self._arrows = ImpulseMarkers(self._frame, self._scale, sum(masses))
        self._walls_out = simulator.create_publisher(MarkerArray, "~/walls", LATCHED)
        self._arrows_out = simulator.create_publisher(MarkerArray, "~/impulses", 100)
        self._out: Any = None
        if msg is not None:
            self._out = simulator.create_publisher(msg.Impact, "~/impacts", 100)
        else:
            simulator.get_logger().warning(
                "the package mbdyn_ros_interfaces is not built: impacts are not published on "
                f"~/impacts. {NOT_BUILT}"
            )
        self._walls_out.publish(wall_markers(environment, self._frame))

    def destroy(self) -> None:
        """Take the topics away, when another robot comes."""
        for publisher in (self._walls_out, self._arrows_out, self._out):
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

    def message(self, impact: Impact, stamp: int) -> Any:
        """An Impact message; `stamp` in nanoseconds."""
        message = msg.Impact(
            time=impact.time, energy_before=impact.energy_before, energy_after=impact.energy_after
        )
        message.header.frame_id = self._frame
        fill_time(message.header.stamp, stamp)
        message.surface = list(impact.surfaces)
        nowhere = Point("", (np.nan, np.nan, np.nan))
        points = [self._points[k] if k >= 0 else nowhere for k in impact.points]
        message.link = [link for link, _ in points]
        message.point = [point(np.array(xyz)) for _, xyz in points]
        message.position = [point(place) for place in impact.places]
        message.normal = [_vector(normal) for normal in impact.normals]
        message.impulse = impact.impulses.tolist()
        message.friction_impulse = [_vector(one) for one in impact.tangential_impulses]
        message.normal_velocity_before = impact.normal_velocity_before.tolist()
        message.normal_velocity_after = impact.normal_velocity_after.tolist()
        message.angle_of_attack = impact.angle_of_attack.tolist()
        return message

    def show(self) -> None:
        """Publish arrows of the impulses since the last call, and the energy."""
        simulator = self._simulator
        session = simulator.session
        if session is None or simulator.fault:
            return
        with simulator.lock:
            kept, self._kept = self._kept, []
            energy, lost = sum(session.motion.energy()), session.motion.lost
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


def _vector(numbers: Array) -> Vector3:
    x, y, z = numbers.tolist()
    return Vector3(x=x, y=y, z=z)
