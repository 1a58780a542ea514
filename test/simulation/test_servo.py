"""Joints that follow positions and velocities: hybrid dynamics, limits, contacts, loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robot_text import link
from ros_rig import ARM, MOMENTS

import mbdyn_ros
from mbdyn_ros import Robot
from mbdyn_ros.array import Array
from mbdyn_ros.compiler.kernel import Bound
from mbdyn_ros.equations.programs import actuator_response
from mbdyn_ros.simulation.contact.environment import with_stops
from mbdyn_ros.simulation.stepped.prepared_stepper import PreparedStepper
from mbdyn_ros.simulation.stepped.servo import Following, Targets

CRANE, UR5 = (
    str(Path(__file__).resolve().parents[2] / "urdf" / name)
    for name in ("manipulator.urdf", "ur5.urdf")
)
STEP = 1e-3


@pytest.fixture(scope="module")
def crane() -> Robot:
    return mbdyn_ros.load(CRANE)


class Rig:
    """A robot in steps whose joints follow targets."""

    def __init__(self, robot: Robot, frequency: float = 50.0, stops: bool = False) -> None:
        start = robot.home_position
        walls = with_stops(robot, start, None) if stops else None
        self.motion = PreparedStepper(robot, STEP, environment=walls)
        self.motion.set_state(start, np.zeros(robot.nv))
        self.following = Following(robot, self.motion, frequency)
        self.targets = Targets.none(len(robot.effort_labels))
        self.limit = np.full(len(robot.effort_labels), math.inf)

    @property
    def position(self) -> Array:
        found: Array = self.motion.joint_position[self.following.places]
        return found

    @property
    def velocity(self) -> Array:
        found: Array = self.motion.joint_velocity[self.following.places]
        return found

    def go(self, effort: Any = 0.0) -> None:
        """One step; `effort` of what follows nothing."""
        self.motion.effort[:] = effort
        self.following.drive(self.motion.effort, self.targets, self.limit)
        self.motion.advance()


def test_response_is_that_of_forward_dynamics(crane: Robot) -> None:
    rng = np.random.default_rng(1)
    q, v, effort = crane.home_position + 0.01, rng.normal(size=4), 1e4 * rng.normal(size=4)
    response = Bound(crane.calls.kernel(actuator_response))
    response.q[:], response.v[:] = q, v
    response()
    a = crane.forward_dynamics(q, v, effort)
    whole = crane.joint_state(q, v, a)[2]
    assert whole is not None
    places = [crane.joint_names.index(name) for name in crane.actuated_joints]
    found = response.result[:, :-1] @ effort + response.result[:, -1]
    assert found == pytest.approx(whole[places], rel=1e-11)


@pytest.mark.parametrize("chosen", [(0, 1, 2, 3), (1, 3)])
def test_a_path_is_followed(crane: Robot, chosen: tuple[int, ...]) -> None:
    """In closed loops, by any of the joints; the efforts of the others are what they are."""
    rig, rows = Rig(crane), list(chosen)
    rig.targets.followed[rows] = rig.targets.placed[rows] = True
    start, w, size = rig.position.copy(), 2 * math.pi, 0.03
    still = crane.gravity_vector(crane.home_position)
    still[rows] = 0.0
    worst = 0.0
    for k in range(250):
        t = k * STEP
        rig.targets.position[:] = start + size * (1 - math.cos(w * t))
        rig.targets.velocity[:] = size * w * math.sin(w * t)
        rig.targets.acceleration[:] = size * w * w * math.cos(w * (t + STEP / 2))
        rig.go(still)
        wanted = start + size * (1 - math.cos(w * (t + STEP)))
        worst = max(worst, np.abs(rig.position - wanted)[rows].max())
    assert worst < 2e-8
    free = [k for k in range(4) if k not in chosen]
    assert rig.motion.effort[free] == pytest.approx(still[free])


def test_efforts_are_those_of_inverse_dynamics(crane: Robot) -> None:
    rig = Rig(crane)
    rig.targets.followed[:] = rig.targets.placed[:] = True
    rig.targets.position[:] = rig.position
    rig.targets.acceleration[:] = 0.4, -0.2, 0.3, 0.1
    wanted = crane.inverse_dynamics(rig.motion.q, rig.motion.v, rig.targets.acceleration)
    rig.go()
    assert rig.motion.effort == pytest.approx(wanted, rel=1e-9)


@pytest.mark.long
def test_a_step_is_approached_without_overshoot() -> None:
    """Held to the velocity limit on the way, and to the effort limit."""
    robot = mbdyn_ros.load(ARM)
    rig = Rig(robot)
    rig.limit[:] = 60.0, math.inf, 20.0
    rig.targets.followed[:] = rig.targets.placed[:] = True
    rig.targets.position[:] = -0.8, 0.5, 0.06
    efforts, positions, speeds = [], [], []
    for _ in range(900):
        rig.go()
        efforts.append(rig.motion.effort.copy())
        positions.append(rig.position)
        speeds.append(rig.velocity)
    assert np.abs(efforts)[:, 0].max() == 60.0 and np.abs(efforts)[:, 2].max() <= 20.0
    assert "shoulder" in rig.following.saturated() and not rig.following.saturated()
    assert np.abs(speeds)[:, 2].max() < 1.0 + 0.02
    far = np.array(positions) / rig.targets.position
    assert far[-1] == pytest.approx(1.0, abs=1e-6)
    assert far.max() < 1.002


def test_joints_at_their_limits_come_to_rest() -> None:
    """Of a stretched arm, which drove each other from limit to limit forever."""
    robot = mbdyn_ros.load(UR5)
    rig = Rig(robot)
    limits = [robot.model.joint(one).limits for one in robot.actuated_joints]
    rig.limit = np.array([math.inf if one is None else one.effort for one in limits])
    rig.motion.set_state(np.full(6, 0.15), np.zeros(6))
    rig.targets.followed[:] = rig.targets.placed[:] = True
    rig.targets.position[:] = 0.1
    for _ in range(500):
        rig.go()
    assert rig.following.saturated()
    assert rig.position == pytest.approx(np.full(6, 0.1), abs=1e-4)


def test_a_velocity_is_followed_and_friction_overcome() -> None:
    rough = ARM.replace('<dynamics damping="1"/>', '<dynamics damping="1" friction="4"/>')
    rig = Rig(mbdyn_ros.load(rough))
    rig.targets.followed[:] = True
    rig.targets.placed[:2] = True  # the arm stands, the gripper goes
    rig.targets.velocity[2] = 0.05
    for _ in range(400):
        rig.go()
    assert rig.velocity[2] == pytest.approx(0.05, rel=1e-6)
    assert rig.position[2] == pytest.approx(0.05 * 0.4, rel=0.02)
    assert rig.position[:2] == pytest.approx(0.0, abs=1e-7)


def test_a_wall_in_the_way_is_pressed_and_left() -> None:
    """With an effort that is bounded; the target comes back, and the joint with it."""
    robot = mbdyn_ros.load(ARM)
    rig = Rig(robot, stops=True)
    rig.targets.followed[:] = rig.targets.placed[:] = True
    rig.targets.position[2] = 0.12  # its stop is at 0.1
    for _ in range(600):
        rig.go()
    assert rig.position[2] == pytest.approx(0.1, abs=1e-6)
    pressing = rig.motion.effort[2]
    for _ in range(100):
        rig.go()
    assert rig.motion.effort[2] == pytest.approx(pressing, rel=1e-2)
    rig.targets.position[2] = 0.05
    for _ in range(300):
        rig.go()
    assert rig.position[2] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.long
def test_a_floating_base_falls_while_its_joints_stand() -> None:
    based = ARM.replace('<link name="base"/>', link("base", 3, MOMENTS))
    robot = mbdyn_ros.load(based, floating_base=True)
    rig = Rig(robot)
    joints = np.flatnonzero(rig.following.places >= 0)
    assert len(joints) == 3
    rig.targets.followed[joints] = rig.targets.placed[joints] = True
    for _ in range(100):
        rig.go()
    assert rig.motion.joint_velocity[rig.following.places[joints]] == pytest.approx(0, abs=1e-6)
    assert robot.energy(rig.motion.q, rig.motion.v)[0] > 1.0
    assert rig.motion.v[2] == pytest.approx(-0.981, rel=1e-3)
