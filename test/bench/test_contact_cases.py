"""The table of contact cases: what it says is what its engines find."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from benchmarks.contact_cases.__main__ import ENGINES, cases
from benchmarks.contact_cases.scene import Case

TABLE = Path(__file__).parents[2] / "docs" / "contact_cases.csv"

EXACT = 1e-8
"""An error that is as good as none: of laws that steps meet to 1e-8 m/s."""

WORST = {"simulate": 1e-4, "Stepper": 1e-3, "Stepper, 5 ms": 5e-2}
"""The largest errors in the table."""


def table() -> dict[str, list[float]]:
    """Errors of every engine by case, as the table has them."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        (_, _, *engines), *rows = csv.reader(file)
    assert tuple(engines) == ENGINES
    return {
        name: [float(one) if one != "-" else np.nan for one in numbers]
        for name, _, *numbers in rows
    }


def test_the_page_shows_the_table() -> None:
    page = TABLE.with_name("contact.md").read_text(encoding="utf-8")
    assert f"```{{rows}} {TABLE.name}" in page and f"({TABLE.name})" in page


def test_the_table_has_every_case() -> None:
    """At least forty, each with its numbers, and none that is not among them."""
    found = table()
    assert set(found) == {case.name for case in cases()}
    assert len(found) >= 40


@pytest.mark.parametrize("engine", WORST)
def test_no_case_is_far_from_theory(engine: str) -> None:
    """In the table."""
    column = ENGINES.index(engine)
    worst = max(found[column] for found in table().values())
    assert worst <= WORST[engine]


def test_simulate_is_nearer_than_mujoco() -> None:
    """In every row that MuJoCo has, except for what is negligible."""
    for name, (ours, _, _, peer) in table().items():
        assert not ours > max(peer, EXACT), name


CHOSEN = "ball rolls down a slope", "block slides and stops", "two balls, e 0.4", "block on a belt"


@pytest.mark.sparse
@pytest.mark.parametrize(
    "case", [one for one in cases() if one.name.startswith(CHOSEN)], ids=lambda one: one.name
)
def test_a_case_is_as_the_table_says(case: Case) -> None:
    """By `Stepper`, within a factor of three and rounding."""
    reported = table()[case.name][ENGINES.index("Stepper")]
    error = abs(case.read(case.scene.stepped(1e-3)) - case.theory)
    assert error <= 3 * reported + 1e-12
