"""An inertial measurement unit on a link: orientation, turning, acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..arguments import require_link
from ..model.model import Array
from ..robot import Robot


@dataclass(frozen=True, eq=False)
class ImuReading:
    """One reading, in the axes of the link.

    Attributes
    ----------
    orientation : (4,) x, y, z, w of the link in the world.
    turning : (3,) angular velocity, rad/s.
    acceleration : (3,) m/s^2, of the link's origin less that of gravity: 9.81 upwards at rest.
    """

    orientation: Array
    turning: Array
    acceleration: Array


class Imu:
    """A unit at the origin of a link, in its axes; without noise.

    Accelerations are means since the last reading, so that impacts are in them.

    Raises
    ------
    InputError
        The robot has no such link.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> imu = Imu(mbdyn_ros.load(CART), "cart")
    >>> _ = imu.read(0.0, np.zeros(1), np.zeros(1))
    >>> imu.read(0.5, np.zeros(1), np.array([1.0])).acceleration
    array([2.  , 0.  , 9.81])
    """

    def __init__(self, robot: Robot, link: str) -> None:
        require_link(robot.system.tree, link, robot.model.source)
        self.robot, self.link = robot, link
        self._last: tuple[float, Array] | None = None

    def read(self, time: float, q: Array, v: Array) -> ImuReading:
        """The reading at a time (s) and a state (nq,), (nv,); the first knows of no acceleration.

        A time before that of the last reading is a new start.
        """
        axes = self.robot.frame_pose(q, self.link)[:3, :3]
        motion = self.robot.jacobian(q, self.link) @ v
        speed, a = motion[:3], np.zeros(3)
        if self._last is not None and time > self._last[0]:
            a = (speed - self._last[1]) / (time - self._last[0])
        self._last = time, speed
        orientation = Rotation.from_matrix(axes).as_quat()
        return ImuReading(orientation, axes.T @ motion[3:], axes.T @ (a - self.robot.gravity))
