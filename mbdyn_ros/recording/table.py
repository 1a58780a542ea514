"""Trajectories as tables: one column a coordinate, named quantity/coordinate.

A CSV file has a header line and SI units throughout:

    time,position/elbow,velocity/elbow,acceleration/elbow,effort/elbow,energy/kinetic,...

A JSON file holds the same columns: {"time": [...], "position": {"elbow": [...]}, ...}. Its list
of "impacts", where the robot moved among walls, is no column: reading a table passes over it.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..model.model import Array
from ..simulation.trajectory import Trajectory

IMPACTS = "impacts"
"""Where records of impacts stand in a JSON file."""

Table = dict[str, dict[str, Array]]
"""quantity -> coordinate -> numbers (N,); the time is the coordinate "" of "time"."""


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


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a CSV or JSON file (by its name's end); other columns than numbers are refused.

    Raises
    ------
    InputError
        It cannot be read; the message names the file, the column and the line.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from None
    if file.suffix.lower() != ".json":
        return _from_csv(text, str(file))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: no valid JSON: {error}") from None
    return from_json(document, str(file))


def _from_csv(text: str, source: str) -> Table:
    rows = list(csv.reader(text.splitlines()))
    rows = [row for row in rows if row]
    if not rows:
        raise InputError(f"{source}: is empty; expected a header line and rows of numbers")
    header = [name.strip() for name in rows[0]]
    _refuse_repeated(header, source)
    numbers = np.empty((len(rows) - 1, len(header)))
    for k, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise InputError(
                f"{source}: row {k + 1} has {len(row)} cells, the header {len(header)}"
            )
        for i, cell in enumerate(row):
            numbers[k, i] = _number(cell, f"{source}: {header[i]} in row {k + 1}")
    table: Table = {}
    for i, name in enumerate(header):
        quantity, _, label = name.partition("/")
        table.setdefault(quantity, {})[label] = numbers[:, i]
    return table


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
            column = [_number(one, f"{place} in row {k + 1}") for k, one in enumerate(items)]
            table.setdefault(quantity, {})[label] = np.array(column)
    sizes = {len(numbers) for labelled in table.values() for numbers in labelled.values()}
    if len(sizes) > 1:
        raise InputError(f"{source}: its columns have different lengths: {sorted(sizes)}")
    return table


def _number(value: object, place: str) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        return float(value)
    except (ValueError, OverflowError):
        raise InputError(f"{place} is {value!r}, not a number") from None


def _refuse_repeated(names: list[str], source: str) -> None:
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InputError(f"{source}: the column {name!r} is there twice")
