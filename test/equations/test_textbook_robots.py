"""Robots small enough to derive their equations of motion by hand (Lagrange, Euler)."""

from __future__ import annotations

import numpy as np
import pytest
from robot_text import body_text, joint, link, robot_text

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")

G = 9.81
STATES = np.random.default_rng(5).uniform(-3, 3, (5, 3, 2))


def close(ours: object, theirs: object) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


M1, M2, L1, C1, C2, I1, I2 = 2.0, 1.5, 0.8, 0.3, 0.45, 0.07, 0.03
DOUBLE_PENDULUM = robot_text(
    link("upper", M1, I1, f"{C1} 0 0"), link("lower", M2, I2, f"{C2} 0 0"),
    joint("shoulder", "world", "upper", "0 -1 0"),
    joint("elbow", "upper", "lower", "0 -1 0", f"{L1} 0 0", kind="revolute"),
)  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=str)
def test_double_pendulum(state: np.ndarray) -> None:
    """Angles from the horizontal x axis up; the elbow's relative to the upper rod."""
    robot = mbdyn_ros.load(DOUBLE_PENDULUM)
    q, v, a = state
    cosine = np.cos(q[1])
    coupling = I2 + M2 * (C2**2 + L1 * C2 * cosine)
    first = I1 + M1 * C1**2 + I2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * cosine)
    matrix = np.array([[first, coupling], [coupling, I2 + M2 * C2**2]])
    h = M2 * L1 * C2 * np.sin(q[1])
    coriolis = np.array([-h * (2 * v[0] * v[1] + v[1] ** 2), h * v[0] ** 2])
    hang = M2 * C2 * G * np.cos(q[0] + q[1])
    gravity = np.array([(M1 * C1 + M2 * L1) * G * np.cos(q[0]) + hang, hang])
    height = M1 * C1 * np.sin(q[0]) + M2 * (L1 * np.sin(q[0]) + C2 * np.sin(q.sum()))
    close(robot.mass_matrix(q), matrix)
    close(robot.coriolis_vector(q, v), coriolis)
    close(robot.gravity_vector(q), gravity)
    close(robot.inverse_dynamics(q, v, a), matrix @ a + coriolis + gravity)
    effort = np.array([3.0, -2.0])
    close(
        robot.forward_dynamics(q, v, effort), np.linalg.solve(matrix, effort - coriolis - gravity)
    )
    close(robot.energy(q, v), (v @ matrix @ v / 2, G * height))
    tip = [L1 * np.cos(q[0]), 0, L1 * np.sin(q[0])]
    close(robot.frame_pose(q, "lower")[:3, 3], tip)
    close(robot.jacobian(q, "lower")[:3, 0], [-tip[2], 0, tip[0]])


CART_POLE = robot_text(
    link("cart", M1, I1, "0.1 0 0.2"), link("pole", M2, I2, f"{C2} 0 0"),
    joint("rail", "world", "cart", "1 0 0", "0 0 1", kind="prismatic"),
    joint("hinge", "cart", "pole", "0 -1 0"),
)  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=str)
def test_cart_pole(state: np.ndarray) -> None:
    """The pole's angle from the horizontal x axis up."""
    robot = mbdyn_ros.load(CART_POLE)
    q, v, a = state
    sine, cosine = np.sin(q[1]), np.cos(q[1])
    matrix = np.array([[M1 + M2, -M2 * C2 * sine], [-M2 * C2 * sine, I2 + M2 * C2**2]])
    coriolis = np.array([-M2 * C2 * cosine * v[1] ** 2, 0.0])
    gravity = np.array([0.0, M2 * G * C2 * cosine])
    close(robot.mass_matrix(q), matrix)
    close(robot.coriolis_vector(q, v), coriolis)
    close(robot.gravity_vector(q), gravity)
    close(robot.inverse_dynamics(q, v, a), matrix @ a + coriolis + gravity)
    effort = np.array([3.0, -2.0])
    close(
        robot.forward_dynamics(q, v, effort), np.linalg.solve(matrix, effort - coriolis - gravity)
    )
    height = M1 * 1.2 + M2 * (1 + C2 * sine)
    close(robot.energy(q, v), (v @ matrix @ v / 2, G * height))


def test_free_body() -> None:
    """Newton's and Euler's equations of one body, with v and w in its own axes."""
    moments = np.diag([0.3, 0.4, 0.6])
    robot = mbdyn_ros.load(
        body_text("body", moments=(0.3, 0.4, 0.6)),
        floating_base=True,
        gravity=(1.0, -2.0, -5.0),
    )
    random = np.random.default_rng(1)
    quaternion = random.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    x, y, z, w = quaternion
    q = np.array([0.4, 0.5, 0.6, *quaternion])
    v, a = random.normal(size=(2, 6))
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + 2 * w * cross + 2 * cross @ cross  # Rodrigues
    pull = turn.T @ [1.0, -2.0, -5.0]
    force = 2 * (a[:3] + np.cross(v[3:], v[:3]) - pull)
    torque = moments @ a[3:] + np.cross(v[3:], moments @ v[3:])
    close(robot.inverse_dynamics(q, v, a), [*force, *torque])
    close(robot.forward_dynamics(q, v, [*force, *torque]), a)
    close(robot.frame_pose(q, "body")[:3, :3], turn)
    kinetic = v[:3] @ v[:3] + v[3:] @ moments @ v[3:] / 2
    close(robot.energy(q, v), (kinetic, -2 * np.dot([1.0, -2.0, -5.0], q[:3])))
