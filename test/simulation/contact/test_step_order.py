"""Equal steps in lasting contact: of second order, and no matter how fast the robot travels."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest
from robot_text import body_text, joint, link, robot_text

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface

G = 9.81
RADIUS, BOWL = 0.1, 1.0
BALL = body_text("ball", 2.0, 0.4 * 2.0 * RADIUS**2)
CAR = robot_text(
    link("car", 10.0, 0.5), link("wheel", 1e-3, 1e-3),
    joint("pitch", "car", "wheel", "0 1 0"),
    base="",
)  # fmt: skip
SKIDS = [("car", (x, y, -0.3)) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]


@pytest.mark.sparse
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_weight_does_not_depend_on_speed(step: float) -> None:
    """A car's floor takes its pitching torque: a fall through it would turn its velocity."""
    car = mbdyn_ros.load(CAR, floating_base=True)
    floor = Surface.plane(restitution=0, friction=0)
    for speed in (0.0, 10.0, 30.0):
        stepper = Stepper(car, step, Environment([floor], SKIDS))
        stepper.set_state([0, 0, 0.3, 0, 0, 0, 1, 0], [speed, 0, 0, 0, 0, 0, 0])
        stepper.effort[-1] = 16.0
        stepper.advance(100)
        forces = [one.force[2] for one in stepper.contacts]
        assert sum(forces) == pytest.approx(10.001 * G, rel=1e-7)
        pairs = abs(forces[0] + forces[1] - forces[2] - forces[3])  # 1 m apart
        assert pairs == pytest.approx(2 * 16.0, rel=1e-7)
        np.testing.assert_allclose(stepper.v[1:6], 0, atol=1e-6)


@pytest.mark.parametrize(("friction", "share"), [(0.0, 1e-7), (5.0, 1e-5)])
def test_a_ball_in_a_bowl_keeps_its_energy(friction: float, share: float) -> None:
    """It slides, or rolls, to and fro for 2 s from 1.2 rad: four times as near in half steps."""
    ball = mbdyn_ros.load(BALL, floating_base=True)
    bowl = Surface.sphere(BOWL, inside=True, restitution=0, friction=friction)
    reach, lost = BOWL - RADIUS, []
    for step in (4e-3, 2e-3, 1e-3):
        stepper = Stepper(ball, step, Environment([bowl], [("ball", (0, 0, 0), RADIUS)]))
        stepper.set_state([reach * sin(1.2), 0, -reach * cos(1.2), 0, 0, 0, 1], np.zeros(6))
        start = sum(stepper.energy)
        stepper.advance(round(2 / step))
        lost.append((start - sum(stepper.energy)) / (2.0 * G * reach * (1 - cos(1.2))))
    assert 0 <= lost[2] < share
    assert lost[0] > 3 * lost[1] > 9 * lost[2] > 0


def test_a_ball_rolls_down_a_groove() -> None:
    """Both flanks hold it by friction, more than enough: they neither squeeze nor brake it."""
    slope, groove = 0.3, np.array([[sin(0.3), 1, cos(0.3)], [sin(0.3), -1, cos(0.3)]])
    down = np.array([cos(slope), 0, -sin(slope)])
    ball = mbdyn_ros.load(body_text("ball", 1.0, 0.4 * RADIUS**2), floating_base=True)
    flanks = [
        Surface.plane((0, 0, 0), n / np.sqrt(2), 0, 2.0, side)
        for n, side in zip(groove, ("left", "right"), strict=True)
    ]
    stepper = Stepper(ball, 5e-3, Environment(flanks, [("ball", (0, 0, 0), RADIUS)]))
    bottom = np.sqrt(2) * RADIUS * np.array([sin(slope), 0, cos(slope)])
    stepper.set_state([*bottom, 0, 0, 0, 1], np.zeros(6))
    squeeze = 0.0
    for _ in range(200):
        stepper.advance(1)
        squeeze = max(squeeze, *(float(np.linalg.norm(one.force)) for one in stepper.contacts))
    assert stepper.q[:3] @ down == pytest.approx(5 / 18 * G * sin(slope), abs=5e-5)
    assert squeeze < 10 * G


def test_a_foot_on_a_stiff_arm_comes_down() -> None:
    """Dry friction holds the arm, whose foot is a little above the floor: the table leans on it."""
    table = mbdyn_ros.load(
        robot_text(
            link("top", 10.0, 0.5), link("arm", 0.1, 1e-3),
            joint("arm", "top", "arm", "0 1 0", more="<dynamics friction='50'/>"),
            base="",
        ),
        floating_base=True,
    )  # fmt: skip
    feet = [("top", (-0.5, y, -0.3)) for y in (-0.3, 0.3)] + [("arm", (0.5, 0, -0.3))]
    floor = Surface.plane(restitution=0, friction=0.5)
    stepper = Stepper(table, 1e-3, Environment([floor], feet))
    above = 3e-6
    stepper.set_state([0, 0, 0.3, 0, 0, 0, 1, -above / 0.5], np.zeros(7))
    height, angle = [], []
    for _ in range(20):
        stepper.advance(1)
        height.append((table.frame_pose(stepper.q, "arm") @ [0.5, 0, -0.3, 1])[2])
        angle.append(stepper.q[7])
    assert max(height[2:]) < 1e-7
    assert np.ptp(angle[2:]) == 0
    assert sum(one.force[2] for one in stepper.contacts) == pytest.approx(10.1 * G, rel=1e-6)


@pytest.mark.long
def test_a_top_on_its_tip() -> None:
    """Sticking contact and a fast spin, against the events of `simulate`."""
    top = mbdyn_ros.load(BALL, floating_base=True)
    tip = Environment([Surface.plane(restitution=0, friction=100.0)], [("ball", (0, 0, -RADIUS))])
    start = [0, -RADIUS * sin(0.3), RADIUS * cos(0.3), sin(0.15), 0, 0, cos(0.15)]
    spin = [0.0, 0, 0, 0, 0, 50]
    spun = mbdyn_ros.simulate(top, start, spin, 0.5, environment=tip, rtol=1e-9, atol=1e-11)
    axis = top.frame_pose(spun.q[-1], "ball")[:3, 2]
    missed = []
    for step in (2e-3, 1e-3, 5e-4):
        stepper = Stepper(top, step, tip)
        stepper.set_state(start, spin)
        stepper.advance(round(0.5 / step))
        missed.append(np.linalg.norm(top.frame_pose(stepper.q, "ball")[:3, 2] - axis))
    assert missed[2] < 1e-3
    assert missed[0] > 3 * missed[1] > 9 * missed[2]
