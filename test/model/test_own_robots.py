"""Our own robots: masses, inertias of the shapes they show, and loops that close everywhere."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from scipy.optimize import fsolve

import mbdyn_ros
from mbdyn_ros.model import Model, Pose, read_dh_table, read_urdf
from mbdyn_ros.model.pose import rotation_from_rpy

FOLDER = Path(__file__).resolve().parents[2] / "urdf"
MASSES = {
    "four_bar": 4.85,
    "slider_crank": 11.7,
    "parallelogram_arm": 127.5,
    "boom": 415,
    "manipulator": 1063,
}
INDEPENDENT = {
    "four_bar": "crank_joint",
    "slider_crank": "crank_joint",
    "parallelogram_arm": "slew_joint shoulder_joint crank_joint wrist_joint",
    "boom": "rod_joint",
    "manipulator": "slew_joint lift_rod_joint tilt_rod_joint telescope_joint",
}
own_robots = pytest.mark.parametrize("name", MASSES)
EXAMPLES = {
    "delta": 17.52,
    "excavator": 4995,
    "gripper": 0.78,
    "panda": 22.75,
    "quadruped": 14.2,
    "stewart": 114.4,
    "ur5": 21.0489,
}
all_robots = pytest.mark.parametrize("name", [*MASSES, *EXAMPLES])


def load(name: str) -> Model:
    return read_urdf(FOLDER / f"{name}.urdf")


def test_none_is_forgotten() -> None:
    # the tree robot has no loops; test_gibbs_appell.py judges it
    assert {path.stem for path in FOLDER.glob("*.urdf")} == {
        *MASSES, *EXAMPLES, "tree_robot", "piezo_branches",
    }  # fmt: skip
    zoo = runpy.run_path(str(FOLDER.parent / "docs" / "_extensions" / "robots.py"))["table"]()
    rows = {line.split("**")[1]: line for line in zoo.splitlines() if line.startswith("| ![")}
    rows["manipulator"] = rows["crane"]
    assert "tree_robot" in rows
    for name, mass in (MASSES | EXAMPLES).items():
        assert rows[name].endswith(f" {mass:.4g} kg |")
    for name, mass in (
        ("piezo_robot.yaml", 0.2643), ("piezo_chain.yaml", 0.5261), ("piezo_branches.urdf", 0.3623)
    ):  # fmt: skip
        assert rows[name.partition(".")[0]].endswith(f" {mass:g} kg |")
        assert mbdyn_ros.load(FOLDER / name).total_mass == pytest.approx(mass, abs=5e-5)


def test_piezo_robot_is_made_of_what_it_says() -> None:
    model = read_dh_table(FOLDER / "piezo_robot.yaml")
    assert model.name == "piezo_robot" and model.warnings == ()
    radius, length = 0.01, 0.04
    cylinder = 7800 * math.pi * radius**2 * length
    sphere = 7850 * 4 / 3 * math.pi * radius**3
    across = cylinder * (radius**2 / 4 + length**2 / 12)
    along = cylinder * radius**2 / 2
    sides = np.array([0.004, 0.008, 0.01])
    jaw = 7850 * sides.prod()
    parts = [(cylinder, np.array([0, 0, -0.02])), (jaw, np.array([0.008, 0, 0.005]))]
    gripper = sum(mass for mass, _ in parts)
    centre = sum(mass * place for mass, place in parts) / gripper
    inertia = np.diag([across, across, along])
    inertia += jaw / 12 * np.diag((sides**2).sum() - sides**2)
    for mass, place in parts:
        arm = place - centre
        inertia += mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    round_one = (sphere, [0, 0, 0], 0.4 * sphere * radius**2 * np.eye(3))
    expected = {
        "base_sphere": round_one,
        "lower_contact": (0, [0, 0, 0], np.zeros((3, 3))),
        "lower_cylinder": (cylinder, [-0.02, 0, 0], np.diag([along, across, across])),
        "wrist_sphere": round_one,
        "upper_contact": (0, [0, 0, 0], np.zeros((3, 3))),
        "gripper": (gripper, centre, inertia),
    }
    for name, (mass, place, moments) in expected.items():
        found = model.link(name).inertia
        assert found is not None
        np.testing.assert_allclose(found.mass, mass, rtol=1e-14)
        np.testing.assert_allclose(found.center, place, rtol=1e-13, atol=1e-18)
        np.testing.assert_allclose(found.moments, moments, rtol=1e-13, atol=1e-20)
    assert sum(mass for mass, _, _ in expected.values()) == pytest.approx(0.264, abs=5e-4)
    robot = mbdyn_ros.Robot(model)
    assert not robot.massless_links
    tip = robot.frame_pose([0.0, 0, 0, 0, np.pi / 2, 0], "gripper")
    np.testing.assert_allclose(tip[:3, 3], [0, 0, 0], atol=1e-15)


@all_robots
def test_what_it_says(name: str) -> None:
    model = load(name)
    shown = "crane" if name == "manipulator" else name
    assert model.name == shown and model.warnings == ()
    independent = model.independent or [joint.name for joint in model.joints if joint.nv]
    if name in INDEPENDENT:
        assert model.independent == tuple(INDEPENDENT[name].split())
    assert sum(link.inertia.mass for link in model.links if link.inertia) == pytest.approx(
        (MASSES | EXAMPLES)[name], rel=1e-12
    )
    for joint in model.joints:
        if joint.name in independent:
            assert 0 < joint.limits.effort < math.inf and 0 < joint.limits.velocity < math.inf
        if joint.type in ("revolute", "prismatic") and not model.home:
            assert joint.limits.lower < 0 < joint.limits.upper


# -- inertias ----------------------------------------------------------------------------------


def solid(shape: etree._Element) -> tuple[float, np.ndarray]:
    """Volume and moments per mass, about the centre, of a primitive of URDF."""
    if shape.tag == "box":
        x, y, z = map(float, shape.get("size").split())
        return x * y * z, np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) / 12
    r = float(shape.get("radius"))
    if shape.tag == "sphere":
        return 4 / 3 * math.pi * r**3, 0.4 * r * r * np.eye(3)
    assert shape.tag == "cylinder"
    length = float(shape.get("length"))
    across = r * r / 4 + length * length / 12
    return math.pi * r * r * length, np.diag([across, across, r * r / 2])


def placed(visual: etree._Element) -> Pose:
    origin = visual.find("origin")
    if origin is None:
        return Pose()
    rpy = map(float, origin.get("rpy", "0 0 0").split())
    return Pose(np.array(rotation_from_rpy(*rpy)), np.array(origin.get("xyz").split(), float))


@all_robots
def test_inertias_are_those_of_the_shapes(name: str) -> None:
    model = load(name)
    robot = etree.parse(str(FOLDER / f"{name}.urdf")).getroot()
    materials = {material.get("name") for material in robot.iterchildren("material")}
    oblique = False
    for element in robot.iterchildren("link"):
        parts = []
        for visual in element.iterchildren("visual"):
            assert visual.find("material").get("name") in materials
            parts.append((placed(visual), *solid(visual.find("geometry")[0])))
        inertia = model.link(element.get("name")).inertia
        if not parts:  # a frame for tools or feet
            assert inertia is None
            continue
        assert inertia is not None
        density = inertia.mass / sum(volume for _, volume, _ in parts)
        center = sum(density * volume * pose.translation for pose, volume, _ in parts)
        center = center / inertia.mass
        np.testing.assert_allclose(inertia.center, center, atol=1e-6)
        moments = np.zeros((3, 3))
        for pose, volume, unit in parts:
            offset = pose.translation - inertia.center
            steiner = np.dot(offset, offset) * np.eye(3) - np.outer(offset, offset)
            turned = pose.rotation @ unit @ pose.rotation.T
            moments += density * volume * (turned + steiner)
        scale = np.abs(moments).max()
        np.testing.assert_allclose(inertia.moments, moments, rtol=1e-5, atol=1e-8 * scale)
        small, middle, large = np.linalg.eigvalsh(inertia.moments)
        assert small > 0 and large < small + middle
        oblique |= bool(np.abs(moments - np.diag(np.diag(moments))).max() > 0.01 * scale)
    assert oblique  # somewhere, products of inertia count


# -- loops -------------------------------------------------------------------------------------


def moved(kind: str, axis: np.ndarray, position: float) -> Pose:
    if kind == "prismatic":
        return Pose(translation=axis * position)
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + math.sin(position) * cross + (1 - math.cos(position)) * cross @ cross
    return Pose(turn)


def link_poses(model: Model, q: dict[str, float]) -> dict[str, Pose]:
    """Where the links are; the joints of these files stand parents first."""
    poses = {model.root: Pose()}
    for joint in model.joints:
        pose = poses[joint.parent] @ joint.origin
        if joint.type not in ("fixed", "floating"):  # a platform, at zero
            pose = pose @ moved(joint.type, joint.axis, q.get(joint.name, 0.0))
        poses[joint.child] = pose
    return poses


def gaps(model: Model, q: dict[str, float]) -> np.ndarray:
    """Gap (m) and difference of the axes of every loop, in world axes: (loops, 6)."""
    poses = link_poses(model, q)
    rows = []
    for loop in model.loops:
        one = poses[loop.predecessor] @ loop.predecessor_frame
        other = poses[loop.successor] @ loop.successor_frame
        rows.append(
            [
                *(other.translation - one.translation),
                *((other.rotation - one.rotation) @ loop.axis),
            ]
        )
    return np.array(rows)


@all_robots
def test_all_joints_at_zero_is_closed(name: str) -> None:
    assert np.abs(gaps(load(name), {})).max(initial=0) < 1e-15


def bounds(model: Model, name: str) -> tuple[float, float]:
    joint = model.joint(name)
    if joint.type == "continuous":
        return -math.pi, math.pi
    return joint.limits.lower, joint.limits.upper


def close(model: Model, given: dict[str, float], guess: np.ndarray, plane: list[int]) -> np.ndarray:
    """The dependent positions that close the loops in their plane."""
    dependent = dependent_joints(model)

    def residual(positions: np.ndarray) -> np.ndarray:
        q = given | dict(zip(dependent, positions.tolist(), strict=True))
        return gaps(model, q)[:, plane].ravel()

    positions, info, _, message = fsolve(residual, guess, xtol=1e-14, full_output=True)
    assert np.abs(info["fvec"]).max() < 1e-11, message
    return positions


def dependent_joints(model: Model) -> list[str]:
    assert model.independent is not None
    return [one.name for one in model.joints if one.nv and one.name not in model.independent]


@pytest.mark.sparse
@own_robots
def test_the_loops_close_from_end_to_end(name: str) -> None:
    """From zero, all independent joints go to a corner of their bounds; nothing jumps."""
    model = load(name)
    free = [one for one in model.independent or () if one != "slew_joint"]  # keeps the plane
    dependent = dependent_joints(model)
    for corner in range(2 ** len(free)):
        ends = {one: bounds(model, one)[corner >> k & 1] for k, one in enumerate(free)}
        positions = np.zeros(len(dependent))
        for share in np.linspace(0, 1, 61)[1:]:
            given = {one: share * end for one, end in ends.items()}
            last, positions = positions, close(model, given, positions, [0, 2])
            assert np.abs(positions - last).max() < 0.35
            q = given | dict(zip(dependent, positions.tolist(), strict=True))
            assert np.abs(gaps(model, q | {"slew_joint": 0.7})).max() < 1e-11
            for joint in dependent:
                limits = model.joint(joint).limits
                assert limits.lower < q[joint] < limits.upper


CYLINDERS = [
    ("boom", "rod_joint", "boom_joint", "rod_pin"),
    ("manipulator", "lift_rod_joint", "boom_joint", "lift_pin"),
    ("manipulator", "tilt_rod_joint", "jib_joint", "tilt_pin"),
]


@pytest.mark.parametrize(("name", "rod", "lever", "pin"), CYLINDERS)
def test_a_cylinder_keeps_its_lever_arm(name: str, rod: str, lever: str, pin: str) -> None:
    """The triangle of bearing, barrel pin and rod pin stays well away from a line."""
    model = load(name)
    loop = next(one for one in model.loops if one.name == pin)
    rod_joint = model.joint(rod)
    barrel = next(one for one in model.joints if one.child == rod_joint.parent)
    base = float(np.linalg.norm(barrel.origin.translation - model.joint(lever).origin.translation))
    arm = float(np.linalg.norm(loop.successor_frame.translation))
    start = rod_joint.origin.translation[0] + loop.predecessor_frame.translation[0]
    lower, upper = bounds(model, rod)
    assert start + lower > 1.2 * (upper - lower)  # the retracted cylinder holds its rod
    for length in np.linspace(start + lower, start + upper, 25):
        assert 1.05 * abs(base - arm) < length < 0.95 * (base + arm)
        cosine = (arm**2 + length**2 - base**2) / (2 * arm * length)
        assert math.radians(15) < math.acos(cosine) < math.radians(165)


def test_the_bar_of_the_parallelogram_stays_off_its_dead_centre() -> None:
    model = load("parallelogram_arm")
    shoulder, crank = (bounds(model, one) for one in ("shoulder_joint", "crank_joint"))
    steepest = max(shoulder[1] - crank[0], crank[1] - shoulder[0])
    assert math.pi / 2 - steepest > math.radians(24)
    # a parallelogram: the forearm turns as the crank does
    positions = close(model, {"shoulder_joint": 0.5, "crank_joint": -0.2}, np.zeros(2), [0, 2])
    elbow = dict(zip(dependent_joints(model), positions.tolist(), strict=True))["elbow_joint"]
    assert elbow + 0.5 == pytest.approx(-0.2, abs=1e-12)


def test_the_four_bar_is_a_crank_rocker() -> None:
    model = load("four_bar")
    crank = model.joint("coupler_joint").origin.translation[0]
    ground = model.joint("rocker_joint").origin.translation[0]
    (pin,) = model.loops
    coupler = pin.predecessor_frame.translation[0]
    rocker = pin.successor_frame.translation[0]
    others = sorted([coupler, rocker, ground])
    assert crank < others[0] and crank + others[2] < others[0] + others[1]  # Grashof
