"""Simulations that go on in equal steps where events do not go on one by one."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import joint, link, robot_text
from thrown_robots import BLOCK, CORNERS

import mbdyn_ros
from mbdyn_ros import Environment, Surface
from mbdyn_ros.simulation.adaptive.motion import Motion
from mbdyn_ros.simulation.adaptive.stretch import STEP, SteppedMotion
from mbdyn_ros.simulation.effort import effort_function

SPIDER = """<robot name="spider"><link name="body"><inertial><mass value="2"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>{legs}
  </robot>"""

LEG = """<link name="leg{k}"><inertial><origin xyz="0.15 0 0"/><mass value="0.2"/>
  <inertia ixx="1e-4" iyy="2e-3" izz="2e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hip{k}" type="continuous"><origin xyz="0 0 0" rpy="0 0 {turn}"/>
  <parent link="body"/><child link="leg{k}"/><axis xyz="0 1 0"/></joint>"""


FLAP = """<robot name="flap"><link name="palm"><inertial><mass value="0.3"/>
  <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="finger"><inertial><origin xyz="0.03 0 0"/><mass value="0.02"/>
  <inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><origin xyz="0.05 0 0"/><axis xyz="0 1 0"/>
  <parent link="palm"/><child link="finger"/><dynamics damping="3"/></joint></robot>"""


@pytest.mark.long
def test_strong_damping_takes_no_more_than_there_is() -> None:
    """A finger whose damper stops it in 10 us hits the floor at all instants of a step."""
    robot = mbdyn_ros.load(FLAP, floating_base=True)
    points = [("palm", (0, 0, -0.03)), ("finger", (0.06, 0, 0))]
    floor = Environment([Surface.plane(friction=0.8, restitution=0.3)], points)
    motion = Motion(robot, effort_function(robot, None), floor, 1e-10)
    moving = SteppedMotion(robot, motion, floor)
    for height in 0.06 + 2.5e-5 * np.arange(8, 18):
        state = motion.state(
            np.array([0, 0, height, 0, 0, 0, 1, 1.0]), np.r_[0, 0, -3.0, 0, 1, 0, 0]
        )
        moving.start(0.0, state)
        start = sum(motion.energy(state))
        for k in range(1, 30):
            moving.step_to(k * STEP, 1)
            loss = motion.work(moving.state)[1]
            assert sum(motion.energy(moving.state)) + loss == pytest.approx(start, abs=2e-4)
        assert moving.stepper.take_impacts()


@pytest.mark.sparse
@pytest.mark.parametrize("stiffness", [0.0, 3.0])
def test_a_spider_falls_and_folds_up(stiffness: float) -> None:
    """Many contacts bounce at once: it comes through, and energy is accounted for.

    With springs at its hips (N m/rad) theirs counts too.
    """
    legs = "".join(LEG.format(k=k, turn=k * np.pi / 2) for k in range(4))
    robot = mbdyn_ros.load(SPIDER.format(legs=legs), floating_base=True)
    points = [(f"leg{k}", (x, 0, z)) for k in range(4) for x in (0.1, 0.3) for z in (0.02, -0.02)]
    floor = Surface.plane(restitution=0.3, friction=0.5, name="floor")
    walls = Environment([floor], [*points, ("body", (0, 0, -0.1)), ("body", (0, 0, 0.1))])
    q = np.array([0, 0, 0.5, 0.1, 0.05, 0, 0, 0.5, 0.6, 0.4, 0.7])
    q[6] = np.sqrt(1 - q[3:6] @ q[3:6])
    times = np.linspace(0, 1, 201)
    springs = (lambda t, q, v: -stiffness * q[7:]) if stiffness else None
    trajectory = mbdyn_ros.simulate(
        robot, q, np.zeros(10), 1.0, springs, environment=walls, rtol=1e-7, atol=1e-8, times=times
    )
    np.testing.assert_array_equal(trajectory.time, times)
    assert trajectory.stretches
    for stretch in trajectory.stretches:
        assert 0 < stretch.start < stretch.end <= 1 and stretch.why
    stored = 0.5 * stiffness * (trajectory.q[:, 7:] ** 2).sum(axis=1)
    energy = trajectory.energy.sum(axis=1) + stored
    assert (np.diff(energy) <= 1e-7 * energy[0]).all()
    assert np.abs(trajectory.imbalance).max() < 0.01 * energy[0]
    stepper = mbdyn_ros.Stepper(robot, 1e-3, walls)
    for position, velocity in zip(trajectory.q[::20], trajectory.v[::20], strict=True):
        stepper.set_state(position, velocity)  # refuses what is deeper than a micrometre


@pytest.mark.long
def test_a_fast_top_stays_with_events() -> None:
    """Its steps are as long as 200 rad/s allow: on its tip, where nothing happens."""
    text = robot_text(link("top", 0.1, 4e-5, at="0 0 0.04"), base="")
    top = mbdyn_ros.load(text, floating_base=True)
    floor = Environment([Surface.plane(friction=1.0)], [("top", (0, 0, 0))])
    q, v = np.array([0, 0, 0, np.sin(0.15), 0, 0, np.cos(0.15)]), np.r_[0, 0, 0, 0, 0, 200.0]
    fine, coarse = (
        mbdyn_ros.simulate(
            top, q, v, 0.5, environment=floor, times=[0.5], rtol=rtol, atol=rtol / 100
        )
        for rtol in (1e-10, 1e-8)
    )
    assert not fine.stretches and not fine.impacts
    np.testing.assert_allclose(fine.q, coarse.q, atol=1e-7)


def test_what_rests_takes_no_steps() -> None:
    """A block on the floor stands still; then time passes without a step."""
    robot = mbdyn_ros.load(BLOCK, floating_base=True)
    floor = Surface.plane(restitution=0.0, friction=0.5, name="floor")
    walls = Environment([floor], CORNERS)
    motion = Motion(robot, effort_function(robot, None), walls)
    start = motion.state(np.array([0, 0, 0.1, 0, 0, 0, 1]), np.array([0, 0, 0, 0.1, 0, 0]))
    moving = SteppedMotion(robot, motion, walls)
    moving.start(0.0, start)
    for k in range(80):
        moving.step_to(0.01 * (k + 1), 50)
    assert moving.rests
    steps, place = moving.steps, moving.stepper.q.copy()
    moving.step_to(100.0, 1)
    assert (moving.time, moving.steps) == (100.0, steps)
    np.testing.assert_array_equal(moving.stepper.q, place)
    assert not moving.stepper.v.any()


@pytest.mark.sparse
def test_efforts_that_damp_strongly_do_not_overshoot() -> None:
    """They stop the wheel in 50 us, a quarter of a step, and a spring pulls it home slowly."""
    wheel = mbdyn_ros.load(
        robot_text(link("wheel", 1.0, 1e-3), joint("axle", "world", "wheel", "0 0 1"))
    )
    below = Surface.plane((0, 0, -0.1)).resisting(rolling=1e-3)  # where steps are equal
    walls = Environment([below], points=[("wheel", (0, 0, 0), 0.1)])
    motion = mbdyn_ros.simulate(
        wheel, [0.1], [0.0], 0.1, effort=lambda t, q, v: -300 * q - 20 * v, environment=walls
    )
    assert len(motion.stretches) == 1
    assert motion.q[-1] == pytest.approx(0.1 * np.exp(-15 * 0.1), rel=1e-3)
