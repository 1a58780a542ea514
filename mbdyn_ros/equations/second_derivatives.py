"""Second derivatives of dynamics: those of the exact first derivatives, by their symbols.

By q they go along the velocity coordinates: of a floating base along a shift and a turn in its own
axes, one after the other, as Singh, Russo and Wensing (2022) and Pinocchio have them.
"""

from __future__ import annotations

import casadi as ca

from ..program.program import program
from ..program.stages import Staged
from .algebra.spatial import SX
from .derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from .programs import position_rate
from .system import System


@program(
    "q v a", output="derivatives", matrix=True, differentiated=True, long=True,
    needs="drives",
)  # fmt: skip
def inverse_dynamics_second_derivatives(system: System, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Second derivatives of the actuators' efforts without friction: (efforts, 4 nv nv).

    By q and q, v and v, q and v, a and q, side by side; in each the columns of one derivative
    come together.
    """
    first = inverse_dynamics_derivatives(system, q, z, v, a, None, False)
    return _second(system, q, z, v, first)


@program(
    "q v effort", output="derivatives", matrix=True, differentiated=True, long=True,
    needs="mass",
)  # fmt: skip
def forward_dynamics_second_derivatives(system: System, q: SX, z: SX, v: SX, effort: SX) -> SX:
    """Second derivatives of the accelerations without friction: (nv, (3 nv + efforts) nv).

    By q and q, v and v, q and v, effort and q, side by side, as those of inverse dynamics.
    """
    first = forward_dynamics_derivatives(system, q, z, v, effort, None, False)
    return _second(system, q, z, v, first)


def _second(system: System, q: SX, z: SX, v: SX, first: SX | Staged) -> SX:
    """Derivatives of first ones: of those by q by q and v, by v by v, and of the last by q."""
    whole = first.solved if isinstance(first, Staged) else first
    if whole.is_empty():
        return SX(whole.shape[0], 0)
    rows, n = whole.shape[0], v.shape[0]
    by_q, by_v, last = ca.horzsplit(ca.densify(whole), [0, n, 2 * n, whole.shape[1]])
    along = _ways(system, q, z, v)

    def over_q(matrix: SX) -> SX:
        return ca.jacobian(ca.vec(matrix), ca.vertcat(q, z)) @ along

    def over_v(matrix: SX) -> SX:
        return ca.jacobian(ca.vec(matrix), v)

    blocks = (over_q(by_q), over_v(by_v), over_v(by_q), over_q(last))
    parts = (part for block in blocks for part in ca.vertsplit(ca.densify(block), rows))
    return ca.densify(ca.horzcat(*parts))


def _ways(system: System, q: SX, z: SX, v: SX) -> SX:
    """Rates of q and z (nq + nz, nv) at unit velocities."""
    columns = {body.q.start: body.v.start for body in system.tree.bodies}
    matrix = system.embedding(q, z).matrix
    dependent = matrix[[columns[row] for row in system.numerical_dependent_rows], :]
    return ca.vertcat(ca.jacobian(position_rate(system, q, z, v), v), dependent)
