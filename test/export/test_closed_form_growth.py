"""The page on the growth of closed forms: its figures are computed here."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from night import at_night

from benchmarks.closed_form_growth import HEADINGS, chain, measured, row

FILE = Path(__file__).parents[2] / "docs" / "closed_form_growth.csv"
HEAD, *TABLE = csv.reader(FILE.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("n", [3, *at_night(6, 9, 12, 15, 18)])
def test_counts_are_those_of_the_page(n: int) -> None:
    """Of 18 joints it takes minutes, and 1.5 GB."""
    assert tuple(HEAD) == HEADINGS
    assert row(measured(n)) in TABLE


@pytest.mark.long
@pytest.mark.parametrize("n", [9, *at_night(12, 18)])
def test_recursions_of_long_chains(n: int) -> None:
    (line,) = (line for line in TABLE if line[0] == str(n))
    counts = chain(n).operation_counts()
    cells = [
        f"{counts[one]['multiplications']} ({counts[one]['additions']})"
        for one in ("inverse_dynamics", "mass_matrix")
    ]
    assert line[6:8] == cells
