"""The fastest motion along a path: closed solutions, and efforts and speeds by Pinocchio."""

from __future__ import annotations

import math
import re

import numpy as np
import pinocchio as pin
import pytest
from loop_judge import LoopJudge
from own_robots import OWN

import mbdyn_ros
from mbdyn_ros.control import default_gains
from mbdyn_ros.errors import InputError
from mbdyn_ros.model.examples import CART, PENDULUM
from mbdyn_ros.motion import MotionLimits, Pump, time_optimal
from mbdyn_ros.motion.reference import Reference, mean_between
from mbdyn_ros.motion.timed_path import constant_speed, lowered_limits

WAY = [[0.0], [0.5]]
REACH = np.array(
    [[0.0, -1.2, 1.4, -0.5, 0.4, 0.0], [0.9, -0.7, 1.0, -1.1, 1.2, 0.5],
     [1.6, -1.3, 1.7, -0.4, 0.3, 1.5], [0.6, -1.7, 0.8, 0.5, -0.8, 0.9]]
)  # fmt: skip

CYCLE = np.array([[0, 0, 0, 0], [0.4, 0.1, -0.05, 0.1], [0.8, 0, 0.05, 0.05]])


@pytest.fixture(scope="module")
def cart() -> mbdyn_ros.Robot:
    return mbdyn_ros.load(CART)


@pytest.fixture(scope="module")
def ur5() -> mbdyn_ros.Robot:
    return mbdyn_ros.example("ur5")


@pytest.fixture(scope="module")
def boom() -> mbdyn_ros.Robot:
    return mbdyn_ros.example("boom")


def largest(numbers: np.ndarray) -> float:
    return float(np.abs(numbers).max())


def test_a_mass_is_thrown_and_caught(cart: mbdyn_ros.Robot) -> None:
    """Full force until half of the way, and back: 2 sqrt(distance mass / force)."""
    timed = time_optimal(cart, WAY, MotionLimits(effort=4.0))
    assert timed.duration == pytest.approx(2 * math.sqrt(0.5 * 2 / 4), rel=1e-9)
    assert re.fullmatch(r"TimedPath\('\w+': 1 s in 1 part, excess \S+\)", repr(timed))
    q, v, a = timed.state([0.25 * timed.duration, timed.duration])
    assert q[:, 0] == pytest.approx([0.5 * 2 * (timed.duration / 4) ** 2, 0.5], rel=1e-9)
    assert v[0, 0] == pytest.approx(2 * timed.duration / 4)
    assert v[1, 0] == pytest.approx(0, abs=1e-9)
    assert [one.limit for one in timed.limiting()] == ["effort of rail"]


def test_bounds_of_either_sign(cart: mbdyn_ros.Robot) -> None:
    """It accelerates by 1 and brakes by 4: v = sqrt(2 d a b / (a + b)), t = v (1 / a + 1 / b)."""
    timed = time_optimal(cart, WAY, MotionLimits(effort={"rail": (-8.0, 2.0)}))
    peak = math.sqrt(2 * 0.5 * 4 / 5)
    assert timed.duration == pytest.approx(peak * 1.25, rel=1e-3)


def test_speeds_at_the_ends(cart: mbdyn_ros.Robot) -> None:
    limits = MotionLimits(acceleration=2.0)
    timed = time_optimal(cart, WAY, limits, start_speed=1.0, end_speed=1.0)
    assert timed.duration == pytest.approx((math.sqrt(2) - 1) * 2 / 2, rel=1e-3)
    with pytest.raises(InputError, match=r"cannot end at a speed of 2: at most 1\.41421"):
        time_optimal(cart, WAY, limits, end_speed=2.0)
    with pytest.raises(InputError, match=r"cannot begin at a speed of 2: beyond 1\.41421"):
        time_optimal(cart, WAY, limits, start_speed=2.0)


