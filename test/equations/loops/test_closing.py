"""Closing loops of which nobody says where they are closed."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from four_bars import four_bar, links, load, pin

import mbdyn_ros
from mbdyn_ros import ModelWarning
from mbdyn_ros.assembly.constraint_equations import ClusterEquations, least_squares
from mbdyn_ros.model import read_urdf
from mbdyn_ros.model.pose import Pose
from mbdyn_ros.model.read.side_car import read_mechanism
from mbdyn_ros.prepare.clusters import find_clusters
from mbdyn_ros.prepare.tree import build_tree

pytestmark = pytest.mark.usefixtures("interpreted")


def rpy_of(rotation: np.ndarray) -> list[float]:
    """Roll, pitch and yaw (rad) of a rotation (3, 3)."""
    return [
        float(np.arctan2(rotation[2, 1], rotation[2, 2])),
        float(-np.arcsin(rotation[2, 0])),
        float(np.arctan2(rotation[1, 0], rotation[0, 0])),
    ]


def leg(seed: int, count: int) -> tuple[str, str]:
    """A spatial chain of `count` hinges, and a weld that closes it far from zero."""
    random = np.random.default_rng(seed)
    names = [f"l{k}" for k in range(count + 1)]
    text = '<robot name="leg">' + links(*names)
    for k in range(count):
        xyz, rpy = random.uniform(-0.3, 0.3, 3), random.uniform(-3, 3, 3)
        text += (
            f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>'
            '<axis xyz="0 0 1"/></joint>'
        )
    text += "</robot>"
    end = Pose()
    for joint, q in zip(read_urdf(text).joints, random.uniform(-2.5, 2.5, count), strict=True):
        end = end @ joint.origin @ joint.pose(np.array([q]))
    return text, (
        f"loops: [{{name: weld, type: fixed, predecessor: {{link: l0, "
        f"xyz: {end.translation.tolist()}, rpy: {rpy_of(end.rotation)}}}, "
        f"successor: {{link: l{count}}}}}]\n"
    )


@pytest.mark.sparse
@pytest.mark.parametrize(("seed", "count"), [(1, 7), (3, 8), (11, 8)])
def test_a_loop_that_is_closed_far_from_zero_is_found_within_half_a_turn(
    seed: int, count: int
) -> None:
    """Sines alone say that a weld turned by half a turn is as good as closed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = mbdyn_ros.load(*leg(seed, count))
    assert robot.nv == count - 6 and robot.report().closure_gap < 1e-12
    assert np.abs(list(robot.home.values())).max() <= np.pi


