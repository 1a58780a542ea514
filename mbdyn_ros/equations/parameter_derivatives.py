"""Derivatives of positions, efforts, accelerations and energies by variable parameters.

Efforts are linear in inertias, gravity and friction, and smooth in lengths. Accelerations follow
from them: with the motion held, H da = -d(efforts less those of the drives).
"""

from __future__ import annotations

import casadi as ca

from ..program.elimination import solve_ltl
from ..program.program import program
from .actuation import driving, reduced_efforts
from .algebra.spatial import SX
from .frames import frame_pose
from .loops.linkage import solve_rows
from .programs import (
    energy,
    forward_dynamics,
    inverse_dynamics,
    joint_position,
    joint_space_inertia,
)
from .system import System


@program("q v a", output="derivatives", matrix=True, long=True,
    needs="drives variables", differentiated=True,
)  # fmt: skip
def inverse_dynamics_by_parameters(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Derivatives (efforts, p) of the actuators' efforts, friction included."""
    efforts = inverse_dynamics(system, q, z, v, a)
    return ca.densify(by_parameters(system, efforts, q, z))


@program("q v effort", output="derivatives", matrix=True, long=True,
    needs="mass variables", differentiated=True,
)  # fmt: skip
def forward_dynamics_by_parameters(system: System, q: SX, z: SX, v: SX, effort: SX) -> SX:
    """Derivatives (nv, p) of the accelerations, friction included."""
    held = SX.sym("a", v.shape)
    embedding = system.embedding(q, z)
    left_over = reduced_efforts(system, embedding, v, held, None, True)
    left_over = left_over - driving(system, embedding, effort)
    changes = ca.densify(by_parameters(system, left_over, q, z))
    a = forward_dynamics(system, q, z, v, effort)
    right = -ca.substitute(changes, held, a)
    return ca.densify(solve_ltl(joint_space_inertia(system, q, z), right))


@program("q", output="derivatives", matrix=True, about="link", internal=True,
    needs="variables", differentiated=True,
)  # fmt: skip
def frame_pose_by_parameters(system: System, q: SX, z: SX, link: str) -> SX:
    """Derivatives (6, p) of a link's pose: of its origin, and the turn [w]x = dR R^T, both in world
    axes."""
    pose = frame_pose(system, q, z, link)
    rotation = pose[:3, :3]
    rows = [by_parameters(system, rotation[k, :].T, q, z) for k in range(3)]
    turn = [rotation[(k + 1) % 3, :] @ rows[(k + 2) % 3] for k in range(3)]
    return ca.densify(ca.vertcat(by_parameters(system, pose[:3, 3], q, z), *turn))


@program("q", output="derivatives", matrix=True, internal=True,
    needs="variables", differentiated=True,
)  # fmt: skip
def joint_position_by_parameters(system: System, q: SX, z: SX) -> SX:
    """Derivatives (nq_tree, p) of the tree positions."""
    return ca.densify(by_parameters(system, joint_position(system, q, z), q, z))


@program("q v", output="derivatives", matrix=True, long=True,
    needs="variables", differentiated=True,
)  # fmt: skip
def energy_by_parameters(system: System, q: SX, z: SX, v: SX) -> SX:
    """Derivatives (2, p) of the kinetic and potential energy."""
    return ca.densify(by_parameters(system, energy(system, q, z, v), q, z))


def by_parameters(system: System, expression: SX, q: SX, z: SX) -> SX:
    """The derivative (n, p) of an expression (n, 1), at positions that follow from lengths too.

    Where a loop has no closed form its residual r(q, z, p) stays 0: dz/dp = -r_z^-1 r_p.
    """
    assert system.parameters is not None
    direct = ca.jacobian(expression, system.parameters)
    if not system.closing.kept:
        return direct
    residual = system.closure(q, z)
    change = solve_rows(
        ca.jacobian(residual, z[: system.nz]), -ca.jacobian(residual, system.parameters)
    )
    return direct + ca.jacobian(expression, z[: system.nz]) @ change
