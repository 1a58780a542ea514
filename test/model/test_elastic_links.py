"""Elastic links: beams' eigenfrequencies and deflections, the rigid robot at bends of 0."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import mbdyn_ros
from mbdyn_ros import InputError
from mbdyn_ros.export.closed_form_text import to_elements

pytestmark = pytest.mark.usefixtures("interpreted")

LENGTH, MASS, RIGIDITY = 0.8, 1.2, 30.0
ROOTS = np.array([1.87510407, 4.69409113, 7.85475744])
"""Of cos(x) cosh(x) = -1."""


def beam(gravity: tuple[float, ...] = (0, 0, 0)) -> mbdyn_ros.Robot:
    across = MASS * LENGTH**2 / 12
    return mbdyn_ros.load(
        f"""<robot name="arm"><link name="world"/><link name="beam"><inertial>
        <origin xyz="{LENGTH / 2} 0 0"/><mass value="{MASS}"/><inertia ixx="1e-6" iyy="{across}"
        izz="{across}" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="hub"
        type="continuous"><parent link="world"/><child link="beam"/><axis xyz="0 0 1"/></joint>
        </robot>""",
        gravity=gravity,
    )


def elastic(segments: int, gravity: tuple[float, ...] = (0, 0, 0)) -> mbdyn_ros.Robot:
    return beam(gravity).with_elastic_link(
        "beam", (0, 0, 0), (LENGTH, 0, 0), [((0, 0, 1), RIGIDITY)], segments
    )


def frequencies(segments: int) -> np.ndarray:
    """The lowest three of the cantilever, rad/s."""
    robot = elastic(segments)
    mass = robot.mass_matrix(np.zeros(robot.nv))[1:, 1:]
    squares = np.linalg.eigvals(np.linalg.inv(mass) * RIGIDITY * segments / LENGTH).real
    return np.sqrt(np.sort(squares)[:3])


def test_a_cantilever_has_the_frequencies_of_a_beam() -> None:
    """The error of the lowest three falls to a quarter with twice the springs."""
    exact = ROOTS**2 * np.sqrt(RIGIDITY / (MASS / LENGTH * LENGTH**4))
    gaps = [np.abs(frequencies(n) / exact - 1) for n in (8, 16, 32)]
    assert gaps[-1].max() < 1.5e-3
    for coarse, fine in zip(gaps[:-1], gaps[1:], strict=True):
        assert (coarse / fine > 3.7).all()


def test_it_hangs_by_its_weight_as_a_beam() -> None:
    """w L^4 / (8 E I) at the end, of a beam that is clamped level and hardly bends."""
    robot = elastic(16, (0, -0.5, 0))
    q = np.zeros(robot.nv)
    for _ in range(8):  # springs against weight, Newton's method with the springs alone
        held = robot.gravity_vector(q) + robot.spring_vector(q)
        q[1:] -= held[1:] / (RIGIDITY * 16 / LENGTH)
    end = robot.frame_pose(q, "beam_16") @ [LENGTH / 32, 0, 0, 1]
    assert end[1] == pytest.approx(-0.5 * MASS * LENGTH**3 / (8 * RIGIDITY), rel=4e-3)


def test_straight_it_is_the_rigid_robot(tmp_path: Path) -> None:
    """Masses, weights and poses; where it bends Pinocchio has the same mass matrix."""
    rigid = mbdyn_ros.example("piezo_robot")
    robot = rigid.with_elastic_link(
        "lower_cylinder", (-0.04, 0, 0), (0, 0, 0), [((0, 1, 0), 2.0), ((0, 0, 1), 2.0)], 2
    )
    assert robot.actuated_joints == rigid.joint_names
    places = [robot.velocity_labels.index(name) for name in rigid.velocity_labels]
    rng = np.random.default_rng(1)
    q = rng.uniform(-1, 1, rigid.nv)
    straight = np.zeros(robot.nv)
    straight[places] = q
    mass = robot.mass_matrix(straight)[np.ix_(places, places)]
    np.testing.assert_allclose(mass, rigid.mass_matrix(q), atol=1e-18, rtol=1e-9)
    weight = robot.gravity_vector(straight)[places]
    np.testing.assert_allclose(weight, rigid.gravity_vector(q), atol=1e-12)
    np.testing.assert_allclose(
        robot.frame_pose(straight, "gripper"), rigid.frame_pose(q, "gripper"), atol=1e-12
    )
    angles = straight + 0.1 * rng.normal(size=robot.nv)
    robot.save_urdf(tmp_path / "robot.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert mbdyn_ros.load(tmp_path / "robot.urdf").actuated_joints == rigid.joint_names
    peer = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    state, order = pin.neutral(peer), []
    for name, angle in zip(robot.velocity_labels, angles, strict=True):
        joint = peer.joints[peer.getJointId(name)]
        both = [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
        state[joint.idx_q : joint.idx_q + joint.nq] = both
        order.append(joint.idx_v)
    theirs = np.triu(pin.crba(peer, peer.createData(), state))
    theirs = theirs + np.triu(theirs, 1).T
    np.testing.assert_allclose(
        robot.mass_matrix(angles), theirs[np.ix_(order, order)], rtol=1e-8, atol=1e-14
    )


def test_the_closed_form_is_that_of_the_rigid_part_at_bends_of_0() -> None:
    """H of the hub, and the whole H of it at any bends, by the polynomials."""
    robot = elastic(3)
    values = {name: 0.0 for name in ("S2", "S3", "S4")} | {"C2": 1.0, "C3": 1.0, "C4": 1.0}
    formulas = to_elements(robot.closed_form())
    assert eval(formulas["H11"], values) == pytest.approx(MASS * LENGTH**2 / 3)
    q = np.array([0.3, 0.5, -0.4, 0.7])
    values = {f"S{k}": np.sin(one) for k, one in enumerate(q, 1)}
    values |= {f"C{k}": np.cos(one) for k, one in enumerate(q, 1)}
    mass = robot.mass_matrix(q)
    for i, j in ((1, 1), (1, 3), (2, 4)):
        assert eval(formulas[f"H{i}{j}"], values) == pytest.approx(mass[i - 1, j - 1])


def test_it_swings_with_its_energy_kept() -> None:
    """Bent and let go, by `simulate`; with a loss time the energy falls."""
    start = np.array([0.0, 0.1, 0.05, 0.02])
    run = mbdyn_ros.simulate(elastic(3), start, np.zeros(4), 0.1)
    assert np.abs(run.imbalance).max() < 1e-8
    damped = beam().with_elastic_link(
        "beam", (0, 0, 0), (LENGTH, 0, 0), [((0, 0, 1), RIGIDITY)], 3, loss_time=1e-3
    )
    run = mbdyn_ros.simulate(damped, start, np.zeros(4), 0.1)
    assert run.energy[-1].sum() < 0.9 * run.energy[0].sum()
    assert np.abs(run.imbalance).max() < 1e-8


def test_what_cannot_be_is_refused() -> None:
    robot, along = mbdyn_ros.example("piezo_robot"), [((0, 1, 0), 2.0)]
    for link, start, end, rigidity, segments, words in (
        ("lower", (0, 0, 0), (1, 0, 0), along, 2, "there is no link 'lower'"),
        ("lower_cylinder", (0, 0, 0), (0, 0, 0), along, 2, "starts where it ends"),
        ("lower_cylinder", (-0.04, 0, 0), (0, 0, 0), [], 2, "rigidity is empty"),
        ("lower_cylinder", (-0.04, 0, 0), (0, 0, 0), [((0, 1, 0), -1.0)], 2, r"N m\^2 above 0"),
        ("lower_cylinder", (-0.04, 0, 0), (0, 0, 0), along, 0, "whole number from 1"),
        ("lower_cylinder", (-0.4, 0, 0), (0, 0, 0), along, 2, "less than those of an even beam"),
        ("lower_cylinder", (-0.04, 0, 0), (-0.01, 0, 0), along, 2, "neither end of its beam"),
        ("twist_2/axis", (-0.04, 0, 0), (0, 0, 0), along, 2, "no mass to be shared"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            robot.with_elastic_link(link, start, end, rigidity, segments)
