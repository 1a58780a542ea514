"""Trajectories in files read back as they were written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from corpus import urdf_file

import mbdyn_ros
from mbdyn_ros import World, recording
from mbdyn_ros.cli.view import read_motion
from mbdyn_ros.model.shapes import Box
from mbdyn_ros.recording.table import columns

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbdyn_ros.ModelWarning"),
    pytest.mark.usefixtures("interpreted_module"),
]


@pytest.fixture(scope="module")
def panda() -> tuple[mbdyn_ros.Robot, mbdyn_ros.Trajectory]:
    robot = mbdyn_ros.load(urdf_file("panda.urdf"))
    times = np.linspace(0, 0.5, 11)
    effort = robot.gravity_vector(np.zeros(8)) + 0.1
    return robot, mbdyn_ros.simulate(
        robot, np.full(8, 0.02), np.zeros(8), 0.5, effort=effort, times=times
    )


@pytest.fixture(scope="module")
def solo() -> tuple[mbdyn_ros.Robot, mbdyn_ros.Trajectory]:
    robot = mbdyn_ros.load(urdf_file("solo12.urdf"), floating_base=True)
    q0 = np.zeros(19)
    q0[2], q0[6] = 1.0, 1.0
    return robot, mbdyn_ros.simulate(robot, q0, np.full(18, 0.3), 0.2, times=[0.0, 0.1, 0.2])


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_tables_read_back_exactly(kind: str, solo: tuple, tmp_path: Path) -> None:
    robot, trajectory = solo
    path = tmp_path / f"run.{kind}"
    recording.write(robot, trajectory, path)
    table = recording.read_table(path)
    written = columns(trajectory)
    assert table.keys() == written.keys()
    for quantity, labelled in written.items():
        assert list(table[quantity]) == list(labelled)
        for label, numbers in labelled.items():
            assert np.array_equal(table[quantity][label], numbers)
    assert "floating_base/qw" in table["position"]


def messages(path: Path) -> dict[str, list]:
    """Messages by topic, read by a library that has nothing to do with the writer."""
    pytest.importorskip("mcap_ros2")
    from mcap_ros2.reader import read_ros2_messages

    found: dict[str, list] = {}
    for one in read_ros2_messages(str(path)):
        found.setdefault(one.channel.topic, []).append(one)
    return found


def test_mcap_file(panda: tuple, tmp_path: Path) -> None:
    robot, trajectory = panda
    text = urdf_file("panda.urdf").read_text()
    recording.write(robot, trajectory, tmp_path / "run.mcap", text)
    found = messages(tmp_path / "run.mcap")
    (description,) = found["/robot_description"]
    assert description.ros_msg.data == text
    qos = description.channel.metadata["offered_qos_profiles"]
    assert "durability: 1" in qos and "reliability: 1" in qos
    states = [one.ros_msg for one in found["/joint_states"]]
    assert states[0].name == list(robot.joint_names), "the finger that follows is there too"
    position, velocity, _ = robot.joint_state(trajectory.q, trajectory.v)
    np.testing.assert_array_equal([state.position for state in states], position)
    np.testing.assert_array_equal([state.velocity for state in states], velocity)
    assert states[3].effort[:8] == trajectory.effort[3].tolist() and states[3].effort[8] == 0
    stamps = [state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in states]
    np.testing.assert_allclose(stamps, trajectory.time, atol=1e-9)
    assert states[0].header.frame_id == "panda_link0"


def test_bag_folder_of_a_floating_base(solo: tuple, tmp_path: Path) -> None:
    robot, trajectory = solo
    recording.write(robot, trajectory, tmp_path / "run")
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == [
        "metadata.yaml", "run.mcap",
    ]  # fmt: skip
    metadata = (tmp_path / "run" / "metadata.yaml").read_text()
    assert "storage_identifier: mcap" in metadata and "- run.mcap" in metadata
    assert not list(tmp_path.glob(".bag-*")), "nothing is left behind"
    found = messages(tmp_path / "run" / "run.mcap")
    assert "/robot_description" not in found
    (transform,) = found["/tf"][2].ros_msg.transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ("world", "base_link")
    pose = transform.transform
    assert [pose.translation.x, pose.translation.y, pose.translation.z] == list(trajectory.q[2, :3])
    assert pose.rotation.w == trajectory.q[2, 6]
    assert len(found["/joint_states"][0].ros_msg.name) == 12


def test_what_floats_is_shown_where_a_bag_has_it(
    solo: tuple, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, trajectory = solo
    recording.write(robot, trajectory, tmp_path / "run")
    motion = read_motion(robot, str(tmp_path / "run"))
    np.testing.assert_allclose(motion.q, trajectory.q, atol=1e-15)
    # of a body alone there are poses and no joint
    world = World()
    world.add("stone", Box((0.1, 0.2, 0.3)), (0.5, 0.0, 0.0), (0.0, 0.0, 1.0), mass=2.0)
    stone, q0 = world.robot, [0.0, 0.0, 1.0, 0.0, 0.0, 0.6, -0.8]
    thrown = mbdyn_ros.simulate(stone, q0, [1.0, 0, 0, 0, 20.0, 0.1], 0.5)
    recording.write(stone, thrown, tmp_path / "stone.mcap")
    turned = read_motion(stone, str(tmp_path / "stone.mcap")).q
    np.testing.assert_allclose(np.abs(turned), np.abs(thrown.q), atol=1e-14)
    assert not capsys.readouterr().err
    # and what no bag has seen is said
    (tmp_path / "joints.csv").write_text(f"time,{robot.joint_names[0]}\n0,0\n1,0.1\n")
    still = read_motion(robot, str(tmp_path / "joints.csv")).q
    assert (still[:, :7] == robot.home_position[:7]).all()
    assert "has no pose of base_link, which stays at home" in capsys.readouterr().err


def test_a_bag_is_never_overwritten(panda: tuple, tmp_path: Path) -> None:
    (tmp_path / "run.mcap").write_text("precious")
    with pytest.raises(mbdyn_ros.InputError, match="already exists"):
        recording.write(*panda, tmp_path / "run.mcap")
    assert (tmp_path / "run.mcap").read_text() == "precious"


@pytest.mark.parametrize(
    "name, words",
    [("run.xlsx", ".csv, .json, .mcap"), ("no/such/run.csv", "does not exist"), ("..", "run")],
)
def test_bad_target_is_refused(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(mbdyn_ros.InputError) as caught:
        recording.check_target(tmp_path / name)
    assert words in str(caught.value) or "exists" in str(caught.value)


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.csv", "", ["is empty"]),
        ("a.csv", "time,position/j\n0,1\n1,x\n", ["position/j in row 2", "'x'"]),
        ("a.csv", "time,position/j\n0,1_0\n", ["position/j in row 1", "'1_0'"]),
        ("a.csv", "time,position/j\n0\n", ["row 1 has 1 cells, the header 2"]),
        ("a.csv", "time,time\n0,1\n", ["'time'", "twice"]),
        ("a.json", "{", ["JSON"]),
        ("a.json", "[1]", ["object"]),
        ("a.json", '{"time": [0], "position": {"j": [1, 2]}}', ["different lengths"]),
        ("a.json", '{"position": {"j": [true]}}', ["position of j in row 1", "True"]),
        ("b.csv", None, ["b.csv", "cannot be read"]),
    ],
)
def test_bad_table_is_refused(
    name: str, text: str | None, words: list[str], tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(mbdyn_ros.InputError) as caught:
        recording.read_table(tmp_path / name)
    assert all(word in str(caught.value) for word in words), caught.value


def test_json_is_plain(panda: tuple) -> None:
    document = json.loads(json.dumps(recording.to_json(columns(panda[1])), allow_nan=False))
    assert set(document["position"]) == set(panda[0].position_labels)
    assert len(document["time"]) == 11
