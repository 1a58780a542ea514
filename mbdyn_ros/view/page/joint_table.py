"""The joints of a robot in numbers: where they are, in radians and degrees, and efforts."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...model.model import Array
from ...names import in_markdown
from ...robot import Robot
from ...units import effort_unit, position_unit

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
    rows += [  # a floating base's wrench stands in no joint
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
