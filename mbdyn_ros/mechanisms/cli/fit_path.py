"""The task of --fit: the design whose coupler curve comes nearest to a path."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ...cli.printing import number, print_table
from ...errors import InputError
from ...model.model import Array
from ...recording.read import read_table
from ...recording.write import write_table
from ...view.figure import save_figure
from .. import Mechanism
from ..settings import length_names


def fit_path(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Find the design, print its lengths, draw its curve over the path."""
    from ..fit import fit_curve

    if options["gif"]:
        raise click.UsageError("--gif belongs to --id; --fit has a --plot and an --output")
    found = fit_curve(made, _read(options["fit"]), options["part"])
    options["result"] = found.mechanism
    if options["plot"]:
        from ..view.fit_plot import plot_fit

        save_figure(plot_fit(found), options["plot"])
    if options["output"]:
        (x, y), (wanted_x, wanted_y) = found.reached.T, found.wanted.T
        write_table(
            {"crank": {"": found.q}, "reached": {"x": x, "y": y},
             "wanted": {"x": wanted_x, "y": wanted_y}},
            options["output"],
        )  # fmt: skip
    names = length_names(found.mechanism.settings)
    settings = {name: float(found.mechanism.settings[name]) for name in names}
    document = {
        "fit": settings, "part": found.part, "at": list(found.at), "place": list(found.place),
        "turn": found.turn, "gap_rms": found.gap_rms, "gap_max": float(found.gaps.max()),
    }  # fmt: skip
    if not as_json:
        rows = [(name, f"{number(value)} m") for name, value in settings.items()]
        rows += [
            (f"point of the {found.part}, along and across",
             ", ".join(f"{number(one)} m" for one in found.at)),
            ("origin in the path's plane", ", ".join(f"{number(one)} m" for one in found.place)),
            ("turn of its x axis", f"{number(np.degrees(found.turn))} deg"),
            ("gap, root of the mean square", f"{number(found.gap_rms)} m"),
            ("largest gap", f"{number(float(found.gaps.max()))} m"),
        ]
        print_table(f"{found.mechanism.title}, {len(found.q)} points", ("", ""), rows)
    return document


def _read(path: str) -> Array:
    """The columns x and y of a file."""
    table = read_table(path)
    missing = [name for name in "xy" if "" not in table.get(name, {})]
    if missing:
        raise InputError(f"{path}: no column {' and '.join(missing)}; give x,y in m, a point a row")
    return np.stack([table[name][""] for name in "xy"], axis=1)
