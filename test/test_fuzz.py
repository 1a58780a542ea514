"""Some cases of every target of the fuzzer, and those that once went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.cases import FINDINGS, TARGETS, run_case
from night import is_night

FEW = {
    "arguments": 8, "controller": 8, "node_lives": 4, "rows_from_threads": 6, "side_car": 30,
    "stepping": 4,
}  # fmt: skip
"""Cases by day of targets that take a second each."""


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_wrong_input_is_answered_or_refused(name: str) -> None:
    cases = FEW.get(name, 15) if not is_night() else 30
    outcomes = [run_case(name, seed) for seed in range(cases)]
    wrong = {k: one for k, one in enumerate(outcomes) if one not in ("answered", "refused")}
    assert not wrong, wrong
    assert {"answered", "refused"} <= set(outcomes), "some must be right, and some wrong"


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("path", sorted(FINDINGS.glob("*.txt")), ids=lambda path: path.stem)
def test_what_the_fuzzer_found_is_mended(path: Path) -> None:
    name, seed = path.read_text(encoding="utf-8").split("\n")[0].split()
    assert run_case(name, int(seed)) in ("answered", "refused")
