"""The summary of a simulation: its end, its energy balance, its impacts."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..robot import Robot
from ..simulation import Trajectory
from ..simulation.trajectory import CHANGE_POINT
from .printing import number, print_table

MOST_ROWS = 40
"""Contacts in the table of impacts."""


def summarize(robot: Robot, trajectory: Trajectory, wall: float) -> dict[str, Any]:
    """The summary as plain data. wall : s that the simulation took."""
    first, last = trajectory.energy[0], trajectory.energy[-1]
    work, loss = trajectory.work[-1].tolist()
    return {
        "robot": robot.model.name,
        "time": float(trajectory.time[-1]),
        "samples": len(trajectory),
        "steps": trajectory.steps,
        "wall_time": wall,
        "position": dict(zip(robot.position_labels, trajectory.q[-1].tolist(), strict=True)),
        "velocity": dict(zip(robot.velocity_labels, trajectory.v[-1].tolist(), strict=True)),
        "energy": {
            "kinetic": last[0].item(),
            "potential": last[1].item(),
            "change": (last.sum() - first.sum()).item(),
            "work_of_efforts": work,
            "lost_to_friction": loss - sum(impact.loss for impact in trajectory.impacts),
            "lost_in_impacts": sum(impact.loss for impact in trajectory.impacts),
            "unexplained": float(np.abs(trajectory.imbalance).max()),
            "drift": trajectory.relative_imbalance,
        },
        "transitions": [
            {"time": one.time, "joint": one.joint, "mode": one.mode}
            for one in trajectory.transitions
        ],
    }


def print_summary(robot: Robot, trajectory: Trajectory, summary: dict[str, Any]) -> None:
    """Print a `summarize` as tables and words."""
    rows = []
    for label in dict.fromkeys(robot.position_labels + robot.velocity_labels):
        position, velocity = (
            number(summary[what][label]) if label in summary[what] else ""
            for what in ("position", "velocity")
        )
        rows.append((label, position, velocity))
    print_table(f"{robot.model.name} at {summary['time']:g} s", ("", "position", "velocity"), rows)
    energy = summary["energy"]
    click.echo(
        f"{summary['steps']} steps in {summary['wall_time']:.3g} s. Energy changed by "
        f"{energy['change']:.6g} J: {energy['work_of_efforts']:.6g} J from the efforts, "
        f"{energy['lost_to_friction']:.6g} J lost to friction, "
        f"{energy['lost_in_impacts']:.6g} J in impacts; drift {energy['drift']:.1e} "
        f"({energy['unexplained']:.1e} J)."
    )
    if "impacts" in summary:
        _print_impacts(summary["impacts"])
    passed = [one for one in trajectory.transitions if one.mode == CHANGE_POINT]
    for one in passed:
        click.echo(f"At {one.time:.9g} s loop {one.joint!r} passed a change point by inertia.")
    changes = len(trajectory.transitions) - len(passed)
    if changes:
        what = "joint" if "impacts" not in summary else "joint or a contact"
        click.echo(f"{changes} times a {what} came to rest or broke away.")
    for file in summary["files"]:
        click.echo(f"wrote {file}")


def _print_impacts(impacts: list[dict[str, Any]]) -> None:
    rows = []
    for impact in impacts:
        for contact in impact["contacts"]:
            angle, point = contact["angle_of_attack"], contact["point"]
            place = "" if point is None else ", ".join(map(number, point))
            rows.append(
                (
                    f"{impact['time']:.9g}",
                    "" if contact["link"] is None else f"{contact['link']} ({place})",
                    contact["surface"],
                    "" if angle is None else number(np.degrees(angle)),
                    number(contact["normal_velocity_after"] - contact["normal_velocity_before"]),
                    number(contact["impulse"]),
                )
            )
    header = ("time (s)", "point", "surface", "angle (deg)", "jump (m/s)", "impulse (N s)")
    print_table(f"{len(impacts)} impacts", header, rows[:MOST_ROWS], text_columns=3)
    if len(rows) > MOST_ROWS:
        click.echo(f"and {len(rows) - MOST_ROWS} contacts more; --json has them all.")
