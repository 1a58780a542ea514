"""Rotors, springs and friction: they act on the coordinates of joints, in addition to the bodies.

A rotor of inertia J turns r times as fast as its joint: it adds the armature r^2 J to the diagonal
of the mass matrix and takes part in nothing else. A spring asks for k (q - q_0) and stores
k (q - q_0)^2 / 2. Where no joint has them, they are structural zeros and cost nothing.
"""

from __future__ import annotations

import casadi as ca

from ...prepare.tree import Tree
from ..algebra.spatial import SX


def acting(tree: Tree, number: str) -> SX:
    """A number of `Joint` for each of the tree's coordinates (nv, 1), zeros structural."""
    column = SX(tree.nv, 1)
    for body in tree.bodies:
        value = getattr(body, number)
        if isinstance(value, SX) or value:
            column[body.v] = value
    return column


def rotor_inertia(tree: Tree) -> SX:
    """Share of the rotors in the mass matrix (nv, nv): a diagonal."""
    return ca.diag(acting(tree, "armature"))


def spring_efforts(tree: Tree, positions: SX) -> SX:
    """Efforts (nv, 1) that hold the springs at the tree's positions (nq_tree, 1)."""
    efforts = SX(tree.nv, 1)
    for body in tree.bodies:
        stiffness = body.spring_stiffness
        if isinstance(stiffness, SX) or stiffness:
            efforts[body.v] = stiffness * (positions[body.q] - body.spring_reference)
    return efforts


def spring_energy(tree: Tree, positions: SX) -> SX:
    """Energy (J) of the springs at the tree's positions (nq_tree, 1)."""
    total = SX(0)
    for body in tree.bodies:
        stiffness = body.spring_stiffness
        if isinstance(stiffness, SX) or stiffness:
            total += 0.5 * stiffness * (positions[body.q] - body.spring_reference) ** 2
    return total


def damping_efforts(tree: Tree, v: SX) -> SX:
    """damping v of the tree's joints (nv, 1)."""
    return ca.densify(acting(tree, "damping") * v)


def joint_friction(tree: Tree, v: SX) -> SX:
    """damping v + friction sign(v) of the tree's joints (nv, 1)."""
    return ca.densify(acting(tree, "damping") * v + acting(tree, "friction") * ca.sign(v))
