"""Positions as points of a space: differences, ways between them, random ones; methods of `Robot`.

Positions add up, but where a quaternion turns: there a velocity along the way (linear and angular,
in moving axes) leads from one position to the other, as Pinocchio has it. Angles count their turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arguments import (
    broadcast_count,
    checked_count,
    checked_numbers,
    coordinate_array,
    require_unit_quaternions,
)
from ..array import Array, ArrayLike
from ..equations import programs
from ..errors import InputError
from .limits import position_limits

if TYPE_CHECKING:
    from .robot import Robot

REACH = np.pi
"""How far from home (rad or m) random positions are drawn where there are no limits."""

DRAWS, HALVINGS = 64, 8
"""Positions of loops drawn at once, and how often the range is halved until some of them close."""


def home_position(self: Robot) -> Array:
    """`home` as q (nq,); loops are closed there."""
    home: Array = self.system.home[list(self.system.coordinates.q)]
    return home


def neutral(self: Robot) -> Array:
    """Positions (nq,) at which the joints move nothing: zeros, and quaternions without a turn.

    Loops need not close there; `home_position` is where they do.
    """
    result = np.zeros(self.nq)
    for motion, in_q, _ in self.system.coordinates.motions:
        result[in_q] = motion.neutral
    return result


def random(
    self: Robot, rng: np.random.Generator | int | None = None, count: int | None = None
) -> Array:
    """Random positions (nq,), or `count` of them (count, nq).

    Uniform within the position limits; where there are none within pi (rad or m) of home;
    orientations uniform. Loops are closed: where a draw does not close, another one is taken, at
    last nearer to home.

    Parameters
    ----------
    rng : generator, or the seed of one.
    """
    if rng is not None and not isinstance(rng, np.random.Generator):
        rng = checked_count("rng", rng)
    rng = np.random.default_rng(rng)
    wanted = 1 if count is None else checked_count("count", count)
    found = _drawn(self, rng, wanted, 1.0)
    if self.model.loops:
        kept = np.empty((0, self.nq))
        for k in range(HALVINGS):
            if len(kept) < wanted:
                draws = _drawn(self, rng, max(DRAWS, 4 * wanted), 0.5**k)
                positions = self.calls.call(programs.joint_position, (draws,))
                kept = np.concatenate([kept, draws[np.isfinite(positions).all(axis=1)]])
        rest = np.tile(self.home_position, (max(0, wanted - len(kept)), 1))
        found = np.concatenate([kept, rest])[:wanted]
    return found[0] if count is None else found


def _drawn(robot: Robot, rng: np.random.Generator, count: int, share: float) -> Array:
    """Positions (count, nq) in a share of the range around home."""
    home = home_position(robot)
    low, high = position_limits(robot)
    low = home + share * (np.where(np.isfinite(low), low, home - REACH) - home)
    high = home + share * (np.where(np.isfinite(high), high, home + REACH) - home)
    drawn = rng.uniform(np.minimum(low, high), np.maximum(low, high), (count, robot.nq))
    for start in robot.system.coordinates.quaternions:
        turn = rng.normal(size=(count, 4))
        drawn[:, start : start + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return drawn


def integrate(self: Robot, q: ArrayLike, dv: ArrayLike) -> Array:
    """Positions (nq,) or (N, nq) after the way `dv` (nv,) or (N, nv) from q.

    A velocity that stays in moving axes for a time t leads to integrate(q, t v).
    """
    q, dv = _positions(self, "q", q), coordinate_array("dv", dv, self.velocity_labels)
    broadcast_count({"q": (q, 1), "dv": (dv, 1)})
    result = np.empty((*np.broadcast_shapes(q.shape[:-1], dv.shape[:-1]), self.nq))
    for motion, in_q, in_v in self.system.coordinates.motions:
        result[..., in_q] = motion.integrate(q[..., in_q], dv[..., in_v])
    return result


def difference(self: Robot, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The shortest way (nv,) or (N, nv) from q0 to q1: integrate(q0, difference(q0, q1)) is q1."""
    q0, q1 = _positions(self, "q0", q0), _positions(self, "q1", q1)
    broadcast_count({"q0": (q0, 1), "q1": (q1, 1)})
    result = np.empty((*np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1]), self.nv))
    for motion, in_q, in_v in self.system.coordinates.motions:
        result[..., in_v] = motion.difference(q0[..., in_q], q1[..., in_q])
    return result


def interpolate(self: Robot, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> Array:
    """Positions on the way from q0 (t = 0) to q1 (t = 1): (nq,), or (N, nq) for `t` (N,)."""
    share = checked_numbers("t", t)
    if share.ndim > 1 or not np.isfinite(share).all():
        raise InputError(f"t must be a finite number, or (N,) of them; it is {t!r}")
    way = difference(self, q0, q1)
    return integrate(self, q0, share[..., None] * way if share.ndim else float(share) * way)


def _positions(robot: Robot, what: str, q: object) -> Array:
    """Positions of unit quaternions; what is none is refused."""
    array = coordinate_array(what, q, robot.position_labels)
    require_unit_quaternions(robot.system.coordinates, array)
    return array
