"""Distance from a wall g = 0, with its normal and its curvature, for shapes with a radius.

A sphere of radius r about x touches the wall where d(x) = r. The gradient of the distance d is
the unit normal at the foot p of the perpendicular, x = p + d n; its second derivatives follow from
the wall's own curvature there, S = P H P / |grad g| with P = 1 - n n^T, as (1 + d S)^-1 S.
"""

from __future__ import annotations

import casadi as ca

from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX

FOOT_STEPS = 8
"""Newton steps to the foot of a perpendicular: the error is squared in each."""

SHORTEST = 1e-12
"""Length (m) that a vector is taken to have at least, where its direction is asked for."""


@serialized
def level(face: ca.Function) -> ca.Function:
    """Of the surface g = const through a point: |grad g|, normal, and H / |grad g|, of any g."""
    x = SX.sym("x", 3)
    second, first = ca.hessian(face(x), x)
    size = ca.norm_2(first)
    return lasting(
        ca.Function("level", [x], [size, ca.densify(first / size), ca.densify(second / size)])
    )


@serialized
def from_distance(distance: ca.Function) -> ca.Function:
    """Distance, normal (3, 1) and second derivatives (3, 3) of a distance in closed form."""
    x = SX.sym("x", 3)
    second, first = ca.hessian(distance(x), x)
    return lasting(ca.Function("signed", [x], [distance(x), ca.densify(first), ca.densify(second)]))


@serialized
def from_face(face: ca.Function) -> ca.Function:
    """The same for any g: Newton's method finds the foot, p - x + l grad g(p) = 0 and g(p) = 0."""
    x = SX.sym("x", 3)
    second, first = ca.hessian(face(x), x)
    at = ca.Function("at", [x], [face(x), first, second])
    g, slope, _ = at(x)
    scale = g / ca.sumsqr(slope)
    p = x - scale * slope
    for _ in range(FOOT_STEPS):
        g, slope, bend = at(p)
        inverse = ca.inv(SX.eye(3) + scale * bend)
        apart = p - x + scale * slope
        across = inverse @ slope
        more = (g - ca.dot(across, apart)) / ca.dot(slope, across)
        p = p - inverse @ apart - more * across
        scale = scale + more
    _, slope, bend = at(p)
    size = ca.norm_2(slope)
    n = slope / size
    plane = SX.eye(3) - n @ n.T
    shape = plane @ bend @ plane / size
    d = ca.dot(n, x - p)
    curved = ca.inv(SX.eye(3) + d * shape) @ shape
    return lasting(ca.Function("signed", [x], [d, ca.densify(n), ca.densify(curved)]))


def length(vector: SX) -> SX:
    """The length of a vector, with a derivative where it is zero."""
    return ca.sqrt(ca.fmax(ca.sumsqr(vector), SHORTEST**2))
