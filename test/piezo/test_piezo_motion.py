"""The piezo robot in motion: pulses, holds and the control that closes the loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from piezo_windows import HOME, INERTIAL, LIFT, TURN, open_windows
from scipy.integrate import solve_ivp

import mbdyn_ros
from mbdyn_ros.piezo import (
    PiezoMotion,
    PulseController,
    Rotor,
    generalized_torques,
    pulse_windows,
)

pytestmark = pytest.mark.usefixtures("interpreted")

ROTOR = Rotor(0.002, 0.005, 1000.0)


def chain(middle: str = "continuous") -> str:
    """Three hinges in space; the middle one may be welded."""
    return f"""<robot name="chain"><link name="world"/><link name="a">{INERTIAL}</link>
  <link name="b">{INERTIAL}</link><link name="c">{INERTIAL}</link>
  <joint name="one" type="continuous"><axis xyz="0 0 1"/>
    <parent link="world"/><child link="a"/></joint>
  <joint name="two" type="{middle}"><origin xyz="0.3 0 0.1"/><axis xyz="0 1 0"/>
    <parent link="a"/><child link="b"/></joint>
  <joint name="three" type="continuous"><origin xyz="0.25 0.05 0"/><axis xyz="0.6 0 0.8"/>
    <parent link="b"/><child link="c"/></joint>
  <link name="tip"/><joint name="flange" type="fixed"><origin xyz="0.2 0 0"/>
    <parent link="c"/><child link="tip"/></joint></robot>"""


@pytest.fixture(scope="module")
def piezo() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(Path(__file__).parents[2] / "urdf" / "piezo_robot.yaml")


@pytest.mark.parametrize("held", [False, True])
def test_free_joints_move_as_a_robot_whose_other_joints_are_welded(held: bool) -> None:
    """Judged by forward dynamics of the tree, integrated by SciPy."""
    robot = mbdyn_ros.load(chain())
    judge = mbdyn_ros.load(chain("fixed")) if held else robot
    rotor = Rotor(0.01, 0.02, 200.0)
    motion = PiezoMotion(robot, rotor, "tip", step=0.02)
    q0 = np.array([0.4, 0.0, -0.7])
    motion.set_state(q0)
    off = [3.0, 0.0 if held else 3.0, 3.0]
    motion.command(open_windows(motion.robot.velocity_labels, [0.0] * 3, off))
    motion.advance(2.9 / rotor.speed)
    rows = [0, 2] if held else [0, 1, 2]
    size = len(rows)

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        q, v = state[:size], state[size:]
        torque = generalized_torques(judge, q, rotor, rotor.speed * t, "tip")
        return np.concatenate([v, judge.forward_dynamics(q, v, torque)])

    start = np.concatenate([q0[rows], np.zeros(size)])
    end = solve_ivp(rate, (0, 2.9 / rotor.speed), start, rtol=1e-11, atol=1e-14).y[:, -1]
    assert np.abs(motion.v[rows]).max() > 0.1
    np.testing.assert_allclose(motion.q[rows], end[:size], rtol=0, atol=1e-9)
    np.testing.assert_allclose(motion.v[rows], end[size:], rtol=0, atol=1e-7)
    assert not held or (motion.q[1] == q0[1] and motion.v[1] == 0)


def test_holding_is_an_impulse_in_that_joint_alone() -> None:
    robot = mbdyn_ros.load(chain())
    motion = PiezoMotion(robot, ROTOR, "tip")
    names = robot.velocity_labels
    motion.command(open_windows(names, [0.0] * 3, [2.0, 1.0, 2.5]))
    motion.advance((1.0 - 1e-9) / ROTOR.speed)
    before, matrix = motion.v.copy(), robot.mass_matrix(motion.q)
    motion.advance(2e-9 / ROTOR.speed)
    assert motion.free.tolist() == [1, 0, 1] and motion.v[1] == 0
    momenta = matrix @ before
    np.testing.assert_allclose((matrix @ motion.v)[[0, 2]], momenta[[0, 2]], rtol=1e-6)
    assert abs((matrix @ motion.v)[1] - momenta[1]) > 1e-5
    assert motion.v @ matrix @ motion.v < before @ matrix @ before
    motion.advance(0.5 * TURN / ROTOR.speed)
    assert not motion.v.any() and not motion.free.any()
    assert [one.joint for one in motion.pulses] == ["two", "one", "three"]
    assert [one.off for one in motion.pulses] == [1.0, 2.0, 2.5]
    still = motion.q.copy()
    motion.advance(0.2 * TURN / ROTOR.speed)  # all are held, whatever gravity does
    assert (motion.q == still).all()


@pytest.mark.parametrize("way", [2e-6, 1e-5, -1e-5, -3e-5])
def test_a_pulse_moves_its_joint_as_far_as_wanted(way: float) -> None:
    """Up a slope and down; eq. (b), with gravity while the joint is free."""
    robot = mbdyn_ros.load(LIFT)
    rotor = Rotor(0.01, 0.02, 500.0)
    control = PulseController(robot, rotor, "cage", gain=rotor.speed / TURN, tolerance=1e-9)
    motion = PiezoMotion(robot, rotor, "cage", step=0.01)
    motion.command(control.pulses([0.0], [way], [0.0]))
    motion.advance(2 * TURN / rotor.speed)
    (pulse, *_) = motion.pulses
    assert pulse.displacement == pytest.approx(way, rel=1e-6)
    assert pulse.achieved == pytest.approx(pulse.requested, rel=1e-6)
    assert pulse.requested * way > 0


@pytest.mark.parametrize("start", [0.0, 2.0, 5.0])
def test_mean_torques_and_the_target_are_reached(piezo: mbdyn_ros.Robot, start: float) -> None:
    """Mean torques to 1 per cent, the gripper to 0.1 mm, whatever the rotor's phase."""
    goal = HOME + [0.02, -0.03, 0.03, 0.02, -0.04, 0.0]
    control = PulseController(piezo, ROTOR, "gripper")
    motion = PiezoMotion(piezo, ROTOR, "gripper", step=0.25)
    motion.set_state(HOME, angle=start)
    rest = np.zeros(6)
    for _ in range(400):
        motion.command(control.pulses(motion.q, goal, rest))
        motion.advance(1e-3)
    poses = [piezo.frame_pose(q, "gripper")[:3, 3] for q in (motion.q, goal)]
    assert np.linalg.norm(poses[0] - poses[1]) < 1e-5
    assert {one.joint for one in motion.pulses} == set(piezo.joint_names[:5])
    for pulse in motion.pulses:
        assert pulse.achieved == pytest.approx(pulse.requested, rel=0.01)
    assert motion.q[5] == HOME[5]


