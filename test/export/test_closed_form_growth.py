"""The page on the growth of closed forms: its figures are computed here."""

from __future__ import annotations

from pathlib import Path

import pytest
from night import at_night

from benchmarks.closed_form_growth import chain, measured

PAGE = (Path(__file__).parents[2] / "docs" / "operation_counts.md").read_text()
TABLE = PAGE.partition("### On a Cortex-M4")[0]
"""What is before the other table that has a row for each number of joints."""


@pytest.mark.parametrize("n", [3, *at_night(6, 9, 12, 15, 18)])
def test_counts_are_those_of_the_page(n: int) -> None:
    """Of 18 joints it takes minutes, and 1.5 GB."""
    found = measured(n)
    expected = [f"{found['elements']} ({found['zeros']})", str(found.get("printed_terms", ""))]
    expected.append(str(found["evaluated_terms"]))
    expected += [
        f"{found[f'{way}_{what}_multiplications']} ({found[f'{way}_{what}_additions']})"
        for way in ("closed", "recursion")
        for what in ("inverse_dynamics", "mass_matrix")
    ]
    (line,) = (line for line in TABLE.splitlines() if line.startswith(f"| {n} |"))
    assert [cell.strip() for cell in line.strip("|").split("|")][1:8] == expected


@pytest.mark.long
@pytest.mark.parametrize("n", [9, *at_night(12, 18)])
def test_recursions_of_long_chains(n: int) -> None:
    (line,) = (line for line in TABLE.splitlines() if line.startswith(f"| {n} |"))
    counts = chain(n).operation_counts()
    cells = [
        f"{counts[one]['multiplications']} ({counts[one]['additions']})"
        for one in ("inverse_dynamics", "mass_matrix")
    ]
    assert [cell.strip() for cell in line.strip("|").split("|")][6:8] == cells
