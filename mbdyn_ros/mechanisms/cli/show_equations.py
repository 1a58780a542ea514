"""The tasks of --equations and --worksheet: DeNOC's matrices at an instant of a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ...cli.options import WRITTEN_AS
from ...cli.printing import number
from ...names import in_text
from .. import Mechanism
from .prescribed import prescribed, write_text
from .tasks import moved


def show_equations(made: Mechanism, options: dict[str, Any], as_json: bool) -> dict[str, Any]:
    """Print or write the equations; as a document, their numbers and formulas."""
    from ..denoc_equations import denoc_equations
    from ..denoc_text import formulas_of, worksheet, written

    for option in ("plot", "gif"):
        if options[option]:
            raise click.UsageError(f"--{option} belongs to --id; --equations has an --output")
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
