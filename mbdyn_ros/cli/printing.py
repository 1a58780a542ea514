"""Printed JSON documents and tables, and a bar while something takes long."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..model.model import Array

PIPE_COLUMNS = 10_000
"""Columns of a table that goes to a file or a pipe, where no line is broken."""


def print_json(document: Any) -> None:
    """One JSON document on stdout, NaN and infinity refused."""
    click.echo(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1
) -> None:
    """A table, without colour or borders in a pipe; all but the first columns flush right.

    Where the terminal is too narrow, heads of numbers go on in a second line, to leave room for
    names; what is still too long goes on in the next line.
    """
    import textwrap  # with rich: a help needs neither

    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(
        file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS
    )
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD)
    lines = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    narrow = sum(widths) + 3 * len(widths) + 1 > console.width
    for k, name in enumerate(header):
        side = "left" if k < text_columns else "right"
        if narrow and k >= text_columns:
            longest = max(6, *map(len, name.split()), *(len(row[k]) for row in lines))
            name = textwrap.fill(name, longest)
        table.add_column(escape(name), justify=side, overflow="fold")  # type: ignore[arg-type]
    for row in lines:
        table.add_row(*map(escape, row))
    console.print(table)


COLUMN_NOISE = 1e-13
"""Share of the largest number of a column that rounding leaves where exact numbers would be 0."""


def number(value: float) -> str:
    """A number as tables show it."""
    return f"{value + 0.0:.6g}"


def number_column(values: Sequence[float], noise: float | Array = 0.0) -> list[str]:
    """A column as tables show it, 0 where a number is rounding noise.

    noise : of all numbers or of each, where more is known of it than `COLUMN_NOISE`.
    """
    import numpy as np  # a help needs none

    sizes = np.abs(np.asarray(values, dtype=float))
    counts = sizes > np.maximum(COLUMN_NOISE * sizes.max(initial=0.0), noise)
    return [number(value if one else 0.0) for value, one in zip(values, counts, strict=True)]


@contextmanager
def progress_bar(what: str, total: float) -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr where a person watches it, nothing in a pipe.

    It is called with how much of the total is done.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
