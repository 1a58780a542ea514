"""Options of verbs that give positions, velocities, accelerations, efforts and wrenches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from .text_values import joined_pairs

F = TypeVar("F", bound=Callable[..., Any])

AT_HOME = " Joints not named are at home: 0, unless --home or the file says else."


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
