"""The summary of a simulation: its end, its energy balance, its impacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..robot import Robot
from ..simulation.contact.contacts import Contacts
from ..simulation.trajectory import CHANGE_POINT
from ..units import effort_unit, velocity_unit
from .printing import COLUMN_NOISE, number, number_column, print_table

if TYPE_CHECKING:
    from ..simulation import Environment, Trajectory

MOST_ROWS = 40
"""Contacts in the table of impacts."""

TOUCHING = 1e-6
"""Distance (m) of what touches."""


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
        "equal_steps": [
            {"start": one.start, "end": one.end, "why": one.why,
             "unexplained": trajectory.imbalance_of(one)}
            for one in trajectory.stretches
        ],
    }  # fmt: skip


def touching(
    robot: Robot, environment: Environment, trajectory: Trajectory
) -> dict[str, list[str]]:
    """By surface, the links that touch it at the end, to 1 micrometre."""
    contacts = Contacts(robot, environment)
    g, _, slope = contacts.distances(trajectory.q[-1], trajectory.v[-1])
    found: dict[str, list[str]] = {}
    for k in np.flatnonzero(
        g[: contacts.geometry.pairs] <= TOUCHING * slope[: contacts.geometry.pairs]
    ):
        links = found.setdefault(contacts.surface(int(k)), [])
        link = contacts.points[contacts.point(int(k))].link
        if link not in links:
            links.append(link)
    return found


def held_at_the_end(trajectory: Trajectory) -> list[dict[str, Any]]:
    """The contacts of links that are held at the last instant, with their forces (N, world)."""
    return [
        {"links": list(one.links), "surface": one.surface, "place": one.place.tolist(),
         "force": one.force.tolist(), "sticks": one.sticks}
        for one in (trajectory.contacts[-1] if trajectory.contacts else ()) if one.links
    ]  # fmt: skip


def print_summary(robot: Robot, trajectory: Trajectory, summary: dict[str, Any]) -> None:
    """Print a `summarize` as tables and words."""
    columns = [
        dict(zip(summary[what], number_column(list(summary[what].values())), strict=True))
        for what in ("position", "velocity")
    ]
    rows = [
        (label, *(column.get(label, "") for column in columns))
        for label in dict.fromkeys(robot.position_labels + robot.velocity_labels)
    ]
    print_table(f"{robot.model.name} at {summary['time']:g} s", ("", "position", "velocity"), rows)
    energy = summary["energy"]
    parts = ("change", "work_of_efforts", "lost_to_friction", "lost_in_impacts")
    change, work, friction, impacts = number_column(
        [energy[part] for part in parts], energy["unexplained"]
    )
    click.echo(
        f"{summary['steps']} steps in {summary['wall_time']:.3g} s, compilation included. Energy "
        f"changed by {change} J: {work} J from the efforts, {friction} J lost to friction, "
        f"{impacts} J in impacts; drift {energy['drift']:.1e} "
        f"({energy['unexplained']:.1e} J)."
    )
    for one in summary["equal_steps"]:
        click.echo(
            f"From {one['start']:.9g} to {one['end']:.9g} s it went on in equal steps, which leave "
            f"{number(one['unexplained'])} J unexplained: {one['why']}."
        )
    if "impacts" in summary:
        _print_impacts(robot, summary["impacts"])
    if summary.get("contacts"):
        _print_contacts(summary["contacts"])
    for surface, links in summary.get("touching", {}).items():
        click.echo(
            f"At the end {', '.join(links)} touch{'es' if len(links) == 1 else ''} {surface}."
        )
    passed = [one for one in trajectory.transitions if one.mode == CHANGE_POINT]
    for one in passed:
        click.echo(f"At {one.time:.9g} s loop {one.joint!r} passed a change point by inertia.")
    changes = len(trajectory.transitions) - len(passed)
    if changes:
        what = "joint" if "impacts" not in summary else "joint or a contact"
        times = "Once" if changes == 1 else f"{changes} times"
        click.echo(f"{times} a {what} came to rest or broke away.")
    for file in summary["files"]:
        click.echo(f"wrote {file}")


def _print_contacts(contacts: list[dict[str, Any]]) -> None:
    forces = np.array([one["force"] for one in contacts])
    columns = [number_column(list(column), COLUMN_NOISE * np.abs(forces).max()) for column in
               forces.T]  # fmt: skip
    rows = [
        (" and ".join(one["links"]), one["surface"], *force,
         "sticks" if one["sticks"] else "slides")
        for one, force in zip(contacts, zip(*columns, strict=True), strict=True)
    ]  # fmt: skip
    header = ("link", "surface", "x (N)", "y (N)", "z (N)", "")
    print_table("Contact forces at the end, on the link, in the world", header, rows, 2)


def _print_impacts(robot: Robot, impacts: list[dict[str, Any]]) -> None:
    rows = []
    units = {
        f"{side} limit of joint {joint.name!r}": (
            velocity_unit(robot.model, joint.name), f"{effort_unit(robot.model, joint.name)} s"
        )
        for joint in robot.model.joints if joint.nq == 1
        for side in ("lower", "upper")
    }  # fmt: skip
    every = [(impact["time"], one) for impact in impacts for one in impact["contacts"]]
    speeds = ("normal_velocity_after", "normal_velocity_before")
    jumps = number_column([one[speeds[0]] - one[speeds[1]] for _, one in every])
    for (time, contact), jump in zip(every, jumps, strict=True):
        angle, point = contact["angle_of_attack"], contact["point"]
        stop = units.get(contact["surface"]) if contact["link"] is None else None
        speed, impulse = stop or ("m/s", "N s")
        place = "" if point is None else ", ".join(map(number, point))
        rows.append(
            (
                f"{time:.9g}",
                "" if contact["link"] is None else f"{contact['link']} ({place})",
                contact["surface"],
                "" if angle is None else number(np.degrees(angle)),
                f"{jump} {speed}",
                f"{number(contact['impulse'])} {impulse}",
            )
        )
    if not rows:
        click.echo("No impacts.")
        return
    header = ("time (s)", "point", "surface", "angle (deg)", "jump", "impulse")
    title = "1 impact" if len(impacts) == 1 else f"{len(impacts)} impacts"
    print_table(title, header, rows[:MOST_ROWS], text_columns=3)
    if len(rows) > MOST_ROWS:
        click.echo(f"and {len(rows) - MOST_ROWS} contacts more; --json has them all.")
