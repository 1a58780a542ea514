"""Steps without walls: their order, what they conserve, friction that sticks, stiff damping."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest
from robot_text import joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import Stepper
from mbdyn_ros.model.model import Array
from mbdyn_ros.robot import Robot
from mbdyn_ros.simulation.stepped.prepared_stepper import PreparedStepper

MOMENTS = (0.01, 0.02, 0.025)


def double_pendulum(first: str = "", second: str = "") -> Robot:
    """With `<dynamics>` of its joints."""
    text = robot_text(
        link("upper", 2, MOMENTS, "0.4 0 0"), link("lower", 1, MOMENTS, "0.3 0 0"),
        joint("a", "world", "upper", "0 1 0", more=first),
        joint("b", "upper", "lower", "0 1 0", "1 0 0", more=second),
    )  # fmt: skip
    return mbdyn_ros.load(text)


def sled(friction: float = 0.0, damping: float = 0.0) -> Robot:
    dynamics = f'<dynamics friction="{friction}" damping="{damping}"/>'
    rail = joint("rail", "world", "sled", "1 0 0", kind="prismatic", more=dynamics)
    return mbdyn_ros.load(robot_text(link("sled", 2, MOMENTS), rail))


def run(motion: Stepper, duration: float) -> Stepper:
    motion.advance(round(duration / motion.step))
    return motion


def end_of_swing(robot: Robot, step: float, method: str) -> Array:
    motion = Stepper(robot, step, method=method)
    motion.set_state(np.array([0.3, -0.8]), np.array([1.0, 0.5]))
    run(motion, 1.0)
    return np.array([*motion.q, *motion.v])


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi_implicit", 1)])
def test_order(method: str, order: int) -> None:
    robot = double_pendulum()
    exact = end_of_swing(robot, 1e-3, "rk4")
    errors = [np.abs(end_of_swing(robot, step, method) - exact).max() for step in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_energy_is_kept() -> None:
    robot = double_pendulum()
    motion = Stepper(robot, 1e-3)
    assert motion.method == "rk4"
    motion.set_state(np.array([0.3, -0.8]), np.array([1.0, 0.5]))
    start = sum(robot.energy(motion.q, motion.v))
    run(motion, 2.0)
    assert sum(robot.energy(motion.q, motion.v)) == pytest.approx(start, abs=1e-7)


def test_work_is_effort_times_way() -> None:
    """Efforts are constant over a step, so their work is exactly effort times way."""
    robot = double_pendulum()
    motion = Stepper(robot, 1e-3)
    work, start = 0.0, sum(robot.energy(motion.q, motion.v))
    for k in range(1000):
        motion.effort[:] = 5 * np.sin(0.01 * k), -2 * np.cos(0.02 * k)
        before = motion.q.copy()
        motion.advance()
        work += motion.effort @ (motion.q - before)
    assert sum(robot.energy(motion.q, motion.v)) - start == pytest.approx(work, abs=1e-7)


@pytest.mark.sparse
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_floating_body_falls_and_tumbles(method: str) -> None:
    text = robot_text(link("stone", 2, MOMENTS, "0.1 0 0"), base="")
    robot = mbdyn_ros.load(text, floating_base=True)
    motion = Stepper(robot, 1e-3, method=method)
    motion.set_state(motion.q, np.array([0, 0, 0, 3.0, 2.0, 1.0]))
    kinetic, potential = robot.energy(motion.q, motion.v)
    momentum = spin(robot, motion)
    run(motion, 1.0)
    assert np.linalg.norm(motion.q[3:7]) == pytest.approx(1, abs=1e-15)
    tolerance = 1e-9 if method == "rk4" else 0.5
    assert sum(robot.energy(motion.q, motion.v)) == pytest.approx(
        kinetic + potential, abs=tolerance
    )
    assert spin(robot, motion) == pytest.approx(momentum, abs=tolerance)


def spin(robot: Robot, motion: Stepper) -> Array:
    """Angular momentum about the centre of mass, in the world (kg m^2/s)."""
    rotation = robot.frame_pose(motion.q, "stone")[:3, :3]
    return rotation @ np.diag([0.01, 0.02, 0.025]) @ motion.v[3:6]


def test_sled_slides_to_a_stop_and_stays() -> None:
    motion = Stepper(sled(friction=4), 1e-3)
    motion.set_state(np.array([0.0]), np.array([1.0]))
    run(motion, 0.25)
    assert motion.v[0] == pytest.approx(0.5, abs=1e-12)
    run(motion, 0.2505)
    assert motion.v[0] == 0
    assert motion.q[0] == pytest.approx(0.25, abs=1e-6)  # v^2 / 2 / (F / m)
    place = motion.q[0]
    motion.effort[:] = 3.999
    run(motion, 0.1)
    assert (motion.q[0], motion.v[0]) == (place, 0)


def test_sled_breaks_away() -> None:
    motion = Stepper(sled(friction=4), 1e-3)
    motion.effort[:] = -6
    run(motion, 0.5)
    assert motion.v[0] == pytest.approx(-0.5, rel=1e-9)
    assert motion.q[0] == pytest.approx(-0.125, rel=1e-9)


def test_arm_hangs_on_its_friction() -> None:
    """The load of each joint is below its friction: nothing moves, forever."""
    stiff = '<dynamics friction="60" damping="0.1"/>'
    robot = double_pendulum(stiff, stiff)
    motion = run(Stepper(robot, 1e-3), 0.2)
    assert motion.q.tolist() == [0, 0] and motion.v.tolist() == [0, 0]


def test_one_joint_sticks_while_the_other_slides() -> None:
    loose, tight = ('<dynamics friction="0.01"/>', '<dynamics friction="100"/>')
    robot = double_pendulum(tight, loose)
    motion = run(Stepper(robot, 1e-3), 0.3)
    assert (motion.q[0], motion.v[0]) == (0, 0)
    assert motion.q[1] > 0.3  # falls: gravity turns it about +y


def test_friction_takes_energy_only() -> None:
    dry = '<dynamics friction="1.5"/>'
    robot = double_pendulum(dry, dry)
    motion = Stepper(robot, 1e-3)
    motion.set_state(np.array([0.3, -0.8]), np.array([1.0, 2.5]))
    energy = [sum(robot.energy(motion.q, motion.v))]
    for _ in range(3000):
        motion.advance()
        energy.append(sum(robot.energy(motion.q, motion.v)))
    assert np.diff(energy).max() < 1e-5
    assert energy[-1] < energy[0] - 5


def test_stiff_damping() -> None:
    robot = sled(damping=1e5)
    motion = Stepper(robot, 1e-3)
    assert motion.method == "semi_implicit"
    motion.effort[:] = 50.0
    run(motion, 0.1)
    assert motion.v[0] == pytest.approx(50 / 1e5, rel=1e-6)
    motion.step = 1e-6
    assert motion.method == "rk4"


def test_explosion_names_joint_and_time() -> None:
    motion = Stepper(double_pendulum(), 1e-3)
    motion.set_state(np.zeros(2), np.array([0.0, 1e200]))
    with pytest.raises(mbdyn_ros.SimulationError, match=r"motion of [ab] .* t = 0\.001 s"):
        motion.advance()


def test_bad_arguments() -> None:
    robot = sled()
    with pytest.raises(mbdyn_ros.InputError, match="no method 'euler'"):
        Stepper(robot, 1e-3, method="euler")
    for step in (0.0, -1.0, float("nan")):
        with pytest.raises(mbdyn_ros.InputError, match="positive number"):
            Stepper(robot, step)


def test_massless_link_is_refused_by_name() -> None:
    text = robot_text(link("ghost", 0), joint("rail", "world", "ghost", "1 0 0", kind="prismatic"))
    with pytest.warns(mbdyn_ros.ModelWarning):
        robot = mbdyn_ros.load(text)
    with pytest.raises(mbdyn_ros.SingularMassMatrixError, match="'ghost'"):
        Stepper(robot, 1e-3)


def test_robot_without_joints() -> None:
    motion = Stepper(mbdyn_ros.load('<robot name="rock"><link name="rock"/></robot>'), 1e-3)
    motion.advance()
    assert motion.time == pytest.approx(1e-3)


# ---- closed loops -----------------------------------------------------------------------------

URDF = Path(__file__).resolve().parents[2] / "urdf"


def ours(name: str) -> Robot:
    return mbdyn_ros.load(URDF / f"{name}.urdf")


def turned(robot: Robot, joint: str, q: float) -> Robot:
    """The same mechanism with another independent joint, at home where `robot` is at q."""
    home = dict(zip(robot.joint_names, robot.joint_state([q])[0].tolist(), strict=True))
    return robot.with_independent([joint], home)


def test_four_bar_keeps_energy_and_follows_the_exact_motion() -> None:
    text = re.sub("<dynamics[^>]*/>", "", (URDF / "four_bar.urdf").read_text())
    robot = mbdyn_ros.load(text)
    exact = mbdyn_ros.simulate(robot, [0.5], [6.0], 2.0, times=[0.0, 2.0]).q[-1]
    errors = []
    for step in (2e-3, 1e-3):
        motion = PreparedStepper(robot, step)
        motion.set_state(np.array([0.5]), np.array([6.0]))
        start = sum(motion.energy)
        for _ in range(round(2.0 / step)):
            motion.advance()
        errors.append(abs(float(motion.q[0] - exact[0])))
        assert sum(motion.energy) == pytest.approx(start, abs=1e-5)
        assert not motion.changes
    assert sum(motion.energy) == pytest.approx(start, abs=2e-6)
    assert errors[1] < 1e-6 and np.log2(errors[0] / errors[1]) > 3.4
    position, velocity, _ = robot.joint_state(motion.q, motion.v)
    assert motion.joint_position == pytest.approx(position, abs=1e-12)
    assert motion.joint_velocity == pytest.approx(velocity, abs=1e-12)


@pytest.mark.long
def test_crane_follows_the_efforts_of_inverse_dynamics() -> None:
    """Efforts held over each step, taken at its middle: an error of second order in the step."""
    robot = ours("manipulator")
    motion = Stepper(robot, 1e-3)
    reach = np.array([0.5, 0.1, 0.1, 0.2])
    for k in range(1000):
        phase = np.pi * (k + 0.5) * 1e-3
        q, v = reach * (1 - np.cos(phase)) / 2, reach * np.pi * np.sin(phase) / 2
        motion.effort[:] = robot.inverse_dynamics(q, v, reach * np.pi**2 * np.cos(phase) / 2)
        motion.advance()
    assert motion.q == pytest.approx(reach, abs=1e-5)
    assert motion.v == pytest.approx(np.zeros(4), abs=1e-5)


def test_efforts_of_joints_that_are_not_independent() -> None:
    """One push on the crank, in the crank's coordinate and in the rocker's."""
    robot = ours("four_bar")
    other = turned(robot, "rocker_joint", 0.5)
    one, two = Stepper(robot, 1e-3), Stepper(other, 1e-3)
    one.set_state(np.array([0.5]), np.zeros(1))
    assert two.effort.shape == (1,) and other.actuated_joints == ("crank_joint",)
    one.effort[:] = two.effort[:] = 0.4
    run(one, 0.2)
    run(two, 0.2)
    position, _, _ = robot.joint_state(one.q)
    assert other.joint_state(two.q)[0] == pytest.approx(position, abs=1e-9)


@functools.cache
def rough_four_bar() -> tuple[mbdyn_ros.Robot, mbdyn_ros.Trajectory]:
    """With friction in its pins; its event-driven motion through one second."""
    text = (URDF / "four_bar.urdf").read_text()
    text = re.sub("<dynamics[^>]*/>", "", text)
    text = text.replace(
        '<axis xyz="0 -1 0"/>\n  </joint>',
        '<axis xyz="0 -1 0"/><dynamics damping="0.02" friction="0.1"/>\n  </joint>',
    )
    robot = mbdyn_ros.load(text)
    return robot, mbdyn_ros.simulate(robot, [0.5], [5.0], 1.0, times=[0.0, 1.0])


@pytest.mark.sparse(of=6)
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_friction_inside_a_loop(method: str, other: bool) -> None:
    """Dry friction and damping of passive pins, against the event-driven simulation."""
    robot, exact = rough_four_bar()
    chart = turned(robot, "rocker_joint", 0.5) if other else robot
    motion = PreparedStepper(chart, 1e-3, method=method)
    if other:
        at = robot.joint_names.index("rocker_joint")
        start = robot.joint_state([0.5], [5.0])
        motion.set_state(np.array([start[0][at]]), np.array([start[1][at]]))
    else:
        motion.set_state(np.array([0.5]), np.array([5.0]))
    for _ in range(1000):
        motion.advance()
    motion.close()
    wanted, _, _ = robot.joint_state(exact.q[-1])
    assert motion.joint_position == pytest.approx(wanted, abs=2e-3 if method == "rk4" else 0.02)


@pytest.mark.long
def test_arm_in_a_loop_hangs_on_friction() -> None:
    text = re.sub("<dynamics[^>]*/>", "", (URDF / "four_bar.urdf").read_text())
    text = text.replace(
        '<axis xyz="0 -1 0"/>\n  </joint>',
        '<axis xyz="0 -1 0"/><dynamics friction="50"/>\n  </joint>',
    )
    motion = PreparedStepper(mbdyn_ros.load(text), 1e-3)
    start = motion.q.copy()
    for _ in range(100):
        motion.advance()
    assert (motion.q == start).all() and not motion.v.any()


@pytest.mark.long
def test_through_dead_centres() -> None:
    """The slider of a turning crank: other coordinates go on, whatever the step."""
    robot = ours("slider_crank")
    chart = turned(robot, "slider_joint", 1.0)
    speed = robot.joint_state([1.0], [9.0])[1][robot.joint_names.index("slider_joint")]
    exact = mbdyn_ros.simulate(robot, [1.0], [9.0], 1.0, times=[0.0, 1.0]).q[-1]
    wanted, _, _ = robot.joint_state(exact)
    for step, tolerance in ((1e-3, 1e-5), (2e-2, 0.3)):
        motion = PreparedStepper(chart, step)
        motion.set_state(motion.q.copy(), np.array([speed]))
        for _ in range(round(1.0 / step)):
            motion.advance()
        assert motion.joint_position == pytest.approx(wanted, abs=tolerance)
        assert motion.changes and "dead centre of slider_joint" in motion.changes[0]
        assert motion.coordinates != ("slider_joint",)
        slider = robot.joint_names.index("slider_joint")
        assert motion.q[0] == motion.joint_position[slider]
    other = PreparedStepper(chart, 1e-3)
    other.prepare_for(motion)
    other.adopt(motion)
    assert other.joint_position == pytest.approx(motion.joint_position, abs=1e-9)
    assert other.joint_velocity == pytest.approx(motion.joint_velocity, abs=1e-9)
    other.close()


@pytest.mark.long
def test_a_change_point_is_named() -> None:
    """A parallelogram that comes to lie flat may go on as one or crosswise."""
    bars = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia '
        'ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in "abc"
    )
    pins = "".join(
        f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/><child '
        f'link="{child}"/><origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>'
        for parent, child, x in (("ground", "a", 0), ("a", "b", 0.2), ("ground", "c", 0.5))
    )
    loop = (
        '<loop name="pin" type="revolute"><predecessor link="b"><origin xyz="0.5 0 0"/>'
        '</predecessor><successor link="c"><origin xyz="0.2 0 0"/></successor>'
        '<axis xyz="0 0 1"/></loop>'
    )
    robot = mbdyn_ros.load(
        f'<robot name="flat"><link name="ground"/>{bars}{pins}{loop}</robot>',
        home={"a_joint": 1.0, "b_joint": -1.0, "c_joint": 1.0}, gravity=(0, 0, 0),
    )  # fmt: skip
    motion = PreparedStepper(robot, 1e-3)
    q = motion.q.copy()
    motion.set_state(q, np.array([-1.0 if q[0] > 0 else 1.0]))
    with pytest.raises(mbdyn_ros.SimulationError, match="'pin'|change point|finite"):
        for _ in range(2000):
            motion.advance()
    motion.close()
