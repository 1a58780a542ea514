"""The regressor against Pinocchio's, and parameters recovered from simulated motion."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

pytest.importorskip("pinocchio")
import pinocchio as pin  # noqa: E402
from corpus import label, readable_urdf_files, urdf_file  # noqa: E402
from random_robots import (  # noqa: E402
    Pair,
    RandomRobot,
    assert_close,
    explore,
    number,
    robots,
)
from robot_text import EMPTY

import mbdyn_ros  # noqa: E402
from mbdyn_ros.equations.algebra.spatial import SX, constant  # noqa: E402
from mbdyn_ros.equations.programs import inverse_dynamics, regressor  # noqa: E402
from mbdyn_ros.identification import identify  # noqa: E402
from mbdyn_ros.model.inertia import standard_parameters  # noqa: E402
from mbdyn_ros.robot.base_parameters import (  # noqa: E402
    KINDS,
    NEGLIGIBLE_EFFECT,
    NEGLIGIBLE_FACTOR,
)

URDFS = Path(__file__).parents[2] / "urdf"
PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
"""Where our ten parameters stand among Pinocchio's."""


@pytest.fixture(scope="module")
def arm() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(urdf_file("ur5_robot.urdf"))


def test_against_pinocchio(arm: mbdyn_ros.Robot) -> None:
    model = pin.buildModelFromUrdf(str(urdf_file("ur5_robot.urdf")))
    data = model.createData()
    joints = {joint.child: joint.name for joint in arm.model.joints}
    q, v, a = np.random.default_rng(0).uniform(-3, 3, (3, 5, arm.nv))
    ours = arm.regressor(q, v, a)
    assert ours.shape == (5, 6, 10 * len(arm.moving_links))
    for k in range(5):
        theirs = pin.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])
        for j, link in enumerate(arm.moving_links):
            if joints[link] not in list(model.names):
                continue  # on a fixed joint: Pinocchio lumps it
            start = 10 * (model.getJointId(joints[link]) - 1)
            block = theirs[:, start : start + 10][:, PINOCCHIO]
            assert_close(ours[k][:, 10 * j : 10 * j + 10], block, 1e-13, 10.0)


@explore(6)
@given(robots(joints=6))
def test_efforts_are_the_product(random_robot: RandomRobot) -> None:
    """Fixed joints, branches, gears and every kind of joint."""
    pair = Pair(random_robot)
    motion = [constant(x) for x in pair.state()]
    rows = number(regressor(pair.system, motion[0], SX(0, 1), *motion[1:]))
    links = (pair.robot.model.link(link).inertia for link in pair.robot.moving_links)
    parameters = np.concatenate([np.zeros(0), *map(standard_parameters, links)])
    efforts = number(
        inverse_dynamics(pair.system, motion[0], SX(0, 1), *motion[1:], None, False)
    ).ravel()
    assert rows.shape == (pair.robot.nv, len(parameters))
    assert_close(rows @ parameters, efforts, 1e-13, pair.weight)


def motions(robot: mbdyn_ros.Robot, count: int, reach: float) -> tuple[np.ndarray, ...]:
    """Random states near home, those that loops cannot reach left out."""
    random = np.random.default_rng(7)
    home = np.array([robot.home[name] for name in robot.independent_joints])
    q = home + random.uniform(-reach, reach, (count, robot.nv))
    v, a = random.normal(size=(2, count, robot.nv))
    good = np.isfinite(robot.inverse_dynamics(q, v, a)).all(axis=1)
    return q[good], v[good], a[good]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["manipulator.urdf", "four_bar.urdf"])
def test_base_parameters_of_loops(name: str) -> None:
    """Y = Y_b K at other motions than those they were found with; and identified."""
    robot = mbdyn_ros.load(URDFS / name)
    base = robot.base_parameters()
    motion = motions(robot, 150, 0.25)
    rows = robot.regressor(*motion)
    efforts = robot.inverse_dynamics(*motion)
    undamped = robot.inverse_dynamics(*motion, friction=False)
    assert_close(rows @ base.standard, undamped, 1e-12)
    assert_close(rows[:, :, base.independent] @ base.grouping, rows, 1e-9)
    assert_close(rows[:, :, base.independent] @ base.values, undamped, 1e-9)
    assert_close(identify(robot, *motion, efforts), base.values, 1e-6)


def test_base_parameters_of_an_arm(arm: mbdyn_ros.Robot) -> None:
    """A UR5 has 36; none of them of a link that only stands."""
    base = arm.base_parameters()
    assert len(base.independent) == len(base.names) == len(base.values) == 36
    assert np.array_equal(base.grouping[:, base.independent], np.eye(36))
    assert all(
        own in name
        for own, name in zip(
            (base.standard_names[k] for k in base.independent), base.names, strict=True
        )
    )


