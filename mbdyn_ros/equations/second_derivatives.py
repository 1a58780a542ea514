"""Second derivatives of inverse dynamics: those of its exact first derivatives, by their symbols.

By q they go along the velocity coordinates: of a floating base along a shift and a turn in its own
axes, one after the other, as Singh, Russo and Wensing (2022) and Pinocchio have them.
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from ..program.stages import Staged
from .algebra.spatial import SX
from .derivatives import inverse_dynamics_derivatives
from .position_rate import position_rate
from .system import System


@program("q v a", output="derivatives", matrix=True, differentiated=True, long=True)
def inverse_dynamics_second_derivatives(
    system: System, q: SX, z: SX, v: SX, a: SX
) -> SX:
    """Second derivatives of the actuators' efforts without friction: (efforts, 4 nv nv).

    By q and q, v and v, q and v, a and q, side by side; in each the columns of one derivative
    stand together.
    """
    first = inverse_dynamics_derivatives(system, q, z, v, a, None, False)
    whole = first.solved if isinstance(first, Staged) else first
    if whole.is_empty():
        return SX(whole.shape[0], 0)
    by_q, by_v, by_a = ca.horzsplit(ca.densify(whole), v.shape[0])
    along = _ways(system, q, z, v)

    def over_q(matrix: SX) -> SX:
        return ca.jacobian(ca.vec(matrix), ca.vertcat(q, z)) @ along

    def over_v(matrix: SX) -> SX:
        return ca.jacobian(ca.vec(matrix), v)

    blocks = (over_q(by_q), over_v(by_v), over_v(by_q), over_q(by_a))
    rows = whole.shape[0]
    return ca.densify(
        ca.horzcat(
            *(part for block in blocks for part in ca.vertsplit(ca.densify(block), rows))
        )
    )


def _ways(system: System, q: SX, z: SX, v: SX) -> SX:
    """Rates of q and z (nq + nz, nv) at unit velocities."""
    columns = {body.q.start: body.v.start for body in system.tree.bodies}
    matrix = system.embedding(q, z).matrix
    walked = matrix[[columns[row] for row in system.walked_rows], :]
    return ca.vertcat(ca.jacobian(position_rate(system, q, z, v), v), walked)
