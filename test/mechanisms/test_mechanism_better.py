"""Better designs: counterweights against textbook formulas, and Pareto fronts."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.__main__ import main
from mbdyn_ros.mechanisms import (
    MECHANISMS,
    Analysis,
    FourBar,
    Link,
    balance,
    constant_speed,
    pareto_front,
)
from mbdyn_ros.mechanisms.cli import designing
from mbdyn_ros.mechanisms.pareto import qualities

pytestmark = pytest.mark.usefixtures("interpreted")
TURN = constant_speed(20.0, points=37)


def test_a_four_bar_by_the_vectors_of_berkof_and_lowen() -> None:
    coupler = Link(0.3, 0.6, center=(0.17, 0.04))
    four_bar = FourBar(coupler=coupler, rocker=Link(0.25, 0.7, center=(0.1, -0.02)))
    found = balance(four_bar, radius=0.08)
    # the coupler's first moment, shared between the pins, turns with crank and rocker
    along = complex(*coupler.middle) / coupler.length
    expected = {
        "crank": -(0.35 * 0.05 + 0.6 * 0.1 * (1 - along)),
        "rocker": -(0.7 * (0.1 - 0.02j) + 0.6 * 0.25 * along),
    }
    for one in found.counterweights:
        moment = one.mass * complex(one.along, one.across)
        assert moment == pytest.approx(expected[one.part], abs=1e-14)
        assert abs(complex(one.along, one.across)) == pytest.approx(0.08)
    before, after = found.compared(TURN)
    assert np.abs(before.shaking[:, :2]).max() > 50
    assert np.abs(after.shaking[:, :2]).max() < 1e-12


@pytest.mark.parametrize("name", ["slider_crank", "watt", "stephenson_2", "five_bar"])
def test_others_are_balanced_too(name: str) -> None:
    mechanism = MECHANISMS[name]()
    before, after = balance(mechanism).compared(TURN.shared(len(mechanism.inputs)))
    force = [np.abs(one.shaking[:, :2]).max() for one in (before, after)]
    assert force[1] < 1e-12 * force[0]


def test_the_balanced_robot_has_a_centre_of_mass_that_stands() -> None:
    robot = balance(FourBar()).mechanism.robot()
    places = np.array([robot.center_of_mass([angle]) for angle in (0.0, 1.0, 2.5)])
    assert np.ptp(places, axis=0) == pytest.approx(np.zeros(3), abs=1e-14)


def test_the_moment_counts_as_much_as_is_asked() -> None:
    force, moment = [], []
    for weight in (0.0, 0.2, 0.05):
        shaking = Analysis(balance(FourBar(), moment=weight).mechanism, TURN).shaking
        force.append(np.sqrt(np.mean(np.square(shaking[:, :2]))))
        moment.append(np.sqrt(np.mean(np.square(shaking[:, 2]))))
    assert force[0] < force[1] < force[2] and moment[0] > moment[1] > moment[2]


def test_shaking_is_what_the_bearings_bear() -> None:
    for name in ("quick_return", "planetary_gear", "stephenson_2"):
        mechanism = MECHANISMS[name]().replaced(gravity=0.0)
        analysis = Analysis(mechanism, TURN)
        grounded = [part.joint for part in mechanism.layout().parts if part.parent == "ground"]
        force = -sum(analysis.reactions[one][:, :2] for one in grounded)
        if "planet_ground_mesh" in analysis.reactions:
            force = force + analysis.reactions["planet_ground_mesh"][:, :2]
        assert analysis.shaking[:, :2] == pytest.approx(force, rel=1e-9, abs=1e-9)


def test_a_front_is_what_nothing_beats() -> None:
    bounds = {"coupler_length": (0.22, 0.4), "crank_center_along": (-0.05, 0.1)}
    front = pareto_front(FourBar(), bounds, TURN, directions=3, generations=6)
    small = [pareto_front(FourBar(), bounds, TURN, directions=2, generations=1) for _ in range(2)]
    for goal in front.goals:
        assert small[0].values[goal].tolist() == small[1].values[goal].tolist()
    first, second = (front.values[goal] for goal in front.goals)
    assert len(front) > 3 and (np.diff(first) > 0).all() and (np.diff(second) < 0).all()
    for tried in front.tried:
        assert not ((tried < np.stack([first, second], axis=1)).all(axis=1)).any()
    one = Analysis(front.design(0), TURN)
    assert np.abs(one.torque).max() == pytest.approx(first[0])
    assert np.hypot(*one.shaking[:, :2].T).max() == pytest.approx(second[0])
    grid = np.stack(np.meshgrid(*(np.linspace(*one, 20) for one in bounds.values())))
    settings = dict(zip(bounds, grid.reshape(2, -1), strict=True))
    values = qualities(FourBar(), settings, TURN, front.goals)
    assert first.min() < np.nanmin(values[:, 0]) * 1.01
    assert second.min() < np.nanmin(values[:, 1]) * 1.01


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    urdf, plot = tmp_path / "balanced.urdf", tmp_path / "balance.svg"
    runner = CliRunner()
    result = runner.invoke(main, ["mechanism", "four_bar", "--balance", "--urdf", str(urdf),
                                  "--plot", str(plot), "--json"])  # fmt: skip
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["largest_shaking_force"][1] < 1e-12
    assert mbdyn_ros.load(urdf).total_mass == pytest.approx(1.65 + 0.95 + 1.3)
    front = tmp_path / "front.csv"
    few = functools.partial(pareto_front, directions=2, generations=3)
    monkeypatch.setattr(designing, "pareto_front", few)
    result = runner.invoke(main, ["mechanism", "four_bar", "--pareto", "ground=0.28:0.34",
                                  "--output", str(front), "--plot", str(plot)])  # fmt: skip
    assert result.exit_code == 0, result.output
    assert front.read_text().startswith("setting/ground (m),peak_torque (N m),shaking_force (N)")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--balance", "crnk"], 'did you mean "crank"'),
        (["--balance", "--radius", "0"], "give one above 0 m"),
        (["--pareto", "ground=1"], "give SETTING=FROM:TO"),
        (["--pareto", "ground=0.3:0.2"], "leave no room"),
        (["--pareto", "grund=0.2:0.3"], 'did you mean "ground"'),
        (["--pareto", "ground=0.2:0.3", "--goals", "peak_torque,beauty"], "no goal 'beauty'"),
        (["--pareto", "ground=0.2:0.3", "--goals", "peak_torque"], "has two goals"),
        (["--id", "--friction", "1"], "COEFFICIENT,RADIUS"),
    ],
)
def test_what_it_refuses(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["mechanism", "four_bar", *arguments])
    assert result.exit_code != 0
    assert words in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("kind", "task", "words"),
    [
        ("peaucellier", "--id", "goes from -120 to 120 deg; choose a motion within this range"),
        ("peaucellier", "--balance", "choose a motion within this range with --start and --turn"),
        ("gear_pair", "--balance", "only wheels and blocks"),
    ],
)
def test_it_says_what_to_do_instead(kind: str, task: str, words: str) -> None:
    result = CliRunner().invoke(main, ["mechanism", kind, task])
    assert result.exit_code != 0
    assert words in " ".join(result.output.split())


def test_bounds_that_no_design_meets() -> None:
    with pytest.raises(InputError, match="no design within the bounds"):
        pareto_front(FourBar(), {"ground": (0.6, 0.64)}, TURN)
