"""Some cases of every target of the fuzzer, and those that once went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.cases import FINDINGS, TARGETS, run_case


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_wrong_input_is_answered_or_refused(name: str) -> None:
    cases = 4 if name == "node_lives" else 30  # a life takes a second
    outcomes = [run_case(name, seed) for seed in range(cases)]
    wrong = {k: one for k, one in enumerate(outcomes) if one not in ("answered", "refused")}
    assert not wrong, wrong
    assert {"answered", "refused"} <= set(outcomes), "some must be right, and some wrong"


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("path", sorted(FINDINGS.glob("*.txt")), ids=lambda path: path.stem)
def test_what_the_fuzzer_found_is_mended(path: Path) -> None:
    name, seed = path.read_text(encoding="utf-8").split("\n")[0].split()
    assert run_case(name, int(seed)) in ("answered", "refused")