@pytest.mark.parametrize(("distance", "within"), [(2.0, 1e-3), (100.0, 2e-3)])
def test_viscous_and_dry_friction(distance: float, within: float) -> None:
    """m a = F - d v - f: t and the way in closed form, until a wall of speed and back.

    Braking, friction helps: m a = -F - d v - f.
    """
    text = CART.replace("</joint>", '<dynamics friction="1" damping="1"/></joint>')
    force, mass, damping, dry = 4.0, 2.0, 1.0, 1.0
    timed = time_optimal(mbdyn_ros.load(text), [[0.0], [distance]], MotionLimits(effort=force))
    free, rate = (force - dry) / damping, damping / mass
    stop = (force + dry) / damping

    def way(v: float) -> float:
        up = -(free * math.log(1 - v / free) + v) / rate
        return up + (v - stop * math.log(1 + v / stop)) / rate

    low, high = 0.0, free * (1 - 1e-12)
    for _ in range(200):
        v = (low + high) / 2
        low, high = (v, high) if way(v) < distance else (low, v)
    expected = (-math.log(1 - v / free) + math.log(1 + v / stop)) / rate
    assert timed.duration == pytest.approx(expected, rel=within)
    made = timed.trajectory(1000.0)
    assert largest(made.effort) <= force * 1.001


def test_power_of_a_motor(cart: mbdyn_ros.Robot) -> None:
    """F = m a up to P / F, then m v dv/dx = P / v; it brakes without a limit of power."""
    force, mass, power = 4.0, 2.0, 2.0
    timed = time_optimal(cart, [[0.0], [4.0]], MotionLimits(effort=force, power={"rail": power}))
    corner = power / force

    def way(v: float) -> float:
        return (
            mass * corner**2 / 2 / force
            + mass * (v**3 - corner**3) / 3 / power
            + (mass * v**2 / 2 / force)
        )

    low, high = corner, 10.0
    for _ in range(200):
        v = (low + high) / 2
        low, high = (v, high) if way(v) < 4.0 else (low, v)
    expected = mass * corner / force + mass * (v**2 - corner**2) / 2 / power + mass * v / force
    assert timed.duration == pytest.approx(expected, rel=2e-3)
    made = timed.trajectory(1000.0)
    assert (made.effort * made.velocity).max() <= power * 1.003


def test_power_of_a_supply(ur5: mbdyn_ros.Robot) -> None:
    """Pinocchio's efforts times velocities, summed over all joints, at ten times the grid."""
    timed = time_optimal(ur5, REACH, MotionLimits(acceleration=20.0, supply_power=60.0))
    model = pin.buildModelFromUrdf(str(OWN / "ur5.urdf"))
    data = model.createData()
    moments = np.linspace(0, timed.duration, 10 * len(timed.fastest[0].x))
    power = [
        pin.rnea(model, data, *one) @ one[1] for one in zip(*timed.state(moments), strict=True)
    ]
    assert 59.9 < max(power) <= 60.0 * 1.001
    assert "power of the supply" in {one.limit for one in timed.limiting()}


def test_efforts_by_pinocchio(ur5: mbdyn_ros.Robot) -> None:
    """No limit is passed at ten times the grid, and one is reached nearly everywhere."""
    timed = time_optimal(ur5, REACH, MotionLimits(acceleration=20.0))
    model = pin.buildModelFromUrdf(str(OWN / "ur5.urdf"))
    data = model.createData()
    time = np.linspace(0, timed.duration, 2000)
    q, v, a = timed.state(time)
    efforts = np.array([pin.rnea(model, data, *one) for one in zip(q, v, a, strict=True)])
    used = np.column_stack(
        [np.abs(efforts) / ur5.effort_limits, np.abs(v) / ur5.velocity_limits, np.abs(a) / 20.0]
    ).max(axis=1)
    assert used.max() <= 1.001
    assert np.mean(used > 0.98) > 0.95
    # the motion is that of its own speeds and accelerations
    np.testing.assert_allclose(np.gradient(q[:, 0], time)[5:-5], v[5:-5, 0], atol=0.02)


