"""Four-bars for precision positions: Burmester's poses, Freudenstein's angles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import FourBar
from mbdyn_ros.mechanisms.precision_positions import fit_function, fit_poses

CRANK = np.array([0.3, 0.9, 1.6, 2.4])


def taken() -> np.ndarray:
    """Poses that a four-bar takes, seen from elsewhere."""
    pose = FourBar().pose(CRANK[:, None])
    point = pose.point("coupler", (0.15, 0.1)) * np.exp(0.7j) + (0.2 - 0.1j)
    angle = np.angle(pose.directions["coupler"]) + 0.7 + 0.4
    return np.stack([point.real, point.imag, angle], axis=1)


@pytest.mark.parametrize("count", [3, 4])
def test_the_coupler_takes_the_poses(count: int) -> None:
    """The mechanism's robot is the judge: its coupler, placed as found, takes the poses."""
    poses = taken()[:count]
    found = fit_poses(FourBar(), poses)
    assert found.gaps.max() < 1e-9 and found.turn_gap < 1e-9
    robot = mbdyn_ros.load(found.mechanism.urdf())
    place, turn = complex(*found.place), np.exp(1j * found.turn)
    for q, (x, y, angle) in zip(found.q, poses, strict=True):
        frame = robot.frame_pose([q], "coupler")
        # the mechanism's plane is that of the robot's x and z
        origin, across = complex(*frame[::2, 3][:2]), complex(*frame[::2, 0][:2])
        there = place + turn * (origin + across * complex(*found.at))
        assert there == pytest.approx(complex(x, y), abs=1e-9)
        heading = turn * across * np.exp(1j * found.tilt)
        assert heading == pytest.approx(np.exp(1j * angle), abs=1e-9)
    assert (np.diff(found.q) > 0).all() or (np.diff(found.q) < 0).all()


def test_many_poses_are_met_or_refused() -> None:
    """Whatever is found closes on one branch at all crank angles between the poses."""
    random = np.random.default_rng(1)
    met = 0
    for _ in range(4):
        poses = np.column_stack([random.uniform(-0.3, 0.3, (3, 2)), random.uniform(-1, 1, 3)])
        try:
            found = fit_poses(FourBar(), poses)
        except InputError:
            continue
        met += 1
        q = np.linspace(found.q.min(), found.q.max(), 500)
        found.mechanism.pose(q[:, None])  # refuses where it does not close
        assert found.gaps.max() < 1e-9 and found.turn_gap < 1e-8
    assert met >= 3


@pytest.mark.parametrize("zero", [0.0, 0.3])
def test_the_rocker_follows(zero: float) -> None:
    """Of a four-bar's own pairs its lengths come back; with four pairs the rocker's zero too."""
    rocker = np.angle(FourBar().pose(CRANK[:, None]).directions["rocker"])
    pairs = np.stack([CRANK, rocker - zero], axis=1)[: 4 if zero else 3]
    found = fit_function(FourBar(), pairs)
    assert found.turn_gap < 1e-12 and found.rocker_zero == pytest.approx(zero, abs=1e-9)
    assert found.mechanism.lengths == pytest.approx(FourBar().lengths, rel=1e-9)
    assert found.mechanism.branch == FourBar().branch


@pytest.mark.parametrize(
    ("poses", "words"),
    [
        ([[0, 0, 0]] * 5, r"shape \(5, 3\); give 3 or 4 rows of x and y"),
        ([[0, 0, 0]] * 3, "all at one place"),
        ([[0, 0, 1], [1, 0, 1], [2, 1, 1]], "all at one angle"),
        ([[0, 0, 0], [1, np.inf, 1], [2, 1, 1]], "hold NaN or infinity"),
        ("abc", "must be numbers"),
        (
            [[-0.19, 0.13, 0.62], [0.2, -0.26, -0.96], [-0.24, 0.2, 0.33], [0.1, 0.27, -0.9]],
            "no four-bar was found that takes the 4 poses: of [0-9]+ links .* no two "
            "(pass|stay|close|transmit).*; leave out a pose, or change one",
        ),
    ],
)
def test_poses_that_no_four_bar_takes(poses: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit_poses(FourBar(), poses)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([[0.3, 0.5], [0.3, 0.5], [1, 1]], "two of the pairs say the same"),
        ([[0.2, 1.5], [1.2, 0.4], [2.0, 1.9]], "no four-bar has the 3 pairs of angles"),
        ([[0, 1, 2]], r"shape \(1, 3\); give 3 or 4 rows of angles"),
    ],
)
def test_pairs_that_no_four_bar_has(pairs: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        fit_function(FourBar(), pairs)  # type: ignore[arg-type]


def test_on_the_command_line(tmp_path: Path) -> None:
    file, plot, urdf = (tmp_path / name for name in ("poses.csv", "poses.png", "found.urdf"))
    np.savetxt(file, taken(), delimiter=",", header="x,y,angle", comments="")
    line = ["mechanism", "four_bar", "--poses", str(file), "--json", "--plot", str(plot)]
    done = CliRunner().invoke(main, [*line, "--urdf", str(urdf)])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["gap_max"] < 1e-9 and document["turn_gap"] < 1e-9
    assert plot.stat().st_size > 10_000
    lengths = {**document["poses"], "branch": document["branch"]}
    assert urdf.read_text() == FourBar().replaced(**lengths).urdf()
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("crank,rocker\n0.5236,1.0472\n1.0472,1.2566\n1.5708,1.4835\n")
    output = tmp_path / "out.csv"
    line = ["mechanism", "four_bar", "--function", str(pairs), "--plot", str(plot)]
    done = CliRunner().invoke(main, [*line, "--output", str(output)])
    assert done.exit_code == 0 and "3 pairs of angles" in done.output, done.output
    assert output.read_text().count("\n") == 4
    done = CliRunner().invoke(main, ["mechanism", "slider_crank", "--poses", str(file)])
    assert done.exit_code == 1 and "look for a four_bar" in done.output
    pairs.write_text("a,b\n1,2\n")
    done = CliRunner().invoke(main, ["mechanism", "four_bar", "--function", str(pairs)])
    assert done.exit_code == 1 and "no column crank and rocker; give crank,rocker" in done.output
