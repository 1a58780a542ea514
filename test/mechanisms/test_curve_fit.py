"""Path synthesis: designs whose coupler curves come near to given points."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import FiveBar, FourBar, Link, SliderCrank
from mbdyn_ros.mechanisms.fit import fit_curve

Array = np.ndarray


def drawn(mechanism: FourBar, at: tuple[float, float], q: Array) -> Array:
    """A coupler curve, turned and moved."""
    points = mechanism.pose(q[:, None]).point("coupler", at) * np.exp(0.7j) + (0.3 - 0.1j)
    return np.stack([points.real, points.imag], axis=1)


@pytest.mark.long
def test_the_four_bar_that_drew_a_curve_is_found() -> None:
    own = FourBar(ground=0.5, crank=Link(0.13), coupler=Link(0.4), rocker=Link(0.33))
    path = drawn(own, (0.2, 0.25), np.linspace(0, 2 * np.pi, 25))
    found = fit_curve(FourBar(), path, candidates=2000)
    assert found.gap_rms < 1e-6 and found.gaps.max() < 1e-5
    ratio = found.mechanism.rocker.length / found.mechanism.crank.length
    # by Roberts and Chebyshev two other four-bars draw the same curve
    assert ratio > 0 and found.part == "coupler"
    curve = found.curve(721)
    away = np.linalg.norm(curve[:, None] - path[None], axis=2).min(axis=0)
    assert away.max() < 5e-3
    pose = found.mechanism.pose(found.q[:, None])
    points = complex(*found.place) + np.exp(1j * found.turn) * pose.point("coupler", found.at)
    assert np.stack([points.real, points.imag], 1) == pytest.approx(found.reached, abs=1e-12)


@pytest.mark.long
def test_many_points_are_as_well_met_as_few() -> None:
    """One least-squares problem over all angles cost the cube of the points, and ended early."""
    turn = np.linspace(0, 2 * np.pi, 100)
    egg = [0.3 * np.cos(turn), 0.2 * np.sin(turn) + 0.05 * np.cos(2 * turn)]
    assert fit_curve(FourBar(), np.stack(egg, axis=1)).gap_rms < 1.45e-3


@pytest.mark.long
def test_an_open_path_and_a_slider() -> None:
    x = np.linspace(-0.2, 0.2, 8)
    found = fit_curve(SliderCrank(), np.stack([x, 0.1 * x * x], axis=1), candidates=500, starts=2)
    assert found.gap_rms < 1e-3
    assert found.mechanism.offset == 0.0


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([[0, 0], [1, 1]], r"shape \(2, 2\); give \(N, 2\)"),
        ([[0, 0], [1, np.nan], [2, 2]], "holds NaN"),
        ([[1, 1]] * 4, "is one point"),
        ("abc", "must be numbers"),
    ],
)
def test_bad_paths(path: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit_curve(FourBar(), path)  # type: ignore[arg-type]


def test_bad_kinds() -> None:
    triangle = [[0, 0], [1, 0], [0, 1]]
    with pytest.raises(InputError, match="two inputs"):
        fit_curve(FiveBar(), triangle)
    with pytest.raises(InputError, match="there is no part 'blade'; there are crank, coupler"):
        fit_curve(FourBar(), triangle, "blade")


@pytest.mark.long
def test_on_the_command_line(tmp_path: Path) -> None:
    path, plot, output = (tmp_path / name for name in ("path.csv", "fit.png", "fit.csv"))
    turn = np.linspace(0, 2 * np.pi, 7)
    rows = [f"{0.3 * np.cos(one):.6f},{0.2 * np.sin(one):.6f}" for one in turn]
    path.write_text("\n".join(["x,y", *rows]))
    files = ["--plot", str(plot), "--output", str(output), "--urdf", str(tmp_path / "fit.urdf")]
    done = CliRunner().invoke(
        main, ["mechanism", "four_bar", "--fit", str(path), "--json", *files]
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["gap_rms"] < 5e-3 and document["part"] == "coupler"
    assert plot.stat().st_size > 10_000
    with output.open() as file:
        assert len(list(csv.DictReader(file))) == 7
    urdf, fit = tmp_path / "fit.urdf", document["fit"]
    assert urdf.read_text() == FourBar().replaced(**fit).urdf() != FourBar().urdf()
    crank, coupler, rocker = (
        mbdyn_ros.load(urdf).frame_pose([0.3], one)[:3, 3] for one in ("crank", "coupler", "rocker")
    )
    assert np.linalg.norm(coupler - crank) == pytest.approx(fit["crank_length"])
    assert np.linalg.norm(rocker - crank) == pytest.approx(fit["ground"])
    assert abs(fit["ground"] - FourBar().ground) > 0.1
    path.write_text("a,b\n1,2\n")
    done = CliRunner().invoke(main, ["mechanism", "four_bar", "--fit", str(path)])
    assert done.exit_code == 1 and "no column x and y" in done.output


@pytest.mark.usefixtures("interpreted")
def test_a_sweep_writes_its_designs(tmp_path: Path) -> None:
    output = tmp_path / "designs.csv"
    done = CliRunner().invoke(
        main,
        ["mechanism", "four_bar", "--sweep", "crank_mass=1:2:3", "--sweep", "ground=0.3:0.4:2",
         "--output", str(output)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 and float(rows[1]["setting/ground (m)"]) == 0.4
    assert all(float(row["peak_torque (N m)"]) > 0 for row in rows)
