"""Columns of a recording: which quantity of which joint each holds, by the words in its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from yaml import MappingNode, SequenceNode

from ..array import Array
from ..errors import InputError, suggestion
from ..model.read.yaml_source import YamlSource
from .read import read_table

WORDS = {
    "position": "position positions pos q qpos angle angles theta jointpos",
    "velocity": "velocity velocities vel qd dq qdot qvel speed omega jointvel",
    "effort": "effort efforts torque torques tau trq moment load jointtorque",
    "current": "i iq im cur curr current currents amp amps ampere ma",
    "pressure": "pressure pressures press",
}
"""Words in the names of columns, by quantity."""

WANTED = set("target desired des cmd command commanded ref reference setpoint goal d".split())
"""Words for what was asked of a robot and not measured: taken where nothing else is there."""

OTHERS = set(
    "ext external error err hat residual acc acceleration accelerations ddq qdd std temp".split()
)
"""Words for columns of something else."""

CLOCKS = {
    "time": 0.0, "times": 0.0, "t": 0.0, "timestamp": 0.0, "timestamps": 0.0, "stamp": 0.0,
    "seconds": 1.0, "secs": 1.0,
}  # fmt: skip
"""Names of the time, and the seconds of its unit; 0: by the size of its steps."""

QUANTITIES = "time, position, velocity, effort, current"
"""Quantities whose columns a user can name."""

COLUMNS = "columns"
"""Key of the columns of a quantity, next to its scale, in what a user gives."""

SCALES = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "nsec": 1e-9}


@dataclass(frozen=True)
class Column:
    """A column: its words, and the joint that it is about, by name or by number."""

    name: str
    words: tuple[str, ...]
    joint: str | int | None

    @property
    def is_wanted(self) -> bool:
        """Whether it was asked for and not measured."""
        return bool(WANTED & set(self.words))

    @property
    def quantity(self) -> str:
        """The one it is of; empty where it is of none."""
        if OTHERS & set(self.words):
            return ""
        known = [what for what, names in WORDS.items() if set(names.split()) & set(self.words)]
        return known[-1] if known else ""


def parsed(name: str, joints: tuple[str, ...]) -> Column:
    rest, joint, low = name, None, name.lower()
    for one in sorted(joints, key=len, reverse=True):
        for known in (one, one.removesuffix("_joint")):
            if joint is None and (at := low.find(known.lower())) >= 0:
                joint, rest = one, name[:at] + " " + name[at + len(known) :]
    number = None
    if joint is None:
        digits = list(re.finditer(r"\d+", rest))
        if digits:
            number = int(digits[-1].group())
            rest = rest[: digits[-1].start()] + " " + rest[digits[-1].end() :]
    words = tuple(re.findall(r"[a-z]+", rest.lower()))
    return Column(name, words, number if joint is None else joint)


def read_columns(source: str) -> dict[str, Array]:
    """The columns of a file, or of one for each quantity, whose columns only name joints.

    Those of a text without a header are named by their numbers.
    """
    table: dict[str, Array] = {}
    parts = [one.partition("=") for one in source.split(",")]
    files = {what.strip(): file for what, _, file in parts}
    known = WORDS.keys() | CLOCKS.keys()
    if not all(file and what in known for what, file in files.items()):
        files = {"": source}
    for what, file in files.items():
        for quantity, labelled in read_table(file, header=False).items():
            for label, numbers in labelled.items():
                name = f"{quantity}/{label}" if label else quantity
                if what in CLOCKS:
                    name = what
                elif what and not set(name.lower().split("/")) & CLOCKS.keys():
                    name = f"{what}/{name}"
                if len(numbers) != len(next(iter(table.values()), numbers)):
                    raise InputError(
                        f"{file}: has {len(numbers)} rows, {next(iter(files.values()))} "
                        f"{len(next(iter(table.values())))}; files of one recording have as many"
                    )
                table[name] = numbers
    return table


@dataclass(frozen=True)
class NamedColumns:
    """Columns of a quantity as a user names them, by joint or in the robot's order, and scales."""

    columns: Mapping[str, str] | Sequence[str]
    scales: Sequence[float] = (1.0,)


def read_named_columns(source: str) -> dict[str, NamedColumns]:
    """Columns that a YAML file or text names, by quantity.

    {time: 1, position: [2, 3], effort: {columns: {j1: i1, j2: i2}, scale: 0.1}}: a column by its
    name, or by its number from 1; of a quantity those of joints, in the robot's order or by name,
    and one scale or one of each.

    Raises
    ------
    ModelError
        It is not of that form, with the line.
    """
    document = YamlSource(source, "columns", QUANTITIES)
    found = {}
    for what, node in document.mapping(document.root, "columns", QUANTITIES.split(", ")).items():
        scales: Sequence[float] = (1.0,)
        given = node
        if isinstance(node, MappingNode):
            keys = document.mapping(node, what)
            if COLUMNS in keys:
                keys = document.mapping(node, what, (COLUMNS, "scale"))
                given = keys[COLUMNS]
                if isinstance(own := keys.get("scale"), SequenceNode):
                    scales = document.numbers(own, "scale")
                elif own is not None:
                    scales = (document.number(own, "scale"),)
        if isinstance(given, MappingNode):
            by_joint = document.mapping(given, what).items()
            found[what] = NamedColumns({k: document.text(v, k) for k, v in by_joint}, scales)
            continue
        nodes = [given] if what == "time" else document.sequence(given, what)
        found[what] = NamedColumns([document.text(one, what) for one in nodes], scales)
    return found


