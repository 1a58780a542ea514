"""Tasks of `mbdyn mechanism`: torques, motion, equations, comparison, sweep."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ...cli.options import WRITTEN_AS
from ...cli.printing import number, number_column, print_table, progress_bar
from ...errors import InputError
from ...model.write.elements import write_text
from ...names import in_text
from ...number import once, to_floats
from ...recording.table import to_json
from ...recording.write import TABLES, write_table
from ..analysis import mean
from ..design import with_unit
from ..view import plots
from .options import LOCAL
from .prescribed import (
    analyse,
    curve_of,
    draw,
    motion_table,
    prescribed,
    speed_of,
    table_of,
    write_files,
)

if TYPE_CHECKING:
    from .. import Mechanism
    from ..forward import ForwardMotion, StoppedMotionError

SWEPT_POINTS = 72
"""Instants at which every design of a sweep is looked at, and one that closes the turn."""


TORQUES = {
    "peak_torque": "largest torque",
    "rms_torque": "effective torque",
    "peak_torque_without_gravity": "largest torque without gravity",
}
"""Words for torques of every input, by their keys in documents."""


def inverse(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """The task of --id."""
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
    if analysis.contact_forces:
        document["least_contact_force"] = {
            name: float(one.min()) for name, one in analysis.contact_forces.items()
        }
    if analysis.joint_friction is not None:
        document["mean_friction_power"] = float(
            mean(analysis.joint_friction.power, analysis.motion.time)
        )
    if not as_json:
        lines: list[tuple[str, float | None, str]] = [
            (f"{words} of the {name}", one, "N m")
            for key, words in TORQUES.items()
            for name, one in zip(made.inputs, document[key], strict=True)
        ]
        for what, key in (("largest", "largest_reaction"), ("least", "least_contact_force")):
            forces = document.get(key, {}).items()
            lines += [(f"{what} force in {name}", one, "N") for name, one in forces]
        lines.append(("largest shaking force", document["largest_shaking_force"], "N"))
        if "mean_friction_power" in document:
            lines.append(("mean power lost to friction", document["mean_friction_power"], "W"))
        texts = number_column([one or 0.0 for _, one, _ in lines])
        rows = [
            (what, "undetermined" if one is None else f"{text} {unit}")
            for (what, one, unit), text in zip(lines, texts, strict=True)
        ]
        print_table(f"{made.title}, {len(analysis.motion)} points", ("", ""), rows)
        click.echo("\n".join(analysis.lift_offs), nl=bool(analysis.lift_offs))
        return document
    table = table_of(analysis, curve_of(analysis, options["curve"]))
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
    """The task of --fd."""
    from .. import Analysis

    if options["restitution"] is not None:
        return _flights(made, options, as_json)
    motion, stopped = moved(made, options)
    analysis = Analysis(made, motion)
    table = motion_table(analysis)
    energies = made.energy(motion.q, motion.v)
    table["effort"] = dict(zip(made.inputs, motion.torque.T, strict=True))
    table["energy"] = dict(zip(("kinetic", "potential"), energies, strict=True))
    write_files(options, lambda: plots.plot_forward(made, motion), lambda: table)
    if stopped is not None:
        kept = [options[one] for one in ("plot", "output") if options[one]]
        where = f"is in {', '.join(kept)}" if kept else "is kept by --output FILE or --plot FILE"
        raise InputError(f"{stopped}. The motion up to there {where}.")
    energy = np.sum(energies, axis=0)
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
    ends = (number_column(list(document[what].values())) for what in ("position", "velocity"))
    units = ["m" if part.slides else "rad" for part in made.layout().parts]
    rows = [
        (name, f"{position} {unit}", f"{velocity} {unit}/s")
        for name, position, velocity, unit in zip(made.joint_names, *ends, units, strict=True)
    ]
    print_table(f"{made.title} at {document['time']:g} s", ("", "position", "velocity"), rows)
    click.echo(f"{motion.steps} steps; energy changed by {document['energy_change']:.3g} J.")
    click.echo("\n".join(analysis.lift_offs), nl=bool(analysis.lift_offs))
    return document


def _flights(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """The task of --fd with a follower that may leave its cam."""
    from ..lift_off import move_with_flights

    if options["plot"]:
        raise click.UsageError("--plot shows a follower in contact; --output has the flights")
    integrated = _integrated(made, options)
    start, speed = options["start"], speed_of(options, 0.0)
    motion = move_with_flights(
        made, start, speed, restitution=options["restitution"], **integrated
    )
    (cam,) = made.layout().cams
    names = cam.cam, cam.follower
    table = {
        "time": {"": motion.time},
        "position": dict(zip(names, motion.q.T, strict=True)),
        "velocity": dict(zip(names, motion.v.T, strict=True)),
        "effort": {cam.cam: motion.torque, cam.name: motion.effort},
        "gap": {cam.name: motion.gap},
    }
    if options["output"]:
        write_table(table, options["output"])
    flights = [asdict(one) for one in motion.flights]
    document = {"flights": [{key: None if one == math.inf else one for key, one in each.items()}
                            for each in flights]}  # fmt: skip
    if as_json:
        return document | {"series": to_json(table)}
    unit = "m" if cam.arm is None else "rad"
    header = ("leaves (s)", "cam (deg)", "lands (s)", f"gap ({unit})", f"closing ({unit}/s)",
              "loss (J)")  # fmt: skip
    rows = [
        (f"{one.start:.6g}", f"{math.degrees(one.angle):.5g}",
         "-" if one.end == math.inf else f"{one.end:.6g}", f"{one.gap:.4g}",
         f"{one.closing:.4g}", f"{one.loss:.4g}")
        for one in motion.flights
    ]  # fmt: skip
    print_table(f"{made.title}: flights in {integrated['duration']:g} s", header, rows)
    return document


def moved(
    made: Mechanism, options: dict[str, Any]
) -> tuple[ForwardMotion, StoppedMotionError | None]:
    """The motion under --torque, and what stopped it."""
    from ..forward import StoppedMotionError, move

    start, speed = (
        np.full(len(made.inputs), one) for one in (options["start"], speed_of(options, 0.0))
    )
    try:
        return move(made, start, speed, **_integrated(made, options)), None
    except StoppedMotionError as error:
        return error.motion, error


def _integrated(made: Mechanism, options: dict[str, Any]) -> dict[str, Any]:
    """How long a free motion is integrated, under which torque and how."""
    torque, longest = torque_of(made, options["torque"])
    duration = 5.0 if options["duration"] is None else options["duration"]
    method = {name: options[name] for name in ("method", "rtol", "atol")}
    return {"duration": duration, "torque": torque, **method,
            "max_step": min(options["max_step"], longest)}  # fmt: skip


def torque_of(made: Mechanism, text: str) -> tuple[Any, float]:
    """The torque of --torque, and the longest step (s) that does not overlook it."""
    from ..forward import law_from_table

    numbers = to_floats(text) or []
    if text.lower().endswith(TABLES):
        return law_from_table(text, made.inputs)
    if numbers == [0]:  # none, of any number of cranks
        numbers *= len(made.inputs)
    if len(numbers) != len(made.inputs):
        raise InputError(
            f"--torque {text}: give {len(made.inputs)} numbers, N m, or a file of these kinds: "
            f"{', '.join(TABLES)}"
        )
    return np.array(numbers), math.inf


def show_equations(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Print or write the equations; as a document, their numbers and formulas."""
    from ..denoc_equations import denoc_equations
    from ..denoc_text import formulas_of, worksheet, written

    if options["plot"]:
        raise click.UsageError("--plot belongs to --id; --equations has an --output")
    motion = moved(made, options)[0] if options["forward"] else prescribed(made, options)
    row = int(np.abs(motion.time - options["instant"]).argmin())
    cut = [name.strip() for text in options["cut"] for name in text.split(",")]
    found = denoc_equations(made, motion.q[row], motion.v[row], motion.a[row], cut)
    write = worksheet if options["worksheet"] else written
    if file := options["output"]:
        write_text(file, write(found, WRITTEN_AS[Path(file).suffix.lower()]))
    elif not as_json:
        click.echo(write(found, options["worksheet"] or options["equations"]), nl=False)
    if not as_json and options["instant"]:
        click.echo(f"at {number(float(motion.time[row]))} s, the nearest of {len(motion)} instants")
    formulas = formulas_of(found)
    return {
        "time": float(motion.time[row]),
        "cut": [one.name for one in found.cuts],
        "subsystems": [list(one) for one in found.subsystems],
        "symbols": {name: {"meaning": one.meaning, "unit": one.unit, "value": one.value}
                    for name, one in zip(formulas["symbols"], found.symbols, strict=True)},
        "matrices": {
            name: {"rows": list(one.rows), "columns": list(one.columns),
                   "values": one.values.tolist(), "formulas": formulas[name]}
            for name, one in found.matrices.items()
        },
        **{
            name: dict(zip(map(in_text, found.joints), one.tolist(), strict=True))
            for name, one in (
                ("thd", found.thd), ("thdd", found.thdd), ("right_side", found.right_side)
            )
        },
        "lambda": dict(zip(found.multiplier_names, found.multipliers.tolist(), strict=True)),
        "tau": dict(zip(map(in_text, found.joints), found.tau.tolist(), strict=True)),
        **dict(zip(("A", "x", "B"), (one.tolist() for one in found.bordered), strict=True)),
    }  # fmt: skip


