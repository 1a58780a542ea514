"""Markers of a piezo robot: its limbs, the rotating force, and the transducers at work.

All in the frame of the root link, so that no TF is needed. A joint is a ball, which turns green
and grows by the share of the rotor's turn in which its transducer is on; the blue arrow along its
axis is the mean torque of its pulses. Joints in one place are shells around each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from ...model.model import Array
from ...motion.poses import path_length
from ...ros.show.markers import colour, new_marker, point
from .. import PiezoMotion, Pulse
from ..pulse_equations import TURN


class PiezoMarkers:
    """The markers of one robot.

    Parameters
    ----------
    motion : of the robot, at the start.
    """

    def __init__(self, motion: PiezoMotion) -> None:
        robot = self._robot = motion.robot
        self._link, self._angle = motion.link, motion.angle
        self._joints = [robot.model.joint(name) for name in robot.velocity_labels]
        places = self._places(motion.q)
        self._size = 0.2 * path_length(places) or 0.01
        self.message = MarkerArray()
        self._limbs = self._marker("limb", Marker.LINE_STRIP)
        colour(self._limbs, 0.85, 0.8, 0.6, 0.9)
        self._limbs.scale.x = 0.4 * self._size
        self._balls = [self._marker("transducer", Marker.SPHERE) for _ in self._joints]
        self._torques = [self._marker("mean_torque", Marker.ARROW) for _ in self._joints]
        self._force = self._marker("rotor_force", Marker.ARROW)

    def update(
        self, q: Array, angle: float, amplitude: float, pulses: Sequence[Pulse]
    ) -> MarkerArray:
        """The markers of a state.

        Parameters
        ----------
        angle : of the rotor, rad. amplitude : of its force, N; 0 where it stands.
        pulses : those that ended since the last call.
        """
        labels = self._robot.velocity_labels
        turned = max(angle - self._angle, TURN)
        self._angle = angle
        share, mean = np.zeros(len(labels)), np.zeros(len(labels))
        for pulse in pulses:
            k = labels.index(pulse.joint)
            share[k] += (pulse.off - pulse.on) / turned
            mean[k] = pulse.achieved
        places = self._places(q)
        self._limbs.points = [point(place) for place in places]
        full = max(amplitude * self._size, 1e-12)  # N m that make a long arrow
        for k, joint in enumerate(self._joints):
            on = 2 * min(float(share[k]), 0.5)
            ball = self._balls[k]
            ball.pose.position = point(places[k])
            diameter = self._size * (0.5 + 0.08 * k + 0.4 * on)
            ball.scale.x = ball.scale.y = ball.scale.z = diameter
            colour(ball, 0.6 * (1 - on), 0.5 + 0.4 * on, 0.6 * (1 - on), 0.35)
            axis = self._robot.frame_pose(q, joint.child)[:3, :3] @ joint.axis
            length = 2 * self._size * float(np.clip(mean[k] / full, -1, 1))
            arrow(self._torques[k], places[k], axis * length, 0.1 * self._size)
            colour(self._torques[k], 0.1, 0.4, 0.9, 1.0)
        turning = np.array([np.cos(angle), np.sin(angle), 0.0]) * (amplitude > 0)
        tip = self._robot.frame_pose(q, self._link)[:3, :3] @ turning
        arrow(self._force, places[-1], 2 * self._size * tip, 0.15 * self._size)
        colour(self._force, 0.9, 0.15, 0.1, 1.0)
        return self.message

    def _places(self, q: Array) -> Array:
        """The places of all joints and of the rotor (n + 1, 3), m."""
        links = [joint.child for joint in self._joints] + [self._link]
        return np.array([self._robot.frame_pose(q, link)[:3, 3] for link in links])

    def _marker(self, namespace: str, kind: int) -> Marker:
        root = self._robot.model.root
        marker = new_marker(root, namespace, kind, len(self.message.markers))
        self.message.markers.append(marker)
        return marker


def arrow(marker: Marker, start: Array, vector: Array, thick: float) -> None:
    """Place an arrow; a short one becomes too thin to see."""
    marker.points = [point(start), point(start + vector)]
    seen = float(np.linalg.norm(vector)) > 0.2 * thick
    marker.scale.x = thick if seen else 1e-6
    marker.scale.y = 2 * marker.scale.x
