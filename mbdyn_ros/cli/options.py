"""Options that verbs share: the robot and how it is loaded, states, wrenches; numbers in text."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ..errors import InputError, ModelWarning
from ..number import name_values

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ..model.read.source_text import Source
    from ..robot import Robot
    from ..simulation import World


def joined_pairs(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> str | None:
    """The text of an option that may be repeated where it gives name=value pairs."""
    if len(texts) > 1 and not all("=" in one and one.lstrip()[:1] not in "[{" for one in texts):
        raise click.UsageError(
            f"{option.opts[-1]} is given {len(texts)} times; only name=value pairs add up", context
        )
    return ",".join(texts) if texts else None


F = TypeVar("F", bound=Callable[..., Any])

AT_HOME = " Joints not named are at home: 0, unless --home or the file gives another."

WRITTEN_AS = {".txt": "text", ".md": "markdown", ".tex": "latex"}
"""Formats of formulas by the ends of files' names."""

STEPS_AS = click.Choice(list(WRITTEN_AS.values()))
"""How steps of a computation, and equations, are printed."""


@dataclass(frozen=True)
class RobotOptions:
    """How a robot is loaded."""

    mechanism: str | None
    home: str | None
    floating_base: bool
    gravity: tuple[float, float, float] | None
    xacro: tuple[str, ...]
    srdf: str | None

    def described(self, source: str) -> Source:
        """The description in a file (- is standard input) or of an example, xacro expanded."""
        from ..model.read.description import described, has_xacro
        from ..model.read.xacro.xacro import xacro_arguments

        given = xacro_arguments(self.xacro, "--xacro") or None
        if source != "-":
            return described(robot_file(source), given)
        text = read_input()
        return described(text, given or ({} if has_xacro(text) else None))

    def world(self, source: str) -> tuple[World, Source]:
        """A world of several robots and bodies, and the URDF+ of them all."""
        from ..model.read.source_text import NamedText
        from ..model.write.urdf import urdf_text
        from ..simulation import World

        given = (self.mechanism, self.home, self.srdf)
        if any(one is not None for one in given) or self.floating_base or self.xacro:
            raise click.UsageError(
                "--mechanism, --home, --srdf, --xacro and --floating-base are those of one robot; "
                "write them into the file of the world"
            )
        world = World.load(read_input() if source == "-" else source)
        if self.gravity is not None:
            world = world.varied((), self.gravity)
        return world, NamedText(source, urdf_text(world.robot.model))

    def read(self, source: Source, quiet: bool = False, variable: Sequence[str] = ()) -> Robot:
        """The robot of a file, or of what `described` made of it.

        Its warnings go to stderr unless `quiet`. variable : as `load` has it.
        """
        from ..robot import load

        home: Mapping[str, float] | str | None = self.home
        if self.home is not None and "=" in self.home:
            home = name_values(self.home, "--home")
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ModelWarning)
            return load(
                self.described(source) if isinstance(source, str) else source,
                mechanism=self.mechanism,
                home=home,
                floating_base=self.floating_base or None,
                gravity=self.gravity,
                srdf=self.srdf,
                variable=variable,
            )


def robot_file(source: str) -> str | Path:
    """The file that a ROBOT names: a path as it is, the file of a robot in the box by its name.

    Raises
    ------
    InputError
        There is no such robot, or a path names no file, but a robot in the box.
    """
    from ..model.read.installed import boxed_robot, find_robot

    if os.path.isfile(source):
        return source
    if re.fullmatch(r"\w+", source):
        return find_robot(source)
    if "<" not in source and (also := boxed_robot(source)):
        raise InputError(f"{source}: no such file{also}")
    return source


def complete_robot(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Robots by name and files, for the Tab key.

    Files come first: at their mention bash's script forgets all options before.
    """
    from click.shell_completion import CompletionItem

    from ..model.read.installed import installed_robots

    names = [name for name in sorted(installed_robots()) if name.startswith(incomplete)]
    return [CompletionItem(incomplete, type="file"), *map(CompletionItem, names)]


def robot_argument(function: F) -> F:
    """The argument ROBOT: a file or the name of a robot."""
    return click.argument("source", metavar="ROBOT", shell_complete=complete_robot)(function)


def world_option(function: F) -> F:
    """The option --world."""
    return click.option(
        "--world", "as_world", is_flag=True,
        help="ROBOT is a world of several robots, bodies and walls: a YAML file (docs/contact.md) "
        "or an MJCF.",
    )(function)  # fmt: skip


def robot_options(function: F) -> F:
    """The options of `RobotOptions`, handed on as `options`, and --json."""

    @functools.wraps(function)
    def with_options(**values: Any) -> Any:
        own = {one.name: values.pop(one.name) for one in fields(RobotOptions)}
        return function(options=RobotOptions(**own), **values)

    decorators: list[Any] = [
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
        click.option(
            "--gravity", nargs=3, type=float, metavar="X Y Z",
            help="Gravity in the world, m/s^2.  [default: the file's, else 0 0 -9.81]",
        ),
        click.option(
            "--floating-base", is_flag=True,
            help="The root link moves freely; its coordinates are named floating_base/x, y, z, "
            "qx, qy, qz, qw and floating_base/vx, vy, vz, wx, wy, wz.",
        ),
        click.option(
            "--home", multiple=True, callback=joined_pairs, metavar="NAME=VALUE,...",
            help="Rough positions from which closed loops are assembled, or the name of a "
            "configuration in the files.",
        ),
        click.option(
            "--mechanism", metavar="FILE",
            help="YAML with loops and couplings, for a URDF that has none.",
        ),
        click.option(
            "--srdf", metavar="FILE", help="SRDF with homes, virtual joints and passive joints.",
        ),
        click.option(
            "--xacro", multiple=True, metavar="NAME:=VALUE",
            help="An argument of a xacro file.  [repeatable]",
        ),
    ]  # fmt: skip
    decorated: Any = with_options
    for decorate in decorators:
        decorated = decorate(decorated)
    return cast(F, decorated)


def read_input() -> str:
    """The text on standard input."""
    try:
        if sys.stdin is None:
            raise InputError("-: standard input is closed")
        text = sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"-: cannot be read: {error}") from None
    if not text.strip():
        raise InputError("-: is empty; expected a robot description")
    return text


def shareable_urdf(description: Source) -> str:
    """The URDF of a robot, for programs that read nothing else; empty for a DH table."""
    from ..model.read.source_text import NamedText
    from ..model.write.urdf import urdf_of

    return urdf_of(description) if isinstance(description, NamedText) else ""


def state_option(quantity: str, unit: str, more: str = "") -> Callable[[F], F]:
    """An option --position, --velocity, --acceleration or --effort."""
    what = quantity.capitalize()
    plural = what.removesuffix("y") + ("ies" if what.endswith("y") else "s")
    return click.option(
        f"--{quantity}", multiple=True, callback=joined_pairs, metavar="VALUES",
        help=f"{plural}, {unit}.{more}",
    )  # fmt: skip


def load_options(function: F) -> F:
    """The options --wrench and --no-friction of programs that take loads."""
    function = click.option(
        "--no-friction", is_flag=True, help="Leave damping and dry friction out."
    )(function)
    return wrench_option(function)


def wrench_option(function: F) -> F:
    """The option --wrench."""
    return click.option(
        "--wrench",
        multiple=True,
        metavar="LINK=FX,FY,FZ,TX,TY,TZ",
        help="Force (N) and torque (N m) from outside on a link, at its origin in its axes.",
    )(function)
