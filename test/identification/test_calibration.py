"""Geometry found from measured poses and joints, against truth, statistics and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")
from command_line import document, run, succeed  # noqa: E402
from scipy.optimize import fsolve, least_squares  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.variable import closable_numbers  # noqa: E402
from mbdyn_ros.errors import InputError  # noqa: E402
from mbdyn_ros.identification import calibrate  # noqa: E402
from mbdyn_ros.identification.least_squares import Problem, solve  # noqa: E402
from mbdyn_ros.model.model import Loop  # noqa: E402
from mbdyn_ros.recording.table import Table, write_csv  # noqa: E402
from mbdyn_ros.robot.robot import Robot  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")

URDFS = Path(__file__).parents[2] / "urdf"
UR5 = {
    "shoulder_pan_joint": "x y roll pitch",
    "shoulder_lift_joint": "x y pitch yaw",
    "elbow_joint": "x z roll yaw",
    "wrist_1_joint": "x z roll yaw",
    "wrist_2_joint": "x z roll yaw",
    "wrist_3_joint": "x y roll pitch",
}
"""Four numbers a joint that poses of the tool determine: 24."""

NAMES = [f"{joint}/{one}" for joint, numbers in UR5.items() for one in numbers.split()]
KNOWN = {"measurement": np.eye(4), "targets": {"tool0": np.zeros(3)}}
NOISE = 1e-4
SEVEN = ("x", "y", "z", "qx", "qy", "qz", "qw")

LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""

ARM = f"""<robot name="arm"><link name="base"/>
  {"".join(map(LINK.format, ("upper", "lower", "tip")))}
  <joint name="turn" type="continuous"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/></joint>
  <joint name="bend" type="continuous"><parent link="lower"/><child link="tip"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint></robot>"""


def built(source: str | Path, names: Sequence[str], rng: np.random.Generator, size: float) -> Robot:
    """A robot whose numbers of origins are a little off its description."""
    robot = mbdyn_ros.load(source, variable=names)
    now = robot.parameter_values()
    robot.set_parameter_values(now + size * rng.normal(size=len(now)))
    return robot


def tracked(
    robot: Robot, q: np.ndarray, link: str, rng: np.random.Generator, noise: float,
    frame: np.ndarray | None = None, point: Sequence[float] = (0.0, 0.0, 0.0),
) -> Table:  # fmt: skip
    """Joints as read, and poses as a tracker measures them."""
    frame = np.eye(4) if frame is None else frame
    pose = np.linalg.inv(frame) @ robot.frame_pose(q, link)
    place = pose[:, :3, 3] + pose[:, :3, :3] @ point + noise * rng.normal(size=(len(q), 3))
    shaken = Rotation.from_rotvec(noise * rng.normal(size=(len(q), 3))).as_matrix()
    turn = Rotation.from_matrix(pose[:, :3, :3] @ shaken).as_quat()
    columns = zip(SEVEN, np.column_stack([place, turn]).T, strict=True)
    return {
        "position": dict(zip(robot.position_labels, q.T, strict=True)),
        "pose": {f"{link}/{one}": numbers for one, numbers in columns},
    }


def places(table: Table) -> Table:
    """Without orientations."""
    return {**table, "pose": {k: x for k, x in table["pose"].items() if k[-2:-1] == "/"}}


def poses_of_arm(seed: int, count: int = 60) -> tuple[Table, np.ndarray]:
    rng = np.random.default_rng(seed)
    robot = built(URDFS / "ur5.urdf", NAMES, rng, 1e-3)
    q = rng.uniform(-2.5, 2.5, (count, 6))
    return tracked(robot, q, "tool0", rng, NOISE), robot.parameter_values()


@pytest.fixture(scope="module")
def arm() -> Robot:
    return mbdyn_ros.example("ur5")


def test_an_arm_comes_back(arm: Robot) -> None:
    """24 numbers that were off by 1 mm and 1 mrad, from 60 poses with noise of 0.1 mm."""
    table, truth = poses_of_arm(0)
    found = calibrate(arm, table, NAMES, **KNOWN)
    assert found.names == tuple(NAMES) and not found.held and not found.outliers
    assert (np.abs(found.found - truth) < 3 * found.deviation).all()
    assert np.abs(truth - found.described).max() > 20 * found.deviation.max()
    assert found.before["position"].max() > 3e-3 and found.after["position"].max() < 5e-4
    assert 0.9 * NOISE < found.noise["position"] < 1.1 * NOISE
    again = calibrate(found.robot, table, NAMES, **KNOWN)
    assert again.found == pytest.approx(again.described, abs=1e-8)


def test_against_scipy_on_pinocchio(arm: Robot) -> None:
    """The same least squares by other kinematics, with differences for derivatives."""
    table, _ = poses_of_arm(1)
    found = calibrate(arm, table, NAMES, **KNOWN)
    model = pin.buildModelFromUrdf(str(URDFS / "ur5.urdf"))
    described = {name: model.jointPlacements[model.getJointId(name)].copy() for name in UR5}
    q = np.column_stack(list(table["position"].values()))
    seen = [pin.XYZQUATToSE3(np.array(one)) for one in zip(*table["pose"].values(), strict=True)]
    tool = model.getFrameId("tool0")

    def residuals(x: np.ndarray) -> np.ndarray:
        numbers = dict(zip(NAMES, x, strict=True))
        for joint, before in described.items():
            shift, angles = before.translation.copy(), np.zeros(3)
            for k, one in enumerate(("x", "y", "z")):
                shift[k] = numbers.get(f"{joint}/{one}", shift[k])
            for k, one in enumerate(("roll", "pitch", "yaw")):
                angles[k] = numbers.get(f"{joint}/{one}", 0.0)
            turn = before.rotation @ pin.rpy.rpyToMatrix(angles)
            model.jointPlacements[model.getJointId(joint)] = pin.SE3(turn, shift)
        data, rows = model.createData(), []
        for row, measured in zip(q, seen, strict=True):
            pin.framesForwardKinematics(model, data, row)
            there = data.oMf[tool]
            rows.append((there.translation - measured.translation) / found.noise["position"])
            rows.append(pin.log3(measured.rotation.T @ there.rotation) / found.noise["orientation"])
        return np.concatenate(rows)

    judge = least_squares(residuals, found.described, xtol=1e-14, ftol=1e-14, gtol=1e-12)
    deviation = np.sqrt(np.diag(np.linalg.inv(judge.jac.T @ judge.jac)))
    assert np.abs(judge.x - found.found).max() < 1e-7
    assert found.deviation == pytest.approx(deviation, rel=0.02)


def plane_arm(seed: int, count: int = 60) -> tuple[Problem, np.ndarray]:
    """Two links in a plane, their tip seen in another frame, and a reading of another kind."""
    rng = np.random.default_rng(seed)
    truth = np.array([0.4, 0.3, 0.02, 0.01, -0.03])
    angles = rng.uniform(-2, 2, (count, 2))
    noise = np.column_stack([1e-4 * rng.normal(size=(count, 2)), 3e-3 * rng.normal(size=count)])

    def model(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = angles[:, 0], angles.sum(axis=1) + x[2]
        one, zero = np.ones(count), np.zeros(count)
        reach = np.column_stack(
            [x[0] * np.cos(a) + x[1] * np.cos(b) + x[3],
             x[0] * np.sin(a) + x[1] * np.sin(b) + x[4], b]
        )  # fmt: skip
        rates = np.array(
            [[np.cos(a), np.cos(b), -x[1] * np.sin(b), one, zero],
             [np.sin(a), np.sin(b), x[1] * np.cos(b), zero, one], [zero, zero, one, zero, zero]]
        )  # fmt: skip
        return reach, rates.transpose(2, 0, 1)

    seen = model(truth)[0] + noise

    def residual(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        reach, rates = model(x)
        return reach - seen, rates

    start, mask = np.array([0.41, 0.29, 0.0, 0.0, 0.0]), np.array([0, 0, 0, 1, 1], dtype=bool)
    kinds = ("position", "position", "reading")
    return Problem(residual, start, np.ones(5), kinds, np.zeros(5, dtype=bool), mask), truth


@pytest.mark.long
def test_deviations_are_honest() -> None:
    """Of 750 errors 99.7 in a hundred are within three deviations, of kinds of other noise."""
    errors = []
    for seed in range(150):
        problem, truth = plane_arm(seed)
        found = solve(problem)
        assert not found.held and not found.outliers
        errors.append((found.value - truth) / found.deviation)
    shares = [(np.abs(errors) < k).mean() for k in (1, 2, 3)]
    assert shares == pytest.approx([0.683, 0.954, 0.997], abs=0.03)
    assert shares[2] > 0.99 and 0.95 < np.std(errors) < 1.05


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_deviations_of_an_arm_are_honest(arm: Robot) -> None:
    errors = []
    for seed in range(200):
        table, truth = poses_of_arm(seed)
        found = calibrate(arm, table, NAMES, **KNOWN)
        errors.append((found.found - truth) / found.deviation)
    assert 0.994 < (np.abs(errors) < 3).mean() < 0.999  # those of one arm are correlated
    assert 0.97 < np.std(errors) < 1.03


@pytest.mark.long
def test_what_is_undetermined_is_named(arm: Robot) -> None:
    """Where tracker and ball are unknown, the first joint is where the tracker says; gauges along
    and about each axis are named, and the rest still predicts every pose."""
    rng = np.random.default_rng(4)
    robot = built(URDFS / "ur5.urdf", [f"{joint}/origin" for joint in UR5], rng, 1e-3)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = Rotation.from_rotvec([2.0, -1.0, 0.5]).as_matrix(), [3, 1, -1]
    q, point = rng.uniform(-2.5, 2.5, (60, 6)), [0.05, 0.02, 0.1]
    table = tracked(robot, q, "tool0", rng, NOISE, frame, point)
    found = calibrate(arm, table)
    assert len(found.names) == 48 and len(found.held) == 18  # 4 a joint, and 6 of the frames
    assert found.held["shoulder_pan_joint/z"] == ("measurement/z",)
    assert found.held["elbow_joint/y"] == ("shoulder_lift_joint/y",)
    other = rng.uniform(-2.5, 2.5, (20, 6))
    there = robot.frame_pose(other, "tool0") @ [*point, 1.0]
    here = (
        found.measurement
        @ np.linalg.inv(frame)
        @ there[:, :, None]
    )[:, :3, 0]  # fmt: skip
    ours = (found.robot.frame_pose(other, "tool0") @ found.targets["tool0"])[:, :3, 3]
    assert np.abs(ours - here).max() < 2e-4
    only = calibrate(arm, places(table))
    assert len(only.names) == 45 and len(only.held) == 18
    assert only.after["position"].max() < 6e-4


def test_points_of_a_link() -> None:
    """Three reflectors determine a frame as a pose does."""
    rng = np.random.default_rng(2)
    robot = built(ARM, ["bend/x", "lift/roll"], rng, 2e-3)
    q, points = rng.uniform(-2, 2, (20, 3)), {"a": (0.1, 0, 0), "b": (0, 0.1, 0), "c": (0, 0, 0.1)}
    table: Table = {"position": dict(zip(robot.position_labels, q.T, strict=True)), "pose": {}}
    for name, point in points.items():
        pose = tracked(robot, q, "tip", rng, NOISE, point=point)["pose"]
        table["pose"] |= {f"tip:{name}/{one}": pose[f"tip/{one}"] for one in "xyz"}
    found = calibrate(mbdyn_ros.load(ARM), table, ["bend/x", "lift/roll"], test=table)
    assert (np.abs(found.found - [*robot.parameter_values(), *found.found[2:]])
            < 4 * found.deviation).all()  # fmt: skip
    for name, point in points.items():
        assert found.targets[f"tip:{name}"][:3, 3] == pytest.approx(point, abs=5e-4)
    assert found.test_after["position"] == pytest.approx(found.after["position"])
    assert found.test_before["position"] == pytest.approx(found.before["position"])


@pytest.mark.long
def test_frames_that_are_known_are_as_given() -> None:
    """A tracker and a target that are turned, and nothing else unknown but two numbers."""
    rng = np.random.default_rng(3)
    robot = built(ARM, ["bend/x", "lift/roll"], rng, 2e-3)
    frames = np.tile(np.eye(4), (2, 1, 1))
    frames[:, :3, :3] = Rotation.random(2, random_state=1).as_matrix()
    frames[:, :3, 3] = rng.normal(size=(2, 3))
    q = rng.uniform(-2, 2, (20, 3))
    pose = np.linalg.inv(frames[0]) @ robot.frame_pose(q, "tip") @ frames[1]
    turns = Rotation.from_matrix(pose[:, :3, :3]).as_quat()
    columns = zip(SEVEN, np.column_stack([pose[:, :3, 3], turns]).T, strict=True)
    table = {"position": dict(zip(robot.position_labels, q.T, strict=True)),
             "pose": {f"tip/{one}": numbers for one, numbers in columns}}  # fmt: skip
    found = calibrate(
        mbdyn_ros.load(ARM), table, ["bend/x", "lift/roll"], frames[0], {"tip": frames[1]}
    )
    assert found.found == pytest.approx(robot.parameter_values(), abs=1e-9)
    assert found.measurement == pytest.approx(frames[0], abs=1e-12)
    assert found.targets["tip"] == pytest.approx(frames[1], abs=1e-12)
    both = calibrate(mbdyn_ros.load(ARM), table, ["bend/x"])
    assert both.measurement == pytest.approx(frames[0], abs=0.01)  # lift/roll stays off


def test_outliers_are_named(arm: Robot) -> None:
    table, truth = poses_of_arm(5)
    table["pose"]["tool0/x"][[4, 17]] += [0.004, -0.6]
    table["position"]["elbow_joint"][30] += 0.02
    found = calibrate(arm, table, NAMES, **KNOWN)
    assert found.outliers == (5, 18, 31)
    assert (np.abs(found.found - truth) < 4 * found.deviation).all()


PINS = ["lift_pin/successor/x", "lift_pin/successor/z", "lift_rod_joint/x",
        "tilt_pin/successor/x", "tilt_pin/successor/z", "tilt_rod_joint/x"]  # fmt: skip


def strokes_and_angles(robot: Robot, count: int, rng: np.random.Generator, noise: float) -> Table:
    q = np.zeros((count, 4))
    q[:, 1:3] = rng.uniform([-0.2, -0.2], [0.2, 0.2], (count, 2))
    whole = robot.joint_state(q)[0]
    angles = {
        name: whole[:, robot.joint_names.index(name)] + noise * rng.normal(size=count)
        for name in ("boom_joint", "jib_joint")
    }
    return {"position": {"lift_rod_joint": q[:, 1], "tilt_rod_joint": q[:, 2], **angles}}


def test_pins_of_a_crane_from_strokes_and_angles(tmp_path: Path) -> None:
    """No tracker: two angles with the strokes of their cylinders."""
    rng = np.random.default_rng(0)
    robot = built(URDFS / "manipulator.urdf", PINS, rng, 3e-3)
    truth = dict(zip(robot.parameter_labels(), robot.parameter_values(), strict=True))
    table = strokes_and_angles(robot, 40, rng, NOISE)
    crane = mbdyn_ros.example("crane")
    found = calibrate(crane, table, PINS)
    wanted = np.array([truth[name] for name in found.names])
    assert not found.held and (np.abs(found.found - wanted) < 3 * found.deviation).all()
    assert found.deviation.max() < 1e-3 and found.measurement is None
    saved = mbdyn_ros.load(found.robot.save_urdf(tmp_path / "crane.urdf").path)
    new = strokes_and_angles(robot, 10, rng, 0.0)["position"]
    q = np.zeros((10, 4))
    q[:, 1], q[:, 2] = new["lift_rod_joint"], new["tilt_rod_joint"]
    angle = saved.joint_state(q)[0][:, saved.joint_names.index("jib_joint")]
    assert np.abs(angle - new["jib_joint"]).max() < 3e-4


@pytest.mark.long
def test_pins_of_a_crane_against_scipy_on_pinocchio() -> None:
    """The same least squares, loops closed on Pinocchio's tree, differences for derivatives."""
    rng = np.random.default_rng(0)
    robot = built(URDFS / "manipulator.urdf", PINS, rng, 3e-3)
    table = strokes_and_angles(robot, 40, rng, NOISE)
    crane = mbdyn_ros.example("crane")
    found = calibrate(crane, table, PINS)
    model = pin.buildModelFromUrdf(str(URDFS / "manipulator.urdf"))
    data, loops = model.createData(), {one.name: one for one in crane.model.loops}
    before = {name: model.jointPlacements[model.getJointId(name)].copy() for name in model.names}
    machine = (("lift", "boom_joint"), ("tilt", "jib_joint"))

    def placed(q: dict[str, float], link: str, point: np.ndarray) -> np.ndarray:
        whole = pin.neutral(model)
        for name, value in q.items():
            joint = model.joints[model.getJointId(name)]
            turn = (value,) if joint.nq == 1 else (np.cos(value), np.sin(value))
            whole[joint.idx_q : joint.idx_q + joint.nq] = turn
        pin.framesForwardKinematics(model, data, whole)
        return (data.oMf[model.getFrameId(link)].act(point))[[0, 2]]

    def angles(numbers: dict[str, float]) -> np.ndarray:
        ends = {}
        for which, _ in machine:
            joint, loop = f"{which}_rod_joint", loops[f"{which}_pin"]
            shift = before[joint].translation.copy()
            shift[0] = numbers[f"{joint}/x"]
            model.jointPlacements[model.getJointId(joint)] = pin.SE3(before[joint].rotation, shift)
            end = loop.successor_frame.translation.copy()
            end[[0, 2]] = [numbers[f"{which}_pin/successor/{axis}"] for axis in "xz"]
            ends[which] = loop, end
        rows = []
        columns = (table["position"][f"{which}_rod_joint"] for which, _ in machine)
        for strokes in zip(*columns, strict=True):
            q: dict[str, float] = {}
            for (which, turns), stroke in zip(machine, strokes, strict=True):
                names, q[f"{which}_rod_joint"] = (f"{which}_barrel_joint", turns), stroke

                def gap(unknown: np.ndarray, loop: Loop, end: np.ndarray) -> np.ndarray:
                    there = {**q, **dict(zip(names, unknown, strict=True))}  # noqa: B023
                    rod = placed(there, loop.predecessor, loop.predecessor_frame.translation)
                    return rod - placed(there, loop.successor, end)

                q |= zip(names, fsolve(gap, np.zeros(2), ends[which], xtol=1e-11), strict=True)
            rows.append([q[turns] for _, turns in machine])
        return np.array(rows)

    def residuals(x: np.ndarray) -> np.ndarray:
        there = angles(dict(zip(found.names, x, strict=True)))
        return np.concatenate([
            (there[:, k] - table["position"][turns]) / found.noise[turns]
            for k, (_, turns) in enumerate(machine)
        ])  # fmt: skip

    judge = least_squares(residuals, found.described, xtol=1e-12, ftol=1e-12, gtol=1e-10)
    deviation = np.sqrt(np.diag(np.linalg.inv(judge.jac.T @ judge.jac)))
    assert np.abs(judge.x - found.found).max() < 1e-8
    assert found.deviation == pytest.approx(deviation, rel=1e-4)