def compare_settings(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """The task of --compare."""
    from .. import compare

    setting, equals, text = options["compare"].partition("=")
    values = to_floats(text)
    if not equals or values is None:
        raise InputError(f"--compare {options['compare']}: give SETTING=VALUE,VALUE,...")
    if options["output"]:
        raise click.UsageError("--compare prints a table and draws a --plot; --output needs --id")
    analyses = compare(made, prescribed(made, options), setting.strip(), values)
    write_files(options, lambda: plots.plot_comparison(setting.strip(), analyses), dict)
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
        columns = zip(*(row.values() for row in rows), strict=True)
        print_table(made.title, header, zip(*map(number_column, columns), strict=True))
    return {"setting": setting, "comparison": rows}


def sweep_designs(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """The task of --sweep."""
    from ..sweep import QUANTITIES, require_few, sweep, unit_in

    spans = once("--sweep", [_span(text) for text in options["swept"]])
    count = math.prod(number for _, _, number in spans.values())
    require_few(count)
    axes = {setting: np.linspace(*span) for setting, span in spans.items()}
    motion = prescribed(made, options, SWEPT_POINTS + 1)
    with _workers(options["dask"]) as client, progress_bar("sweeping designs", count) as report:
        result = sweep(made, axes, motion, _counted(report), client)
    settings, value = result.best(options["quantity"])
    grid = np.meshgrid(*result.settings.values(), indexing="ij")
    columns = zip(result.settings, grid, strict=True)
    write_files(
        options, lambda: plots.plot_sweep(result, options["quantity"]),
        lambda: {"setting": {with_unit(name): one.ravel() for name, one in columns},
                 **{f"{name} ({unit_in(QUANTITIES[name])})": {"": one.ravel()}
                    for name, one in result.values.items()}},
    )  # fmt: skip
    document: dict[str, Any] = {
        "designs": count,
        "impossible": result.lost,
        "quantity": options["quantity"],
        "best": {"settings": settings, "value": value},
    }
    if not as_json:
        click.echo(f"{count} designs, {result.lost} of which cannot go through the motion.")
        click.echo(f"best {options['quantity']}: {result.best_in_words(options['quantity'])}")
    return document


def _span(text: str) -> tuple[str, tuple[float, float, int]]:
    """The setting of a --sweep, and where it goes from, to, in how many values."""
    setting, _, span = text.partition("=")
    numbers = to_floats(span, ":") or []
    finite = len(numbers) == 3 and all(map(math.isfinite, numbers))
    if not finite or numbers[2] < 1 or not numbers[2].is_integer():
        raise InputError(f"--sweep {text}: give SETTING=FROM:TO:COUNT, as in crank_mass=1:2:50")
    return setting.strip(), (numbers[0], numbers[1], int(numbers[2]))


def _workers(address: str | None) -> AbstractContextManager[Any]:
    """A client of a Dask cluster, or None."""
    if address is None:
        return nullcontext()
    from ..sweep import connect

    return connect(None if address == LOCAL else address)


def _counted(report: Callable[[float], None] | None) -> Callable[[int], None] | None:
    """A function that counts the designs that are done and reports their number."""
    if report is None:
        return None
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        report(done)

    return count
