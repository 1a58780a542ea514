"""Print how far `simulate`, `Stepper` and MuJoCo are from theory in every case.

    python -m benchmarks.contact_cases [WORD ...] [--write docs/contact.md]

MuJoCo has elliptic cones, exact tolerances and steps of 1 ms; of several softnesses and both of its
best integrators the nearest to theory counts, case by case. `--write` puts the table into a page,
between its marks.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from .falling import bouncing, turning
from .laws import laws
from .pairs import collisions, loads
from .scene import Case
from .single import blocks, rolling

BEGIN, END = "<!-- table of cases -->", "<!-- end of the table -->"
KINDS = (blocks, rolling, bouncing, turning, collisions, loads, laws)
ENGINES = ("simulate", "Stepper", "Stepper, 5 ms", "MuJoCo")


def cases() -> list[Case]:
    """All cases, in the order of the table."""
    return [case for kind in KINDS for case in kind()]


def row(case: Case) -> str:
    """A line of the table."""
    errors = case.errors()
    shown = ["-" if np.isnan(errors[name]) else f"{errors[name]:.0e}" for name in ENGINES]
    return f"| {case.name} | {case.theory:.6g} {case.unit} | {' | '.join(shown)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases with one of these in their names")
    parser.add_argument("--write", type=Path, help="the page that has the table")
    given = parser.parse_args()
    chosen = [one for one in cases() if not given.words or any(w in one.name for w in given.words)]
    lines = [f"| case | theory | {' | '.join(ENGINES)} |", "|---|---|" + "---|" * len(ENGINES)]
    print("\n".join(lines))
    for case in chosen:
        lines.append(row(case))
        print(lines[-1], flush=True)
    if given.write:
        text = given.write.read_text(encoding="utf-8")
        table = "\n".join([BEGIN, *lines, END])
        text = re.sub(f"{BEGIN}.*{END}", lambda _: table, text, flags=re.DOTALL)
        given.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