def test_windows_that_change_cut_no_pulse(piezo: mbdyn_ros.Robot) -> None:
    motion = PiezoMotion(piezo, ROTOR, "gripper", step=0.25)
    motion.set_state(HOME)
    wanted = np.array([0.0, 0.0, 0.05, 0.03, 0.0, 0.0])
    random = np.random.default_rng(1)
    for _ in range(100):  # every 0.3 rad
        jitter = wanted * random.uniform(0.9, 1.1, 6)
        motion.command(pulse_windows(piezo, motion.q, ROTOR, jitter, "gripper"))
        motion.advance(0.3 / ROTOR.speed)
    assert len(motion.pulses) >= 6
    for pulse in motion.pulses:
        assert pulse.achieved == pytest.approx(pulse.requested, rel=0.01)
        assert pulse.off - pulse.on < np.pi
    motion.stop()
    assert not motion.free.any() and not motion.v.any()
    motion.advance(1.0)
    assert not motion.free.any()


def test_what_the_rotor_cannot_do_is_said_by_name(piezo: mbdyn_ros.Robot) -> None:
    control = PulseController(piezo, ROTOR, "gripper")
    goal = HOME + [0.0, 0.0, 0.3, 0.0, 1e-6, 0.1]
    windows = control.pulses(HOME, goal, np.zeros(6))
    assert control.unable() == ["twist_6"] and windows.unmoved == ("twist_6",)
    assert control.slow() == ["tilt_3"]
    assert windows.on[5] == windows.off[5] == 0 and windows.on[4] == windows.off[4]
    assert windows.mean_torque[4] == 0  # within the tolerance
    weak = Rotor(0.002, 0.005, 200.0)  # 0.4 N lift no cylinder of 1 N
    control = PulseController(piezo, weak, "gripper")
    hanging = np.array([0.0, 0.0, 0.0, 0.0, 0.6, 0.0])
    up = np.sign(piezo.gravity_vector(hanging)[2])
    windows = control.pulses(hanging, hanging + [0, 0, 0.01 * up, 0, 0, 0], np.zeros(6))
    assert control.unable() == ["tilt_3"] and windows.mean_torque[2] == 0
    control.pulses(hanging, hanging - [0, 0, 0.01 * up, 0, 0, 0], np.zeros(6))
    assert control.unable() == [] and control.mean_torque[2] * up < 0


def test_bad_input_is_refused(piezo: mbdyn_ros.Robot) -> None:
    def refused(message: str, action: object, *arguments: object, **named: object) -> None:
        with pytest.raises(mbdyn_ros.InputError, match=message):
            action(*arguments, **named)  # type: ignore[operator]

    rough = LIFT.replace("</joint>", '<dynamics friction="0.1"/></joint>')
    refused("'rail' has dry friction", PiezoMotion, mbdyn_ros.load(rough), ROTOR, "cage")
    looped = mbdyn_ros.load(Path(__file__).parents[2] / "urdf" / "four_bar.urdf")
    refused("for trees only", PiezoMotion, looped, ROTOR, looped.model.links[1].name)
    refused("no link 'hand'", PiezoMotion, piezo, ROTOR, "hand")
    refused("no link 'hand'", PulseController, piezo, ROTOR, "hand")
    refused("the step is 0", PiezoMotion, piezo, ROTOR, "gripper", 0.0)
    refused("must be a piezo.Rotor", PulseController, piezo, 3.0, "gripper")
    refused("the gain is -1", PulseController, piezo, ROTOR, "gripper", gain=-1.0)
    refused("the tolerance is nan", PulseController, piezo, ROTOR, "gripper", tolerance=np.nan)
    motion = PiezoMotion(piezo, ROTOR, "gripper")
    refused("the duration is -1", motion.advance, -1.0)
    refused("position of tilt_3 is nan", motion.set_state, [0, 0, np.nan, 0, 0, 0])
    refused("the windows are of rail", motion.command, open_windows(("rail",), [0], [1]))
    control = PulseController(piezo, ROTOR, "gripper")
    refused("wanted position of tilt_3 is inf", control.pulses, HOME, [0, 0, np.inf, 0, 0, 0], HOME)