def named_columns(
    table: Mapping[str, Array],
    named: Mapping[str, NamedColumns],
    labels: Mapping[str, Sequence[str]],
    source: str,
) -> dict[str, Array]:
    """The columns that a user names, under the names that are understood without words.

    Raises
    ------
    InputError
        A joint or column is unknown, or there are not as many as joints.
    """
    found: dict[str, Array] = {}
    for what, one in named.items():
        known = labels.get(what, ("",))
        given = one.columns
        if not isinstance(given, Mapping):
            if len(given) != len(known):
                raise InputError(f"{source}: {len(given)} columns of {what} are given, and it has "
                                 f"{len(known)}: {', '.join(known)}")  # fmt: skip
            given = dict(zip(known, given, strict=True))
        scales = one.scales if len(one.scales) > 1 else [*one.scales] * len(given)
        if len(scales) != len(given):
            raise InputError(f"{source}: {len(scales)} scales of {what} are given for {len(given)} "
                             "columns; give one, or one each")  # fmt: skip
        for (label, column), scale in zip(given.items(), scales, strict=True):
            if label not in known:
                raise InputError(f"{source}: {label!r} has no {what}{suggestion(label, known)}; "
                                 f"there are {', '.join(known)}")  # fmt: skip
            name = f"{what}/{label}" if label else what
            found[name] = scale * _column(table, column, source)
    return found


def _column(table: Mapping[str, Array], column: str, source: str) -> Array:
    """A column by its name or its number."""
    names = list(table)
    if column in table:
        return table[column]
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return table[names[int(column) - 1]]
    raise InputError(f"{source}: has no column {column!r}{suggestion(column, names)}; it has 1 to "
                     f"{len(names)}: {', '.join(names)}")  # fmt: skip


def grouped(
    columns: list[Column], what: str, labels: tuple[str, ...], remarks: list[str]
) -> list[str] | None:
    """The columns of a quantity in the order of labels, measured ones first; None without."""
    groups: dict[tuple[str, ...], dict[str | int, str]] = {}
    for one in columns:
        if one.quantity == what and one.joint is not None:
            groups.setdefault(one.words, {}).setdefault(one.joint, one.name)
    plain: dict[str | int, str] = {
        one.joint: one.name for one in columns if not one.words and isinstance(one.joint, str)
    }
    if what == "position" and plain:
        groups[("position",)] = groups.get(("position",), plain)
    whole: list[tuple[bool, list[str], int]] = []
    for words, members in groups.items():
        keys: list[str | int] = list(labels)
        if not all(one in members for one in keys):
            first = min((one for one in members if isinstance(one, int)), default=0)
            keys = list(range(first, first + len(labels)))
        if labels and all(one in members for one in keys):
            names = [members[one] for one in keys]
            whole.append((not WANTED.isdisjoint(words), names, len(members)))
    if not whole:
        return None
    wanted, names, count = sorted(whole, key=lambda one: (one[0], one[2]))[0]
    if wanted:
        remarks.append(f"{what} is the commanded one ({names[0]}, ...): none was measured")
    if names[0] != f"{what}/{labels[0]}":
        remarks.append(f"{what} is read from {names[0]} to {names[-1]}, for {', '.join(labels)}")
    return names


def clock(
    table: dict[str, Array], columns: list[Column], source: str, rate: float, remarks: list[str]
) -> Array:
    """The time (N,), s from the first row on."""
    length = len(next(iter(table.values())))
    if rate > 0:
        return np.arange(length) / rate
    stamps = {one.words[-1]: one.name for one in columns if one.joint is None and one.words}
    seconds = stamps.get("sec", stamps.get("secs"))
    parts = stamps.get("nanosec", stamps.get("nsec"))
    if seconds is not None and parts is not None:
        whole, fraction = table[seconds], table[parts]
        return whole - whole[0] + (fraction - fraction[0]) * 1e-9
    for one in columns:
        words = [word for word in one.words if word in CLOCKS]
        if one.joint is not None or not words:
            continue
        units = [word for word in one.words if word in SCALES]
        raw = table[one.name] - table[one.name][0]
        step = float(np.median(np.abs(np.diff(raw)))) if len(raw) > 1 else 1.0
        size = SCALES[units[-1]] if units else CLOCKS[words[0]]
        if not size:
            size = 1.0 if step < 1 else 1e-3 if step < 100 else 1e-6 if step < 1e5 else 1e-9
            if size < 1:
                remarks.append(f"{one.name} steps by {step:g}: it is taken for units of {size:g} s")
        return raw * size
    raise InputError(f"{source}: has no time; name a column time (s), or give --rate HZ")
