"""Inertias merged up the tree wherever only their sum matters (Khalil and Bennis 1995).

A thin rod along the axis of a revolute joint moves the same way on either side of it: turning
does nothing to it. So each body may hand the part of its inertia that looks like such a rod (its
mass, the first and the second moment along z) to its parent, and is left with none of it. A body
on a prismatic joint turns as its parent does, and may hand on all its second moments. What the
world is handed does not move and is forgotten.

Efforts, accelerations, mass matrix, kinetic energy and gravity's efforts stay the robot's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..model.inertia import RigidInertia
from ..model.model import Array, constant
from ..model.pose import SNAPPED
from ..prepare.tree import WORLD, Tree


def regrouped(tree: Tree) -> Tree:
    """The tree with its base inertial parameters: fewest constants, same equations of motion.

    The inertia of a single body need no longer be that of a rigid body. What hangs on a floating
    joint hands nothing on.

    Examples
    --------
    >>> import mbdyn_ros
    >>> model = mbdyn_ros.model.read_urdf('''<robot name="pendulum"><link name="world"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    ...     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 0 1"/>
    ...     <parent link="world"/><child link="rod"/></joint></robot>''')
    >>> inertia = regrouped(mbdyn_ros.prepare.tree.build_tree(model)).bodies[0].inertia
    >>> inertia.mass, inertia.first, inertia.second.diagonal()
    (0.0, array([1., 0., 0.]), array([0.05, 0.55, 0.6 ]))
    """
    masses = [body.inertia.mass for body in tree.bodies]
    firsts = [_entries(body.inertia.first, (3,)) for body in tree.bodies]
    spreads = [spread(_entries(body.inertia.second, (3, 3))) for body in tree.bodies]
    for i, body in reversed(list(enumerate(tree.bodies))):
        alike, along, across = body.motion.moves_alike
        mass = masses[i] if alike else 0.0
        first, handed = np.where(along, firsts[i], 0.0), np.where(across, spreads[i], 0.0)
        if alike:
            masses[i] = 0.0
        firsts[i], spreads[i] = np.where(along, 0.0, firsts[i]), np.where(across, 0.0, spreads[i])
        if body.parent == WORLD:
            continue
        r = _entries(body.placement.rotation, (3, 3))
        p = _entries(body.placement.translation, (3,))
        first = r @ first
        arms = np.outer(first, p)
        masses[body.parent] = masses[body.parent] + mass
        point = _entries(mass, ())
        firsts[body.parent] = firsts[body.parent] + (first + point * p)
        handed = r @ handed @ r.T + arms + arms.T + point * np.outer(p, p)
        spreads[body.parent] = spreads[body.parent] + handed
    inertias = map(_inertia, masses, firsts, spreads)
    pairs = zip(tree.bodies, inertias, strict=True)
    return replace(tree, bodies=tuple(replace(body, inertia=one) for body, one in pairs))


def _entries(values: Any, shape: tuple[int, ...]) -> Array:
    """Numbers as an array; symbols as an array of objects."""
    if not isinstance(values, ca.SX):
        return np.array(values)
    found = np.empty(values.numel(), dtype=object)
    for k in range(values.numel()):
        found[k] = values[k]
    return found.reshape(shape, order="F")


def spread(moments: Array) -> Array:
    """J = (tr I / 2) 1 - I: the integral of r r^T dm (3, 3), from moments of inertia.

    To the last digit, also of a thin body, whose moments almost cancel.
    """
    result: Array = -moments
    a, b, c = moments.diagonal().tolist()
    sums = (b, c, -a), (c, a, -b), (a, b, -c)
    if moments.dtype == object:
        np.fill_diagonal(result, [(x + y + z) / 2 for x, y, z in sums])
        return result
    np.fill_diagonal(result, [math.fsum(x) / 2 for x in sums])
    result[np.abs(result) <= SNAPPED * np.abs(result).max()] = 0.0
    return result


def _inertia(mass: float, first: Array, second: Array) -> RigidInertia:
    """The body with these moments; symmetric, and 0 where the sums of its integrals are 0."""
    moments = -(second + second.T) / 2
    x, y, z = second.diagonal()
    for k, one in enumerate((y + z, z + x, x + y)):  # NumPy mistakes rows of some symbols
        moments[k, k] = one
    if object in (first.dtype, moments.dtype):
        upper = np.triu(np.ones((3, 3), dtype=bool))
        rows = [ca.horzcat(*row) for row in np.where(upper, moments, moments.T).tolist()]
        return RigidInertia(mass, ca.vertcat(*first.tolist()), ca.vertcat(*rows))
    return RigidInertia(mass, constant(first, (3,)), constant(moments, (3, 3)))
