"""Response of the actuated joints to their efforts: hybrid dynamics of any subset of them.

With the rows A of G of the actuated joints (v_act = A v) and H a = A^T effort - bias,

    a_act = A H^-1 A^T effort + (drift_act - A H^-1 bias):

their mobility, and their accelerations without effort. Where some of these accelerations are
wanted and the efforts of the others known, the rows of the former give the efforts that it takes
(Featherstone 2008, section 9.2), in closed loops and on floating bases too.
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from ..program.elimination import Elimination
from .algebra.spatial import SX
from .efforts import reduced_efforts
from .programs import mass_matrix
from .system import System


@program("q v", output="response", internal=True, matrix=True)
def actuator_response(system: System, q: SX, z: SX, v: SX) -> SX:
    """Mobility of the actuated joints, followed by their accelerations without effort (n, n + 1).

    Damping and dry friction of the joints count.
    """
    embedding, rest = system.embedding(q, z), SX.zeros(system.coordinates.nv)
    bias = reduced_efforts(system, embedding, v, rest, None, True)
    rows = list(system.coordinates.effort)
    driven = ca.densify(embedding.matrix[rows, :])
    drift = embedding.drift(embedding.velocity(v))[rows]
    elimination = Elimination.of(mass_matrix(system, q, z))
    moved = elimination.solve(ca.horzcat(driven.T, -bias))
    return ca.densify(driven @ moved + ca.horzcat(SX.zeros(len(rows), len(rows)), drift))
