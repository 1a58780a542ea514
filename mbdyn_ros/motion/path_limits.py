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
from ..errors import InputError, suggestion, unknown
from ..robot import Robot
from .joint_path import Call, JointPath
from .path_motion import PathMotion
from .violation import LEEWAY_OF_LIMITS, described_limits

Bounds = float | tuple[float, float]
"""A limit of either sign, or the least and the greatest number."""

NOT_HELD, NOT_WITHIN = 1, 2
"""Answers of the compiled rows: rest passes a limit, a position passes one."""


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
    supply_power : W that all actuators give together: what one takes back while it brakes, others
        have.
    pumps : each shared by some cylinders.
    tool_speed, tool_acceleration : by link, m/s and m/s^2 of its origin.
    joint_force, joint_moment : by joint or loop, N and N m that its bearing carries, as
        `joint_wrenches` has them.
    """

    velocity: Mapping[str, Bounds] | float = field(default_factory=dict)
    acceleration: Mapping[str, Bounds] | float = field(default_factory=dict)
    effort: Mapping[str, Bounds] | float = field(default_factory=dict)
    power: Mapping[str, float] = field(default_factory=dict)
    supply_power: float | None = None
    pumps: Sequence[Pump] = ()
    tool_speed: Mapping[str, float] = field(default_factory=dict)
    tool_acceleration: Mapping[str, float] = field(default_factory=dict)
    joint_force: Mapping[str, float] = field(default_factory=dict)
    joint_moment: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Rows:
    """Limits at points s (N,) of a path.

    rows : (N, 4, m): a, b, c and d of a u + b x + c + d sqrt(x).
    speeds : (N, p), v at sqrt(x) = 1 by its limit.
    most : the largest x (N,) by the limits of speeds alone; infinite where there are none.
    cones : (N, k, 3, 3): p, r and t of |p u + r x + t| <= size.
    """

    s: Array
    rows: Array
    speeds: Array
    most: Array
    cones: Array

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
    has_roots : whether roots of x occur. pass_limits : the analysis, compiled.
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
        power = [_positive("power", f"of {name}", one) for name, one in limits.power.items()]
        self._powers: list[Sequence[str]] = [[name] for name in limits.power]
        if limits.supply_power is not None:
            power.append(_positive("power", "of the supply", limits.supply_power))
            self._powers.append(robot.effort_labels)
        self.low, self.high = (
            np.concatenate([effort[k, self._driven], powers, acceleration[k, self._curved]])
            for k, powers in enumerate(([-np.inf] * len(power), power))
        )
        bounds = np.abs([self.low, self.high])
        self._scale = np.where(np.isfinite(bounds), bounds, 0.0).max(axis=0)
        leeway = LEEWAY_OF_LIMITS * self._scale
        self.powers = np.zeros(len(self.low), dtype=bool)
        self.powers[len(self._driven) :][: len(power)] = True
        self.has_roots = bool(power) or robot.system.has_friction
        self._pumps = [
            (_positive("flow", "of a pump", pump.flow),
             [(self._joint("pumps", name), _positive("area", f"of {name}", out),
               _positive("area", f"of {name}", back))
              for name, (out, back) in pump.areas.items()])
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
            *(["power of the supply"] if limits.supply_power is not None else []),
            *(f"acceleration of {self._joints[k]}" for k in self._curved),
            *(f"velocity of {name}" for name in self._joints),
            *(f"flow of pump {k}" for k in range(len(self._pumps))),
            *(f"speed of {name}" for name in limits.tool_speed),
            *(f"acceleration of {name}" for name in limits.tool_acceleration),
            *(f"force in {name}" for name in limits.joint_force),
            *(f"moment in {name}" for name in limits.joint_moment),
        )
        sums = np.array(self._sums(), dtype=np.int32).reshape(-1, 3)
        self._fill = Call(
            "path_rows", joints=len(self._joints), motors=len(robot.effort_labels),
            rows=len(self.low), summands=len(sums), sum=sums,
            speeds=len(self._joints) + len(self._pumps) + len(limits.tool_speed),
            low=self.low + leeway, high=self.high - leeway,
            least=self.position[0], greatest=self.position[1], slowness=self._slowness,
        )  # fmt: skip
        self.pass_limits = Call(
            "pass_limits", rows=len(self.low), cones=len(self.sizes), low=self.low, high=self.high,
            power=self.powers, size=self.sizes,
        )  # fmt: skip

    def rows(self, path: JointPath, s: Array) -> Rows:
        """The limits at some points of a path.

        Raises
        ------
        InputError
            A point beyond reach or beyond the position limits, a dead point, or one at which the
            robot cannot be held; with its place.
        """
        robot, n = self.robot, len(s)
        states = path.states(s)
        q, way, curve = states[0, 0], states[1, 2], states[2, 2]
        motion = PathMotion(robot, path, s, q, self.wrenches)
        joints = motion.joints(way, curve) if self._every else (q, way, curve)
        effort, friction = motion.efforts(states, friction=False), None
        if robot.system.has_friction:
            moving = np.stack([states[0, :2], [way, 2 * way], np.zeros((2, *way.shape))])
            friction = motion.efforts(moving, True) - motion.efforts(moving, False)
        others = self._speeds(q, way, joints[1])
        rows = np.zeros((n, 4, len(self.low)))
        speeds, most = np.empty((n, len(self._joints) + len(others))), np.empty(n)
        for k, one in enumerate(others, start=len(self._joints)):
            speeds[:, k] = one
        position, rate, curve_of = map(np.ascontiguousarray, joints)
        state = self._fill(
            points=n, position=position, rate=rate, curve=curve_of, effort=effort,
            friction=friction, row=rows, speed=speeds, most=most,
        )  # fmt: skip
        found = Rows(s, rows, speeds, most, self._cones(q, way, curve))
        if state & NOT_WITHIN:
            self._require_within(path, s, position)
        if state & NOT_HELD or len(self.sizes):
            self._require_held(path, found)
        return found

    def usage(self, rows: Rows, x: Array, u: Array) -> Array:
        """How much of each limit (N, labels) is used: 1 at the limit."""
        u, x = u[:, None], np.maximum(x, 0.0)[:, None]
        root = np.sqrt(x)
        a, b, c, d = np.moveaxis(rows.rows, 1, 0)
        value = (a * u + b * x + c + d * root) * np.where(self.powers, root, 1.0)
        used = 1 + np.maximum(value - self.high, self.low - value) / self._scale
        p, r, t = np.moveaxis(rows.cones, 2, 0)
        cones = np.linalg.norm(p * u[:, :, None] + r * x[:, :, None] + t, axis=2)
        return np.concatenate([used, rows.speeds * root, cones / self.sizes], axis=1)

    def by_joint(self, quantity: str, given: Mapping[str, float] | float) -> Array:
        """Limits (nv,) of independent joints, each by name or one for all; else infinite."""
        labels = self.robot.position_labels
        table = given if isinstance(given, Mapping) else dict.fromkeys(labels, given)
        found = np.full(len(labels), np.inf)
        for name, number in table.items():
            found[_place(quantity, name, labels)] = _positive(quantity, f"of {name}", number)
        return found

    def _speeds(self, q: Array, way: Array, way_of: Array) -> list[Array]:
        """Flows of pumps and speeds of tools at sqrt(x) = 1 by their limits (N,)."""
        flows = [
            sum(np.where(way_of[:, k] > 0, out * way_of[:, k], -back * way_of[:, k])
                for k, out, back in areas) / flow
            for flow, areas in self._pumps
        ]  # fmt: skip
        tools = [
            np.linalg.norm(self.robot.frame_velocity(q, way, link)[:, :3], axis=1) / most
            for link, most in self.limits.tool_speed.items()
        ]
        return [*flows, *tools]

    def _cones(self, q: Array, way: Array, curve: Array) -> Array:
        """p, r and t (N, k, 3, 3) of accelerations of tools and of what bearings carry."""
        if not len(self.sizes):
            return np.zeros((len(q), 0, 3, 3))
        robot, nothing, zero = self.robot, np.zeros((len(q), 3)), np.zeros_like(way)
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
                        f"joint_force, joint_moment: {unknown('joint or loop', name, rest)}"
                    )
                part = slice(first, first + 3)
                held = rest[name][:, part]
                found.append((u[name][:, part] - held, x[name][:, part] - held, held))
        return np.stack([np.stack(one, axis=1) for one in found], axis=1)

    def _require_within(self, path: JointPath, s: Array, position: Array) -> None:
        low, high = self.position
        leeway = LEEWAY_OF_LIMITS * np.maximum(1.0, np.abs(position))
        beyond = np.maximum(position - high, low - position)
        bad = np.argwhere(beyond > leeway)
        if len(bad):
            point, k = bad[0].tolist()
            raise InputError(
                f"{path.place(s[point])}: {self._joints[k]} is at {position[point, k]:.6g}, "
                f"{beyond[point, k]:.3g} (rad or m) beyond its limits {low[k]:g} to {high[k]:g}; "
                "move the waypoints"
            )

    def _require_held(self, path: JointPath, rows: Rows) -> None:
        """Refuse points at which rest, or the slowest motion, takes more than a limit."""
        rest = np.zeros(len(rows.s))
        used = self.usage(rows, rest, rest)
        used[:, : len(self.low)][:, self.powers] = 0.0
        point, k = np.unravel_index(int(np.argmax(used)), used.shape)
        if used[point, k] < 1 - LEEWAY_OF_LIMITS:
            return
        what, where = self.labels[k], path.place(rows.s[point])
        cone = k - len(self.low) - rows.speeds.shape[1]
        if cone >= 0:
            number, bound = np.linalg.norm(rows.cones[point, cone, 2]), self.sizes[cone]
        else:
            number = rows.rows[point, 2, k]
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
                    f"limits: no {quantity} of {name} allows motion between {low + 0.0:g} and "
                    f"{high:g}; give a number above 0, or (least, greatest) on both sides of 0"
                )
            bounds[:, k] = low, high
        return bounds

    def _sums(self) -> list[tuple[int, int, int]]:
        """Summands of rows, as (row, motor, joint); see `summand` of the compiled rows."""
        driven, powered = len(self._driven), len(self._driven) + len(self._powers)
        return [
            *((k, motor, -1) for k, motor in enumerate(self._driven.tolist())),
            *(
                (k, self._effort("power", name), self._joint("power", name))
                for k, names in enumerate(self._powers, start=driven)
                for name in names
            ),
            *((k, -1, joint) for k, joint in enumerate(self._curved.tolist(), start=powered)),
        ]

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
