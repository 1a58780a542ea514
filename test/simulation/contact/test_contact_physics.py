"""Contact in steps, against integrals of motion and published paradoxes."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import body_text, joint, link, robot_text
from scipy.spatial.transform import Rotation

import mbdyn_ros
from mbdyn_ros import Environment, Stepper, Surface


def test_a_tippe_top_turns_over() -> None:
    """It rises by friction alone, and Jellett's integral L.r stays (Leine, Glocker 2003).

    r leads from the center of mass to what touches; the numbers are theirs, without the stem.
    """
    mass, radius, offset, inertia = 6e-3, 1.5e-2, 3e-3, np.array([8e-7, 8e-7, 7e-7])
    top = mbdyn_ros.load(body_text("top", mass, inertia), floating_base=True)
    floor = Surface.plane(restitution=0.0, friction=0.3, name="floor")
    stepper = Stepper(top, 2e-4, Environment([floor], [("top", (0, 0, offset), radius)]))
    turn, spin = Rotation.from_euler("x", 0.1), np.array([0, 0, 180.0])
    height = radius - offset * np.cos(0.1)
    stepper.set_state([0, 0, height, *turn.as_quat()], [0, 0, 0, *turn.inv().apply(spin)])

    def jellett() -> float:
        turn = Rotation.from_quat(stepper.q[3:7])
        arm = offset * turn.apply([0, 0, 1]) - [0, 0, radius]
        return float(turn.apply(inertia * stepper.v[3:]) @ arm)

    start, energy, axis = jellett(), stepper.energy.sum(), 1.0
    for _ in range(25):
        stepper.advance(200)
        assert stepper.energy.sum() < energy
        energy = stepper.energy.sum()
        now = Rotation.from_quat(stepper.q[3:7]).apply([0, 0, 1])[2]
        assert now < axis + 0.01
        axis = now
    assert axis < np.cos(np.radians(110))
    assert jellett() == pytest.approx(start, rel=1e-3)


PENDULUM = robot_text(
    *(link(name, 1, (0.08333, 0.08333, 1e-3), "0 0 -0.5") for name in ("upper", "lower")),
    joint("shoulder", "world", "upper", "0 -1 0"),
    joint("elbow", "upper", "lower", "0 -1 0", "0 0 -1"),
)


@pytest.mark.long
def test_kanes_paradox() -> None:
    """Newton's law with friction would bring energy where a double pendulum hits the floor.

    Kane and Levinson, "Dynamics" (1985): rods at 20 and 30 degrees, at -0.1 and -0.2 rad/s. The
    restitution is lowered to what brings none.
    """
    robot = mbdyn_ros.load(PENDULUM)
    e, mu = 0.7, 0.5
    q, v = np.radians([20.0, 10.0]), np.array([-0.1, -0.1])
    tip = np.array([0.0, 0.0, -1.0, 1.0])
    depth = (robot.frame_pose(q, "lower") @ tip)[2]
    rows = np.empty((2, 2))  # of the tip: x, then z
    for k in range(2):
        ahead = robot.frame_pose(q + 1e-7 * np.eye(2)[k], "lower") @ tip
        rows[:, k] = (ahead - robot.frame_pose(q, "lower") @ tip)[[0, 2]] / 1e-7
    before, response = rows @ v, rows @ np.linalg.inv(robot.mass_matrix(q)) @ rows.T
    f = -(1 + e) * before[1] / (response[1] @ [-mu, 1.0]) * np.array([-mu, 1.0])
    assert (before + response @ f)[0] > 0 > before[0]  # the tip slides back, against friction
    assert f @ before + 0.5 * f @ response @ f > 0.04  # J more than there were
    floor = Surface.plane((0, 0, depth - 1e-9), restitution=e, friction=mu, name="floor")
    stepper = Stepper(robot, 1e-4, Environment([floor], [("lower", (0, 0, -1.0))]))
    stepper.set_state(q, v)
    stepper.advance()
    impact = stepper.impacts[0]
    assert 0.1 < impact.restitution[0] < e
    assert 0 <= impact.energy_before - impact.energy_after < 1e-5
    assert abs(impact.tangential_impulses[0, 0]) <= mu * impact.impulses[0] * (1 + 1e-12)
