"""A path of the link that carries the rotor, and what came of following it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..model.model import Array
from ..robot import Robot
from .controller import PulseController
from .motion import PiezoMotion, Pulse
from .pulse_equations import TURN
from .slipping_motion import SlippingMotion


@dataclass(frozen=True, eq=False)
class PiezoRun:
    """A motion under control, sampled.

    time : (N,) s. angle : (N,) of the rotor, rad.
    q, wanted : (N, n) rad or m. v : (N, n) rad/s or m/s. free : (N, n) whether each joint's
        transducer was on.
    place, wanted_place : (N, 3) of the rotor's link in the world, m.
    pulses : all that ended.
    """

    time: Array
    angle: Array
    q: Array
    v: Array
    wanted: Array
    free: np.ndarray
    place: Array
    wanted_place: Array
    pulses: tuple[Pulse, ...]

    @property
    def gap(self) -> Array:
        """Distance from the wanted place (N,), m."""
        distance: Array = np.linalg.norm(self.place - self.wanted_place, axis=1)
        return distance

    def torque_error(self, least: float) -> float:
        """Largest relative error of a mean torque over a turn, of pulses with at least `least`."""
        errors = [
            abs(p.achieved / p.requested - 1) for p in self.pulses if abs(p.requested) >= least
        ]
        return max(errors, default=0.0)


class JointPath:
    """Positions of the joints at given times, joined by a cubic spline at rest at both ends.

    times : (N,) s, from 0. positions : (N, n) rad or m.
    """

    def __init__(self, times: Array, positions: Array) -> None:
        from scipy.interpolate import CubicSpline  # its import takes long

        self.times, self.positions = times, positions
        self._spline = CubicSpline(times, positions, bc_type="clamped")

    def at(self, time: float) -> tuple[Array, Array]:
        """Positions and velocities (n,); at rest before the start and after the end."""
        moment = min(max(time, 0.0), float(self.times[-1]))
        return self._spline(moment), self._spline(moment, 1)


def circle(
    robot: Robot, link: str, start: Array, radius: float, duration: float, points: int = 61
) -> JointPath:
    """Positions of the joints that lead a link round a circle, from rest to rest.

    The circle begins where the link is and lies in the plane in which it moves most easily: that
    of the two largest singular values of its Jacobian.

    Parameters
    ----------
    start : (nq,) rad or m. radius : m. duration : s.

    Raises
    ------
    InputError
        A part of the circle is out of reach; the message gives the gap. Or bad numbers.
    """
    for what, value in (("radius", radius), ("duration", duration)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"the {what} is {value}; it must be positive")
    pose = robot.frame_pose(start, link)
    backward, along = np.linalg.svd(robot.jacobian(start, link)[:3])[0].T[:2]
    backward, along = (one * np.sign(one[np.argmax(np.abs(one))]) for one in (backward, along))
    times = np.linspace(0.0, duration, points)
    share = times / duration
    turned = TURN * share**3 * (10 - 15 * share + 6 * share**2)
    positions = [np.asarray(start, dtype=float)]
    for angle in turned[1:].tolist():
        wanted = pose.copy()
        wanted[:3, 3] += radius * ((1 - math.cos(angle)) * backward + math.sin(angle) * along)
        near = robot.inverse_kinematics(
            link, wanted, position_only=True, start=positions[-1], tolerance=1e-10, starts=1
        )
        positions.append(near.require())
    return JointPath(times, np.array(positions))


def follow(
    control: PulseController,
    motion: PiezoMotion | SlippingMotion,
    path: JointPath,
    duration: float,
    rate: float = 1000.0,
    samples: int = 1,
    progress: Callable[[float], None] | None = None,
) -> PiezoRun:
    """Let a controller move a simulated robot along a path.

    Parameters
    ----------
    duration : s. rate : cycles of the controller per second, Hz.
    samples : of the motion in each cycle. progress : called with the simulated time, s.
    """
    robot, link = motion.robot, motion.link
    rows: list[tuple[float, float, Array, Array, Array, Array]] = []
    step = 1.0 / rate
    for k in range(math.ceil(duration * rate)):
        wanted, velocity = path.at(k * step)
        ahead = velocity * step / 2  # to the middle of the time for which the windows hold
        motion.command(control.pulses(motion.q + ahead, wanted + ahead, velocity))
        for n in range(samples):
            motion.advance(step / samples)
            now = (k + (n + 1) / samples) * step
            rows.append(
                (now, motion.angle, motion.q.copy(), motion.v.copy(), path.at(now)[0],
                 motion.free.astype(bool))  # fmt: skip
            )
        if progress is not None:
            progress((k + 1) * step)
    time, angle, q, v, wanted, free = (np.array(column) for column in zip(*rows, strict=True))
    place, wanted_place = (robot.frame_pose(row, link)[:, :3, 3] for row in (q, wanted))
    return PiezoRun(time, angle, q, v, wanted, free, place, wanted_place, tuple(motion.pulses))
