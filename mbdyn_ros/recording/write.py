"""A trajectory to a file of the kind that its name's end asks for, and its impacts as records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from ..errors import InputError, writing
from ..extras import require
from ..model.model import Array
from ..model.write.elements import write_text
from ..robot import Robot
from ..simulation.contact.environment import Environment
from ..simulation.contact.impulses import Impact
from ..simulation.trajectory import Trajectory
from .bag import NANOSECONDS, write_bag
from .table import Table, columns, write_csv, write_json

TABLES = (".csv", ".json")
BAGS = (".mcap", "")


def impact_records(
    robot: Robot, environment: Environment, impacts: Iterable[Impact]
) -> list[dict[str, Any]]:
    """One record an impact, with one record for each of its contacts.

    SI units; what does not exist at the stop of a joint (link, point, place, normal, angle) is
    None.
    """
    points = environment.contact_points(robot)
    return [_record(one, points) for one in impacts]


def _record(impact: Impact, points: tuple[Any, ...]) -> dict[str, Any]:
    contacts = []
    for k, (p, surface) in enumerate(zip(impact.points, impact.surfaces, strict=True)):
        link, xyz = points[p] if p >= 0 else (None, None)
        contacts.append(
            {
                "link": link,
                "point": None if xyz is None else list(xyz),
                "surface": surface,
                "place": _numbers(impact.places[k]),
                "normal": _numbers(impact.normals[k]),
                "impulse": impact.impulses[k].item(),
                "tangential_impulse": _numbers(impact.tangential_impulses[k]),
                "normal_velocity_before": impact.normal_velocity_before[k].item(),
                "normal_velocity_after": impact.normal_velocity_after[k].item(),
                "angle_of_attack": _number(impact.angle_of_attack[k]),
                "restitution": impact.restitution[k].item(),
            }
        )
    return {
        "time": impact.time,
        "energy_before": impact.energy_before,
        "energy_after": impact.energy_after,
        "loss": impact.loss,
        "contacts": contacts,
    }


def _numbers(vector: Array) -> list[float] | None:
    return vector.tolist() if np.isfinite(vector).all() else None


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def check_target(path: str | os.PathLike[str], kinds: tuple[str, ...] = TABLES + BAGS) -> Path:
    """Refuse, before the work is done, a file that could not be written after it.

    Raises
    ------
    InputError
        Its name, its folder or its existence is in the way.
    MissingPackageError
        Files of this kind need an extra that is not installed.
    """
    target = Path(path)
    if target.suffix.lower() not in kinds:
        known = ", ".join(kind or "a name without an end (a rosbag2 folder)" for kind in kinds)
        raise InputError(f"{target}: the name must end in one of {known}")
    if not target.absolute().parent.is_dir():
        raise InputError(f"{target}: the folder {target.absolute().parent} does not exist")
    if target.suffix.lower() in BAGS and target.exists():
        raise InputError(
            f"{target} already exists and bags are never overwritten; choose another name"
        )
    if target.is_dir():
        raise InputError(f"{target} is a folder")
    if target.suffix.lower() in BAGS:
        require("bag")
    return target


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write CSV or JSON, by the name's end."""
    target = check_target(path, TABLES)
    with writing(target):
        (write_csv if target.suffix.lower() == ".csv" else write_json)(table, target)


def write_joint_trajectory(
    joints: Sequence[str], table: Table, path: str | os.PathLike[str]
) -> None:
    """Write a trajectory_msgs/JointTrajectory as YAML, as `ros2 topic pub` takes messages.

    Without efforts: joint_trajectory_controller refuses them unless it commands efforts.
    """
    fields = {"position": "positions", "velocity": "velocities", "acceleration": "accelerations"}
    rows = {
        name: np.column_stack([table[what][one] for one in joints]).tolist()
        for what, name in fields.items()
    }
    stamps = [divmod(round(t * NANOSECONDS), NANOSECONDS) for t in table["time"][""].tolist()]
    points = [
        {name: rows[name][k] for name in rows}
        | {"time_from_start": {"sec": seconds, "nanosec": rest}}
        for k, (seconds, rest) in enumerate(stamps)
    ]
    text = yaml.safe_dump({"joint_names": list(joints), "points": points}, sort_keys=False,
                          default_flow_style=None, width=1000)  # fmt: skip
    write_text(path, text)


def write(
    robot: Robot, trajectory: Trajectory, path: str | os.PathLike[str], description: str = "",
    environment: Environment | None = None,
) -> None:  # fmt: skip
    """Write CSV, JSON, a single MCAP file, or (a name without a suffix) a rosbag2 folder.

    Parameters
    ----------
    description : URDF text for the bag's /robot_description.
    environment : what the robot hit; JSON then has a list of "impacts" too.
    """
    target = check_target(path)
    kind = target.suffix.lower()
    with writing(target):
        if kind == ".csv":
            write_csv(columns(trajectory), target)
        elif kind == ".json":
            impacts = None
            if environment is not None:
                impacts = impact_records(robot, environment, trajectory.impacts)
            write_json(columns(trajectory), target, impacts)
        else:
            write_bag(robot, trajectory, target, description)
