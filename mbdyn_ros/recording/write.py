"""A trajectory to a file of the kind that its name's end asks for."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError
from ..extras import require
from ..robot import Robot
from ..simulation.contact.environment import Environment
from ..simulation.trajectory import Trajectory
from .bag import write_bag
from .impact_records import impact_records
from .table import Table, columns, write_csv, write_json

TABLES = (".csv", ".json")
BAGS = (".mcap", "")


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
    try:
        (write_csv if target.suffix.lower() == ".csv" else write_json)(table, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from None


def write(
    robot: Robot, trajectory: Trajectory, path: str | os.PathLike[str], description: str = "",
    environment: Environment | None = None,
) -> None:  # fmt: skip
    """Write CSV, JSON, a single MCAP file, or (a name without an end) a rosbag2 folder.

    Parameters
    ----------
    description : URDF text for the bag's /robot_description.
    environment : what the robot hit; JSON then has a list of "impacts" too.
    """
    target = check_target(path)
    kind = target.suffix.lower()
    try:
        if kind == ".csv":
            write_csv(columns(trajectory), target)
        elif kind == ".json":
            impacts = None
            if environment is not None:
                impacts = impact_records(robot, environment, trajectory.impacts)
            write_json(columns(trajectory), target, impacts)
        else:
            write_bag(robot, trajectory, target, description)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from None
