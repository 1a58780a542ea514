"""Efforts as a linear form of the links' inertias: tau = Y(q, qd, qdd) phi (Atkeson et al. 1986).

A link's ten standard parameters are m, m c (3), and the moments of inertia about the origin of
its frame in its axes: Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, Transform, constant, symmetric_of
from .composite_body import CompositeInertia


def moving_links(tree: Tree) -> list[str]:
    """Links that a joint can move, in the order of `tree.frames`."""
    return [link for link, (body, _) in tree.frames.items() if body != WORLD]


def symbolic_inertias(tree: Tree, parameters: SX) -> Tree:
    """The tree with the standard parameters (10, links) of `moving_links` for its inertias."""
    zero = SX.zeros(3)
    whole = [CompositeInertia(SX(0), zero, SX.zeros(3, 3)) for _ in tree.bodies]
    for k, link in enumerate(moving_links(tree)):
        index, pose = tree.frames[link]
        own = parameters[:, k]
        into = Transform((constant(pose.rotation),), constant(pose.translation))
        whole[index] += CompositeInertia(own[0], own[1:4], symmetric_of(own[4:])).to_parent(into)
    bodies = (
        replace(body, inertia=one.rigid) for body, one in zip(tree.bodies, whole, strict=True)
    )
    return replace(tree, bodies=tuple(bodies))


def linear_form(efforts: SX, parameters: SX) -> SX:
    """Y (n, any) of efforts = Y parameters."""
    return ca.jacobian(efforts, ca.vec(parameters))
