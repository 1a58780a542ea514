"""Print how far `simulate`, `Stepper` and MuJoCo are from theory in every case.

    python -m benchmarks.contact_cases [WORD ...] [--write docs/contact_cases.csv]

MuJoCo has elliptic cones, exact tolerances and steps of 1 ms; of several softnesses and both of its
best integrators the nearest to theory counts, case by case. `--write` is the file of the table,
which docs/contact.md shows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from ..book_table import write_table
from .driven import driven
from .falling import bouncing, turning
from .ground import grounds
from .laws import laws
from .pairs import collisions, loads, logs
from .scene import Case
from .single import blocks, rolling

KINDS = (blocks, rolling, grounds, bouncing, turning, collisions, loads, logs, laws, driven)
ENGINES = ("simulate", "Stepper", "Stepper, 5 ms", "MuJoCo")


def cases() -> list[Case]:
    """All cases, in the order of the table."""
    return [case for kind in KINDS for case in kind()]


def row(case: Case) -> list[str]:
    """The cells of a line of the table."""
    errors = case.errors()
    shown = ["-" if np.isnan(errors[name]) else f"{errors[name]:.0e}" for name in ENGINES]
    return [case.name, f"{case.theory:.6g} {case.unit}", *shown]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    parser.add_argument("--write", type=Path, help="the file of the table")
    given = parser.parse_args()
    chosen = [one for one in cases() if not given.words or any(w in one.name for w in given.words)]
    lines = [["case", "theory", *ENGINES]]
    for case in chosen:
        lines.append(row(case))
        print(" | ".join(lines[-1]), flush=True)
    if given.write:
        write_table(given.write, lines)


if __name__ == "__main__":
    main()
