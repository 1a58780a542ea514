"""Position limits of all joints about a position, those that follow others in loops too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from ..compiler.bound import Bound
from ..equations import programs
from ..equations.actuation import joint_rates
from ..model.blocks import Block
from .limits import position_limits

if TYPE_CHECKING:
    from .robot import Robot

LEEWAY_OF_BOUNDS = 1e-7
"""How far (rad or m) beyond its limit a dependent joint may be: it is held to it step by step."""

ROOM = 1.0
"""Room (rad or m) from which on a limit does not matter in one step."""


class JointBounds:
    """Limits of the independent joints, and of the dependent ones that have some.

    Parameters
    ----------
    robot : the robot.

    Attributes
    ----------
    slides : (nv,) whether a coordinate of v slides.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._low, self._high = position_limits(robot)
        coordinates = robot.system.coordinates
        self._columns: list[tuple[int, int]] = []  # of q and v, of coordinates that may have limits
        self.slides = np.zeros(robot.nv, dtype=bool)
        for motion, q, v in coordinates.motions:
            if motion.nq == motion.nv:
                self._columns += zip(range(q.start, q.stop), range(v.start, v.stop), strict=True)
            if motion.nv == 1:
                self.slides[v] = motion.slides
        dependent = [coordinates.joint_blocks[name] for name in coordinates.dependent]
        limited = [block for block in dependent if _is_limited(robot, block)]
        rows_q, rows_v = coordinates.joint_rows
        self._rows_q = [rows_q[block.q.start] for block in limited]
        self._rows_v = [rows_v[block.v.start] for block in limited]
        limits = [robot.model.joint(block.joint).limits for block in limited]
        self._lowest = np.array([one.lower for one in limits])
        self._highest = np.array([one.upper for one in limits])
        if limited:
            self._closed = Bound(robot.calls.kernel(programs.joint_position))
            self._rates = Bound(robot.calls.kernel(joint_rates))

    def clipped(self, q: Array) -> Array:
        """Positions within the limits of the independent joints."""
        return np.clip(q, self._low, self._high)

    def nearest(self, q: Array) -> Array:
        """A start near q within all limits, or on the way to home where there is none."""
        q = self.clipped(q)
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            way = self._robot.interpolate(q, self._robot.home_position, share)
            tried = self.clipped(way) if share else q
            if self.kept(tried):
                return tried
        return q

    def kept(self, q: Array) -> bool:
        """Whether the dependent joints are within their limits; False where loops are open."""
        if not self._rows_q:
            return True
        position = self._dependent(q)
        return bool(
            (position >= self._lowest - LEEWAY_OF_BOUNDS).all()
            and (position <= self._highest + LEEWAY_OF_BOUNDS).all()
        )

    def room(self, q: Array) -> tuple[Array, Array]:
        """Rows (m, nv) and room (m,): a step x keeps near limits where rows x >= -room."""
        rows, room = [], []
        unit = np.eye(self._robot.nv)
        for place, column in self._columns:
            for sign, left in ((1.0, q[place] - self._low[place]),
                               (-1.0, self._high[place] - q[place])):  # fmt: skip
                if left < ROOM:
                    rows.append(sign * unit[column])
                    room.append(max(left, 0.0))
        if self._rows_q:
            self._rates.q[:] = q
            self._rates()
            rates = self._rates.result[self._rows_v]
            position = self._dependent(q)
            for row, low, high in zip(
                rates, position - self._lowest, self._highest - position, strict=True
            ):
                rows += [row, -row]
                room += [low, high]
        if not rows:
            return np.zeros((0, self._robot.nv)), np.zeros(0)
        return np.array(rows), np.array(room)

    def _dependent(self, q: Array) -> Array:
        self._closed.q[:] = q
        self._closed()
        found: Array = self._closed.result[self._rows_q]
        return found


def _is_limited(robot: Robot, block: Block) -> bool:
    """Whether a joint of one coordinate has position limits."""
    if block.kind.nq != 1 or block.kind.is_endless:
        return False
    limits = robot.model.joint(block.joint).limits
    return bool(np.isfinite([limits.lower, limits.upper]).any())
