"""The Coriolis matrix C(q, v) of Christoffel's symbols: dM/dt - 2 C is skew, C v the vector.

With the Jacobians J_k of the bodies, C = sum J_k^T (I_k dJ_k/dt + B_k J_k), where every screw has
the rate [V, S] (Echeandia and Wensing 2021). B of composite bodies is the wrench of the
accelerations d x u in `tree.carried`. Loops, v_tree = G v, make of it G^T C G + G^T M dG/dt.
"""

from __future__ import annotations

import casadi as ca

from ..program.declaration import program
from ..program.stages import Staged, Stages
from .algebra.spatial import SX
from .derivatives import is_tree
from .system import System
from .tree.newton_euler_derivatives import TreeDerivatives


@program("q v", output="matrix", matrix=True, differentiated=True)
def coriolis_matrix(system: System, q: SX, z: SX, v: SX) -> SX | Staged:
    """Coriolis matrix (nv, nv)."""
    if not system.tree.nv:
        return SX(0, 0)
    stages, embedding = Stages(), system.embedding(q, z)
    tree = TreeDerivatives(
        stages, system.regrouped, embedding.joints, embedding.velocity(v), system.gravity, None
    )
    if is_tree(system):
        return Staged(stages, stages.multiplied(tree.coriolis()))
    whole = stages.multiplied(tree.coriolis(), tree.by_acceleration())
    coriolis, mass = ca.horzsplit(stages.inlined([whole.symbols])[0], system.tree.nv)
    moved = coriolis @ embedding.matrix + mass @ system.matrix_rate(embedding, q, z, v)
    return ca.densify(embedding.matrix.T @ moved)
