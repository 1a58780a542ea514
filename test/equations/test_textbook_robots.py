"""Robots small enough to derive their equations of motion by hand (Lagrange, Euler)."""

from __future__ import annotations

import numpy as np
import pytest

import mbdyn_ros

pytestmark = pytest.mark.usefixtures("interpreted")

G = 9.81
STATES = np.random.default_rng(5).uniform(-3, 3, (5, 3, 2))


def close(ours: object, theirs: object) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


def link(name: str, mass: float, center: str, inertia: float) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )


def joint(name: str, kind: str, ends: tuple[str, str], xyz: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{ends[0]}"/><child link="{ends[1]}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
        '<limit lower="-9" upper="9" effort="9" velocity="9"/></joint>'
    )


M1, M2, L1, C1, C2, I1, I2 = 2.0, 1.5, 0.8, 0.3, 0.45, 0.07, 0.03
DOUBLE_PENDULUM = f"""<robot name="double_pendulum"><link name="world"/>
{link("upper", M1, f"{C1} 0 0", I1)}{link("lower", M2, f"{C2} 0 0", I2)}
{joint("shoulder", "continuous", ("world", "upper"), "0 0 0", "0 -1 0")}
{joint("elbow", "revolute", ("upper", "lower"), f"{L1} 0 0", "0 -1 0")}</robot>"""


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


CART_POLE = f"""<robot name="cart_pole"><link name="world"/>
{link("cart", M1, "0.1 0 0.2", I1)}{link("pole", M2, f"{C2} 0 0", I2)}
{joint("rail", "prismatic", ("world", "cart"), "0 0 1", "1 0 0")}
{joint("hinge", "continuous", ("cart", "pole"), "0 0 0", "0 -1 0")}</robot>"""


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
        '<robot name="satellite"><link name="body"><inertial><mass value="2"/><inertia ixx="0.3" '
        'iyy="0.4" izz="0.6" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>',
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
