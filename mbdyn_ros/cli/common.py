"""What all verbs share: the robot, its options, and how results are shown."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from ..model.errors import InputError, ModelWarning
from ..robot import Robot, load

F = TypeVar("F", bound=Callable[..., Any])

UNLIMITED = 10_000
"""Columns of a table that goes to a file or a pipe: nothing is cut off."""


def robot_options(function: F) -> F:
    """The URDF and how its robot stands in the world."""
    decorators: list[Any] = [
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--gravity", nargs=3, type=float, default=(0.0, 0.0, -9.81), metavar="X Y Z",
            help="Gravity in the world, m/s^2.  [default: 0 0 -9.81]",
        ),
        click.option(
            "--floating-base", is_flag=True,
            help="The root link moves freely; its coordinates are named floating_base/x, y, z, "
            "qx, qy, qz, qw and floating_base/vx, vy, vz, wx, wy, wz.",
        ),
    ]  # fmt: skip
    for decorate in decorators:
        function = decorate(function)
    return function


def urdf_text(source: str) -> str:
    """The text of a URDF file, or of standard input for "-"."""
    try:
        if source == "-":
            return sys.stdin.read()
        with open(source, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from None


def read_robot(
    source: str, floating_base: bool, gravity: Sequence[float], quiet: bool = False
) -> Robot:
    """The robot of a URDF; its warnings go to stderr unless `quiet`."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", ModelWarning)
        if source == "-":
            text = urdf_text(source)
            if not text.strip():
                raise InputError("-: standard input is empty; expected a URDF")
            return load(text, floating_base=floating_base, gravity=gravity)
        return load(source, floating_base=floating_base, gravity=gravity)


def print_json(document: Any) -> None:
    """One JSON document on stdout, NaN and infinity refused."""
    click.echo(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1
) -> None:
    """A table, without colour or borders in a pipe; all but the first columns flush right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(
        file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else UNLIMITED
    )
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD)
    for k, name in enumerate(header):
        table.add_column(escape(name), justify="left" if k < text_columns else "right")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def number(value: float) -> str:
    """A number as tables show it."""
    return f"{value:.6g}"
