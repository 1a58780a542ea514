r"""Growth of closed form and recursion with the number of joints.

    python -m benchmarks.closed_form_growth                       # to 12 joints, a minute
    python -m benchmarks.closed_form_growth --most 18 --plot docs/closed_form_growth.png \
        --write docs/closed_form_growth.csv

The paper's piezo robot, one on the end of another, cut off after n joints. Of each: terms of H, C
and g in cosines and sines of the joints, as they are printed (up to 12 joints), and of sums of
neighbouring joints' angles, as they are evaluated; products and sums of inverse dynamics and mass
matrix by Horner's scheme and by the recursions; time, and memory of the process at most.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import yaml

import mbdyn_ros
from benchmarks.book_table import write_table
from mbdyn_ros.equations.algebra.spatial import SX
from mbdyn_ros.equations.system import System
from mbdyn_ros.export.closed_form import polynomials
from mbdyn_ros.export.closed_form_program import angle_sums, closed_form_efforts
from mbdyn_ros.model.model import Array
from mbdyn_ros.program.program import operations_of

ROBOT = Path(__file__).resolve().parent.parent / "urdf" / "piezo_robot.yaml"
PRINTED = 12
"""Joints up to which the printed form is made: 18 would have some hundred million terms."""

ANY = 10**12
"""Products of terms that are allowed here."""


def chain(n: int) -> mbdyn_ros.Robot:
    """Piezo robots one on the end of another, n joints of them."""
    table = yaml.safe_load(ROBOT.read_text())
    joints = []
    for k in range(n):
        one = dict(table["joints"][k % 6])
        joints.append(one | {"name": f"joint_{k + 1}", "link": f"link_{k + 1}"})
        if k % 6 == 5 and k < n - 1:  # no jaw
            lower = table["joints"][2]
            moments = lower["inertia"]
            turned = {"ixx": moments["iyy"], "iyy": moments["iyy"], "izz": moments["ixx"]}
            joints[-1] |= {"mass": lower["mass"], "centre": [0, 0, -0.02], "inertia": turned}
    return mbdyn_ros.load(yaml.safe_dump({"name": f"chain_{n}", "joints": joints}))


def measured(n: int) -> dict[str, Any]:
    """Counts, times (s) and memory (MB) of n joints."""
    robot = chain(n)
    system = robot.system
    found: dict[str, Any] = {"joints": n}
    q, v, a = (SX.sym(name, n) for name in "qva")
    start = time.process_time()
    mass, efforts = closed_form_efforts(system, q, v, a, ANY)
    found["evaluated_seconds"] = time.process_time() - start
    found["evaluated_megabytes"] = memory()
    _make(found, system, "evaluated", angle_sums(system))  # once more, to count its terms
    for name, result in (("mass_matrix", ca.densify(mass)), ("inverse_dynamics", efforts)):
        count, ours = operations_of([q, v, a], result), robot.operation_counts()[name]
        for kind in ("multiplications", "additions"):
            found[f"closed_{name}_{kind}"] = count[kind]
            found[f"recursion_{name}_{kind}"] = ours[kind]
    if n <= PRINTED:  # last: what it takes of memory is not the other's
        start = time.process_time()
        _make(found, system, "printed", np.eye(n, dtype=int))
        found["printed_seconds"] = time.process_time() - start
        found["printed_megabytes"] = memory()
    return found


def _make(found: dict[str, Any], system: System, form: str, sums: Array) -> None:
    """Make the elements of H, C and g in cosines and sines of sums of angles; count their terms."""
    elements = polynomials(system, sums, ANY)
    counts = [len(one.polynomial.coefficients) for one in elements]
    found[f"{form}_terms"] = sum(counts)
    found["elements"], found["zeros"] = len(counts), counts.count(0)


def memory() -> float:
    """Memory of this process at most, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_a_process(n: int) -> dict[str, Any]:
    """The same in a process of its own, whose memory nothing else uses."""
    call = [sys.executable, "-m", "benchmarks.closed_form_growth", "--one", str(n)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def plot(rows: list[dict[str, Any]], target: str) -> None:
    """Products over joints, and what the formulas take to be made."""
    from mbdyn_ros.view.figure import (
        FAINT_INK,
        color_of,
        empty_figure,
        legend_beside,
        save_figure,
        tidy,
    )

    figure = empty_figure(9.5, 9.5)
    products, terms, seconds, memory = figure.subplots(
        4, 1, gridspec_kw={"height_ratios": (3, 2, 2, 2)}
    )
    n = [row["joints"] for row in rows]
    for key, label, colour, style in (
        ("closed_inverse_dynamics", "inverse dynamics, closed form", 0, "o-"),
        ("recursion_inverse_dynamics", "inverse dynamics, recursion", 0, "o--"),
        ("closed_mass_matrix", "mass matrix, closed form", 1, "s-"),
        ("recursion_mass_matrix", "mass matrix, recursion", 1, "s--"),
    ):
        counts = [row[f"{key}_multiplications"] for row in rows]
        products.semilogy(n, counts, style, color=color_of(colour), label=label)
    many = np.array([one for one in n if one >= 6])
    products.semilogy(many, 93 * many - 69, ":", color=FAINT_INK,
                      label="Balafoutis and Patel, any robot: 93 n - 69")  # fmt: skip
    for form, style in (("evaluated", "o-"), ("printed", "s-")):
        made = [row for row in rows if f"{form}_terms" in row]
        joints = [row["joints"] for row in made]
        colour = color_of(2 + (form == "printed"))
        ways = {
            terms: [row[f"{form}_terms"] for row in made],
            seconds: [row[f"{form}_seconds"] for row in made],
            memory: [row[f"{form}_megabytes"] for row in made],
        }
        for axis, values in ways.items():
            axis.semilogy(joints, values, style, color=colour, label=f"form as {form}")
    titles = "products", "terms", "time to make it (s)", "memory (MB)"
    for axis, title in zip((products, terms, seconds, memory), titles, strict=True):
        axis.set_ylabel(title)
        axis.set_xlabel("joints n")
        axis.set_xticks(n)
        tidy(axis)
        legend_beside(axis)
    figure.suptitle("Closed form and recursion of a chain of piezo robots")
    save_figure(figure, target)


HEADINGS = ("joints", "elements of H, C, g (zero)", "terms as printed", "as evaluated",
            "closed form: products (sums) of inverse dynamics", "of the mass matrix",
            "recursion: inverse dynamics", "mass matrix")  # fmt: skip


def row(found: dict[str, Any]) -> list[str]:
    """The cells of a chain's line in the table of the book."""
    cells = [f"{found['elements']} ({found['zeros']})", str(found.get("printed_terms", ""))]
    return [
        str(found["joints"]),
        *cells,
        str(found["evaluated_terms"]),
        *(
            f"{found[f'{way}_{what}_multiplications']} ({found[f'{way}_{what}_additions']})"
            for way in ("closed", "recursion")
            for what in ("inverse_dynamics", "mass_matrix")
        ),
    ]


def main() -> None:
    """Measure, print, draw, and write a table for the book."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=12)
    parser.add_argument("--one", type=int)
    parser.add_argument("--plot")
    parser.add_argument("--write", type=Path, help="the file of the table")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    rows = []
    for n in range(3, options.most + 1, 3):
        rows.append(in_a_process(n))
        print(json.dumps(rows[-1]), flush=True)
    if options.plot:
        plot(rows, options.plot)
    if options.write:
        write_table(options.write, [HEADINGS, *map(row, rows)])


if __name__ == "__main__":
    main()
