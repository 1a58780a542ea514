"""Tasks that look for better designs: counterweights, a Pareto front, a fitted coupler curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click
import numpy as np

from ...cli.printing import number, number_column, print_table
from ...errors import InputError
from ...model.model import Array
from ...number import once, to_floats
from ...recording.read import read_table
from .. import Analysis, FourBar, Mechanism
from ..balance import balance
from ..design import length_names, with_unit
from ..fit import CurveFit, fit_curve
from ..pareto import GOALS, pareto_front
from ..precision_positions import PoseFit, fit_function, fit_poses
from ..sweep import unit_in
from ..view import plots
from .options import EVERY_LINK
from .prescribed import guided, prescribed, write_files
from .tasks import SWEPT_POINTS


def balance_links(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Put counterweights on links, print them, and draw their effect."""
    asked = options["balance"]
    parts = [] if asked == EVERY_LINK else [one.strip() for one in asked.split(",")]
    found = balance(made, parts, options["radius"], options["moment"] or 0.0)
    options["result"] = found.mechanism
    with guided(options):
        before, after = found.compared(prescribed(made, options))
    axes = ("fx", "fy", "moment")
    write_files(
        options, lambda: plots.plot_balance(before, after),
        lambda: {"time": {"": before.motion.time},
                 "before": dict(zip(axes, before.shaking.T, strict=True)),
                 "after": dict(zip(axes, after.shaking.T, strict=True))},
    )  # fmt: skip
    sizes: dict[str, Callable[[Analysis], Array]] = {
        "largest_shaking_force": lambda one: np.hypot(*one.shaking[:, :2].T),
        "largest_shaking_moment": lambda one: np.abs(one.shaking[:, 2]),
        "peak_torque": lambda one: np.abs(one.torque),
    }
    changes = {
        key: [float(size(one).max()) for one in (before, after)] for key, size in sizes.items()
    }
    if not as_json:
        rows = [
            (one.part, f"{number(one.mass)} kg",
             f"{number(math.hypot(one.along, one.across))} m",
             f"{number(math.degrees(math.atan2(one.across, one.along)))} deg")
            for one in found.counterweights
        ]  # fmt: skip
        print_table("Counterweights", ("link", "mass", "radius", "angle"), rows, text_columns=1)
        named = zip(changes, ("N", "N m", "N m"), strict=True)
        table = [
            (key.replace("_", " "), *(f"{one} {unit}" for one in number_column(changes[key])))
            for key, unit in named
        ]
        print_table(made.title, ("", "before", "after"), table, text_columns=1)
        settings = ",".join(f"{name}={value:.14g}" for name, value in found.settings.items())
        click.echo(f"continue with --set {settings}")
    return {
        "counterweights": [vars(one) for one in found.counterweights],
        "balanced": found.settings,
    } | changes