@pytest.mark.long
def test_all_lengths_of_a_loop(tmp_path: Path) -> None:
    """By default all that stays in the plane; one angle of a triangle determines few of them."""
    rng = np.random.default_rng(1)
    robot = built(URDFS / "boom.urdf", ["rod_pin/successor/x", "rod_joint/x"], rng, 3e-3)
    stroke = rng.uniform(-0.2, 0.2, (30, 1))
    angle = robot.joint_state(stroke)[0][:, robot.joint_names.index("boom_joint")]
    table = {"position": {"rod_joint": stroke[:, 0], "boom_joint": angle}}
    found = calibrate(mbdyn_ros.example("boom"), table)
    assert {name.rpartition("/")[2] for name in found.names} == {"x", "z", "pitch"}
    assert len(found.names) == 15 and found.held["rod_pin/successor/pitch"] == ()
    assert found.before["boom_joint"].max() > 1e-3 > 1e3 * found.after["boom_joint"].max()


def test_numbers_that_loops_can_follow() -> None:
    """In a plane what stays in it; everything where no row of the loops is redundant."""
    for name, planar in (("crane", True), ("four_bar", True), ("stewart", False)):
        system = mbdyn_ros.example(name).system
        for linkage in system.linkages:
            numbers = {one.rpartition("/")[2] for one in closable_numbers(system, linkage)}
            assert len(numbers) == (3 if planar else 6), name


