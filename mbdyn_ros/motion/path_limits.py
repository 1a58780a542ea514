"""Limits of a motion along a path, as inequalities in the path's own acceleration and speed.

With u = d2s/dt2 and x = (ds/dt)^2 joints move by v = q' sqrt(x) and a = q' u + q'' x, and what acts
is a u + b x + c (+ d sqrt(x) by viscous friction): inverse dynamics along the path, loops included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from ..arguments import Wrenches
from ..array import Array
from ..errors import InputError, suggestion
from ..robot import Robot
from .joint_path import JointPath
from .path_motion import PathMotion
from .violation import LEEWAY_OF_LIMITS, described_limits

Bounds = float | tuple[float, float]
"""A limit of either sign, or the least and the greatest number."""


@dataclass(frozen=True)
class Pump:
    """A supply of oil that cylinders share.

    flow : m^3/s. areas : by joint that a cylinder drives, the area (m^2) that oil fills as its
        position grows (the bore's), and as it falls (the ring's).
    """

    flow: float
    areas: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class MotionLimits:
    """Limits of a motion, in addition to those of the description or instead of them.

    velocity, acceleration, effort : by joint (any, in loops too; efforts of actuated ones), a
        number for both directions, or (least, greatest). One number instead of a table is that of
        all joints. What is not named has the limits of its description, which has none of
        accelerations.
    power : by actuated joint, W that it gives at most.
    pumps : each shared by some cylinders.
    tool_speed, tool_acceleration : by link, m/s and m/s^2 of its origin.
    joint_force, joint_moment : by joint or loop, N and N m that its bearing carries, as
        `joint_wrenches` has them.
    """

    velocity: Mapping[str, Bounds] | float = field(default_factory=dict)
    acceleration: Mapping[str, Bounds] | float = field(default_factory=dict)
    effort: Mapping[str, Bounds] | float = field(default_factory=dict)
    power: Mapping[str, float] = field(default_factory=dict)
    pumps: Sequence[Pump] = ()
    tool_speed: Mapping[str, float] = field(default_factory=dict)
    tool_acceleration: Mapping[str, float] = field(default_factory=dict)
    joint_force: Mapping[str, float] = field(default_factory=dict)
    joint_moment: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Rows:
    """Limits at points s (N,) of a path; of rows (N, m), of cones (N, k, 3).

    a, b, c, d : of a u + b x + c + d sqrt(x). speeds : (N, p), v at sqrt(x) = 1 by its limit.
    p, r, t : cones |p u + r x + t| <= size.
    """

    s: Array
    a: Array
    b: Array
    c: Array
    d: Array
    speeds: Array
    p: Array
    r: Array
    t: Array

    @property
    def most(self) -> Array:
        """The largest x (N,) by the limits of speeds alone; infinite where there are none."""
        fastest = self.speeds.max(axis=1, initial=0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(1 / fastest**2)

    def chosen(self, points: slice | Array) -> Rows:
        """The limits at some of the points."""
        return Rows(*(getattr(self, one.name)[points] for one in fields(self)))

    def merged(self, other: Rows, chosen: Array) -> Rows:
        """These and some rows of others, by s."""
        whole = [
            np.concatenate([getattr(self, one.name), getattr(other, one.name)[chosen]])
            for one in fields(self)
        ]
        order = np.argsort(whole[0], kind="stable")
        return Rows(*(one[order] for one in whole))


class PathLimits:
    """The limits of a robot along paths.

    Parameters
    ----------
    robot : the robot. limits : what limits it. wrenches : on links, all the time.

    Attributes
    ----------
    limits, wrenches : as given.
    labels : of rows, then of speeds, then of cones.
    low, high : of rows (m,). powers : which rows (m,) are powers: their bounds are by sqrt(x).
    sizes : of cones (k,). accelerations : of the independent joints, in both directions (nv,).
    """

    def __init__(
        self, robot: Robot, limits: MotionLimits, wrenches: Wrenches | None = None
    ) -> None:
        self.robot, self.limits, self.wrenches = robot, limits, wrenches
        coordinates = robot.system.coordinates
        self._every = bool(robot.dependent_joints)
        self._joints = coordinates.joint_labels if self._every else robot.position_labels
        self.position = described_limits(robot, "position", self._joints)
        velocity = self._bounds("velocity", self._joints)
        self._slowness = 1 / velocity
        acceleration = self._bounds("acceleration", self._joints)
        effort = self._bounds("effort", robot.effort_labels)
        self.accelerations = np.minimum(-acceleration[0], acceleration[1])[
            [self._joint("acceleration", name) for name in robot.position_labels]
        ]
        self._curved = np.flatnonzero(np.isfinite(acceleration).any(axis=0))
        self._driven = np.flatnonzero(np.isfinite(effort).any(axis=0))
        self._powers = [
            (self._joint("power", name), self._effort("power", name)) for name in limits.power
        ]
        power = np.array(
            [_positive("power", f"of {name}", one) for name, one in limits.power.items()]
        )
        self.low, self.high = np.concatenate(
            [
                effort[:, self._driven],
                [np.full(len(power), -np.inf), power.reshape(-1)],
                acceleration[:, self._curved],
            ],
            axis=1,
        )
        bounds = np.abs([self.low, self.high])
        self._scale = np.where(np.isfinite(bounds), bounds, 0.0).max(axis=0)
        self._leeway = LEEWAY_OF_LIMITS * self._scale
        self.powers = np.zeros(len(self.low), dtype=bool)
        self.powers[len(self._driven) :][: len(power)] = True
        self._pumps = [
            (_positive("flow", "of a pump", pump.flow),
             [(self._joint("pumps", name), *areas) for name, areas in pump.areas.items()])
            for pump in limits.pumps
        ]  # fmt: skip
        self._bearings = [
            (name, 3 * kind) for kind, table in enumerate((limits.joint_force, limits.joint_moment))
            for name in table
        ]  # fmt: skip
        for kind, table in (("tool_speed", limits.tool_speed),
                            ("tool_acceleration", limits.tool_acceleration),
                            ("joint_force", limits.joint_force),
                            ("joint_moment", limits.joint_moment)):  # fmt: skip
            for name, number in table.items():
                _positive(kind, f"of {name}", number)
        self.sizes = np.array(
            [*limits.tool_acceleration.values(), *limits.joint_force.values(),
             *limits.joint_moment.values()], dtype=np.float64,
        )  # fmt: skip
        self.labels = (
            *(f"effort of {robot.effort_labels[k]}" for k in self._driven),
            *(f"power of {name}" for name in limits.power),
            *(f"acceleration of {self._joints[k]}" for k in self._curved),
            *(f"velocity of {name}" for name in self._joints),
            *(f"flow of pump {k}" for k in range(len(self._pumps))),
            *(f"speed of {name}" for name in limits.tool_speed),
            *(f"acceleration of {name}" for name in limits.tool_acceleration),
            *(f"force in {name}" for name in limits.joint_force),
            *(f"moment in {name}" for name in limits.joint_moment),
        )

    def rows(self, path: JointPath, s: Array) -> Rows:
        """The limits at some points of a path.

        Raises
        ------
        InputError
            A point beyond reach or beyond the position limits, a dead point, or one at which the
            robot cannot be held; with its place.
        """
        q, way, curve = path.at(s)
        robot, n = self.robot, len(s)
        motion = PathMotion(robot, path, s, q, self.wrenches)
        position, way_of, curve_of = q, way, curve
        if self._every:
            position, way_of, curve_of = motion.joints(way, curve)
        self._require_within(path, s, position)
        zero = np.zeros_like(way)
        effort = motion.efforts((zero, zero, way), (zero, way, curve), friction=False)
        c, a, b = effort[0], effort[1] - effort[0], effort[2] - effort[0]
        d = np.zeros_like(c)
        if robot.system.has_friction:
            moving = (way, 2 * way), (zero, zero)
            once, twice = motion.efforts(*moving, friction=True) - motion.efforts(
                *moving, friction=False
            )
            d, c = twice - once, c + 2 * once - twice
        rows = np.zeros((4, n, len(self.low)))
        driven, powered = len(self._driven), len(self._driven) + len(self._powers)
        for row, effort in zip(rows, (a, b, c, d), strict=True):
            row[:, :driven] = effort.take(self._driven, axis=1)
            for k, (joint, motor) in enumerate(self._powers, start=driven):
                row[:, k] = effort[:, motor] * way_of[:, joint]
        rows[0, :, powered:] = way_of.take(self._curved, axis=1)
        rows[1, :, powered:] = curve_of.take(self._curved, axis=1)
        speeds = np.maximum(way_of * self._slowness[1], way_of * self._slowness[0])
        fast, cones = self._speeds(q, way, way_of, speeds), self._cones(q, way, curve)
        found = Rows(s, rows[0], rows[1], rows[2], rows[3], fast, *cones)
        self._require_held(path, found)
        return found

    def usage(self, rows: Rows, x: Array, u: Array) -> Array:
        """How much of each limit (N, labels) is used: 1 at the limit."""
        u, x = u[:, None], np.maximum(x, 0.0)[:, None]
        root = np.sqrt(x)
        value = (rows.a * u + rows.b * x + rows.c + rows.d * root) * np.where(
            self.powers, root, 1.0
        )
        used = 1 + np.maximum(value - self.high, self.low - value) / self._scale
        cones = np.linalg.norm(rows.p * u[:, :, None] + rows.r * x[:, :, None] + rows.t, axis=2)
        return np.concatenate([used, rows.speeds * root, cones / self.sizes], axis=1)

    def by_joint(self, quantity: str, given: Mapping[str, float] | float) -> Array:
        """Limits (nv,) of independent joints, each by name or one for all; else infinite."""
        labels = self.robot.position_labels
        table = given if isinstance(given, Mapping) else dict.fromkeys(labels, given)
        found = np.full(len(labels), np.inf)
        for name, number in table.items():
            found[_place(quantity, name, labels)] = _positive(quantity, f"of {name}", number)
        return found

    def _speeds(self, q: Array, way: Array, way_of: Array, joints: Array) -> Array:
        """Velocities at sqrt(x) = 1 by their limits (N, p)."""
        flows = [
            sum(np.where(way_of[:, k] > 0, out * way_of[:, k], -back * way_of[:, k])
                for k, out, back in areas) / flow
            for flow, areas in self._pumps
        ]  # fmt: skip
        tools = [
            np.linalg.norm(self.robot.frame_velocity(q, way, link)[:, :3], axis=1) / most
            for link, most in self.limits.tool_speed.items()
        ]
        return np.column_stack([joints, *flows, *tools]) if flows or tools else joints

    def _cones(self, q: Array, way: Array, curve: Array) -> tuple[Array, Array, Array]:
        """p, r and t (N, k, 3) of accelerations of tools and of what bearings carry."""
        robot, nothing = self.robot, np.zeros((len(q), 3))
        zero = np.zeros_like(way)
        found = [
            (robot.frame_velocity(q, way, link)[:, :3],
             robot.frame_acceleration(q, way, curve, link)[:, :3], nothing)
            for link in self.limits.tool_acceleration
        ]  # fmt: skip
        if self._bearings:
            rest, u, x = (
                robot.joint_wrenches(q, *state) for state in
                ((zero, zero), (zero, way), (way, curve))
            )  # fmt: skip
            for name, first in self._bearings:
                if name not in rest:
                    raise InputError(
                        f"joint_force, joint_moment: there is no joint or loop {name!r}"
                        f"{suggestion(name, list(rest))}; there are {', '.join(rest)}"
                    )
                part = slice(first, first + 3)
                held = rest[name][:, part]
                found.append((u[name][:, part] - held, x[name][:, part] - held, held))
        if not found:
            return tuple(np.zeros((len(q), 0, 3)) for _ in range(3))  # type: ignore[return-value]
        p, r, t = (np.stack(one, axis=1) for one in zip(*found, strict=True))
        return p, r, t

    def _require_within(self, path: JointPath, s: Array, position: Array) -> None:
        low, high = self.position
        if ((position >= low) & (position <= high)).all():
            return
        leeway = LEEWAY_OF_LIMITS * np.maximum(1.0, np.abs(position))
        beyond = np.maximum(position - high, low - position)
        bad = np.argwhere(beyond > leeway)
        if len(bad):
            point, k = bad[0].tolist()
            raise InputError(
                f"{path.place(s[point])}: {self._joints[k]} is at {position[point, k]:.6g}, "
                f"{beyond[point, k]:.3g} (rad or m) beyond its limits {low[k]:g} to {high[k]:g}"
            )

    def _require_held(self, path: JointPath, rows: Rows) -> None:
        """Refuse points at which rest, or the slowest motion, takes more than a limit."""
        inside = (rows.c < self.high - self._leeway) & (rows.c > self.low + self._leeway)
        if inside.all() and not len(self.sizes):
            return
        rest = np.zeros(len(rows.s))
        used = self.usage(rows, rest, rest)
        used[:, : len(self.low)][:, self.powers] = 0.0
        point, k = np.unravel_index(int(np.argmax(used)), used.shape)
        if used[point, k] < 1 - LEEWAY_OF_LIMITS:
            return
        what, where = self.labels[k], path.place(rows.s[point])
        cone = k - len(self.low) - rows.speeds.shape[1]
        if cone >= 0:
            number, bound = np.linalg.norm(rows.t[point, cone]), self.sizes[cone]
        else:
            number = rows.c[point, k]
            bound = self.high[k] if number > self.high[k] * (1 - LEEWAY_OF_LIMITS) else self.low[k]
        raise InputError(
            f"{where}: the robot cannot be held there, nor pass slowly: {what} would be "
            f"{number:.6g}, and its limit is {bound:.6g} (N m or N): {abs(number - bound):.3g} too "
            "much; take another path or a smaller load"
        )

    def _bounds(self, quantity: str, labels: Sequence[str]) -> Array:
        """Lower and upper limits (2, n): of `limits`, or else of the description."""
        given = getattr(self.limits, quantity)
        if quantity == "acceleration":
            bounds = np.tile([[-np.inf], [np.inf]], len(labels))
        else:
            bounds = np.array(described_limits(self.robot, quantity, labels))
        if not isinstance(given, Mapping):
            given = dict.fromkeys(labels, given)
        for name, one in given.items():
            k = self._effort(quantity, name) if quantity == "effort" else self._joint(
                quantity, name)  # fmt: skip
            low, high = one if isinstance(one, Sequence) else (-one, one)
            if not low < high or math.isnan(low) or math.isnan(high) or (quantity != "effort" and (
                low >= 0 or high <= 0)):  # fmt: skip
                raise InputError(
                    f"limits: {quantity} of {name} is to be between {low:g} and {high:g}, and no "
                    "motion is; give a number above 0, or (least, greatest) on both sides of it"
                )
            bounds[:, k] = low, high
        return bounds

    def _joint(self, quantity: str, name: str) -> int:
        return _place(f"limits: {quantity}", name, self._joints)

    def _effort(self, quantity: str, name: str) -> int:
        return _place(f"limits: {quantity}", name, self.robot.effort_labels)


def _place(what: str, name: str, labels: Sequence[str]) -> int:
    if name not in labels:
        raise InputError(
            f"{what}: there is no joint {name!r} there{suggestion(name, labels)}; there are "
            f"{', '.join(labels)}"
        )
    return list(labels).index(name)


def _positive(what: str, name: str, number: float) -> float:
    if not 0 < number < math.inf:
        raise InputError(f"limits: {what} {name} is {number:g}; it must be a number above 0")
    return float(number)
