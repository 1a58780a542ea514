"""Efforts as a linear form of the links' inertias: tau = Y(q, qd, qdd) phi (Atkeson et al. 1986).

A link's ten standard parameters are m, m c (3), and the moments of inertia about the origin of
its frame in its axes: Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ...model.model import Array, Inertia
from ...prepare.tree import WORLD, Tree
from ..algebra.spatial import SX, Transform, constant, symmetric_of
from .composite_body import CompositeInertia

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
"""Names of a link's standard parameters, in order."""


def moving_links(tree: Tree) -> list[str]:
    """Links that a joint can move, in the order of `tree.frames`."""
    return [link for link, (body, _) in tree.frames.items() if body != WORLD]


def standard_parameters(inertia: Inertia | None) -> Array:
    """The ten numbers (10,) of a link; zeros where it has no mass."""
    if inertia is None:
        return np.zeros(10)
    c = inertia.center
    moments = inertia.moments + inertia.mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return np.concatenate([[inertia.mass], inertia.mass * c, moments[np.triu_indices(3)]])


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
