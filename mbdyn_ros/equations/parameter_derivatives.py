"""Derivatives of efforts and accelerations by the parameters that are variable.

Efforts are linear in inertias, gravity and friction. Accelerations follow from them: with the
motion held by the efforts, H da = -d(efforts).
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from ..program.elimination import solve_ltl
from .algebra.spatial import SX
from .efforts import reduced_efforts
from .programs import forward_dynamics, inverse_dynamics, mass_matrix
from .system import System


@program("q v a", output="derivatives", matrix=True, long=True, needs="drives variables")
def inverse_dynamics_by_parameters(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Derivatives (efforts, p) of the actuators' efforts, friction included."""
    assert system.parameters is not None
    return ca.densify(ca.jacobian(inverse_dynamics(system, q, z, v, a), system.parameters))


@program("q v effort", output="derivatives", matrix=True, long=True, needs="mass variables")
def forward_dynamics_by_parameters(system: System, q: SX, z: SX, v: SX, effort: SX) -> SX:
    """Derivatives (nv, p) of the accelerations, friction included."""
    assert system.parameters is not None
    held = SX.sym("a", v.shape)
    efforts = reduced_efforts(system, system.embedding(q, z), v, held, None, True)
    by_parameters = ca.jacobian(efforts, system.parameters)
    a = forward_dynamics(system, q, z, v, effort)
    right = -ca.substitute(ca.densify(by_parameters), held, a)
    return ca.densify(solve_ltl(mass_matrix(system, q, z), right))
