"""Many states or one: gathered from options and files, and shown with the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
import numpy as np

from ..errors import InputError, MbdynError
from ..model.model import Array
from ..recording.read import read_table
from ..recording.table import Table, csv_lines, differentiated, to_json
from ..recording.write import write_table
from ..robot import Robot
from ..units import acceleration_unit, effort_unit
from .printing import number, number_column, print_json, print_table
from .series import Series, from_table, labels_of, read_values, rest

States = dict[str, Series]
"""quantity -> numbers."""

RATES = ("velocity", "acceleration")
"""The quantities that follow from positions and times."""

ARGUMENT_ROUNDING = 4 * np.finfo(float).eps
"""Share of an argument, or rad, m and their like where it is small, that rounding may change."""

SIGNS = (-ARGUMENT_ROUNDING, ARGUMENT_ROUNDING)

ROUNDED_TIMES = 4
"""Ways to round all arguments that are tried."""

SAFETY = 8.0
"""The noise over the largest change that was seen."""


def gather(
    robot: Robot,
    options: Mapping[str, str | None],
    trajectory: str | None,
    differentiate: bool = False,
) -> States:
    """The states of some quantities: each from its option, else from the trajectory file.

    Velocities and accelerations that the file lacks are those of smoothed positions where
    `differentiate` says so, else zeros.

    Raises
    ------
    InputError
        As `read_values`; or the quantities have different numbers of states.
    """
    table: Table = read_table(trajectory) if trajectory is not None else {}
    states: States = {}
    rates: dict[str, Series] = {}
    for quantity, text in options.items():
        if text is not None or trajectory is None:
            states[quantity] = read_values(robot, quantity, text)
        elif quantity in table or quantity == "position":
            states[quantity] = from_table(robot, quantity, table, trajectory)
            if quantity == "position" and differentiate:
                rates = _rates(robot, states[quantity], trajectory)
        elif quantity in rates:
            states[quantity] = rates[quantity]
        else:
            states[quantity] = read_values(robot, quantity, None)
            click.echo(
                f"Warning: {trajectory} has no columns {quantity}/<joint>; they are taken as 0"
                + ("; --differentiate computes them" if quantity in RATES else ""),
                err=True,
            )
    sizes = {quantity: len(one.numbers) for quantity, one in states.items() if one.many}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{quantity} {size}" for quantity, size in sizes.items())
        raise InputError(f"the numbers of states differ: {listed}")
    return states


def _rates(robot: Robot, position: Series, trajectory: str) -> dict[str, Series]:
    """Velocities and accelerations of recorded positions."""
    if robot.system.coordinates.quaternions:
        raise InputError("--differentiate: the positions of a floating joint have no such rates")
    if position.time is None:
        raise InputError(f"{trajectory}: --differentiate needs a column time")
    derivatives = differentiated(position.time, position.numbers, trajectory)
    return {name: Series(one, position.time) for name, one in zip(RATES, derivatives, strict=True)}


def show(
    robot: Robot,
    states: States,
    quantity: str,
    result: Array,
    as_json: bool,
    output: str | None,
) -> None:
    """Print the result, or write it into a file with the states it belongs to.

    One state for people is left to `print_state`.
    """
    if not np.isfinite(result).all():
        row, column = np.argwhere(~np.isfinite(np.atleast_2d(result)))[0]
        raise InputError(
            f"{quantity} of {labels_of(robot, quantity)[column]} in state {row + 1} is not finite: "
            "a number is too large, or the mass matrix is singular there"
        )
    table = _table(robot, states, quantity, result)
    if output is not None:
        write_table(table, output)
    if as_json:
        document: dict[str, Any] = {"robot": robot.model.name, **to_json(table)}
        if result.ndim == 1:
            document = {
                key: {label: one[0] for label, one in value.items()}
                if isinstance(value, dict)
                else value
                for key, value in document.items()
            }
        unit_of = effort_unit if quantity == "effort" else acceleration_unit
        document["unit"] = {
            label: unit_of(robot.model, label) for label in labels_of(robot, quantity)
        }
        if output is not None:
            document["output"] = output
        print_json(document)
    elif output is not None:
        click.echo(f"{output}: {len(np.atleast_2d(result))} states")
    elif result.ndim > 1:
        for line in csv_lines(table):
            click.echo(line, nl=False)


def _table(robot: Robot, states: States, quantity: str, result: Array) -> Table:
    rows = np.atleast_2d(result)
    table: Table = {}
    times = [one.time for one in states.values() if one.time is not None]
    if times:
        table["time"] = {"": times[0]}
    columns = {name: one.numbers for name, one in states.items()} | {quantity: rows}
    for name, numbers in columns.items():
        full = np.broadcast_to(numbers, (len(rows), numbers.shape[-1]))
        table[name] = {label: full[:, k] for k, label in enumerate(labels_of(robot, name))}
    return table


def print_state(robot: Robot, states: States, quantity: str, result: Array, noise: Array) -> None:
    """One line a coordinate; positions without a velocity of their own come first.

    noise : (n,) how far from 0 numbers of the result may be by rounding.
    """
    units = {"effort": effort_unit, "acceleration": acceleration_unit}[quantity]
    texts = {name: [number(value) for value in one.numbers] for name, one in states.items()}
    texts[quantity] = number_column(result.tolist(), noise)
    columns = {
        name: dict(zip(labels_of(robot, name), column, strict=True))
        for name, column in texts.items()
    }
    labels = dict.fromkeys(robot.velocity_labels + robot.effort_labels)
    extra = [
        f"{label} {text}" for label, text in columns["position"].items() if label not in labels
    ]
    if extra and not np.array_equal(states["position"].numbers, rest(robot, "position")):
        click.echo("at " + ", ".join(extra))
    rows = [
        (
            label,
            *(one.get(label, "") for one in columns.values()),
            units(robot.model, label) if label in columns[quantity] else "",
        )
        for label in labels
    ]
    print_table(robot.model.name, ("joint", *columns, "unit"), rows)


def rounding_noise(function: Callable[..., Array], arguments: Sequence[Array]) -> Array:
    """How far (n,) from 0 numbers of the function's answer may be by rounding alone.

    The function has no jump: dry friction, for one, is left out of it.
    """
    random, result = np.random.default_rng(0), function(*arguments)
    noise = np.zeros_like(result)
    for _ in range(ROUNDED_TIMES):
        rounded = [
            one + np.maximum(np.abs(one), 1.0) * random.choice(SIGNS, one.shape)
            for one in arguments
        ]
        try:
            noise = np.maximum(noise, np.abs(function(*rounded) - result))
        except MbdynError:
            break  # at the edge of what has an answer
    return SAFETY * noise