def test_halving_keeps_limits_between_points_of_a_coarse_grid(ur5: mbdyn_ros.Robot) -> None:
    coarse = time_optimal(ur5, REACH, intervals=10)
    plain = time_optimal(ur5, REACH, intervals=10, excess=math.inf)
    assert coarse.excess <= 5e-4
    assert coarse.used()[1].max() <= 1.001 < plain.used()[1].max()


@pytest.mark.usefixtures("interpreted_by_day")
def test_a_loop_by_its_own_null_space(boom: mbdyn_ros.Robot) -> None:
    """Cylinder forces by Pinocchio's tree and its null space, on a path of the boom's angle."""
    ends = boom.joint_state([[-0.1], [0.1]])[0][:, boom.joint_names.index("boom_joint")]
    timed = time_optimal(boom, ends[:, None], joints=["boom_joint"])
    judge = LoopJudge((OWN / "boom.urdf").read_text(), boom.model, boom.joint_names)
    rod = boom.joint_names.index("rod_joint")
    used = []
    for q, v, a in zip(*timed.state(np.linspace(0, timed.duration, 50)), strict=True):
        x, rate, _ = boom.joint_state(q, v, a)
        state = judge.at(x, rate)
        embedding, drift = state.embedding([rod])
        effort = embedding.T @ state.efforts(embedding @ a + drift)
        used.append(max(largest(effort / boom.effort_limits), largest(v / boom.velocity_limits)))
    assert 0.999 < max(used) <= 1.001
    assert min(used[2:-2]) > 0.9


def test_a_pump_and_a_tool(boom: mbdyn_ros.Robot) -> None:
    out, back = 2e-3, 1e-3
    pump = Pump(1e-4, {"rod_joint": (out, back)})
    there = time_optimal(boom, [[-0.1], [0.1]], MotionLimits(pumps=[pump])).trajectory()
    again = time_optimal(boom, [[0.1], [-0.1]], MotionLimits(pumps=[pump])).trajectory()
    assert there.velocity.max() == pytest.approx(1e-4 / out, rel=1e-3)
    assert again.velocity.min() == pytest.approx(-1e-4 / back, rel=1e-3)
    tip = boom.links[-1]
    limits = MotionLimits(tool_speed={tip: 0.2}, tool_acceleration={tip: 1.0})
    made = time_optimal(boom, [[-0.1], [0.1]], limits).trajectory()
    speed = boom.frame_velocity(made.position, made.velocity, tip)[:, :3]
    curve = boom.frame_acceleration(made.position, made.velocity, made.acceleration, tip)[:, :3]
    assert np.linalg.norm(speed, axis=1).max() == pytest.approx(0.2, rel=1e-3)
    assert np.linalg.norm(curve, axis=1).max() == pytest.approx(1.0, rel=2e-3)


def test_what_a_bearing_carries() -> None:
    """A pendulum swung round: its bearing carries weight and centrifugal force."""
    robot = mbdyn_ros.load(PENDULUM)
    limits = MotionLimits(effort=200.0, joint_force={"hinge": 60.0})
    made = time_optimal(robot, [[0.0], [6.0]], limits).trajectory(1000.0)
    force = robot.joint_wrenches(made.position, made.velocity, made.acceleration)["hinge"]
    assert np.linalg.norm(force[:, :3], axis=1).max() == pytest.approx(60.0, rel=2e-3)


def test_zero_inertia(ur5: mbdyn_ros.Robot) -> None:
    """A joint that turns back has no inertia along the path there: no chatter."""
    path = REACH[[0, 1, 0]] + [[0] * 6, [0, 0.3, 0, 0, 0, 0], [0] * 6]
    timed = time_optimal(ur5, path)
    (fast,) = timed.parts
    jumps = np.abs(np.diff(np.sign(fast.u)))
    assert (jumps > 0).sum() < 12
    assert timed.excess <= 1e-3


