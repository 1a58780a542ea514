"""The shaking force and moment of a mechanism: what the inertia of its parts does to the ground."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX
from ..equations.tree.newton_euler import forward_pass, inertial_wrenches
from ..program.declaration import program
from .parametric import ParametricSystem


@program("q v a", output="shaking", matrix=True, internal=True)
def shaking(system: ParametricSystem, q: SX, z: SX, v: SX, a: SX) -> SX:
    """Shaking force fx, fy (N) and moment (N m) about the origin (3, 1), in the ground's axes.

    They are -d/dt of the linear and of the angular momentum of all parts.
    """
    closed, embedding = system.denoc(q, v)
    motions = forward_pass(system.tree, embedding.joints, *embedding.motion(v, a), np.zeros(3))
    moments, forces = inertial_wrenches(system.tree, motions, None)
    total = SX.zeros(3, 1)
    for moment, force, (rotation, origin) in zip(moments, forces, closed.denoc.poses, strict=True):
        push = rotation @ force
        turning = (rotation @ moment)[2] + origin[0] * push[1] - origin[1] * push[0]
        total -= ca.vertcat(push[0], push[1], turning)
    return total