def test_recovered_from_a_simulated_motion(arm: mbdyn_ros.Robot) -> None:
    """Without noise, to 1e-6 and better."""

    def drive(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        wave = np.sin(time * np.array([2.0, 3.1, 4.3, 5.2, 6.1, 7.3]) + np.arange(6))
        return arm.gravity_vector(q) + wave * [40, 60, 30, 8, 5, 3] - 3.0 * v - 20 * np.sin(q)

    run = mbdyn_ros.simulate(
        arm, np.zeros(6), np.zeros(6), 4.0, effort=drive, rtol=1e-9, joint_limits=False
    )
    found = identify(arm, run.q, run.v, run.a, run.effort)
    base = arm.base_parameters()
    assert np.abs(found - base.values).max() < 1e-6 * np.abs(base.values).max()


def rounded_arm() -> str:
    """Seven joints, each turned against the one before by 1.5708, as descriptions have it."""
    text = '<robot name="rounded"><link name="l0"/>'
    for k, turn in enumerate((0, -1.5708, 1.5708, 1.5708, -1.5708, -1.5708, 1.5708)):
        y, z = (0.2, 0.0) if k % 2 else (0.0, 0.2)
        text += f"""
        <joint name="j{k}" type="continuous"><origin xyz="0 {y} {z}" rpy="{turn} 0 0"/>
          <axis xyz="0 0 1"/><parent link="l{k}"/><child link="l{k + 1}"/></joint>
        <link name="l{k + 1}"><inertial><origin xyz="0 0.03 0.05"/><mass value="{4 - k / 2}"/>
          <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    return text + "</robot>"


SHORT = ("so100.urdf", "so101.urdf", "alexander_v1.lowerBodyOnly.urdf", "hextilt_flying_arm_5.urdf")
"""Robots that once had too many base parameters, or indistinguishable ones."""

BY_TILTS = {"so100.urdf", "so101.urdf"}
"""Robots with parameters that show by tilts of rounded angles only; they are left out."""


@pytest.mark.sparse
@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "source",
    [rounded_arm()]
    + [
        pytest.param(path, marks=[] if path.name in SHORT else pytest.mark.long)
        for path in readable_urdf_files()
    ],
    ids=lambda source: label(source) if isinstance(source, Path) else "rounded",
)
def test_base_parameters_of_real_robots(source: Path | str) -> None:
    """As many as the rank; well conditioned, by small factors; identified, also in other units."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbdyn_ros.ModelWarning)
        robot = mbdyn_ros.load(source)
    base = robot.base_parameters()
    name = source.name if isinstance(source, Path) else "rounded"
    if not len(base.independent):
        return
    states = 3 * len(base.standard) // robot.nv + 20
    random = np.random.default_rng(3)
    q = random.uniform(-3, 3, (states, robot.nq))
    v, a = random.normal(size=(2, states, robot.nv))
    columns, kinds = list(base.independent), np.tile(KINDS, len(robot.moving_links))
    stack = robot.regressor(q, v, a).reshape(-1, len(kinds))
    size = np.linalg.norm(stack, axis=0)
    unit = np.array([max(size[kinds == kind].max(), 1e-300) for kind in range(3)])[kinds]
    factors = base.grouping * unit[columns, None] / unit
    assert np.abs(factors).max() < 10
    left_out = np.linalg.norm(stack[:, columns] @ base.grouping - stack, axis=0) / unit
    assert left_out.max() < (20 * NEGLIGIBLE_EFFECT if name in BY_TILTS else 1e-8)
    if name not in BY_TILTS:
        singular = np.linalg.svd(stack / unit, compute_uv=False)
        assert len(columns) == (singular > NEGLIGIBLE_FACTOR * singular[0]).sum()
    condition = np.linalg.cond(stack[:, columns] / size[columns])
    assert condition < 2e3, f"condition {condition:.2g}"
    efforts = robot.inverse_dynamics(q, v, a)
    error = (identify(robot, q, v, a, efforts) - base.values) * size[columns]
    assert np.abs(error).max() < 1e-9 * np.linalg.norm(efforts)


@pytest.mark.usefixtures("interpreted")
def test_rounded_angles_add_no_base_parameter() -> None:
    """The count is that of the arm with exact right angles."""
    exact = rounded_arm().replace("1.5708", "1.5707963267948966")
    counts = {
        len(mbdyn_ros.load(text).base_parameters().independent) for text in (rounded_arm(), exact)
    }
    assert counts == {43}


def test_refusals(arm: mbdyn_ros.Robot) -> None:
    rest = np.zeros((20, 6))
    with pytest.raises(mbdyn_ros.InputError, match="not determine these base parameters: .*link"):
        identify(arm, rest, rest, rest, rest)
    with pytest.raises(mbdyn_ros.InputError, match="5 states give 30 equations for 36 base"):
        identify(arm, *np.random.default_rng(0).normal(size=(3, 5, 6)), rest[:5])
    with pytest.raises(mbdyn_ros.InputError, match="effort has shape"):
        identify(arm, rest, rest, rest, rest[:, :5])
    with pytest.raises(mbdyn_ros.InputError, match="NaN"):
        identify(arm, rest, rest, rest, rest * np.nan)
    with pytest.raises(mbdyn_ros.InputError, match="motion of N states"):
        identify(arm, rest[0], rest[0], rest[0], rest[0])


def test_a_robot_that_cannot_move_has_none() -> None:
    base = mbdyn_ros.load(EMPTY).base_parameters()
    assert base.names == base.independent == () and base.values.shape == (0,)
