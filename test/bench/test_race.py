"""What the race says of a run: every figure above its bar, and no other."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from benchmarks.race.bars import GROWTH, PEER, PLAIN, REASONS, bar, losses, misses
from benchmarks.race.ours import Bound, Plain
from benchmarks.race.page import write_page
from benchmarks.race.run import Result, Time


def result(robot: str, program: str, nv: int = 6, **times: float) -> Result:
    names = {"bound": Bound.name, "plain": Plain.name, "pinocchio": PEER}
    listed = {names.get(key, key): Time(value, 1.1 * value) for key, value in times.items()}
    return Result(robot, nv, program, listed)


GOOD = [
    result("UR5", "inverse_dynamics", bound=0.1, plain=0.7, pinocchio=1.0, MuJoCo=2.0),
    result("G1", "mass_matrix", 35, bound=0.19, plain=0.3, pinocchio=1.0),
    result("chain of 5", "mass_matrix", 5, bound=0.9, plain=0.79, pinocchio=1.0),
    *(
        result(f"chain of {n}", "forward_dynamics", n, bound=0.01 * n, plain=0.1 * n)
        for n in (5, 10, 200)
    ),
]


def test_nothing_is_lost_where_all_bars_are_met() -> None:
    assert list(misses(GOOD)) == []
    assert losses(GOOD) == ["Nowhere in this run: every figure is under its bar."]
    assert losses([]) == losses(GOOD)


@pytest.mark.parametrize(
    "lost, words, reason",
    [
        (result("G1", "mass_matrix", 35, bound=0.204, plain=0.4, pinocchio=1.0),
         "Mass matrix, ratio to Pinocchio: G1 0.204 (<= 0.2)", "mass_matrix"),
        (result("Panda", "forward_dynamics_derivatives", bound=0.176, plain=0.3, pinocchio=1.0),
         "Derivatives of forward dynamics, ratio to Pinocchio: Panda 0.176 (<= 0.15)",
         "forward_dynamics_derivatives"),
        (result("UR5", "mass_matrix", bound=0.13, plain=0.85, pinocchio=1.0),
         "Mass matrix, plain method, ratio to Pinocchio: UR5 0.850 (<= 0.8)", None),
        (result("chain of 20", "mass_matrix", 20, bound=0.13, plain=0.2, **{"adam, compiled": 0.1}),
         "Mass matrix, ratio to adam, compiled: chain of 20 1.300 (<= 1)", "mass_matrix"),
        (result("chain of 400", "forward_dynamics", 400, bound=8.0, plain=9.0),
         "Forward dynamics, exponent of growth: 10 to 400 joints 1.", "growth"),
    ],
)  # fmt: skip
def test_a_miss_is_listed_with_its_reason(lost: Result, words: str, reason: str | None) -> None:
    (line,) = losses([*GOOD, lost])
    assert words in line
    assert line.endswith(f"**Why:** {REASONS[reason] if reason else 'The reason is not known.'}")


def test_misses_of_one_reason_share_a_line() -> None:
    lost = [
        result(name, "inverse_dynamics_derivatives", bound=0.3, plain=0.4, pinocchio=1.0)
        for name in ("UR5", "G1")
    ]
    (line,) = losses(lost)
    assert "UR5 0.300 (<= 0.15), G1 0.300 (<= 0.15)" in line
    assert line.count(REASONS["inverse_dynamics_derivatives"]) == 1


def test_bars() -> None:
    assert bar(GOOD[0]) == 0.16 and bar(GOOD[1]) == 0.2 and bar(GOOD[2]) is None
    assert (PLAIN, GROWTH) == (0.8, 1.05)


def test_the_page(tmp_path: Path) -> None:
    """Bold and list agree."""
    pytest.importorskip("matplotlib")
    lost = result("Talos", "mass_matrix", 38, bound=0.21, plain=0.9, pinocchio=1.0)
    write_page([*GOOD, lost], {PEER: "4"}, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    page, _, section = text.partition("## Where we lose, and why")
    files = [tmp_path / name for name in re.findall(r"^```\{rows\} (\S+)$", page, re.MULTILINE)]
    tables = [list(csv.reader(file.read_text(encoding="utf-8").splitlines())) for file in files]
    rows = {row[0]: row for table in tables for row in table}
    assert rows["Talos"][-2:] == ["**0.210**", "**0.900**"]
    assert rows["G1"][-2:] == ["0.190", "0.300"]
    assert "Talos 0.210" in section and "Talos 0.900" in section
    assert "G1" not in section.split("**Why")[0]
    for linked in re.findall(r"\]\((.*?)\)", text):
        folder = tmp_path if linked.endswith(".png") else Path(__file__).parents[2] / "docs"
        assert (folder / linked.partition("#")[0]).is_file()
    assert all(len({*map(len, table)}) == 1 for table in tables), "every row has all columns"
