"""Tables from files: CSV, JSON, and the joint states of a bag."""

from __future__ import annotations

import csv
import json
import os
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..array import Array
from ..errors import InputError
from ..number import to_float
from .bag import read_joint_states
from .table import Table, from_json, to_number


def read_table(
    path: str | os.PathLike[str], header: bool = True, links: Sequence[str] = ()
) -> Table:
    """Read CSV, JSON, NPZ, NPY or MCAP (by the suffix), a bag of ROS 1 or 2, or its .db3.

    A table holds numbers alone; of a bag, it holds the joint states, and the poses of `links` as
    /tf has them (see `read_joint_states`). Cells of text are separated by
    commas, semicolons, tabs or blanks. The columns of a matrix of NumPy are named by their numbers,
    NAME/1, NAME/2, ..., and those of text without a header 1, 2, ... where it may lack one.

    header : whether text must have one.

    Raises
    ------
    InputError
        It cannot be read; the message names the file, the column and the line.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind in (".mcap", ".db3", ".bag") or file.is_dir():
        return read_joint_states(file, links)
    if kind in (".npz", ".npy"):
        return _from_numpy(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{file}: is not text; give CSV, JSON, .npz, MCAP or a bag (MATLAB's files: "
            "numpy.savez('FILE.npz', **scipy.io.loadmat(...)) of their matrices)"
        ) from None
    if kind != ".json":
        return _from_csv(text, str(file), header)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON: {error}") from None
    return from_json(document, str(file))


def _from_numpy(file: Path) -> Table:
    """Arrays (N,) and (N, n) by their names, of a file without pickled objects."""
    try:
        found = np.load(file, allow_pickle=False)
        if isinstance(found, np.ndarray):
            arrays = {name: found[name] for name in found.dtype.names or ()}
        else:
            with found:
                arrays = _plain(found)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{file}: cannot be read as NumPy's: {error}") from None
    arrays = {name: one for name, one in arrays.items() if one.ndim and one.dtype.kind in "fiu"}
    if not arrays:
        raise InputError(
            f"{file}: has no arrays of numbers with names; save time, position, effort, ... by "
            "numpy.savez(file, time=..., position=..., effort=...)"
        )
    length = max(len(one) for one in arrays.values())
    table: Table = {}
    for name, one in arrays.items():
        if len(one) == length and one.ndim <= 2:
            columns = one.astype(float).reshape(length, -1).T
            labels = [""] if one.ndim == 1 else [str(k + 1) for k in range(len(columns))]
            table.setdefault(name, {}).update(zip(labels, columns, strict=True))
    return table


def _plain(found: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a file except for pickled objects, which nothing here asks for."""
    arrays = {}
    for name in found:
        try:
            arrays[name] = found[name]
        except ValueError as error:
            if "Object arrays" not in str(error):
                raise
    return arrays


def _from_csv(text: str, source: str, need_header: bool) -> Table:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    try:
        if separator := next((one for one in ",;\t" if one in first), None):
            rows = [row for row in csv.reader(lines, delimiter=separator) if row]
        else:
            rows = [row for row in map(str.split, lines) if row]
    except csv.Error as error:
        raise InputError(f"{source}: is not a table of numbers: {error}") from None
    if not rows:
        raise InputError(f"{source}: is empty; expected a header line and rows of numbers")
    header = [name.strip() for name in rows[0]]
    if header[0].startswith("#"):  # as numpy.savetxt marks it
        header = [name for name in (header[0][1:].strip(), *header[1:]) if name]
    if all(to_float(name) is not None for name in header):
        if need_header:
            raise InputError(
                f"{source}: the first line contains numbers; add a header line such as "
                "time,position/<joint>,velocity/<joint>,..."
            )
        header, rows = [str(k + 1) for k in range(len(header))], [[], *rows]
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        raise InputError(f"{source}: the column {repeated[0]!r} appears twice")
    numbers = _numbers(rows[1:], header, source)
    table: Table = {}
    for i, name in enumerate(header):
        quantity, _, label = name.partition("/")
        table.setdefault(quantity, {})[label] = numbers[:, i]
    return table


def _numbers(rows: list[list[str]], header: list[str], source: str) -> Array:
    """The numbers (N, n) of cells; where NumPy finds a fault, the cell is named."""
    if not any("_" in "".join(row) for row in rows):  # Python reads 1_0 as a number
        try:
            return np.array(rows, dtype=float).reshape(len(rows), len(header))
        except ValueError:
            pass
    numbers = np.empty((len(rows), len(header)))
    for k, row in enumerate(rows):
        if len(row) != len(header):
            raise InputError(
                f"{source}: row {k + 1} has {len(row)} cells, the header {len(header)}"
            )
        for i, cell in enumerate(row):
            numbers[k, i] = to_number(cell, f"{source}: {header[i]} in row {k + 1}")
    return numbers
