"""An excursion: one coordinate moves through its reach, and the efforts that this requires.

A table lists the joints: positions in radians and degrees, and efforts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...model.model import Array
from ...names import in_markdown
from ...robot import Robot
from ...units import effort_unit, position_unit
from .motion import CLEARANCE, RobotMotion, Stroke

REACH_PROBES = 181
"""Positions at which it is asked how far a coordinate reaches."""


@dataclass(frozen=True, eq=False)
class Excursion(RobotMotion):
    """One period of a coordinate's motion, the others at rest.

    Attributes
    ----------
    label : of the coordinate, `column` its place in q and `rate` its place in v.
    stroke : how it moves; `cut` says whether loops end it before its limits do.
    """

    label: str
    column: int
    rate: int
    stroke: Stroke
    cut: bool

    def at(self, share: float) -> tuple[Array, Array, Array]:
        """Position (nq,), velocity and acceleration (nv,) where a share of the period passed."""
        q, v, a = self.q[0].copy(), np.zeros_like(self.v[0]), np.zeros_like(self.v[0])
        instant = np.array(share * self.stroke.period)
        q[self.column], v[self.rate], a[self.rate] = self.stroke.at(instant)
        return q, v, a


def excursion(
    robot: Robot, q: Array, label: str, bounds: tuple[float, float], period: float
) -> Excursion:
    """Move one coordinate through its reach around `q`.

    Parameters
    ----------
    q : (nq,), where the others stay; it must be reachable.
    label : in both `position_labels` and `velocity_labels`.
    bounds : the range wanted, rad or m. period : s.
    """
    column, rate = robot.position_labels.index(label), robot.velocity_labels.index(label)
    low, high, cut = _reach(robot, q, column, bounds)
    whole = label in robot.joint_names and robot.model.joint(label).kind.is_endless
    turns = whole and not cut and high - low > 2 * math.pi - 1e-9
    stroke = Stroke(low, high, period, turns)
    time = stroke.times
    qs, vs, accelerations = np.tile(q, (len(time), 1)), *np.zeros((2, len(time), robot.nv))
    qs[:, column], vs[:, rate], accelerations[:, rate] = stroke.at(time)
    gravity = effort = None
    if len(robot.effort_labels) >= robot.nv:
        effort = robot.inverse_dynamics(qs, vs, accelerations)
        still = np.zeros_like(vs)
        gravity = robot.inverse_dynamics(qs, still, still)
    position = robot.joint_state(qs)[0]
    return Excursion(
        robot, time, qs, vs, accelerations, position, gravity, effort, label, column, rate, stroke,
        cut,
    )  # fmt: skip


def _reach(
    robot: Robot, q: Array, column: int, bounds: tuple[float, float]
) -> tuple[float, float, bool]:
    """How far the coordinate goes from where it is, within bounds; whether loops end it."""
    value = float(q[column])
    low, high = min(bounds[0], value), max(bounds[1], value)
    if not robot.model.loops and not robot.model.couplings:
        return low, high, False
    probes = np.unique(np.append(np.linspace(low, high, REACH_PROBES), value))
    states = np.tile(q, (len(probes), 1))
    states[:, column] = probes
    closed = np.isfinite(robot.joint_state(states)[0]).all(axis=-1).reshape(-1)
    here = int(np.searchsorted(probes, value))
    if not closed[here]:
        raise InputError(f"{robot.model.source}: the loop is open; set joint values that close it")
    first, last = here, here
    while first > 0 and closed[first - 1]:
        first -= 1
    while last < len(probes) - 1 and closed[last + 1]:
        last += 1
    margin = CLEARANCE * float(probes[last] - probes[first])
    below, above = first > 0, last < len(probes) - 1
    return (
        float(probes[first]) + margin * below,
        float(probes[last]) - margin * above,
        below or above,
    )


EFFORT_NOISE = 1e-12
"""Share of the largest effort that is no more than rounding."""

ROUND = 1000.0
"""Efforts from which they are shown without decimals."""

FULL = 0.995
"""Share of a limit from which it is written in bold."""


def joint_table(
    robot: Robot, position: Array, effort: Array | None, named: Callable[[str], bool]
) -> str:
    """One row a joint, as Markdown: position, degrees, effort, and its share of the limit.

    Parameters
    ----------
    position : (n,) of all joints. effort : of the actuated ones; None where it is unknown.
    named : whether a joint is wanted.
    """
    efforts = {}
    if effort is not None:
        noise = EFFORT_NOISE * np.abs(effort).max(initial=0.0)
        shown = np.where(np.abs(effort) > noise, effort, 0.0)
        efforts = dict(zip(robot.effort_labels, shown.tolist(), strict=True))
    limits = dict(zip(robot.effort_labels, robot.effort_limits, strict=True))
    rows = [
        _row(robot, label, value, efforts.get(label), limits.get(label, math.inf))
        for label, value in zip(robot.system.coordinates.joint_labels, position, strict=True)
        if named(label)
    ]
    rows += [  # a floating base's wrench belongs to no joint
        _row(robot, label, None, value, math.inf)
        for label, value in efforts.items()
        if label not in robot.system.coordinates.joint_labels and named(label)
    ]
    if not rows:
        return ""
    limited = any(row[-1] for row in rows)
    head = ("joint", "position", "°", "effort", "limit")[: 5 if limited else 4]
    lines = [head, ("---", *["---:"] * (len(head) - 1)), *(row[: len(head)] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(
    robot: Robot, label: str, position: float | None, effort: float | None, limit: float
) -> tuple[str, ...]:
    place = degrees = push = share = ""
    if position is not None:
        unit, shown = position_unit(robot.model, label), round(position, 4) + 0.0  # no -0
        place = f"{shown:.4f} {unit}".strip()
        degrees = f"{round(math.degrees(position), 1) + 0.0:.1f}" if unit == "rad" else ""
    if effort is not None:
        number = f"{effort:.0f}" if abs(effort) >= ROUND else f"{effort:.4g}"
        push = f"{number} {effort_unit(robot.model, label)}"
        if np.isfinite(limit) and limit > 0:
            part = abs(effort) / limit
            share = f"**{part:.0%}**" if part >= FULL else f"{part:.0%}"
    return in_markdown(label), place, degrees, push, share