def changed(table: Table, part: str, change: Callable[[str, np.ndarray], np.ndarray]) -> Table:
    return {**table, part: {name: change(name, x.copy()) for name, x in table[part].items()}}


@pytest.mark.long
def test_units_are_seen(arm: Robot) -> None:
    table, _ = poses_of_arm(0, 20)
    table = places(table)
    millimetres = changed(table, "pose", lambda _, x: 1e3 * x)
    degrees = changed(table, "position", lambda _, x: np.rad2deg(x))
    for wrong, words in ((millimetres, "places seem to be measured in millimetres"),
                         (degrees, "joints seem to be read in degrees")):  # fmt: skip
        for known in ({}, KNOWN):
            with pytest.raises(
                InputError, match=rf"{words}: position is .* m off the description, and"
            ):
                calibrate(arm, wrong, NAMES, **known)
    crane, rng = mbdyn_ros.example("crane"), np.random.default_rng(0)
    table = strokes_and_angles(crane, 10, rng, NOISE)
    strokes = changed(table, "position", lambda name, x: 1e3 * x if "rod" in name else x)
    with pytest.raises(InputError, match="joints that slide seem to be read in millimetres"):
        calibrate(crane, strokes, PINS)


def test_refusals(arm: Robot) -> None:
    table, _ = poses_of_arm(0, 20)

    def pose(name: str, row: int, value: float) -> Table:
        def change(one: str, x: np.ndarray) -> np.ndarray:
            x[row] = value if one == f"tool0/{name}" else x[row]
            return x

        return changed(table, "pose", change)

    without = {name: x for name, x in table["position"].items() if name != "elbow_joint"}
    alike = {name: np.full(20, x[0]) for name, x in table["position"].items()}
    flipped = {name: -x if name == "elbow_joint" else x for name, x in table["position"].items()}
    cases: list[tuple[object, str]] = [
        ({**table, "position": without}, "no column position/elbow_joint, .* depends on that"),
        ({**table, "position": alike}, "the joints have the same positions in all 20 rows"),
        ({**table, "position": flipped}, r"does not fit this robot: \S+ .* Check units, signs"),
        ({"position": table["position"]}, "nothing is measured beyond the independent joints"),
        (pose("y", 7, np.nan), "pose/tool0/y is nan in row 8; every number must be finite"),
        (pose("qw", 2, 2.0), "quaternion of pose/tool0 in row 3 has length 2.*, not 1"),
        (changed(table, "pose", lambda _, x: x[:9]), r"columns have different lengths: \[9, 20\]"),
        ({a: {b: x[:3] for b, x in c.items()} for a, c in table.items()},
         "3 rows give 18 numbers for 24 unknowns: measure more"),
        ({**table, "pose": {k[:-2] + "/roll": x for k, x in table["pose"].items()}}, "is missing"),
        ({**table, "pose": {"tol0/x": np.zeros(20)}}, "there is no link 'tol0'"),
        ({**table, "pose": {"base_link/x": np.zeros(20)}}, "which no joint moves"),
        ({**table, "pose": {"tool0/k": np.zeros(20)}}, "pose/tool0/k is not pose/LINK/ and one of"),
        ({**table, "position": {**table["position"], "elbow": np.zeros(20)}}, "is of no joint"),
        ({**table, "position": {"elbow_joint": ["a"]}}, "must be numbers: not text"),
        (3, "must be a mapping by name; it is 3"),
        ("absent.csv", "absent.csv: cannot be read"),
    ]  # fmt: skip
    for given, words in cases:
        with pytest.raises(InputError, match=words):
            calibrate(arm, given, NAMES, **KNOWN)  # type: ignore[arg-type]
    for variable, words in ((["gravity"], "gravity is none"), (["elbow_joint/w"], "no number of"),
                            (["elbow/x"], "no joint or loop frame 'elbow'")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            calibrate(arm, table, variable, **KNOWN)
    with pytest.raises(InputError, match="determine none of the unknowns"):
        calibrate(arm, table, ["shoulder_pan_joint/x"])
    with pytest.raises(InputError, match=r"no target is called 'tool'.*the targets are tool0"):
        calibrate(arm, table, NAMES, targets={"tool": np.zeros(3)})
    with pytest.warns(mbdyn_ros.ModelWarning):
        floating = mbdyn_ros.load(ARM, floating_base=True)
    with pytest.raises(InputError, match="the base floats: load the robot without"):
        calibrate(floating, places(small_table(floating)), ["bend/x"])


def small_table(robot: Robot) -> Table:
    rng = np.random.default_rng(0)
    q = robot.home_position + 0.0 * rng.normal(size=(8, robot.nq))
    q[:, -3:] = rng.uniform(-1, 1, (8, 3))
    return tracked(robot, q, "tip", rng, 0.0)


def test_angles_in_degrees_are_seen() -> None:
    robot = mbdyn_ros.load(ARM)
    table = small_table(robot)
    quaternions = np.column_stack([table["pose"][f"tip/{one}"] for one in SEVEN[3:]])
    rpy = Rotation.from_quat(quaternions).as_euler("xyz")
    names = ("tip/roll", "tip/pitch", "tip/yaw")
    turned = {**places(table), "pose": places(table)["pose"] | dict(zip(names, rpy.T, strict=True))}
    assert calibrate(robot, turned, ["bend/x"]).found[0] == pytest.approx(0.4, abs=1e-9)
    degrees = changed(turned, "pose", lambda one, x: np.rad2deg(x) if one in names else x)
    with pytest.raises(InputError, match="more than a turn: give rad, not degrees"):
        calibrate(robot, degrees, ["bend/x"])


def test_a_loop_that_cannot_close_at_a_row() -> None:
    boom = mbdyn_ros.example("boom")
    stroke = np.linspace(-0.2, 0.2, 12)
    angle = boom.joint_state(stroke[:, None])[0][:, boom.joint_names.index("boom_joint")]
    stroke[6] = 2.0
    table = {"position": {"rod_joint": stroke, "boom_joint": angle}}
    with pytest.raises(InputError, match="row 7: .*loop 'rod_pin' cannot be closed"):
        calibrate(boom, table, ["rod_pin/successor/x"])


def test_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "arm.urdf").write_text(ARM)
    robot = built(ARM, ["bend/x", "lift/roll"], rng, 2e-3)
    for name, seed in (("poses", 1), ("test", 2)):
        q = np.random.default_rng(seed).uniform(-2, 2, (15, 3))
        write_csv(tracked(robot, q, "tip", rng, NOISE), tmp_path / f"{name}.csv")
    asked = ["calibrate", tmp_path / "arm.urdf", tmp_path / "poses.csv", "--variable",
             "bend/x,lift/roll", "--variable", "bend/z", "--target", "tip=0,0,0", "--test",
             tmp_path / "test.csv", "--measurement", *[0] * 6]  # fmt: skip
    found = document(*asked, "--output", tmp_path / "new.urdf")
    length = found["numbers"]["bend/x"]
    assert abs(length["found"] - robot.parameter_values()[1]) < 4 * length["deviation"] < 1e-3
    assert length["unit"] == "m" and not found["held"]
    assert set(found["residuals"]) == {"before", "after", "test_before", "test_after"}
    assert len(found["residuals"]["test_after"]["position"]) == 15
    new = mbdyn_ros.load(tmp_path / "new.urdf")
    assert new.model.joint("bend").origin.translation[0] == length["found"]
    assert [link.name for link in new.model.links] == ["base", "upper", "lower", "tip"]
    text = succeed(*asked)
    assert "bend/x" in text and "position held out" in text
    assert "is not NAME=X,Y,Z" in run(*asked[:3], "--target", "tip=1,2").output
