"""DH tables: the robot they describe, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from random_dh import RandomDh, dh_robots  # noqa: E402
from random_robots import assert_close, explore  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.__main__ import main  # noqa: E402
from mbdyn_ros.model.model import Limits  # noqa: E402
from mbdyn_ros.model.read.dh_table import read_dh_table  # noqa: E402


@explore(10)
@given(dh_robots(), st.integers(0, 99))
@pytest.mark.usefixtures("interpreted")
def test_frames_are_those_of_the_table(table: RandomDh, seed: int) -> None:
    robot = table.robot()
    q = np.random.default_rng(seed).uniform(-2, 2, robot.nq)
    whole = np.eye(4)
    for row, position in zip(table.rows, q, strict=True):
        whole = whole @ row.matrix(position)
    assert_close(robot.frame_pose(q, f"link{len(table.rows)}"), whole, 1e-13, 1.0)


@explore(10)
@given(dh_robots(), st.integers(0, 99))
@pytest.mark.usefixtures("interpreted")
def test_dynamics_is_pinocchios(table: RandomDh, seed: int) -> None:
    robot, judge = table.robot(), table.judge()
    q, v, a = np.random.default_rng(seed).uniform(-2, 2, (3, robot.nq))
    theirs = pin.rnea(judge, judge.createData(), q, v, a)
    assert_close(robot.inverse_dynamics(q, v, a), theirs, 1e-12, table.weight)


ROW = (
    "{name: elbow, type: revolute, a: 0.1, alpha: 0, d: 0, theta: 0, mass: 1, "
    "centre: [0, 0, 0], inertia: {ixx: 1, iyy: 1, izz: 1}}"
)


def table(row: str, *more: str) -> str:
    return "\n".join(["joints:", *(f"- {one}" for one in (row, *more))])


def test_names_and_defaults(tmp_path: Path) -> None:
    named = ROW.replace("elbow", "wrist")[:-1] + ", link: hand}"
    path = tmp_path / "arm.yaml"
    path.write_text("name: arm\nbase: stand\n" + table(ROW, named), encoding="utf-8")
    model = read_dh_table(path)
    assert (model.name, model.root, model.source) == ("arm", "stand", str(path))
    assert [link.name for link in model.links] == [
        "stand", "elbow/axis", "link1", "wrist/axis", "hand"
    ]  # fmt: skip
    assert model.joint("wrist").line == 5
    robot = mbdyn_ros.Robot(model)
    assert robot.joint_names == ("elbow", "wrist")
    assert robot.actuated_joints == robot.independent_joints == robot.joint_names


@pytest.mark.parametrize("key", ["type", "a", "alpha", "d", "theta", "mass", "centre", "inertia"])
def test_missing_entry_is_refused_by_joint_and_line(key: str) -> None:
    entries = {
        "name": "wrist", "type": "revolute", "a": "0", "alpha": "0", "d": "0", "theta": "0",
        "mass": "1", "centre": "[0, 0, 0]", "inertia": "{ixx: 1, iyy: 1, izz: 1}",
    }  # fmt: skip
    del entries[key]
    row = "{" + ", ".join(f"{k}: {v}" for k, v in entries.items()) + "}"
    with pytest.raises(mbdyn_ros.ModelError, match=f'<text>:3: joint "wrist": has no {key}'):
        read_dh_table(table(ROW, row))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a: 0.1", "a: .nan", 'joint "elbow": its a must be a finite number'),
        ("alpha: 0", "alpha: .inf", 'joint "elbow": its alpha must be a finite number'),
        ("d: 0", "d: 1e999", 'joint "elbow": its d must be a finite number'),
        ("theta: 0", "theta: pi", 'joint "elbow": its theta must be a finite number'),
        ("theta: 0", "theta:", 'joint "elbow": has no theta'),
        ("mass: 1", "mass: -1", 'joint "elbow": its mass -1 is negative'),
        ("centre: [0, 0, 0]", "centre: [0, 0]", 'joint "elbow": its centre has 2 values'),
        ("centre: [0, 0, 0]", "centre: [0, nan, 0]", 'joint "elbow": its centre must be a finite'),
        ("ixx: 1, ", "", 'joint "elbow": its inertia has no ixx'),
        ("ixx: 1", "ixx: nan", 'joint "elbow": its ixx must be a finite number'),
        ("ixx: 1", "jxx: 1", 'joint "elbow": its inertia has no "jxx"'),
        ("d: 0", "d: 0, limits: {lower: 1, upper: 0}", 'joint "elbow": its lower limit 1 is above'),
        ("d: 0", "d: 0, limits: {effort: -2}", 'joint "elbow": its effort limit -2 is negative'),
        ("d: 0", "d: 0, limits: {most: 2}", 'joint "elbow": its limits has no "most"'),
        ("alpha: 0", "alfa: 0", 'joint "elbow" has no "alfa" \\(did you mean "alpha"'),
        ("type: revolute", "type: planar", 'joint "elbow": its type "planar" is not one of'),
        ("name: elbow, ", "", "joint 1 has no name"),
        ("a: 0.1", "a: 0.1, a: 0.2", 'joint "elbow" has "a" in line 2 already'),
        ("mass: 1", "mass: 1, link: base_link", 'its link "base_link" has the name of a link'),
    ],
)
def test_bad_entry_is_refused_by_joint_and_line(old: str, new: str, message: str) -> None:
    with pytest.raises(mbdyn_ros.ModelError, match=f"<text>:2: .*{message}"):
        read_dh_table(table(ROW.replace(old, new, 1)))


def test_limits() -> None:
    limits = "{lower: -1, upper: 2.5, velocity: 3}"
    model = read_dh_table(table(ROW, ROW.replace("elbow", "wrist")[:-1] + f", limits: {limits}}}"))
    assert model.joint("elbow").limits == Limits()
    assert model.joint("wrist").limits == Limits(lower=-1.0, upper=2.5, velocity=3.0)


def test_two_joints_of_one_name_and_no_joints_are_refused() -> None:
    with pytest.raises(mbdyn_ros.ModelError, match=':3: joint "elbow": the name is taken'):
        read_dh_table(table(ROW, ROW))
    with pytest.raises(mbdyn_ros.ModelError, match=':3: joint "elbow": the name is taken'):
        read_dh_table(table(ROW.replace("elbow", "elbow/end"), ROW))
    with pytest.raises(mbdyn_ros.ModelError, match=":2: a DH table needs joints"):
        read_dh_table("\njoints: []\n")
    with pytest.raises(mbdyn_ros.ModelError, match="a DH table needs joints"):
        read_dh_table("name: nothing\n")
    with pytest.raises(mbdyn_ros.ModelError, match='a DH table has no "joint"'):
        read_dh_table("joint:\n- " + ROW)
    with pytest.raises(mbdyn_ros.ModelError, match=":2: these are members of a world: use World"):
        read_dh_table("members:\n- {name: arm, robot: ur5}\n")


def test_every_door_takes_a_table(tmp_path: Path) -> None:
    text = table(ROW)
    path = tmp_path / "arm.YML"
    path.write_text(text, encoding="utf-8")
    for source in (text, "# <b@c.org>\n" + text, "{" + "joints: [" + ROW + "]}", path, str(path)):
        assert mbdyn_ros.load(source).joint_names == ("elbow",)
    assert CliRunner().invoke(main, ["id", str(path)]).exit_code == 0
    assert CliRunner().invoke(main, ["id", "-"], input=text).exit_code == 0
    timed = CliRunner().invoke(main, ["bench", str(path), "--rounds", "1", "--program", "energy"])
    assert "Pinocchio is timed too for a URDF" in timed.output
    bag = CliRunner().invoke(
        main, ["simulate", str(path), "--duration", "0.01", "--output", str(tmp_path / "a.mcap")]
    )
    assert "a.mcap has no /robot_description" in bag.output and bag.exit_code == 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("/nowhere/arm.yaml", "/nowhere/arm.yaml: no such file"),
        (Path("/nowhere/arm.yml"), "/nowhere/arm.yml: no such file"),
        ("joints:\n- [", "<text>:2.* not well-formed YAML"),
        ("just\nsome words", "no such file .nor XML text"),
        ("loops: []\nhome: {}", "no such file .nor XML text"),
    ],
)
def test_what_is_no_description_is_refused(source: str | Path, message: str) -> None:
    with pytest.raises(mbdyn_ros.ModelError, match=message):
        mbdyn_ros.load(source)


def test_unphysical_inertia_is_computed_with_a_warning() -> None:
    model = read_dh_table(table(ROW.replace("ixx: 1", "ixx: 5")))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mbdyn_ros.Robot(model)
    assert "triangle inequality" in str(caught[0].message)