def test_stops_and_blends_at_corners(cart: mbdyn_ros.Robot, ur5: mbdyn_ros.Robot) -> None:
    corners = np.array([[0.0] * 6, [0.5] + [0.0] * 5, [0.5, -0.5, 0, 0, 0, 0]]) + REACH[0]
    limits = MotionLimits(acceleration=5.0)
    stopped = time_optimal(ur5, corners, limits, blend=0)
    blended = time_optimal(ur5, corners, limits, blend=0.02)
    assert len(stopped.parts) == 2
    at_corner = stopped.state([stopped.parts[0].duration])
    np.testing.assert_allclose(at_corner[0][0], corners[1], atol=1e-9)
    assert largest(at_corner[1]) < 1e-6
    assert blended.duration < 0.95 * stopped.duration
    q = blended.state(np.linspace(0, blended.duration, 4000))[0]
    assert np.linalg.norm(q - corners[1], axis=1).min() == pytest.approx(0.02, rel=1e-3)


def test_jerk(ur5: mbdyn_ros.Robot) -> None:
    """Its limit holds by differences of accelerations; what it costs is the longer duration."""
    timed = time_optimal(ur5, REACH, MotionLimits(acceleration=10.0), jerk=100.0, intervals=200)
    assert timed.least_duration < timed.duration < 1.6 * timed.least_duration
    time = np.linspace(0, timed.duration, 4001)
    q, v, a = timed.state(time)
    assert largest(np.diff(a, axis=0) / time[1]) <= 101.0
    assert largest(a) <= 10.01
    np.testing.assert_allclose(q[[0, -1]], REACH[[0, -1]], atol=1e-9)
    assert largest(v[[0, -1]]) < 1e-9


def test_a_function_and_tool_poses(ur5: mbdyn_ros.Robot) -> None:
    timed = time_optimal(ur5, lambda s: REACH[0] + np.array([s, s * s, 0, 0, 0, 0]), intervals=200)
    np.testing.assert_allclose(timed.state([timed.duration])[0][0], REACH[0] + [1, 1, 0, 0, 0, 0])
    poses = [ur5.frame_pose(REACH[0] + [x, 0, 0, 0, 0, 0], "tool0") for x in (0.0, 0.1, 0.2)]
    timed = time_optimal(ur5, poses, link="tool0", intervals=200)
    q = timed.state([0.0, timed.duration])[0]
    for one, pose in zip(q, (poses[0], poses[-1]), strict=True):
        np.testing.assert_allclose(ur5.frame_pose(one, "tool0"), pose, atol=1e-6)


def test_other_rules_take_longer(ur5: mbdyn_ros.Robot) -> None:
    weak = dict(zip(ur5.effort_labels, 0.55 * ur5.effort_limits, strict=True))
    timed = time_optimal(ur5, REACH, MotionLimits(velocity=30.0, effort=weak), intervals=300)
    assert timed.duration < 0.9 * lowered_limits(timed)
    assert constant_speed(timed) > timed.duration


def test_a_payload_set_a_moment_ago() -> None:
    robot = mbdyn_ros.load(PENDULUM, variable=["rod"])
    limits, way = MotionLimits(effort=40.0), [[0.0], [1.0]]
    before = time_optimal(robot, way, limits).duration
    robot.set_payload("rod", 1.0, (1.0, 0.0, 0.0))
    assert time_optimal(robot, way, limits).duration > 1.05 * before


