"""Virtual decomposition control (VDC): every body is led to a required velocity of its own.

Zhu (Virtual Decomposition Control, 2010), and Koivumaki and Mattila for hydraulic machines with
closed chains. With the error e = wanted q - q and rates L the joints are required to move at

    v_r = w + L e,   s = v_r - v,

and the machine is cut into bodies. Body A, whose velocity J_A v is required to be V_r = J_A v_r,
gets the net force

    F_A = M_A V_r' + C_A V_r + G_A + K_A (V_r - V),

and the joints add K s. Forces at the cuts do no virtual work together (the virtual power flows
cancel, at the pins of closed chains too), so the efforts are the bodies' net forces on the
velocities that the independent joints give them: sum J_A^T F_A + K s. With K_A = k M_A, each body's
gain as large as its inertia, this is

    effort = M (v_r' + k s) + C(q, v) v_r + g + K s.

The error obeys M s' + C s + (k M + K) s = what the world gives. So d/dt (s^T M s / 2) is
-s^T (k M + K) s: it dies out at least as exp(-2 k t), and the error after it at the rates L.
"""

from __future__ import annotations

import casadi as ca

from ..equations.actuation import actuated
from ..equations.algebra.spatial import SX
from ..equations.efforts import coriolis_product, reduced_efforts
from ..equations.programs import mass_matrix
from ..equations.system import System
from ..equations.tree.acting import joint_friction
from ..program.declaration import program


@program("q v error wanted_v wanted_a rate body_rate damping", output="effort")
def virtual_decomposition(
    system: System,
    q: SX,
    z: SX,
    v: SX,
    error: SX,
    wanted_v: SX,
    wanted_a: SX,
    rate: SX,
    body_rate: SX,
    damping: SX,
) -> SX:
    """Efforts that lead every body to its required velocity.

    C(q, v) v_r is that of Christoffel's symbols. Joints may have rates k of their own: then
    sqrt(k_i k_j) M_ij stands for k M.
    """
    embedding = system.embedding(q, z)
    rest = SX.zeros(v.shape[0])
    required = wanted_v + rate * error
    slip = required - v
    change = wanted_a + rate * (wanted_v - v)
    root = ca.sqrt(body_rate)
    feedback = root * (mass_matrix(system, q, z) @ (root * slip)) + damping * slip
    moved = reduced_efforts(system, embedding, rest, change, None, False)
    turned = coriolis_product(system, embedding, v, required)
    friction = embedding.reduce(joint_friction(system.tree, embedding.velocity(wanted_v)))
    return actuated(system, embedding, moved + turned + feedback + friction)
