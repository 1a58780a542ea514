"""Motions that excite a robot's inertias: Fourier series within its limits.

q = c + sum_k a_k / (w k) sin(w k t) - b_k / (w k) cos(w k t) starts and ends at rest where
sum a_k = 0 and sum k b_k = 0 (Swevers et al., "Optimal robot excitation and identification", 1997).
Their numbers are drawn and improved by draws around the best, for the least condition number of the
base parameters' columns, each of unit size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arguments import checked_numbers
from ..array import Array
from ..errors import InputError, brief
from ..model.pose import Pose
from ..robot import Robot, checked_robot
from ..simulation.contact.link_contacts import LinkContacts
from ..simulation.contact.solids import Solid
from ..simulation.stepped.solid_tables import SolidTables
from ..units import position_unit

HARMONICS = 5
FIRST_DRAWS, IMPROVEMENTS = 60, 140
JUDGED_ROWS = 120
"""Rows of a period at which a draw is judged."""

LONGEST_MOTION = 10**7

USED_LIMIT = 0.9
"""Share of the limits that is used."""

APART = 0.02
"""Distance (m) that shapes of links keep that have it at home."""

WAY = {"rad": 1.5, "m": 0.3}
"""Largest way from home (rad or m) of a joint."""

WAYS_A_SECOND = 1.0
"""Largest way of a joint without limit of its velocity in 1 s, over its largest way from home."""

SMALLER, SHRINKINGS = 0.8, 20
"""Factor by which all ways shrink where efforts are too large or loops do not close."""


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion: time (N,) s, q, v, a (N, nv) and the efforts (N, efforts) that it requires.

    condition : of the base parameters' columns, each of unit size.
    watched : pairs of shapes of links that stay apart in it.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    condition: float
    watched: int


@brief
def excitation(
    robot: Robot, duration: float = 20.0, rate: float = 200.0, seed: int = 0
) -> Excitation:
    """A motion within the robot's limits that excites its base parameters.

    `<collision>` shapes of links that are apart at home stay apart in it.

    Parameters
    ----------
    duration : s, of one period; it starts and ends at rest. rate : Hz of its rows.

    Raises
    ------
    InputError
        Its base floats; or no motion from home keeps the limits of efforts, with the joint.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.identification.excitation import excitation
    >>> excitation(mbdyn_ros.example("four_bar"), duration=4).condition < 100
    True
    """
    source = checked_robot(robot).model.source
    if robot.system.coordinates.quaternions:
        raise InputError(f"{source}: has coordinates that are quaternions; fix the base")
    given = checked_numbers("duration and rate", [duration, rate])
    if not (given > 0).all() or not 10 <= rate * duration < LONGEST_MOTION:
        raise InputError(
            f"{source}: a motion of {duration:g} s at {rate:g} Hz must have 10 to {LONGEST_MOTION} "
            "rows; change the duration or the rate"
        )
    time = np.arange(round(duration * rate) + 1) / rate
    search = _Search(robot, time, seed)
    center, series = search.best()
    q, v, a = search.motion(time, center, series)
    effort, watched = robot.inverse_dynamics(q, v, a), len(search.shapes.watched)
    return Excitation(time, q, v, a, effort, search.condition, watched)


class _Search:
    """Draws of centres (n,) and series (2, harmonics, n), and the best of them.

    rows : times (N,), s, of the motion that is asked for.
    """

    def __init__(self, robot: Robot, rows: Array, seed: int) -> None:
        self.robot, self.base_rate = robot, 2 * math.pi / rows[-1]
        self.shapes = _Shapes(robot)
        self.rows, self.time = rows, np.linspace(0, rows[-1], JUDGED_ROWS)
        self.random = np.random.default_rng(seed)
        self.columns = list(robot.base_parameters().independent)
        home = robot.home_position
        way = np.array([WAY[position_unit(robot.model, one)] for one in robot.position_labels])
        low, high = robot.position_limits
        self.low, self.high = np.maximum(low, home - way), np.minimum(high, home + way)
        self.home = np.clip(home, self.low, self.high)
        half = (self.high - self.low) / 2
        speed = robot.velocity_limits
        given = np.isfinite(speed) & (speed > 0)
        self.speed = USED_LIMIT * np.where(given, speed, WAYS_A_SECOND * half)
        order = np.arange(1, HARMONICS + 1)
        self.rest = np.array([np.ones(HARMONICS), order])  # sums that vanish
        self.condition = math.inf

    def best(self) -> tuple[Array, Array]:
        """The centre and series of least condition."""
        found: tuple[Array, Array] | None = None
        for k in range(FIRST_DRAWS + IMPROVEMENTS):
            series = self.random.normal(size=(2, HARMONICS, len(self.home)))
            center = self.random.uniform(size=len(self.home))
            if k >= FIRST_DRAWS:
                if found is None:
                    raise InputError(self._why())
                width = 0.5 * 0.97 ** (k - FIRST_DRAWS)
                series = found[1] / np.abs(found[1]).max() + width * series
                share = (found[0] - self.low) / (self.high - self.low)
                center = np.clip(share + width * (center - 0.5), 0, 1)
            fitted = self._fitted(center, series)
            if fitted is not None:
                found = fitted
        assert found is not None  # the first draws found one
        return found

    def motion(self, time: Array, center: Array, series: Array) -> tuple[Array, Array, Array]:
        """q, v and a (N, n) at times."""
        rates = self.base_rate * np.arange(1, HARMONICS + 1)
        sine, cosine = (f(time[:, None] * rates) for f in (np.sin, np.cos))
        a, b = series
        return (
            center + sine @ (a / rates[:, None]) - cosine @ (b / rates[:, None]),
            cosine @ a + sine @ b,
            -sine @ (a * rates[:, None]) + cosine @ (b * rates[:, None]),
        )

    def _fitted(self, center: Array, series: Array) -> tuple[Array, Array] | None:
        """A draw made small enough for all limits, where it is better than all before."""
        for own, sums in zip(series, self.rest, strict=True):
            own -= np.outer(sums, sums @ own) / (sums @ sums)
        q, v, _ = self.motion(self.time, np.zeros(len(center)), series)
        span, fastest = np.ptp(q, axis=0), np.abs(v).max(axis=0)
        share = np.minimum(USED_LIMIT * (self.high - self.low) / span, self.speed / fastest)
        for k in range(SHRINKINGS):
            size = share * SMALLER**k
            low, high = self.low - size * q.min(axis=0), self.high - size * q.max(axis=0)
            middle = low + center * (high - low)
            middle += (1 - SMALLER**k) * (np.clip(self.home, low, high) - middle)
            condition = self._condition(middle, series * size)
            if math.isfinite(condition):
                if condition >= self.condition:
                    return None
                if not self.shapes.apart(self.motion(self.time, middle, series * size)[0]):
                    continue
                if not self._is_possible(self.motion(self.rows, middle, series * size)):
                    continue
                self.condition = condition
                return middle, series * size
        return None

    def _condition(self, center: Array, series: Array) -> float:
        """The condition number; infinite where efforts are too large or loops do not close."""
        motion = self.motion(self.time, center, series)
        if not self._is_possible(motion):
            return math.inf
        rows = self.robot.regressor(*motion)[:, :, self.columns]
        flat = rows.reshape(-1, len(self.columns))
        return float(np.linalg.cond(flat / np.maximum(np.linalg.norm(flat, axis=0), 1e-300)))

    def _is_possible(self, motion: tuple[Array, Array, Array]) -> bool:
        """Whether efforts keep their limits and loops close."""
        efforts, limits = self.robot.inverse_dynamics(*motion), self.robot.effort_limits
        allowed = USED_LIMIT * np.where(limits > 0, limits, np.finfo(float).max)
        return bool((np.abs(efforts) <= allowed).all())  # NaN is not, either

    def _why(self) -> str:
        """Words about limits that no motion keeps."""
        source = self.robot.model.source
        still = np.zeros((1, len(self.home)))
        efforts = np.abs(self.robot.inverse_dynamics(self.home[None], still, still))[0]
        limits = self.robot.effort_limits
        for label, effort, limit in zip(self.robot.effort_labels, efforts, limits, strict=True):
            if limit > 0 and effort > USED_LIMIT * limit:
                return (f"{source}: {label} takes {effort:.4g} at home and at rest, and its limit "
                        f"is {limit:g}: give another home, or correct the limit")  # fmt: skip
        return f"{source}: no motion around home closes the loops within the limits; give --home"


class _Shapes:
    """Shapes of links that must not meet: the pairs that are apart at home."""

    def __init__(self, robot: Robot) -> None:
        self.robot, pairs = robot, LinkContacts(convex=True).shape_pairs(robot)
        self.places = {
            one: (robot.system.tree.frames[one.link][1].inverse() @ one.pose).matrix()
            for pair in pairs for one in pair
        }  # fmt: skip
        self.tables = SolidTables(pairs, {one.body: 0 for one in self.places}) if pairs else None
        poses = self._poses(robot.home_position[None])
        self.watched = [k for k in range(len(pairs)) if self._is_apart(k, poses)]

    def apart(self, q: Array) -> bool:
        """Whether they are so at all positions (N, nq)."""
        poses = self._poses(q)
        for k in self.watched:
            if not self._is_apart(k, poses):
                self.watched.remove(k)
                self.watched.insert(0, k)  # which the next motion is likely to bring together too
                return False
        return True

    def _poses(self, q: Array) -> dict[Solid, Array]:
        """Of every shape, (N, 4, 4) in the world."""
        links = {one.link: self.robot.frame_pose(q, one.link) for one in self.places}
        return {one: links[one.link] @ place for one, place in self.places.items()}

    def _is_apart(self, number: int, poses: dict[Solid, Array]) -> bool:
        """Whether a pair is so in all poses.

        Distances are computed where balls about both shapes are near each other, and next where
        one shape has moved, seen from the other, by as much as they are apart.
        """
        assert self.tables is not None  # there is a pair
        one, other = self.tables.pairs[number]
        seen = np.linalg.inv(poses[one]) @ poses[other]
        size = one.shape.reach + other.shape.reach
        near = np.flatnonzero(np.linalg.norm(seen[:, :3, 3], axis=1) < size + APART)
        steps = np.diff(seen, axis=0)
        moved = np.linalg.norm(steps[:, :3, 3], axis=1)
        moved += other.shape.reach * np.linalg.norm(steps[:, :3, :3], axis=(1, 2))
        way = np.append(0.0, np.cumsum(moved))
        while near.size:
            pose = seen[near[0]]
            distance = self.tables.nearest(number, Pose(), Pose(pose[:3, :3], pose[:3, 3]))[0]
            if distance <= APART:
                return False
            near = near[1:][way[near[1:]] >= way[near[0]] + distance - APART]
        return True
