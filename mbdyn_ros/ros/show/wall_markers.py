"""Markers of walls, of the impulses that they give, and of the energy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from visualization_msgs.msg import Marker, MarkerArray

from ...model.model import Array
from ...motion.poses import quaternion_of
from ...simulation.contact.environment import Environment
from ...simulation.contact.impacts import Impact
from ...simulation.contact.surfaces import Shape
from ..messages.conversions import fill_time
from .markers import colour, new_marker, point

EXTENT = 6.0
"""Length (m) that is shown of what has no end."""

THICKNESS = 0.01
"""Thickness of a plane, m; it lies behind the wall."""

ARROW_LIFETIME = Duration(nanosec=500_000_000)
"""Time for which the arrow of an impulse stays."""

KINDS = {"plane": Marker.CUBE, "box": Marker.CUBE, "sphere": Marker.SPHERE,
         "cylinder": Marker.CYLINDER}  # fmt: skip

RING = np.linspace(0, 2 * math.pi, 65)


def wall_markers(environment: Environment, frame: str) -> MarkerArray:
    """The walls that have a shape, translucent; round ones with rings."""
    markers: list[Marker] = []
    for surface in environment.surfaces:
        if surface.shape is not None:
            markers.append(_body(surface.shape, frame, surface.name))
            if rings := _rings(surface.shape):
                markers.append(_lines(rings, frame, surface.name))
                _place(markers[-1], surface.shape.center, surface.shape.axes)
    for k, marker in enumerate(markers):
        marker.id = k
    return MarkerArray(markers=markers)


def _body(shape: Shape, frame: str, name: str) -> Marker:
    marker = new_marker(frame, "walls", KINDS[shape.kind])
    marker.text = name
    size = np.where(np.isfinite(shape.size), shape.size, EXTENT)
    center = shape.center
    if shape.kind == "plane":
        size[2] = THICKNESS
        center = center - 0.5 * THICKNESS * shape.axes[:, 2]
    elif shape.kind == "cylinder":
        size[2] = min(EXTENT, 0.5 * float(size[:2].min()))
    marker.scale.x, marker.scale.y, marker.scale.z = size.tolist()
    _place(marker, center, shape.axes)
    colour(marker, 0.55, 0.65, 0.8, 0.25)
    return marker


def _rings(shape: Shape) -> list[Array]:
    """Closed lines (N, 3) on a wall, in its own axes."""
    circle = np.column_stack([np.cos(RING), np.sin(RING), 0 * RING])
    if shape.kind == "cylinder":
        return [circle * [shape.size[0] / 2, shape.size[1] / 2, 0]]
    if shape.kind == "sphere":
        return [shape.size[0] / 2 * np.roll(circle, k, axis=1) for k in range(3)]
    return []


def _lines(rings: Sequence[Array], frame: str, name: str) -> Marker:
    marker = new_marker(frame, "wall_rings", Marker.LINE_LIST)
    marker.text = name
    for ring in rings:
        for start, end in zip(ring[:-1], ring[1:], strict=True):
            marker.points += [point(start), point(end)]
    marker.scale.x = 0.01
    colour(marker, 0.9, 0.9, 1.0, 0.8)
    return marker


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
                arrow = force * self._scale
                size = float(np.linalg.norm(arrow))
                if not size > 0:  # also the stop of a joint, which has no place
                    continue
                arrow *= min(1.0, 3 * self._length / size)
                marker = new_marker(self._frame, "impulse", Marker.ARROW)
                fill_time(marker.header.stamp, stamp)
                self._count = (self._count + 1) % 1000
                marker.id, marker.lifetime = self._count, ARROW_LIFETIME
                marker.points = [point(place), point(place + arrow)]
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
