"""Dry friction in a loop of several freedoms: more joints rub than are free to move."""

import numpy as np
import pytest
from interpreting import compiling
from scipy.optimize import linprog

import mbdyn_ros
from mbdyn_ros import Robot

pytestmark = pytest.mark.usefixtures("interpreted")
START = {"a": -2.0, "b": 1.0, "c": -1.7, "d": -0.5}


def five_bar(dry: np.ndarray, independent: str = "a, b", damping: float = 0.02) -> Robot:
    """Two arms of two links that meet at a pin; every joint rubs but the pin."""
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0.01 0.02"/><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0.001" ixz="0" iyz="0"/></inertial></link>'
        for name in ("bench", "l1", "l2", "l3", "l4")
    )
    tree = (("a", "bench", "l1", 0), ("b", "l1", "l2", 0.2),
            ("c", "bench", "l3", 0.3), ("d", "l3", "l4", 0.2))  # fmt: skip
    joints = "".join(
        f'<joint name="{name}" type="continuous"><origin xyz="{x} 0 0"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 1 0"/>'
        f'<dynamics friction="{friction!r}" damping="{damping}"/></joint>'
        for (name, parent, child, x), friction in zip(tree, map(float, dry), strict=True)
    )
    text = f'<robot name="five_bar">{links}{joints}</robot>'
    mechanism = f"""
loops:
  - {{name: pin, type: revolute, axis: [0, 1, 0],
     predecessor: {{link: l2, xyz: [0.3, 0, 0]}}, successor: {{link: l4, xyz: [0.3, 0, 0]}}}}
independent: [{independent}]
actuated: [a, c]
"""
    return mbdyn_ros.load(text, mechanism, home=START)


def closed_start() -> tuple[np.ndarray, Robot]:
    robot = five_bar(np.array([0.3, 0.0, 0.0, 0.4]))
    return robot.joint_state([START["a"], START["b"]])[0], robot


@pytest.mark.long
def test_the_motion_is_the_same_in_all_coordinates() -> None:
    """Joints stick and slide at the same instants, whichever of them are the coordinates."""
    start, robot = closed_start()
    times = np.linspace(0.0, 0.4, 9)
    runs = []
    for one in (robot, robot.with_independent(["c", "d"], robot.home)):
        q0 = one.independent_state(start)
        runs.append(mbdyn_ros.simulate(one, q0, [0.0, 0.0], 0.4, times=times))
    first, second = runs
    assert np.abs(first.joint_position - second.joint_position).max() < 1e-6
    reported = [[(one.joint, one.mode) for one in run.transitions if one.time > 0] for run in runs]
    assert reported[0] == reported[1] and ("d", "slides +") in reported[0]
    for run in runs:
        assert run.relative_imbalance < 1e-9
        assert (np.diff(run.work[:, 1]) >= 0).all(), "friction only takes"
        held = run.time < next(one.time for one in run.transitions if one.time > 0)
        assert np.ptp(run.joint_position[held, 3]) < 1e-9, "a joint that sticks stays"


@pytest.mark.long
def test_equal_steps_follow() -> None:
    start, robot = closed_start()
    exact = mbdyn_ros.simulate(robot, start[:2], [0.0, 0.0], 0.4, times=[0.0, 0.4])
    errors = []
    for step in (1e-3, 2.5e-4):  # the larger ones are divided where the rows change fast
        with compiling():
            motion = mbdyn_ros.Stepper(closed_start()[1], step)
        motion.set_state(start[:2], np.zeros(2))
        motion.advance(round(0.4 / step))
        errors.append(np.abs(motion.q - exact.q[-1]).max())
    assert errors[0] < 2e-3 and errors[1] < 0.5 * errors[0]


@pytest.mark.long
def test_friction_holds_as_much_as_it_can() -> None:
    """At rest the frictions of four joints share the load in any way that holds it."""
    smooth = five_bar(np.zeros(4))
    start = smooth.joint_state([START["a"], START["b"]])[0]
    share = np.array([smooth.joint_state(start[:2], unit)[1] for unit in np.eye(2)])  # G^T
    load = smooth.gravity_vector(start[:2])
    # the least scale s of frictions |r| <= s F with G^T r = load
    F = np.array([2.0, 0.5, 1.0, 0.2])
    found = linprog(
        [0, 0, 0, 0, 1.0],
        A_ub=np.vstack([np.c_[np.eye(4), -F], np.c_[-np.eye(4), -F]]), b_ub=np.zeros(8),
        A_eq=np.c_[share, np.zeros(2)], b_eq=load, bounds=[(None, None)] * 5,
    )  # fmt: skip
    assert found.success
    for scale, holds in ((1.0001, True), (0.998, False)):
        robot = five_bar(scale * found.fun * F)
        trajectory = mbdyn_ros.simulate(robot, start[:2], [0.0, 0.0], 0.1)
        assert all(one.mode == "sticks" for one in trajectory.transitions) == holds
        with compiling():
            motion = mbdyn_ros.Stepper(five_bar(scale * found.fun * F), 1e-3)
        motion.set_state(start[:2], np.zeros(2))
        motion.advance(100)
        if holds:
            assert (trajectory.q[-1] == start[:2]).all() and not trajectory.v.any()
            assert np.abs(motion.q - start[:2]).max() < 1e-12
        else:
            assert np.abs(trajectory.v[-1]).max() > 1e-6
            assert np.abs(motion.v - trajectory.v[-1]).max() < 0.05 * np.abs(motion.v).max()
