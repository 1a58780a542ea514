"""`mbdyn bench`: what it times, and that it compares before it does."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import FOUR_BAR, PANDA, UR5, document, run, succeed
from night import at_night

import mbdyn_ros


@pytest.mark.long
def test_bench() -> None:
    (result,) = document("bench", PANDA, "--rounds", 2, "--program", "inverse_dynamics")
    one, many = result["timings"]
    assert one["program"] == many["program"] == "inverse_dynamics"
    assert one["states"] == 1 and one["bind"] > 0 and one["plain"] > 0
    assert many["states"] == 10000 and many["bind"] is None and many["plain"] > 0
    pytest.importorskip("pinocchio")
    assert result["pinocchio_nv"] == 9 and result["agreement"] < 1e-9
    for row, key in ((one, "bind"), (many, "plain")):
        assert row[f"{key}_ratio"] == pytest.approx(row[key] / row["pinocchio"])
    assert many["bind_ratio"] is None
    text = succeed("bench", UR5, "--rounds", 1)
    assert "mass_matrix" in text and "nv 6" in text
    for name in ("inverse_dynamics", "forward_dynamics"):
        (line,) = [line.split() for line in text.splitlines() if f"{name}_derivatives" in line]
        assert len(line) == 6 and "-" not in line, "Pinocchio's are next to ours"
        (line,) = [line.split() for line in text.splitlines() if f"{name}, 10000 states" in line]
        assert line[3] == line[6] == "-" and float(line[4]) > 0
        assert float(line[7]) >= 0  # of two places: 0.00 where a round was interrupted
    assert "closed loops" in succeed("bench", FOUR_BAR, "--rounds", 1, "--program", "energy")


def test_bench_of_what_pinocchio_has_not() -> None:
    """No single function of its gives a regressor so; no method of ours is a joint_position."""
    (result,) = document("bench", UR5, "--rounds", 1, "--program", "regressor")
    (row,) = result["timings"]
    assert row["plain"] > 0 and row["bind"] > 0 and row["pinocchio"] is None
    assert result["agreement"] is None
    failed = run("bench", UR5, "--program", "joint_position")
    assert failed.exit_code == 1 and "there is no 'joint_position'" in failed.stderr


def test_bench_sees_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many states, after it is timed."""
    pytest.importorskip("pinocchio")
    right = mbdyn_ros.Robot.inverse_dynamics

    def wrong(robot: mbdyn_ros.Robot, *x: Any, out: Any = None, **options: Any) -> Any:
        found = right(robot, *x, out=out, **options)
        if found.ndim == 2:
            found[7, 2] *= 1 + 1e-6
        return found

    monkeypatch.setattr(mbdyn_ros.Robot, "inverse_dynamics", wrong)
    failed = run("bench", UR5, "--rounds", 1, "--program", "inverse_dynamics")
    assert failed.exit_code == 1 and "many states differs from Pinocchio's" in failed.stderr


@pytest.mark.parametrize(
    "name",
    ["gravity_vector",
     *at_night("mass_matrix", "forward_dynamics", "inverse_dynamics_derivatives",
               "forward_dynamics_derivatives")],
)  # fmt: skip
def test_bench_compares_every_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    method = getattr(mbdyn_ros.Robot, name)

    def wrong(*x: Any, **options: Any) -> Any:
        found = method(*x, **options)
        if name.endswith("derivatives"):
            return [part * (1 + 1e-6) for part in found]
        return found * (1 + 1e-6)

    monkeypatch.setattr(mbdyn_ros.Robot, name, wrong)
    failed = run("bench", UR5, "--rounds", 1, "--program", name)
    assert failed.exit_code == 1 and "differs from Pinocchio's" in failed.stderr
