"""An inertial measurement unit on a link: orientation, turning, acceleration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import require_link
from ..compiler.bound import Bound
from ..equations.sensors import imu
from ..model.model import Array
from ..robot import Robot


@dataclass(frozen=True, eq=False)
class ImuReading:
    """One reading, in the axes of the link.

    Attributes
    ----------
    orientation : (4,) x, y, z, w of the link in the world, w >= 0.
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
        self._program = Bound(robot.calls.kernel(imu, link))
        self._last: tuple[float, Array] | None = None

    def read(self, time: float, q: Array, v: Array) -> ImuReading:
        """The reading at a time (s) and a state (nq,), (nv,); the first knows of no acceleration.

        A time before that of the last reading is a new start.
        """
        program, a = self._program, np.zeros(3)
        program.q[:], program.v[:], program.rate[:] = q, v, 0.0
        program()
        speed = program.result.ravel()[10:].copy()
        if self._last is not None and time > self._last[0]:
            a = (speed - self._last[1]) / (time - self._last[0])
        self._last = time, speed
        program.rate[:] = a
        program()
        reading = program.result.ravel().copy()
        return ImuReading(reading[:4], reading[4:7], reading[7:10])