def test_more_unknowns_than_equations_and_fewer() -> None:
    def circle(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([x @ x - 1.0]), 2.0 * x[None]

    assert np.allclose(least_squares(circle, np.array([3.0, 4.0])), [0.6, 0.8])
    line = np.array([[1.0], [2.0]])
    apart = least_squares(lambda x: (line @ x - [1.0, 1.0], line), np.zeros(1))
    assert np.allclose(apart, 0.6)  # what cannot be met is met as well as it can


def test_the_other_ways_to_close_are_reported_where_home_does_not_decide() -> None:
    with pytest.warns(ModelWarning, match="loop 'pin' closes in more than one way") as caught:
        robot = load(home={})
    (message,) = (str(one.message) for one in caught if "more than one" in str(one.message))
    seen = re.search(r"Also seen: (.*?) \(instead of (.*?)\)", message)
    assert seen is not None and "Name such positions in home" in message
    other, here = (dict(item.split(" = ") for item in part.split(", ")) for part in seen.groups())
    assert all(float(x) == pytest.approx(robot.home[name], abs=1e-3) for name, x in here.items())
    there = load(home={name: float(x) for name, x in other.items()})
    assert there.home["j4"] == pytest.approx(float(other["j4"]), abs=1e-3)
    assert not any("more than one way" in text for text in (*there.warnings, *load().warnings))


def test_limits_are_kept_where_the_loop_closes_within_them() -> None:
    """The rocker leans to either side: what the limits leave is taken."""
    old = '<joint name="j4" type="continuous">'
    for lower, upper in ((0.1, 3.0), (-3.0, -0.1), (3.5, 6.0)):
        limit = f'<limit lower="{lower}" upper="{upper}" effort="0" velocity="1"/>'
        text = four_bar().replace(old, old.replace("continuous", "revolute") + limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            robot = mbdyn_ros.load(text, pin())
        assert lower <= robot.home["j4"] <= upper and robot.report().closure_gap < 1e-12


def test_a_loop_that_closes_beyond_limits_only_is_closed_with_a_warning() -> None:
    old = '<joint name="j4" type="continuous">'
    limit = '<limit lower="-0.2" upper="0.2" effort="0" velocity="1"/>'
    text = four_bar().replace(old, old.replace("continuous", "revolute") + limit)
    with pytest.warns(ModelWarning, match="beyond its limit 0.2: no closing within") as caught:
        robot = load(text=text, home={"j1": 1.0})
    (message,) = (str(one.message) for one in caught if "beyond" in str(one.message))
    way = abs(robot.home["j4"]) - 0.2
    assert f"joint 'j4' at {robot.home['j4']:.4g} rad, {way:.3g} rad beyond" in message
    assert not any("beyond" in text for text in load().warnings)


def spherical_linkage(decimals: int) -> tuple[str, str]:
    """Hinges whose axes meet in a point, drawn closed and rounded; their pin may slide."""
    random = np.random.default_rng(4)
    axes = [direction / np.linalg.norm(direction) for direction in random.normal(size=(4, 3))]
    frames = []  # each has the axis as its z, and stands on it
    for axis in axes:
        across = np.cross(axis, random.normal(size=3))
        across /= np.linalg.norm(across)
        rotation = np.column_stack([across, np.cross(axis, across), axis])
        frames.append(Pose(rotation, random.uniform(0.03, 0.06) * axis))

    def numbers(pose: Pose) -> tuple[str, str]:
        values = pose.translation, rpy_of(pose.rotation)
        xyz, rpy = ([f"{x:.{decimals}f}" for x in one] for one in values)
        return " ".join(xyz), " ".join(rpy)

    text = '<robot name="spherical">' + links("l0", "l1", "l2", "l3")
    for k, (before, after) in enumerate(zip([Pose(), *frames], frames[:3], strict=False)):
        xyz, rpy = numbers(before.inverse() @ after)
        text += (
            f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
        )
    pins = []
    for role, link, pose in (("predecessor", "l0", Pose()), ("successor", "l3", frames[2])):
        xyz, rpy = (one.replace(" ", ", ") for one in numbers(pose.inverse() @ frames[3]))
        pins.append(f"{role}: {{link: {link}, xyz: [{xyz}], rpy: [{rpy}]}}")
    pin = f"{{name: pin, type: cylindrical, axis: [0, 0, 1], {', '.join(pins)}}}"
    return text + "</robot>", f"loops: [{pin}]\n"


def test_rounded_rows_do_not_drive_a_loop_far_from_where_it_is_closed() -> None:
    text, mechanism = spherical_linkage(5)
    model = read_mechanism(mechanism, read_urdf(text))
    tree = build_tree(model, floating_base=False)
    (cluster,) = (one for one in find_clusters(model, tree) if one.constrained)
    zero = np.zeros(3)
    equations = ClusterEquations(tree, cluster, zero, np.array([[-np.inf] * 3, [np.inf] * 3]))
    closed = equations.close(zero, range(3))
    assert 1e-7 < equations.distance(closed) < equations.distance(zero) < 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = mbdyn_ros.load(text, mechanism)
    assert robot.nv == 1 and np.abs(list(robot.home.values())).max() < 0.01
