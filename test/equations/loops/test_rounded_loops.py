"""Robots with loops whose files are rounded: they load, and their answers differ by the rounding.

The exact robot's answers are those of Pinocchio's tree and a null space (see `loop_judge`).
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import yaml
from four_bars import four_bar, pin
from rounded_robots import ROBOTS, load_rounded, mechanism, rounded_texts
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import ModelError, ModelWarning, Robot

pytestmark = pytest.mark.usefixtures("interpreted")

Array = np.ndarray
AMPLIFIED = 300.0
"""Most by which a mechanism of these amplifies the rounding, near its home."""


def answers(robot: Robot, q: Array, v: Array, effort: Array) -> list[Array]:
    """What is compared; positions, velocities and accelerations of all joints are part of it."""
    a = robot.forward_dynamics(q, v, effort)
    return [*map(np.asarray, robot.joint_state(q, v, a)), robot.mass_matrix(q), a]


def compare(kind: str, decimals: list[int]) -> None:
    """A rounded robot with the exact one, and that with the judge."""
    m = mechanism(kind)
    pair = m.pair()
    q, v, _, effort = pair.state(1, reach=0.2)
    exact = answers(pair.robot, q, v, effort)
    state, embedding, _ = pair.judged(q, v)
    assert np.abs(state.residual).max(initial=0.0) < 1e-12
    judged = embedding.T @ state.mass @ embedding
    np.testing.assert_allclose(exact[3], judged, atol=1e-10 * np.abs(judged).max())
    for digits in decimals:
        robot = load_rounded(m, digits)
        assert robot.nv == pair.robot.nv
        assert robot.numerical_joints == pair.robot.numerical_joints, "closed forms stay"
        for ours, whole in zip(answers(robot, q, v, effort), exact, strict=True):
            miss = np.abs(ours - whole).max() / np.abs(whole).max()
            assert miss < AMPLIFIED * 10.0**-digits


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("kind", ["five-bar", "Bennett", "triangle", "spherical wrist"])
def test_a_rounded_robot_is_the_exact_one_up_to_rounding(kind: str) -> None:
    compare(kind, [6])


@pytest.mark.long
@pytest.mark.parametrize("kind", ROBOTS)
def test_every_rounded_robot_is_the_exact_one_up_to_rounding(kind: str) -> None:
    """Four decimals of metres are more than rounding where a robot is small."""
    small = kind in ("gripper", "spherical wrist")
    compare(kind, [6, 9, 12] if small else [4, 6, 9, 12])


def test_what_stays_open_is_said_once_a_loop() -> None:
    m = mechanism("Bennett")
    with pytest.warns(ModelWarning, match="stays open by") as caught:
        robot = mbdyn_ros.load(*rounded_texts(m, 6))
    (text,) = (str(one.message) for one in caught)
    assert "loop 'loop0' has rounded numbers" in text and " m and " in text and " rad" in text
    assert "write numbers with all their digits" in text
    (assembly,) = robot._assemblies
    assert assembly.rounding is not None
    assert 1e-8 < assembly.rounding.gap.largest < 1e-5
    assert assembly.rank == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.load()


def test_forces_of_a_rounded_loop_are_those_of_the_exact_one() -> None:
    """Not those that it would take to close what stays open."""
    m = mechanism("Bennett")
    exact, robot = m.load(), load_rounded(m, 6)
    q = np.array([exact.home[exact.independent_joints[0]]])
    state = q, np.ones(1), np.ones(1)
    (ours,), (whole,) = (one.loop_forces(*state).values() for one in (robot, exact))
    assert np.abs(ours - whole).max() < 1e-3 * np.abs(whole).max()


def test_a_measured_state_of_a_rounded_robot() -> None:
    """What rounding leaves open is not a gap of the measurement."""
    robot = load_rounded(mechanism("Bennett"), 4)
    whole = np.array([*robot.home.values()])
    q = robot.independent_state(whole)
    assert np.allclose(q, robot.home[robot.independent_joints[0]], atol=1e-12)


@pytest.mark.long
def test_a_wrong_file_is_distinguished_from_a_rounded_one() -> None:
    urdf, side = rounded_texts(mechanism("five-bar"), 6)
    at = side.index("rpy: [") + len("rpy: [")
    turned = side[:at] + f"{float(side[at : side.index(',', at)]) + 0.004:.6f}" + (
        side[side.index(",", at) :]
    )  # fmt: skip
    with pytest.raises(ModelError) as caught:
        mbdyn_ros.load(urdf, turned)
    message = str(caught.value)
    assert "in directions in which its joints cannot move" in message
    assert "Rounding explains no more than" in message and "is wrong" in message


def parallelogram_with_mimic(multiplier: float) -> Robot:
    """A parallelogram whose rocker mimics its crank, as for simulators without loops."""
    mimic = f'<mimic joint="j1" multiplier="{multiplier!r}"/>'
    text = four_bar(0.3, 1.0, 0.3, 1.0).replace(
        'name="j4" type="continuous">', f'name="j4" type="continuous">{mimic}'
    )
    return mbdyn_ros.load(text, pin(1.0, 0.3), home={"j1": 0.5, "j2": -0.5, "j4": 0.5})


@pytest.mark.parametrize("multiplier", [1.0, 1.0001])
def test_a_mimic_that_says_what_a_loop_says_is_reconciled(multiplier: float) -> None:
    with pytest.warns(ModelWarning, match="loop 'pin' and 'mimic j4' impose the same constraint"):
        robot = parallelogram_with_mimic(multiplier)
    assert robot.nv == 1
    np.testing.assert_allclose(robot.joint_state([0.9])[0], [0.9, -0.9, 0.9], atol=2e-4)


def test_a_mimic_that_contradicts_a_loop_is_refused_with_the_gap() -> None:
    with pytest.raises(ModelError, match="a gap of 0.000722 m is left in loop 'pin' in directions"):
        parallelogram_with_mimic(1.01)
    with pytest.raises(ModelError, match="cannot be closed"):
        parallelogram_with_mimic(-1.0)


def test_frames_that_point_opposite_ways_are_said_to() -> None:
    """Of a rounded file too, where a small gap is left next to the half turn."""
    urdf, side = rounded_texts(mechanism("five-bar"), 4)
    document = yaml.safe_load(side)
    frame = document["loops"][0]["successor"]
    axis = np.array(document["loops"][0]["axis"], dtype=float)
    across = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.9 else [0.0, 1.0, 0.0])
    half = Rotation.from_rotvec(math.pi * across / np.linalg.norm(across))
    turned = Rotation.from_euler("xyz", frame.get("rpy", [0.0, 0.0, 0.0])) * half
    frame["rpy"] = turned.as_euler("xyz").round(4).tolist()
    with pytest.raises(mbdyn_ros.ModelError, match="half a turn is left: the two frames"):
        mbdyn_ros.load(urdf, yaml.safe_dump(document))
