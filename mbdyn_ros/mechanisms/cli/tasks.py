"""What `mbdyn mechanism` can be asked: torques, motion, comparison, sweep."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ...cli.common import number, print_table, to_number
from ...errors import InputError
from ...model.model import Array
from ...recording.table import Table, to_json, write_csv, write_json
from ...recording.write import TABLES, check_target

if TYPE_CHECKING:
    from .. import Analysis, CrankMotion, Mechanism

LOCAL = "local"
"""--dask without an address: workers on this machine."""

SWEPT_POINTS = 72
"""Instants at which every design of a sweep is looked at, and one that closes the turn."""


def prescribed(made: Mechanism, options: dict[str, Any], points: int = 361) -> CrankMotion:
    """The prescribed motion of the command line; all cranks of several turn alike."""
    from .. import motion

    kind, start, turn = options["motion"], options["start"], options["turn"]
    if kind == "constant":
        result = motion.constant_speed(options["speed"], start, turn, points)
    elif kind == "trapezoid":
        result = motion.trapezoid(options["speed"], options["acceleration"], start, turn, points)
    elif kind == "cycloid":
        result = motion.cycloid(options["duration"] or 1.0, start, turn, points)
    else:
        return motion.from_table(kind, made.inputs)
    return result.shared(len(made.inputs))


def analyse(made: Mechanism, options: dict[str, Any]) -> Analysis:
    from .. import Analysis

    return Analysis(made, prescribed(made, options))


def draw(analysis: Analysis, options: dict[str, Any]) -> None:
    """The files of a prescribed motion."""
    from ..view import plots as plots

    curve = _curve(analysis, options["curve"])
    if options["plot"]:
        plots.save_figure(plots.plot_drive(analysis, curve), options["plot"])
    if options["gif"]:
        plots.animate(analysis, options["gif"], curve)
    if options["output"]:
        _write(table_of(analysis, curve), options["output"])


def _curve(analysis: Analysis, text: str | None) -> Array | None:
    """The path that --curve asks for."""
    if text is None:
        return None
    part, equals, at = text.partition("=")
    place = [to_number(one) for one in at.split(",")]
    if not equals or len(place) != 2 or None in place:
        raise InputError(f"--curve {text}: give PART=ALONG,ACROSS, as in coupler=0.15,0.1")
    return analysis.curve(part.strip(), (float(place[0] or 0), float(place[1] or 0)))


def table_of(analysis: Analysis, curve: Array | None = None) -> Table:
    """All numbers of a prescribed motion."""
    made, motion = analysis.mechanism, analysis.motion
    table: Table = {"time": {"": motion.time}}
    names = ("position", "velocity", "acceleration")
    for quantity, values in zip(names, analysis.joints, strict=True):
        table[quantity] = {name: values[:, k] for k, name in enumerate(made.joint_names)}
    for quantity, values in (
        ("effort", analysis.torque), ("effort_without_gravity", analysis.torque_without_gravity),
    ):  # fmt: skip
        table[quantity] = {name: values[:, k] for k, name in enumerate(made.inputs)}
    table["reaction"] = {
        f"{name}/{axis}": values[:, k]
        for name, values in analysis.reactions.items()
        for k, axis in enumerate(("fx", "fy", "moment"))
    }
    table["shaking"] = {
        axis: analysis.shaking[:, k] for k, axis in enumerate(("fx", "fy", "moment"))
    }
    if curve is not None:
        table["curve"] = {"x": curve[:, 0], "y": curve[:, 1]}
    return table


def inverse(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """--id."""
    analysis = analyse(made, options)
    draw(analysis, options)
    force = np.hypot(analysis.shaking[:, 0], analysis.shaking[:, 1])
    document = {
        "peak_torque": np.abs(analysis.torque).max(axis=0).tolist(),
        "rms_torque": analysis.effective_torque.tolist(),
        "peak_torque_without_gravity": np.abs(analysis.torque_without_gravity).max(axis=0).tolist(),
        "largest_reaction": {
            name: _largest(np.hypot(values[:, 0], values[:, 1]))
            for name, values in analysis.reactions.items()
        },
        "largest_shaking_force": _largest(force),
    }
    if not as_json:
        rows = [
            (f"{what} of the {name}", f"{number(document[key][k])} N m")
            for key, what in (
                ("peak_torque", "largest torque"),
                ("rms_torque", "effective torque"),
                ("peak_torque_without_gravity", "largest torque without gravity"),
            )
            for k, name in enumerate(made.inputs)
        ]
        rows += [
            (f"largest force in {name}", "undetermined" if one is None else f"{number(one)} N")
            for name, one in document["largest_reaction"].items()
        ]
        rows.append(("largest shaking force", f"{number(document['largest_shaking_force'])} N"))
        print_table(f"{made.title}, {len(analysis.motion)} points", ("", ""), rows)
        return document
    table = table_of(analysis, _curve(analysis, options["curve"]))
    return document | {"series": _nulls(to_json(table))}


def _largest(values: Any) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else None


def _nulls(series: Any) -> Any:
    """The series with null for what is undetermined."""
    if isinstance(series, dict):
        return {name: _nulls(one) for name, one in series.items()}
    return [one if math.isfinite(one) else None for one in series]


def forward(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """--fd."""
    from ..forward import StoppedMotionError, move

    if options["gif"]:
        raise click.UsageError("--gif shows a prescribed motion; leave --fd out")
    torque, longest = _torque(made, options["torque"])
    count, stopped = len(made.inputs), None
    start, rest = np.full(count, options["start"]), np.zeros(count)
    duration = 5.0 if options["duration"] is None else options["duration"]
    try:
        motion = move(
            made, start, rest, duration, torque, options["method"],
            options["rtol"], options["atol"], min(options["max_step"], longest),
        )  # fmt: skip
    except StoppedMotionError as error:
        motion, stopped = error.motion, error
    position, velocity, acceleration = made.joint_state(motion.q, motion.v, motion.a)
    table: Table = {"time": {"": motion.time}}
    for quantity, values in (
        ("position", position), ("velocity", velocity), ("acceleration", acceleration),
    ):  # fmt: skip
        assert values is not None
        table[quantity] = {name: values[:, k] for k, name in enumerate(made.joint_names)}
    if options["plot"]:
        from ..view import plots as plots

        plots.save_figure(plots.plot_forward(made, motion), options["plot"])
    if options["output"]:
        _write(table, options["output"])
    if stopped is not None:
        kept = [options[one] for one in ("plot", "output") if options[one]]
        where = f"is in {', '.join(kept)}" if kept else "is kept by --output FILE or --plot FILE"
        raise InputError(f"{stopped}. The motion up to there {where}.")
    energy = np.sum(made.energy(motion.q, motion.v), axis=0)
    document: dict[str, Any] = {
        "method": options["method"],
        "steps": motion.steps,
        "time": float(motion.time[-1]),
        "position": {name: float(one[-1]) for name, one in table["position"].items()},
        "velocity": {name: float(one[-1]) for name, one in table["velocity"].items()},
        "energy_change": float(energy[-1] - energy[0]),
    }
    if as_json:
        return document | {"series": to_json(table)}
    rows = [
        (name, number(document["position"][name]), number(document["velocity"][name]))
        for name in made.joint_names
    ]
    print_table(f"{made.title} at {document['time']:g} s", ("", "position", "velocity"), rows)
    click.echo(f"{motion.steps} steps; energy changed by {document['energy_change']:.3g} J.")
    return document


def _torque(made: Mechanism, text: str) -> tuple[Any, float]:
    """The torque of --torque, and the longest step (s) that does not overlook it."""
    from ..forward import law_from_table

    numbers = [to_number(one) for one in text.split(",")]
    if text.lower().endswith(TABLES):
        return law_from_table(text, made.inputs)
    if None in numbers or len(numbers) != len(made.inputs):
        raise InputError(
            f"--torque {text}: give {len(made.inputs)} numbers, N m, or a file of these kinds: "
            f"{', '.join(TABLES)}"
        )
    return np.array(numbers, dtype=float), math.inf


def compare_settings(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """--compare."""
    from .. import compare

    setting, equals, text = options["compare"].partition("=")
    values = [to_number(one) for one in text.split(",")]
    if not equals or None in values:
        raise InputError(f"--compare {options['compare']}: give SETTING=VALUE,VALUE,...")
    if options["gif"] or options["output"]:
        raise click.UsageError("--compare has a --plot; --gif and --output belong to --id")
    numbers = [one for one in values if one is not None]
    analyses = compare(made, prescribed(made, options), setting.strip(), numbers)
    if options["plot"]:
        from ..view import plots as plots

        plots.save_figure(plots.plot_comparison(setting.strip(), analyses), options["plot"])
    rows = [
        {
            "value": value,
            "peak_torque": float(np.abs(one.torque).max()),
            "rms_torque": float(one.effective_torque.max()),
        }
        for value, one in analyses.items()
    ]
    if not as_json:
        header = (setting, "largest torque (N m)", "effective torque (N m)")
        lines = [[number(one) for one in row.values()] for row in rows]
        print_table(made.title, header, lines)
    return {"setting": setting, "comparison": rows}


def sweep_designs(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """--sweep."""
    from ..sweep import sweep

    axes = {}
    for text in options["swept"]:
        setting, _, span = text.partition("=")
        parts = [to_number(one) for one in span.split(":")]
        if len(parts) != 3 or None in parts or parts[2] != int(parts[2] or 0) or parts[2] < 1:
            raise InputError(f"--sweep {text}: give SETTING=FROM:TO:COUNT, as in crank_mass=1:2:50")
        axes[setting.strip()] = np.linspace(float(parts[0] or 0), float(parts[1] or 0),
                                            int(parts[2]))  # fmt: skip
    count = math.prod(len(one) for one in axes.values())
    if options["gif"] or options["output"]:
        raise click.UsageError("--sweep has a --plot; --gif and --output belong to --id")
    motion = prescribed(made, options, SWEPT_POINTS + 1)
    with _cluster(options["dask"]) as client, _progress(count) as progress:
        result = sweep(made, axes, motion, progress, client)
    settings, value = result.best(options["quantity"])
    if options["plot"]:
        from ..view import plots as plots

        plots.save_figure(plots.plot_sweep(result, options["quantity"]), options["plot"])
    document: dict[str, Any] = {
        "designs": count,
        "impossible": result.lost,
        "quantity": options["quantity"],
        "best": {"settings": settings, "value": value},
    }
    if not as_json:
        click.echo(f"{count} designs, {result.lost} of which cannot go through the motion.")
        chosen = ", ".join(f"{name} = {number(one)}" for name, one in settings.items())
        click.echo(f"best {options['quantity']}: {number(value)} at {chosen}")
    return document


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """A client of a Dask cluster, or None."""
    if address is None:
        yield None
        return
    from ..workers import connect

    with connect(None if address == LOCAL else address) as client:
        yield client


@contextmanager
def _progress(total: int) -> Iterator[Any]:
    """A bar on stderr where a person watches it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweeping designs", total=total)
        yield lambda done: bar.update(task, advance=done)


def _write(table: Table, path: str) -> None:
    target = check_target(path, TABLES)
    try:
        (write_csv if target.suffix.lower() == ".csv" else write_json)(table, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error}") from None
