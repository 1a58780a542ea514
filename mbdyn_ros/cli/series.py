"""Positions, velocities, accelerations and efforts from the command line and from files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import InputError, suggestion
from ..model.model import BASE_JOINT, Array
from ..number import name_values, to_float, to_floats
from ..prepare.coordinates import scalar_motions
from ..recording.read import read_table
from ..recording.table import Table, from_json
from ..robot import Robot

VALUES = """name=value,...  or  '[v1, v2, ...]' in the robot's order  or  FILE.csv|.json"""


@dataclass(frozen=True)
class Series:
    """Numbers (n,) of one state, or (N, n) of many with their times (N,) where known."""

    numbers: Array
    time: Array | None = None

    @property
    def many(self) -> bool:
        """Whether these are many states."""
        return self.numbers.ndim == 2


def labels_of(robot: Robot, quantity: str) -> tuple[str, ...]:
    """Names of the coordinates of a quantity."""
    if quantity == "effort":
        return robot.effort_labels
    return robot.position_labels if quantity == "position" else robot.velocity_labels


def rest(robot: Robot, quantity: str) -> Array:
    """The default numbers: positions at home with unit quaternions, zeros else."""
    labels = labels_of(robot, quantity)
    if quantity != "position":
        return np.zeros(len(labels))
    return robot.home_position


def read_values(robot: Robot, quantity: str, text: str | None) -> Series:
    """The numbers that an option's text gives; joints not named are at rest.

    Raises
    ------
    InputError
        Unknown, repeated or dependent joints, text that is not a number, NaN: by name.
    """
    option = f"--{quantity}"
    if text is None:
        return Series(rest(robot, quantity))
    stripped = text.strip()
    if stripped[:1] in ("[", "{"):
        try:
            document = json.loads(stripped)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{option}: {stripped!r} is not valid JSON: {error}") from None
        if isinstance(document, list):
            return Series(_listed(robot, quantity, document, option))
        return _chosen(robot, quantity, from_json({quantity: document}, option), option)
    if "=" in stripped and not _is_file(stripped):
        pairs = {name: np.array([one]) for name, one in name_values(stripped, option).items()}
        return _chosen(robot, quantity, {quantity: pairs}, option)
    if stripped and to_float(stripped) is not None:
        return Series(_listed(robot, quantity, [float(stripped)], option))
    if not _is_file(stripped):
        raise InputError(f"{option}: {text!r} is neither a file nor {VALUES}")
    return from_table(robot, quantity, read_table(stripped), stripped)


def from_table(robot: Robot, quantity: str, table: Table, source: str) -> Series:
    """A quantity of a file: columns quantity/joint or, in their absence, plain joint names."""
    if quantity not in table:
        plain = {label: column[""] for label, column in table.items() if "" in column}
        plain.pop("time", None)
        if plain.keys() & set(labels_of(robot, quantity)):
            table = {**table, quantity: plain}
    if quantity not in table:
        raise InputError(
            f"{source}: has no column {quantity}/<joint>; it has {', '.join(table) or 'none'}"
        )
    if "" in table[quantity]:
        raise InputError(f"{source}: {quantity} must name the joints: {quantity}/<joint>")
    table = {**table, quantity: _without_passive(robot, quantity, table[quantity], source)}
    return _chosen(robot, quantity, table, source)


def _without_passive(
    robot: Robot, quantity: str, columns: dict[str, Array], source: str
) -> dict[str, Array]:
    """Leave out the joints that follow from the others, which recordings have too, and say so."""
    labels, others = labels_of(robot, quantity), robot.dependent_joints
    if quantity == "effort":
        others = robot.joint_names
    extra = [name for name in columns if name in others and name not in labels]
    single, *_ = scalar_motions(robot.system.coordinates.joint_blocks)
    if not extra or not {*labels} & {*single} <= columns.keys():
        return columns
    click.echo(f"Warning: {source}: {quantity} of {', '.join(extra)} not used", err=True)
    return {name: numbers for name, numbers in columns.items() if name not in extra}


def _chosen(robot: Robot, quantity: str, table: Table, source: str) -> Series:
    columns = table.get(quantity, {})
    labels = labels_of(robot, quantity)
    for name in columns:
        if name not in labels:
            raise InputError(f"{source}: {_unknown(robot, name, labels)}")
    sizes = {len(numbers) for numbers in columns.values()} or {1}
    numbers = np.tile(rest(robot, quantity), (max(sizes), 1))
    for name, column in columns.items():
        numbers[:, labels.index(name)] = column
    _require_finite(numbers, quantity, labels, source)
    time = table.get("time", {}).get("")
    if time is None and len(numbers) == 1:
        return Series(numbers[0])
    return Series(numbers, time)


def _unknown(robot: Robot, name: str, labels: tuple[str, ...]) -> str:
    if name in robot.dependent_joints:
        return (
            f"joint {name!r} follows from the others and cannot be set; set one of "
            f"{', '.join(labels)}, or convert a whole trajectory with `mbdyn convert`"
        )
    there = ", ".join(labels) or "none"
    return f"there is no coordinate {name!r}{suggestion(name, labels)}; there are {there}"


def _listed(robot: Robot, quantity: str, document: list[Any], source: str) -> Array:
    labels = labels_of(robot, quantity)
    rows = document if document and isinstance(document[0], list) else [document]
    motors = tuple(label for label in labels if not label.startswith(f"{BASE_JOINT}/"))
    if quantity == "effort" and all(isinstance(row, list) for row in rows):
        base = [0.0] * (len(labels) - len(motors))
        rows = [base + row if len(row) == len(motors) else row for row in rows]
    for k, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(labels):
            given = len(row) if isinstance(row, list) else 1
            raise InputError(
                f"{source}: {given} numbers were given"
                + (f" in row {k + 1}" if len(rows) > 1 else "")
                + f", the robot has {len(labels)} coordinates: {', '.join(labels) or '(none)'}"
            )
        for label, value in zip(labels, row, strict=True):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise InputError(f"{source}: {quantity} of {label} is {value!r}, not a number")
            if abs(value) > sys.float_info.max:  # an integer of JSON may have any length
                raise InputError(f"{source}: {quantity} of {label} is too large for a number")
    numbers = np.array(rows, dtype=np.float64).reshape(len(rows), len(labels))
    _require_finite(numbers, quantity, labels, source)
    return numbers if document and isinstance(document[0], list) else numbers[0]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # longer than a name may be
        return False


def _require_finite(numbers: Array, quantity: str, labels: tuple[str, ...], source: str) -> None:
    if np.isfinite(numbers).all():
        return
    row, column = np.argwhere(~np.isfinite(numbers))[0]
    where = f" in row {row + 1}" if len(numbers) > 1 else ""
    raise InputError(
        f"{source}: {quantity} of {labels[column]} is {numbers[row, column]}{where}; every number "
        "must be finite"
    )


def read_wrenches(texts: tuple[str, ...]) -> Mapping[str, Array] | None:
    """Wrenches of the options --wrench link=fx,fy,fz,tx,ty,tz; None without any."""
    wrenches: dict[str, Array] = {}
    for text in texts:
        link, equals, numbers = text.partition("=")
        given = to_floats(numbers) or []
        if not equals or len(given) != 6 or not all(map(math.isfinite, given)):
            raise InputError(
                f"--wrench: {text!r} is not link=fx,fy,fz,tx,ty,tz with six finite numbers"
            )
        if link.strip() in wrenches:
            raise InputError(f"--wrench: link {link.strip()!r} is given twice")
        wrenches[link.strip()] = np.array(given)
    return wrenches or None