@pytest.mark.parametrize(
    ("path", "limits", "message"),
    [
        ([[0.0], [0.0], [1.0]], {}, "waypoints 0 and 1 are the same point"),
        ([[0.0]], {}, "two waypoints or more; 1 is given"),
        ([[0.0], [math.nan]], {}, "waypoint 1 is"),
        ([[0.0], [1.0]], {}, "nothing limits the motion"),
        ([[0.0], [1.0]], {"effort": {"rial": 1.0}}, "no joint 'rial' there"),
        ([[0.0], [1.0]], {"effort": {"rail": (2.0, 1.0)}}, "no effort of rail .* between 2 and 1"),
        ([[0.0], [1.0]], {"velocity": {"rail": -1.0}}, "no velocity .* between 1 and -1"),
        ([[0.0], [1.0]], {"power": {"rail": 0.0}}, "power of rail is 0; it must be"),
        ([[0.0], [1.0]], {"supply_power": -1.0}, "power of the supply is -1; it must be"),
        ([[0.0], [1.0]], {"pumps": [Pump(1.0, {"rail": (0, 1)})]}, "area of rail is 0; it must be"),
        ([[0.0], [1.0]], {"pumps": [Pump(0.0, {"rail": (1, 1)})]}, "flow of a pump is 0; it must"),
        (lambda s: [0.0 if s < 0.5 else 1.0], {}, "the path jumps by 1 .* between s = 0.4975"),
        (lambda s: [0.0, 1.0], {}, "must give 1 finite numbers"),
    ],
)
def test_paths_and_limits_that_are_refused(
    cart: mbdyn_ros.Robot, path: object, limits: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        time_optimal(cart, path, MotionLimits(**limits))  # type: ignore[arg-type]


def test_a_path_that_cannot_be_held() -> None:
    """The rod weighs 19.62 N at 0.5 m: level it takes 9.81 N m, of which 9 are there."""
    robot = mbdyn_ros.load(PENDULUM)
    message = (
        r"50 % of the way from waypoint 0 to the next: the robot cannot be held there, nor pass "
        r"slowly: effort of hinge would be -9\.81, and its limit is -9 .*: 0\.81 too much"
    )
    with pytest.raises(InputError, match=message):
        time_optimal(robot, [[-1.0], [1.0]], MotionLimits(effort=9.0))


def test_beyond_reach_and_limits(boom: mbdyn_ros.Robot, ur5: mbdyn_ros.Robot) -> None:
    low, high = boom.position_limits[:, 0]
    with pytest.raises(InputError, match=r"waypoint 0.*rod_joint is at .* beyond its limits"):
        time_optimal(boom, [[0.0], [high + 0.01]])
    with pytest.raises(InputError, match="waypoint 1: .*'tool0' cannot be brought to"):
        time_optimal(ur5, [ur5.frame_pose(REACH[0], "tool0")[:3, 3], [3.0, 0, 0]], link="tool0")


def test_means_of_efforts_that_run_straight() -> None:
    times, rows = np.array([0.0, 1.0, 3.0]), np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 5.0]])
    assert mean_between(times, rows, 0.0, 3.0) == pytest.approx([1.0, 7 / 3])
    assert mean_between(times, rows, 0.5, 1.0) == pytest.approx([1.5, 1.0])
    assert mean_between(times, rows, 2.0, 4.0) == pytest.approx([0.25, 4.5])


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "tool", "tolerance"),
    [("boom", "boom", None), ("ur5", "tool0", 2.0), ("crane", "tool", None),
     ("excavator", "bucket", None)],
)  # fmt: skip
def test_simulated_with_its_efforts(name: str, tool: str, tolerance: float | None) -> None:
    """Points at 250 Hz, efforts straight between them, their mean in each period of 2 ms, and the
    PD of the nodes. The UR5's joints accelerate by 500 rad/s^2, which needs some points more."""
    robot = mbdyn_ros.example(name)
    path = REACH if name == "ur5" else robot.home_position + CYCLE[:, -robot.nv :]
    timed = time_optimal(robot, path)
    made, gains = timed.trajectory(250.0, tolerance), default_gains(robot, 500.0)
    wanted = Reference(made.time, made.position, made.velocity, made.acceleration)
    stepper = mbdyn_ros.Stepper(robot, 5e-4)
    stepper.set_state(path[0], np.zeros(robot.nv))
    period = 2e-3
    for k in range(int(timed.duration / period)):
        q, v, _ = wanted.at(k * period)
        effort = mean_between(made.time, made.effort, k * period, (k + 1) * period)
        stepper.effort[:] = (
            effort
            + gains["joint_stiffness"] * (q - stepper.q)
            + gains["joint_damping"] * (v - stepper.v)
        )
        stepper.advance(4)
        q = wanted.at((k + 1) * period)[0]
        poses = robot.frame_pose(q, tool), robot.frame_pose(stepper.q, tool)
        assert largest(q - stepper.q) <= 2e-3
        assert np.linalg.norm(poses[0][:3, 3] - poses[1][:3, 3]) <= 2e-3
