"""Matrices that follow from the mass matrix: that of Coriolis, and the inverses.

With the Jacobians J_k of the bodies, C = sum J_k^T (I_k dJ_k/dt + B_k J_k), where every screw has
the rate [V, S] (Echeandia and Wensing 2021). B of composite bodies is the wrench of the
accelerations d x u in `tree.carried`. Loops, v_tree = G v, make of it G^T C G + G^T M dG/dt.

The mobility J M^-1 J^T of a link gives its acceleration by a force and a moment on it; its inverse
is the operational-space inertia (Khatib 1987).
"""

from __future__ import annotations

import math

import casadi as ca

from ..program.elimination import Elimination
from ..program.program import program
from ..program.stages import Staged, Stages
from .algebra.spatial import SX
from .derivatives import is_tree
from .frames import Frame, jacobian
from .programs import joint_space_inertia
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


LEAST_MOBILITY = 1e-10
"""Share of a direction's mobility left when those before it are held, under which it is none."""


@program("q", output="matrix", matrix=True, needs="mass")
def inverse_mass_matrix(system: System, q: SX, z: SX) -> SX | Staged:
    """Inverse (nv, nv) of the mass matrix."""
    elimination = Elimination.of(joint_space_inertia(system, q, z))
    size = system.coordinates.nv
    if not size:
        return SX(0, 0)
    stages = Stages()
    right = stages.written(SX.eye(size))
    return Staged(stages, right, elimination, stages.written(elimination.triangle))


@program("q", output="matrix", matrix=True, about="frame", needs="mass")
def operational_mobility(system: System, q: SX, z: SX, frame: Frame) -> SX:
    """Mobility J M^-1 J^T (6, 6) of a link."""
    columns = jacobian(system, q, z, frame)
    if not system.coordinates.nv:
        return SX.zeros(6, 6)
    return ca.densify(columns @ Elimination.of(joint_space_inertia(system, q, z)).solve(columns.T))


@program("q", output="matrix", matrix=True, about="frame", needs="mass")
def operational_inertia(system: System, q: SX, z: SX, frame: Frame) -> SX:
    """Operational-space inertia (J M^-1 J^T)^-1 (6, 6) of a link.

    NaN where it cannot move in all six directions.
    """
    mobility = operational_mobility(system, q, z, frame)
    elimination = Elimination.of(mobility)
    alive = SX(1)
    for k in range(6):
        left = 1 / elimination.triangle[k, k]
        alive = ca.if_else(left > LEAST_MOBILITY * mobility[k, k], alive, math.nan)
    return ca.densify(elimination.solve(SX.eye(6))) * alive
