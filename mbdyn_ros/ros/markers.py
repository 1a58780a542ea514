"""Markers that show a robot's masses and efforts, in the frames of its links.

A link's mass is a ball of aluminium of that mass at its centre of mass; an effort is an arrow
along the joint's axis. RViz places both by TF, so nothing is computed here.
"""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import Quaternion
from visualization_msgs.msg import Marker, MarkerArray

from ..model.model import Array
from ..robot import Robot

ALUMINIUM = 2700.0
"""kg/m^3"""

UNLIMITED = 100.0
"""N m or N that count as full effort where the description has no limit."""


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

    def _add_mass(self, link: str, mass: float, center: Array) -> None:
        marker = self._marker("mass", link, Marker.SPHERE)
        position = marker.pose.position
        position.x, position.y, position.z = center.tolist()
        diameter = (6 * mass / (math.pi * ALUMINIUM)) ** (1 / 3)
        marker.scale.x = marker.scale.y = marker.scale.z = diameter
        marker.color.r, marker.color.g, marker.color.b, marker.color.a = 0.2, 0.45, 0.85, 0.5

    def _add_arrow(self, robot: Robot, k: int, name: str) -> None:
        joint = robot.model.joint(name)
        marker = self._marker("effort", joint.child, Marker.ARROW)
        marker.color.a = 0.9
        limit = joint.limits.effort
        full = limit if 0 < limit < math.inf else UNLIMITED
        self._arrows.append((k, marker, turn_x_to(joint.axis), turn_x_to(-joint.axis), full))

    def _marker(self, namespace: str, frame: str, kind: int) -> Marker:
        marker = Marker(ns=namespace, id=len(self.message.markers), type=kind, action=Marker.ADD)
        marker.header.frame_id = frame
        marker.frame_locked = True
        self.message.markers.append(marker)
        return marker


def turn_x_to(axis: Array) -> Quaternion:
    """The shortest turn of the x axis to a unit vector."""
    x, y, z = axis.tolist()
    if x < -1 + 1e-12:
        return Quaternion(x=0.0, y=0.0, z=1.0, w=0.0)
    quaternion = np.array([0.0, -z, y, 1 + x])
    quaternion /= np.linalg.norm(quaternion)
    return Quaternion(**dict(zip("xyzw", quaternion.tolist(), strict=True)))
