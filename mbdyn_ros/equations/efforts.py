"""Efforts of a robot's joints, brought to its independent coordinates and to its actuators.

The formulations work on the coordinates of the spanning tree. The loops give the tree's motion
as v_tree = G v, a_tree = G a + g, so by d'Alembert the efforts reduce to G^T tau_tree and the
mass matrix to G^T H G. The efforts of the actuated joints do the same work:
G_act^T effort = G^T tau_tree, with the rows G_act of G.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from .algebra.spatial import SX
from .loops.embedding import Embedding
from .system import System
from .tree.acting import joint_friction, spring_efforts
from .tree.newton_euler import newton_euler


def reduced_efforts(
    system: System, embedding: Embedding, v: SX, a: SX, wrenches: SX | None, friction: bool
) -> SX:
    """Efforts (nv, 1) of the independent coordinates, by Newton-Euler; those of springs too."""
    velocity, acceleration = embedding.motion(v, a)
    efforts = newton_euler(
        system.regrouped, embedding.joints, velocity, acceleration, system.gravity, wrenches
    )
    efforts = efforts + joint_springs(system, embedding)
    if friction:
        efforts = efforts + joint_friction(system.tree, velocity)
    return embedding.reduce(efforts)


def joint_springs(system: System, embedding: Embedding) -> SX:
    """Efforts (nv_tree, 1) of the tree's joints that hold their springs, zeros structural."""
    if not system.has("spring_stiffness"):
        return SX(system.tree.nv, 1)
    return spring_efforts(system.tree, embedding.values())


def without_springs(system: System) -> System:
    """The same robot without the efforts of its springs."""
    if not system.has("spring_stiffness"):
        return system
    tree = system.tree
    bodies = tuple(replace(body, spring_stiffness=0.0) for body in tree.bodies)
    return replace(system, tree=replace(tree, bodies=bodies))


def coriolis_product(system: System, embedding: Embedding, v: SX, other: SX) -> SX:
    """C(q, v) w (nv, 1), with the matrix of Christoffel's symbols, at other velocities w.

    It is symmetric and linear in both: with c(q, v) = C(q, v) v,
    4 C(q, v) w = c(q, v + w) - c(q, v - w).
    """
    rest = SX.zeros(v.shape[0])
    springless = replace(without_springs(system), gravity=0 * system.gravity)
    sum_, difference = (
        reduced_efforts(springless, embedding, speed, rest, None, False)
        for speed in (v + other, v - other)
    )
    return (sum_ - difference) / 4


def driving(system: System, embedding: Embedding, effort: SX) -> SX:
    """Efforts (nv, 1) of the independent coordinates that do the work of the actuators'."""
    rows = embedding.matrix[list(system.coordinates.effort), :]
    return ca.densify(rows.T @ effort)


def applied(system: System, effort: SX) -> SX:
    """Efforts (nv_tree, 1) of all joints of the tree, where the actuators have `effort`."""
    efforts = SX.zeros(system.tree.nv)
    for k, row in enumerate(system.coordinates.effort):
        efforts[row] = efforts[row] + effort[k]
    return efforts
