"""The robot of a verb: its file, and how it is loaded."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

import click

from ..errors import InputError, ModelWarning
from ..model.read.description import is_dh_table
from ..robot import Robot, load
from .text_values import name_values

F = TypeVar("F", bound=Callable[..., Any])

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
    def with_options(**values: Any) -> Any:
        own = {one.name: values.pop(one.name) for one in fields(RobotOptions)}
        return function(options=RobotOptions(**own), **values)

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
            if sys.stdin is None:
                raise InputError("-: standard input is closed")
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
