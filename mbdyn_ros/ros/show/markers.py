"""Markers that show a robot's masses, efforts and loops, walls, impulses and energy.

A link's mass is a ball of aluminium of that mass at its centre of mass; an effort is an arrow
along the joint's axis; the force in a closing joint is an arrow at it, of full length at the
robot's weight; the gap that a loop leaves is a red line, which should never be visible. RViz
places them by TF.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Quaternion
from visualization_msgs.msg import Marker, MarkerArray

from ...errors import MbdynError
from ...model.model import Array, Loop
from ...model.shapes import Box, Cylinder, Sphere, Vector
from ...motion.poses import loop_force, loop_gap, quaternion_of, rotation_from_x
from ...robot import Robot
from ...simulation.contact.environment import Environment
from ...simulation.contact.impulses import Impact
from ...view.scene.arrows import arrow_vector
from ...view.scene.scene import WORLD, Lines
from ...view.scene.shown_walls import wall_items
from ..messages.conversions import fill_time

ALUMINIUM = 2700.0
"""kg/m^3"""

FULL_EFFORT = 100.0
"""N m or N that count as full effort where the description has no limit."""


STANDARD_GRAVITY = 9.81
"""m/s^2, for the weight that a loop force is compared with."""


class RobotMarkers:
    """A MarkerArray of one robot.

    Parameters
    ----------
    robot : the robot.
    names : joints, in the order of the efforts of `update`.
    length : of the arrow of a full effort (the joint's limit), m.
    """

    def __init__(self, robot: Robot, names: list[str], length: float = 0.3) -> None:
        self._length = length
        self.message = MarkerArray()
        self._arrows: list[tuple[int, Marker, Quaternion, Quaternion, float]] = []
        for link in robot.model.links:
            if link.inertia is not None and link.inertia.mass > 0:
                self._add_mass(link.name, link.inertia.mass, link.inertia.center)
        for k, name in enumerate(names):
            if name in robot.actuated_joints:
                self._add_arrow(robot, k, name)
        masses = [link.inertia.mass for link in robot.model.links if link.inertia is not None]
        self._weight = max(STANDARD_GRAVITY * sum(masses), 1e-9)
        self._loops = [
            (loop, self._loop_marker("loop_force", loop, Marker.ARROW),
             self._loop_marker("loop_gap", loop, Marker.LINE_LIST))
            for loop in robot.model.loops
        ]  # fmt: skip

    def update(self, efforts: Array) -> MarkerArray:
        """The markers for efforts (n,) (N m or N)."""
        for k, marker, along, against, full in self._arrows:
            effort = float(efforts[k])
            share = min(abs(effort) / full, 1.0)
            marker.pose.orientation = along if effort >= 0 else against
            marker.scale.x = max(self._length * share, 1e-4)
            marker.scale.y = marker.scale.z = 0.06 * self._length if share > 1e-3 else 1e-4
            marker.color.r, marker.color.g = min(2 * share, 1.0), min(2 - 2 * share, 1.0)
        return self.message

    def update_loops(self, robot: Robot, q: Array, v: Array, a: Array) -> None:
        """Place forces and gaps for a state; `robot` may be in other coordinates."""
        if not self._loops:
            return
        try:
            forces = robot.loop_forces(q, v, a)
        except (MbdynError, np.linalg.LinAlgError):
            forces = {}  # no answer there
        for loop, arrow, line in self._loops:
            at = loop.predecessor_frame.translation
            force = loop_force(loop, forces.get(loop.name, np.zeros(6)))
            vector, size = arrow_vector(force * self._length / self._weight, 3 * self._length)
            arrow.points = [point(at), point(at + vector)]
            thick = self._length * (0.04 if size > 1e-3 * self._length else 1e-4)
            arrow.scale.x, arrow.scale.y = thick, 2 * thick
            line.points = [point(at), point(at + loop_gap(robot, q, loop))]

    def _loop_marker(self, namespace: str, loop: Loop, kind: int) -> Marker:
        marker = self._marker(namespace, loop.predecessor, kind)
        marker.text = loop.name
        marker.scale.x = 0.02 * self._length
        marker.points = [point(loop.predecessor_frame.translation)] * 2
        marker.color.r, marker.color.a = 1.0, 0.9
        if kind == Marker.ARROW:
            marker.color.r, marker.color.b = 0.6, 0.9
            marker.scale.x = marker.scale.y = 1e-4
        return marker

    def _add_mass(self, link: str, mass: float, center: Array) -> None:
        marker = self._marker("mass", link, Marker.SPHERE)
        position = marker.pose.position
        position.x, position.y, position.z = center.tolist()
        diameter = (6 * mass / (math.pi * ALUMINIUM)) ** (1 / 3)
        marker.scale.x = marker.scale.y = marker.scale.z = diameter
        colour(marker, 0.2, 0.45, 0.85, 0.5)

    def _add_arrow(self, robot: Robot, k: int, name: str) -> None:
        joint = robot.model.joint(name)
        marker = self._marker("effort", joint.child, Marker.ARROW)
        marker.color.a = 0.9
        limit = joint.limits.effort
        full = limit if 0 < limit < math.inf else FULL_EFFORT
        self._arrows.append((k, marker, turn_x_to(joint.axis), turn_x_to(-joint.axis), full))

    def _marker(self, namespace: str, frame: str, kind: int) -> Marker:
        marker = new_marker(frame, namespace, kind, len(self.message.markers))
        marker.frame_locked = True
        self.message.markers.append(marker)
        return marker


def new_marker(frame: str, namespace: str, kind: int, number: int = 0) -> Marker:
    """A marker at the origin of a frame."""
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.header.frame_id = frame
    return marker


def colour(marker: Marker, r: float, g: float, b: float, a: float) -> None:
    """Colour a marker."""
    marker.color.r, marker.color.g, marker.color.b, marker.color.a = r, g, b, a


def point(place: Array) -> Point:
    """A place as a message."""
    x, y, z = place.tolist()
    return Point(x=x, y=y, z=z)


def turn_x_to(axis: Array) -> Quaternion:
    """The shortest rotation of the x axis to a unit vector."""
    return Quaternion(**dict(zip("xyzw", rotation_from_x(axis).tolist(), strict=True)))


ARROW_LIFETIME = Duration(nanosec=500_000_000)
"""Time for which the arrow of an impulse stays."""


def wall_markers(environment: Environment, frame: str) -> MarkerArray:
    """Markers of what `wall_items` shows of an environment."""
    markers: list[Marker] = []
    size: Vector
    for name, item in wall_items(environment):
        shape = item.shape
        if isinstance(shape, Lines):
            kind, size = Marker.LINE_LIST, (shape.thickness, 0.0, 0.0)
        elif isinstance(shape, Box):
            kind, size = Marker.CUBE, shape.size
        elif isinstance(shape, Cylinder):
            kind, size = Marker.CYLINDER, (2 * shape.radius, 2 * shape.radius, shape.length)
        else:
            assert isinstance(shape, Sphere)
            across = 2 * shape.radius
            kind, size = Marker.SPHERE, (across, across, across)
        marker = new_marker(item.body or frame, item.group, kind, len(markers))
        marker.text, marker.frame_locked = name, item.body != WORLD
        scale = marker.scale
        scale.x, scale.y, scale.z = np.multiply(size, item.scale).tolist()
        if isinstance(shape, Lines):
            marker.points = [point(place) for place in shape.points.reshape(-1, 3)]
        _place(marker, item.pose.translation, item.pose.rotation)
        colour(marker, *item.color)
        markers.append(marker)
    return MarkerArray(markers=markers)


class ImpulseMarkers:
    """Arrows of impulses, and the energy in words.

    Parameters
    ----------
    frame : the world's.
    length : m, of the arrow of an impulse that turns the robot's mass by 1 m/s.
    mass : of the robot, kg.
    """

    def __init__(self, frame: str, length: float, mass: float) -> None:
        self._frame, self._length, self._scale = frame, length, length / max(mass, 1e-9)
        self._count = 0

    def arrows(self, impacts: Sequence[Impact], stamp: int) -> MarkerArray:
        """One arrow a contact, from the wall to the robot, at `stamp` (ns); it fades by itself."""
        array = MarkerArray()
        for impact in impacts:
            for place, force in zip(impact.places, impact.forces, strict=True):
                vector, size = arrow_vector(force * self._scale, 3 * self._length)
                if not size > 0:  # also the stop of a joint, which has no place
                    continue
                marker = new_marker(self._frame, "impulse", Marker.ARROW)
                fill_time(marker.header.stamp, stamp)
                self._count = (self._count + 1) % 1000
                marker.id, marker.lifetime = self._count, ARROW_LIFETIME
                marker.points = [point(place), point(place + vector)]
                marker.scale.x, marker.scale.y = 0.04 * self._length, 0.1 * self._length
                colour(marker, 1.0, 0.6, 0.0, 0.95)
                array.markers.append(marker)
        return array

    def energy(self, place: Array, energy: float, lost: float) -> Marker:
        """The energy in words, at a place in the world (3,)."""
        marker = new_marker(self._frame, "energy", Marker.TEXT_VIEW_FACING)
        marker.text = f"energy {energy:.4g} J, lost at walls {lost:.4g} J"
        marker.scale.z = 0.3 * self._length
        _place(marker, place, np.eye(3))
        colour(marker, 1.0, 1.0, 1.0, 1.0)
        return marker


def _place(marker: Marker, center: Array, axes: Array) -> None:
    position, turn = marker.pose.position, marker.pose.orientation
    position.x, position.y, position.z = center.tolist()
    turn.x, turn.y, turn.z, turn.w = quaternion_of(axes).tolist()
