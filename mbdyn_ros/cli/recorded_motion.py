"""A recorded motion for a page: positions over time, and what else a file has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..recording.read import read_table
from ..recording.table import Table
from ..robot import Robot
from .series import from_table, labels_of

if TYPE_CHECKING:
    from ..model.model import Array
    from ..view.page.motion import Motion


def read_motion(robot: Robot, path: str) -> Motion:
    """The motion in a CSV, JSON or MCAP file or a bag; rates that it lacks are zeros.

    Efforts are the file's, else those of inverse dynamics where it has accelerations.

    Raises
    ------
    InputError
        The file has no column time, or joints that do not fit the robot.
    """
    from ..view.page.motion import recorded

    table = read_table(path)
    position = from_table(robot, "position", table, path)
    if position.time is None:
        raise InputError(f"{path}: a motion is played over time, and there is no column time")
    v, a = (_rate(robot, name, table, path) for name in ("velocity", "acceleration"))
    zeros = np.zeros((len(position.numbers), robot.nv))
    effort = None
    if "effort" in table and set(labels_of(robot, "effort")) <= table["effort"].keys():
        effort = from_table(robot, "effort", table, path).numbers
    return recorded(
        robot, position.time, position.numbers, zeros if v is None else v,
        zeros if a is None else a, effort,
    )  # fmt: skip


def _rate(robot: Robot, quantity: str, table: Table, path: str) -> Array | None:
    """Velocities or accelerations of a file, None where it has them not of all coordinates."""
    if not set(labels_of(robot, quantity)) <= table.get(quantity, {}).keys():
        return None
    return from_table(robot, quantity, table, path).numbers
