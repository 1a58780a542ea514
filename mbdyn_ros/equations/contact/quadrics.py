"""The deepest point of a ball in a quadric, whose second derivatives H are constant.

One point u from the middle x is the deepest (More and Sorensen 1983):

    (H + l 1) u = -grad g(x),   |u| = r,   H + l 1 positive semidefinite.

In the axes of H, with curvatures d_1 <= d_2 <= d_3, that is one equation |u(m)| = r for
m = l + d_1 > 0. 1 / |u(m)| is concave, so that Newton's method comes from below and never passes.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...array import Array
from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX, constant

STEPS = 8
"""Newton steps for the multiplier."""

SAME_SIDE = 1e-200
"""The least part of a gradient along the axis of d_1: between two points that are equally deep one
is taken."""


def curvatures(face: ca.Function) -> Array | None:
    """H (3, 3) of a face where it is constant and not zero, else None."""
    x = SX.sym("x", 3)
    _, _, second = face(x)
    if not second.is_constant():
        return None
    bend = ca.DM(second).full()
    return bend if bend.any() else None


@serialized
def deepest_in_quadric(face: ca.Function, bend: Array) -> ca.Function:
    """Where a ball at x (3, 1) of radius r is deepest, from x; a third argument is not used."""
    given = x, r, _ = SX.sym("x", 3), SX.sym("r"), SX.sym("u", 3)
    sizes, axes = np.linalg.eigh(bend)
    more = constant(sizes - sizes[0])
    slope = constant(axes.T) @ face(x)[1]
    least = ca.if_else(slope[0] < 0, ca.fmin(slope[0], -SAME_SIDE), ca.fmax(slope[0], SAME_SIDE))
    slope = ca.vertcat(least, slope[1:])
    m = ca.mmax(ca.fabs(slope) / r - more)
    for _ in range(STEPS):
        u = slope / (more + m)
        far = ca.sumsqr(u)
        m = m + far * (ca.sqrt(far) - r) / (r * ca.sumsqr(u / ca.sqrt(more + m)))
    u = -(slope / (more + m))
    found = constant(axes) @ (r / ca.norm_2(u) * u)
    return lasting(ca.Function("deepest", list(given), [ca.densify(found)], {"cse": True}))
