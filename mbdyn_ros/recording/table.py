"""Trajectories as tables: one column a coordinate, named quantity/coordinate.

A CSV file has a header line and SI units throughout:

    time,position/elbow,velocity/elbow,acceleration/elbow,effort/elbow,energy/kinetic,...

A JSON file holds the same columns: {"time": [...], "position": {"elbow": [...]}, ...}. Its list
of "impacts", where the robot moved among walls, is not a column: reading a table passes over it.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.model import Array
from ..number import to_float
from ..simulation.trajectory import Trajectory

IMPACTS = "impacts"
"""Key of the records of impacts in a JSON file."""

XYZ, QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
"""Columns of the quantity pose, after the name of a link or point of it."""

Table = dict[str, dict[str, Array]]
"""quantity -> coordinate -> numbers (N,); the time is the coordinate "" of "time"."""


def linear(time: Array, rows: Array) -> Callable[..., Array]:
    """Rows (N, n) at rising times (N,), straight between; the first and last hold outside.

    What follows the time, such as the state of a robot, does not count.

    Examples
    --------
    >>> row = linear(np.array([0.0, 1.0]), np.array([[0.0, 5.0], [2.0, 5.0]]))
    >>> row(0.25).tolist(), row(7.0).tolist()
    ([0.5, 5.0], [2.0, 5.0])
    """
    slopes = np.diff(rows, axis=0) / np.diff(time)[:, None]

    def row(t: float, *_: object) -> Array:
        k = int(np.searchsorted(time, t, side="right")) - 1
        if k < 0 or k >= len(slopes):
            return rows[0 if k < 0 else -1]
        value: Array = rows[k] + (t - time[k]) * slopes[k]
        return value

    return row


FEWEST = 5
"""Points that a smoothing spline asks for."""


def differentiated(time: Array, numbers: Array, source: str) -> tuple[Array, Array]:
    """The first and second derivatives (N, n) of noisy numbers (N, n) at the times (N,).

    They are those of a smoothing spline for each column, whose stiffness generalized
    cross-validation chooses (Wahba 1990).

    Raises
    ------
    InputError
        Times that do not increase, fewer than 5 of them, or a SciPy before 1.10.
    """
    if len(time) < FEWEST:
        raise InputError(
            f"{source}: {len(time)} states cannot be differentiated; at least {FEWEST} are needed"
        )
    still = np.flatnonzero(np.diff(time) <= 0)
    if still.size:
        raise InputError(
            f"{source}: the time does not increase after row {still[0] + 1}, {time[still[0]]:g} s"
        )
    try:
        from scipy.interpolate import make_smoothing_spline
    except ImportError:
        raise InputError("--differentiate asks for SciPy 1.10 or later") from None
    splines = [make_smoothing_spline(time, column) for column in numbers.T]
    first, second = (
        np.array([one.derivative(order)(time) for one in splines]).T for order in (1, 2)
    )
    return first, second


def columns(trajectory: Trajectory) -> Table:
    """All numbers of a trajectory."""
    labelled = {
        "position": (trajectory.position_labels, trajectory.q),
        "velocity": (trajectory.velocity_labels, trajectory.v),
        "acceleration": (trajectory.velocity_labels, trajectory.a),
        "effort": (trajectory.effort_labels, trajectory.effort),
        "energy": (("kinetic", "potential"), trajectory.energy),
        "work": (("effort", "friction"), trajectory.work),
    }
    table: Table = {"time": {"": trajectory.time}}
    for quantity, (labels, numbers) in labelled.items():
        table[quantity] = {label: numbers[:, k] for k, label in enumerate(labels)}
    return table


def write_csv(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV; every number reads back exactly."""
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines(table))


def csv_lines(table: Table) -> Iterator[str]:
    """The lines of a CSV file."""
    named = {
        f"{quantity}/{label}" if label else quantity: numbers
        for quantity, labelled in table.items()
        for label, numbers in labelled.items()
    }
    writer = csv.writer(echo := _Echo(), lineterminator="\n")
    writer.writerow(named)
    yield echo.line
    for row in zip(*(numbers.tolist() for numbers in named.values()), strict=True):
        writer.writerow(row)
        yield echo.line


class _Echo:
    """A file that keeps its last line."""

    line = ""

    def write(self, text: str) -> None:
        """Keep it."""
        self.line = text


def to_json(table: Table) -> dict[str, Any]:
    """A table as plain data."""
    return {
        quantity: labelled[""].tolist()
        if "" in labelled
        else {label: numbers.tolist() for label, numbers in labelled.items()}
        for quantity, labelled in table.items()
    }


def write_json(
    table: Table, path: str | os.PathLike[str], impacts: list[dict[str, Any]] | None = None
) -> None:
    """Write a table, and records of impacts, as JSON."""
    document = to_json(table)
    if impacts is not None:
        document[IMPACTS] = impacts
    Path(path).write_text(json.dumps(document) + "\n", encoding="utf-8")


def from_json(document: object, source: str) -> Table:
    """The table of plain data {quantity: {coordinate: numbers}, "time": numbers}."""
    if not isinstance(document, dict):
        raise InputError(f"{source}: expected an object of columns, not {type(document).__name__}")
    table: Table = {}
    for quantity, value in document.items():
        if quantity == IMPACTS:
            continue
        labelled = value if isinstance(value, dict) else {"": value}
        for label, numbers in labelled.items():
            place = f"{source}: {quantity}" + (f" of {label}" if label else "")
            items = numbers if isinstance(numbers, list) else [numbers]
            column = [to_number(one, f"{place} in row {k + 1}") for k, one in enumerate(items)]
            table.setdefault(quantity, {})[label] = np.array(column)
    sizes = {len(numbers) for labelled in table.values() for numbers in labelled.values()}
    if len(sizes) > 1:
        raise InputError(f"{source}: its columns have different lengths: {sorted(sizes)}")
    return table


def to_number(value: object, place: str) -> float:
    """The number that a cell is; an InputError that names its place where it is not one."""
    number = to_float(value) if isinstance(value, str) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            pass  # an integer of hundreds of digits
    if number is None:
        raise InputError(f"{place} is {value!r}, not a number")
    return number