def find_front(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Look for the Pareto front of two goals, print some of its designs, draw it."""
    bounds = once("--pareto", [_bounds(text) for text in options["pareto"]])
    goals = [one.strip() for one in options["goals"].split(",")]
    motion = prescribed(made, options, SWEPT_POINTS + 1)
    front = pareto_front(made, bounds, motion, goals, options["seed"])
    write_files(
        options, lambda: plots.plot_front(front),
        lambda: {"setting": {with_unit(name): one for name, one in front.settings.items()},
                 **{f"{name} ({unit_in(GOALS[name])})": {"": one}
                    for name, one in front.values.items()}},
    )  # fmt: skip
    if not as_json:
        chosen = np.unique(np.linspace(0, len(front) - 1, 8).round().astype(int))
        columns = [number_column(list(values[chosen])) for values in
                   (*front.values.values(), *front.settings.values())]  # fmt: skip
        heads = [*(GOALS[one] for one in goals), *map(with_unit, front.settings)]
        print_table(
            f"{made.title}: {len(front)} best of {len(front.tried)} designs", heads,
            list(zip(*columns, strict=True)),
        )  # fmt: skip
    return {
        "goals": goals,
        "designs": len(front.tried),
        "front": {
            **{name: one.tolist() for name, one in front.values.items()},
            "settings": {name: one.tolist() for name, one in front.settings.items()},
        },
    }


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    """The setting of a --pareto, and its bounds."""
    setting, _, span = text.partition("=")
    numbers = to_floats(span, ":") or []
    if len(numbers) != 2:
        raise InputError(f"--pareto {text}: give SETTING=FROM:TO, as in coupler_length=0.2:0.4")
    return setting.strip(), (numbers[0], numbers[1])


def fit_path(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Find the design, print its lengths, draw its curve over the path."""
    points = _columns(options["fit"], "x,y in m, a point a row")
    return _fitted(fit_curve(made, points, options["part"]), "fit", options, as_json)


def fit_positions(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Find the four-bar that takes the poses, or has the pairs of angles, and print its lengths."""
    if type(made) is not FourBar:
        raise InputError(f"{made.name}: --poses and --function look for a four_bar; name that")
    if options["poses"]:
        poses = _columns(options["poses"], "x,y,angle in m and rad, a pose a row")
        return _fitted(fit_poses(made, poses), "poses", options, as_json)
    pairs = _columns(options["function"], "crank,rocker in rad, a pair a row")
    found = fit_function(made, pairs)
    options["result"] = found.mechanism
    write_files(
        options, lambda: plots.plot_function(found),
        lambda: {"crank": {"": found.q}, "rocker": {"": found.rocker},
                 "reached": {"rocker": found.rocker_reached}},
    )  # fmt: skip
    settings, rows = _lengths(found.mechanism)
    rows += [
        ("branch", f"{found.mechanism.branch:+d}"),
        ("Grashof class", found.mechanism.grashof_class),
        ("the crank counts from", f"{number(math.degrees(found.crank_zero))} deg"),
        ("the rocker counts from", f"{number(math.degrees(found.rocker_zero))} deg"),
        ("largest gap", f"{found.turn_gap:.2g} rad"),
    ]
    if not as_json:
        print_table(f"{found.mechanism.title}, {len(found.q)} pairs of angles", ("", ""), rows)
    return {
        "function": settings, "branch": found.mechanism.branch, "crank_zero": found.crank_zero,
        "rocker_zero": found.rocker_zero, "gap_max": found.turn_gap,
    }  # fmt: skip


def _fitted(found: CurveFit, task: str, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Print and write what was found, and draw it."""
    options["result"] = found.mechanism
    write_files(
        options, lambda: plots.plot_fit(found),
        lambda: {"crank": {"": found.q}, "reached": dict(zip("xy", found.reached.T, strict=True)),
                 "wanted": dict(zip("xy", found.wanted.T, strict=True))},
    )  # fmt: skip
    settings, rows = _lengths(found.mechanism)
    document = {
        task: settings, "part": found.part, "at": list(found.at), "place": list(found.place),
        "turn": found.turn, "gap_rms": found.gap_rms, "gap_max": float(found.gaps.max()),
    }  # fmt: skip
    if isinstance(found, PoseFit):
        branch = found.mechanism.branch
        document |= {"branch": branch, "tilt": found.tilt, "turn_gap": found.turn_gap}
        tilt = f"{number(math.degrees(found.tilt))} deg"
        rows += [("branch", f"{branch:+d}"), ("from the coupler's x axis to the poses'", tilt)]
    at, place = (", ".join(f"{number(one)} m" for one in pair) for pair in (found.at, found.place))
    rows += [
        (f"point of the {found.part}, along and across", at),
        ("origin in the path's plane", place),
        ("turn of its x axis", f"{number(math.degrees(found.turn))} deg"),
        ("gap, root of the mean square", f"{number(found.gap_rms)} m"),
        ("largest gap", f"{number(float(found.gaps.max()))} m"),
    ]
    if not as_json:
        print_table(f"{found.mechanism.title}, {len(found.q)} points", ("", ""), rows)
    return document


def _lengths(found: Mechanism) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """The lengths that were found, and rows of them."""
    lengths = {name: float(found.settings[name]) for name in length_names(found.settings)}
    return lengths, [(name, f"{number(value)} m") for name, value in lengths.items()]


def _columns(path: str, heads: str) -> Array:
    """The columns of a file that `heads` names first, as in "x,y in m, a point a row"."""
    table = read_table(path)
    names = heads.split(" ")[0].split(",")
    missing = [name for name in names if "" not in table.get(name, {})]
    if missing:
        raise InputError(f"{path}: no column {' and '.join(missing)}; give {heads}")
    return np.stack([table[name][""] for name in names], axis=1)
