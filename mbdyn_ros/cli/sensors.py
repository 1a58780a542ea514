"""Options of programs that take recordings: what the numbers in their columns are."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, cast

import click

from ..number import name_values
from .options import F, joined_pairs

if TYPE_CHECKING:
    from ..recording.measured import Sensors


def sensor_options(function: F) -> F:
    """The options --rate, --columns, --gain, --zero and --motors, handed on as `sensors`."""

    @functools.wraps(function)
    def with_sensors(
        rate: float, columns: str | None, gain: str | None, zero: str | None, motors: bool,
        **values: Any,
    ) -> Any:  # fmt: skip
        return function(sensors=_sensors(rate, columns, gain, zero, motors), **values)

    decorators: list[Any] = [
        click.option("--motors", is_flag=True,
                     help="Positions and efforts are those of motors; <transmission>s lead to "
                     "joints."),
        click.option("--zero", multiple=True, callback=joined_pairs, metavar="JOINT=VALUE,...",
                     help="Position, rad or m, where a joint's column reads 0."),
        click.option("--gain", multiple=True, callback=joined_pairs, metavar="JOINT=VALUE,...",
                     help="Effort, N m or N, of 1 in a joint's column: for currents, or -1 to turn "
                     "a sign; `unknown` lets identify find it."),
        click.option("--columns", metavar="FILE.yaml",
                     help="What columns hold, by name or by number from 1, in the robot's order "
                     "or by joint; or the text itself: '{time: 1, position: [2, 3], effort: "
                     "{columns: [4, 5], scale: 0.001}}'."),
        click.option("--rate", type=float, default=0.0, help="Hz, of recordings without a time."),
    ]  # fmt: skip
    decorated: Any = with_sensors
    for decorate in decorators:
        decorated = decorate(decorated)
    return cast(F, decorated)


def _sensors(
    rate: float, columns: str | None, gain: str | None, zero: str | None, motors: bool
) -> Sensors:
    from ..recording.columns import read_named_columns
    from ..recording.measured import Sensors

    return Sensors(
        rate, motors,
        name_values(re.sub(r"=\s*unknown\b", "=nan", gain), "--gain") if gain else {},
        name_values(zero, "--zero") if zero else {},
        read_named_columns(columns) if columns else {},
    )  # fmt: skip
