"""Gains for every mode of control, by the masses that a robot's joints and a link feel.

A damper D on a mass m dies out at D / m. Sampled with a period T, and one period late, it does so
without swinging up to D / m = 1 / (4 T), where z^2 - z + D T / m has a double root. The joints of a
robot share their bodies: joint i alone, the others free, feels the mass

    m_i = 1 / (M^-1)_ii,

and with D_i = r m_i the rates of all joints together, the eigenvalues of M^-1 D, are positive and
have the sum n r. Springs w^2 m_i with dampers 2 w m_i, which lead a single joint to where it is
wanted without swinging, stay within that bound for w up to 1 / (8 n T). A link feels the same
1 / (J M^-1 J^T)_ii along and about each axis. Masses change with the pose: each is the smallest of
many poses, so that no pose is too light; in heavier ones errors die out more slowly, and swing.
"""

from __future__ import annotations

import numpy as np

from ..array import Array
from ..compiler.kernel import Bound
from ..equations.programs import actuator_response
from ..robot import Robot

BRISK = 10.0
"""Rate (1/s) at which errors die out, where the sampling bears it."""

POSES = 32
"""Random poses, besides home, of which the lightest counts."""

TURNLESS = 1e-9
"""1/m^2: a link whose mobilities about and along axes have a smaller ratio does not turn."""


def default_gains(robot: Robot, rate: float, link: str = "") -> dict[str, Array]:
    """Mild gains by name for `Controller.set_gains`, with which the sampled loop is stable.

    Parameters
    ----------
    rate : cycles per second, Hz; efforts come one period late.
    link : that Cartesian impedance is about; empty for none.

    Returns
    -------
    dict
        Errors die out at 10 1/s, more slowly where the rate or the number of joints asks for it,
        and in heavy poses. Gains of masses are zeros where the mass matrix is singular.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import CART
    >>> cart = mbdyn_ros.load(CART)                     # 2 kg on a rail
    >>> gains = default_gains(cart, 500.0)
    >>> gains["joint_stiffness"], gains["joint_damping"]
    (array([200.]), array([40.]))
    """
    masses, place, turn = _felt(robot, link)
    n = max(robot.nv, 6 if link else 1)
    single, shared = min(BRISK, rate / 8), min(BRISK, rate / (8 * n))
    axes = np.repeat([place, turn], 3)
    return {
        "guiding_damping": shared * masses,
        "kp": np.array([single**2]),
        "kd": np.array([2 * single]),
        "joint_stiffness": shared**2 * masses,
        "joint_damping": 2 * shared * masses,
        "required_rate": np.array([single]),
        "body_rate": np.array([single]),
        "required_damping": np.zeros(1),
        "admittance_kp": np.array([single**2]),
        "admittance_kd": np.array([2 * single]),
        "admittance_inertia": masses,
        "admittance_damping": 2 * shared * masses,
        "admittance_stiffness": shared**2 * masses,
        "admittance_dead_zone": np.zeros(1),
        "link_stiffness": shared**2 * axes,
        "link_damping": 2 * shared * axes,
        "posture_stiffness": shared**2 * masses,
        "posture_damping": 2 * shared * masses,
    }


def _felt(robot: Robot, link: str) -> tuple[Array, float, float]:
    """The least masses of joints (n,), and of a link along and about axes (kg, kg m^2)."""
    poses = [robot.home_position, *robot.random(0, POSES)]
    mobility, along, about = np.zeros(robot.nv), 0.0, 0.0
    for q in poses:
        try:
            inverse = np.linalg.inv(robot.mass_matrix(q))
        except np.linalg.LinAlgError:
            return mobility * 0.0, 0.0, 0.0
        mobility = np.maximum(mobility, np.diag(inverse))
        if link:
            columns = robot.jacobian(q, link)
            moves = np.diag(columns @ inverse @ columns.T)
            along, about = max(along, *moves[:3]), max(about, *moves[3:])
    turns = about > TURNLESS * along
    return 1 / mobility, 1 / along if along else 0.0, 1 / about if turns else 0.0


def locked_masses(robot: Robot) -> Array:
    """The mass (efforts,) at each actuated joint at home, the other actuated joints locked.

    The pseudoinverse of the actuated joints' mobility has it on its diagonal.
    """
    response = Bound(robot.calls.kernel(actuator_response))
    response.q[:] = robot.home_position
    response()
    masses: Array = np.diagonal(np.linalg.pinv(response.result[:, :-1])).copy()
    return masses
