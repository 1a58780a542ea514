"""What all verbs share: the robot, its options, and how results are shown."""

from __future__ import annotations

import functools
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import click

from ..errors import InputError, ModelWarning
from ..model.read.description import is_dh_table
from ..robot import Robot, load

F = TypeVar("F", bound=Callable[..., Any])

PLOTS = (".png", ".svg", ".pdf")
"""What plots may be written as."""

UNLIMITED = 10_000
"""Columns of a table that goes to a file or a pipe: nothing is cut off."""


@dataclass(frozen=True)
class RobotOptions:
    """How a robot is loaded."""

    mechanism: str | None
    home: str | None
    floating_base: bool
    gravity: tuple[float, float, float]

    def read(self, source: str, quiet: bool = False) -> Robot:
        """The robot of a file (- is standard input); its warnings go to stderr unless `quiet`."""
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ModelWarning)
            return load(
                urdf_text(source) if source == "-" else source,
                mechanism=self.mechanism,
                home=None if self.home is None else name_values(self.home, "--home"),
                floating_base=self.floating_base,
                gravity=self.gravity,
            )


def robot_options(function: F) -> F:
    """The options of `RobotOptions`, handed on as `options`, and --json."""

    @functools.wraps(function)
    def with_options(
        mechanism: str | None,
        home: str | None,
        floating_base: bool,
        gravity: tuple[float, float, float],
        **others: Any,
    ) -> Any:
        options = RobotOptions(mechanism, home, floating_base, gravity)
        return function(options=options, **others)

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
        click.option(
            "--home", metavar="NAME=VALUE,...",
            help="Rough positions from which closed loops are assembled.",
        ),
        click.option(
            "--mechanism", metavar="FILE",
            help="YAML with loops and couplings, for a URDF that has none.",
        ),
    ]  # fmt: skip
    decorated: Any = with_options
    for decorate in decorators:
        decorated = decorate(decorated)
    return cast(F, decorated)


def urdf_text(source: str) -> str:
    """The text of a file, or of standard input for "-"."""
    try:
        if source == "-":
            text = sys.stdin.read()
        else:
            with open(source, encoding="utf-8") as file:
                text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from None
    if not text.strip():
        raise InputError(f"{source}: is empty; expected a URDF or a DH table")
    return text


def shareable_urdf(source: str, text: str = "") -> str:
    """The URDF of a robot, for programs that read nothing else; empty for a DH table."""
    return "" if is_dh_table(text or source) else text or urdf_text(source)


def name_values(text: str, source: str) -> dict[str, float]:
    """The numbers of name=value,... pairs."""
    values: dict[str, float] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        found = to_number(value)
        if not equals or found is None:
            raise InputError(f"{source}: {part!r} is not name=number")
        if name in values:
            raise InputError(f"{source}: {name!r} is given twice")
        values[name] = found
    return values


def to_number(text: str) -> float | None:
    """The number that a text is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


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
