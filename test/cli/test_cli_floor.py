"""A robot put on a floor from the command line: held, lifted out of the floor, driven."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros.__main__ import main
from mbdyn_ros.simulation.contact.contacts import lifted

BOX = '<collision><geometry><box size="0.6 0.4 0.2"/></geometry></collision>'
TRUNK = robot_text(
    link("trunk", 2, (0.1, 0.15, 0.2), more=BOX), link("arm", 0.5, 0.01, "0 0 0.1"),
    joint("hinge", "trunk", "arm", "0 1 0", "0 0 0.1"),
    name="trunk", base="",
)  # fmt: skip


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("floor") / "floor.yaml"
    path.write_text("surfaces: [{name: floor, type: plane, restitution: 0, friction: 0.7}]")
    return path


def simulate(floor: Path, *more: object) -> Result:
    command = ["simulate", "-", "--floating-base", "--environment", floor, "--duration", 0.3]
    arguments = [str(one) for one in (*command, "--json", *more)]
    return CliRunner().invoke(main, arguments, input=TRUNK)


@pytest.mark.usefixtures("interpreted_by_day")
def test_held_above_the_floor(floor: Path) -> None:
    """It starts half inside, is placed on its corners, and the arm's spring carries the arm."""
    result = simulate(floor, "--hold", "40,2", "--position", "hinge=0.5")
    assert "placed 0.1 m higher: point 0 (-0.3, -0.2, -0.1) of link 'trunk'" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["touching"] == {"floor": ["trunk"]}
    held = summary["contacts"]
    assert {tuple(one["links"]) for one in held} == {("trunk",)} and len(held) == 4
    weight = 9.81 * mbdyn_ros.load(TRUNK, floating_base=True).total_mass
    assert sum(one["force"][2] for one in held) == pytest.approx(weight, rel=0.02)
    end = summary["position"]
    assert end["floating_base/z"] == pytest.approx(0.1, abs=1e-8)
    assert 0.5 < end["hinge"] < 0.51
    falls = json.loads(simulate(floor, "--position", "hinge=0.5").stdout)["position"]
    assert falls["hinge"] > 0.6


def test_efforts_of_the_motors_alone(floor: Path) -> None:
    few, all_of_them = (
        json.loads(simulate(floor, "--effort", text).stdout)["position"]
        for text in ("[0.3]", "[0, 0, 0, 0, 0, 0, 0.3]")
    )
    assert few == all_of_them and few["hinge"] > 0.1
    robot = mbdyn_ros.load(TRUNK, floating_base=True)
    start = np.array([0, 0, 1, 0, 0, 0, 1, 0.2])
    runs = [
        mbdyn_ros.simulate(robot, start, np.zeros(7), 0.1, effort=effort).q[-1]
        for effort in ([0.3], lambda t, q, v: [0.3], [0, 0, 0, 0, 0, 0, 0.3])
    ]
    np.testing.assert_allclose(runs, [runs[0]] * 3, atol=1e-10)
    ends = [
        robot.rollout(start, np.zeros(7), np.tile(effort, (5, 1)), 0.01)[0]
        for effort in ([0.3], [0, 0, 0, 0, 0, 0, 0.3])
    ]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("text", ["60", "60,-1", "stiff,2", "60,2,1", "inf,1"])
def test_gains_that_are_none(floor: Path, text: str) -> None:
    result = simulate(floor, "--hold", text)
    assert result.exit_code == 1 and f"--hold: {text!r} is not kp,kd" in result.stderr


def test_held_where_cylinders_move_angles(tmp_path: Path) -> None:
    sidecar = tmp_path / "angle.yaml"
    sidecar.write_text("independent: [boom_joint]\nactuated: [rod_joint]\n")
    command = ["simulate", "boom", "--mechanism", str(sidecar), "--duration", "1", "--hold", "9,1"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1 and "make the actuated joints independent" in result.stderr


@pytest.mark.usefixtures("interpreted_by_day")
def test_only_what_is_inside_is_lifted() -> None:
    robot = mbdyn_ros.load(TRUNK, floating_base=True)
    tilted = mbdyn_ros.Surface.plane(
        normal=(0.6, 0, 0.8), name="slope", restitution=1.0, friction=0.0
    )
    walls = mbdyn_ros.Environment([tilted])
    start = np.array([0, 0, 0, 0, 0, 0, 1, 0.2])
    above, words = lifted(robot, start, walls)
    np.testing.assert_allclose(above[2], 0.1 + 0.3 * 0.75, atol=1e-8)
    assert "surface 'slope'" in words
    again, words = lifted(robot, above, walls)
    assert again is not None and not words
    ceiling = mbdyn_ros.Environment(
        [mbdyn_ros.Surface.plane(normal=(0, 0, -1), restitution=1.0, friction=0.0)]
    )
    np.testing.assert_array_equal(lifted(robot, start, ceiling)[0], start)  # `simulate` refuses


@pytest.mark.usefixtures("interpreted")
def test_stops_of_turning_joints_have_their_units(tmp_path: Path) -> None:
    path = tmp_path / "hinge.urdf"
    path.write_text(
        TRUNK.replace('"continuous"', '"revolute"').replace(
            "<parent", '<limit lower="-0.1" upper="0.1" velocity="9" effort="9"/><parent'
        )
    )
    arguments = ["simulate", str(path), "--duration", "0.2", "--velocity", "hinge=3"]
    printed = CliRunner().invoke(main, arguments).stdout
    assert "upper limit of joint 'hinge'" in printed, printed
    assert " rad/s" in printed and " N m s" in printed and " m/s" not in printed


@pytest.mark.usefixtures("interpreted_by_day")
def test_a_world_is_simulated_and_recorded(tmp_path: Path) -> None:
    """Two bodies of a file, or of the scene of an MJCF, fall on the floor of their world."""
    (tmp_path / "world.yaml").write_text("""
members:
  - {name: ball, shape: sphere, radius: 0.1, mass: 1, xyz: [0, 0, 0.3]}
  - {name: other, shape: sphere, radius: 0.2, mass: 1, xyz: [1, 0, 0.25], rpy: [0, 0, 1]}
surfaces: [{name: floor, type: plane, restitution: 0, friction: 0.7}]
""")
    (tmp_path / "scene.xml").write_text("""<mujoco><worldbody><geom type="plane" size="5 5 1"/>
      <body name="ball" pos="0 0 0.3"><freejoint/><geom size="0.1"/></body>
      <body name="other" pos="1 0 0.25"><freejoint/><geom size="0.2"/></body>
    </worldbody></mujoco>""")
    for name in ("world.yaml", "scene.xml"):
        bag = tmp_path / f"{name}.mcap"
        given = ["simulate", str(tmp_path / name), "--world", "--duration", "0.4", "--json"]
        result = CliRunner().invoke(main, [*given, "--output", str(bag)])
        assert result.exit_code == 0, result.output
        summary = json.loads(result.stdout)
        assert summary["touching"] == {"floor": ["ball", "other"]}
        heights = {}
        with bag.open("rb") as file:
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            for _, _, _, message in reader.iter_decoded_messages(topics=["/tf"]):
                for one in message.transforms:
                    assert one.header.frame_id == "world"
                    heights[one.child_frame_id] = one.transform.translation.z
        assert heights == pytest.approx({"ball": 0.1, "other": 0.2}, abs=1e-9)
    result = CliRunner().invoke(main, [*given, "--floating-base"])
    assert result.exit_code == 2 and "write them into the file of the world" in result.output
