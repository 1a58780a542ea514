"""Rims of cylinders and ellipsoids on walls: their point that is nearest to a plane.

Of a circle of radius R about c, across a unit vector a, that is c - R N / |N|, N = n - (n.a) a, for
the normal n of a plane. It runs along the circle as that turns; the distance changes with the
velocity of the material point there. Of an ellipsoid with half axes E (3, 3) it is
c - E E^T n / |E^T n|.
"""

from __future__ import annotations

import casadi as ca

from ..algebra.spatial import SX
from .signed_distance import length

ON_END = 1e-7
"""Sine of the angle between axis and normal below which a cylinder stands on its end: its centre
touches then, and points of its edge."""


def lowest(center: SX, axis: SX, radius: float, face: ca.Function) -> tuple[SX, SX]:
    """The gradient (3, 1) of a face at the centre, and the point (3, 1) that is nearest to it.

    axis : (3, 1), a unit vector in the world, or (3, 3), half axes. Exact where the gradient is
        the same everywhere.
    """
    x = SX.sym("x", 3)
    gradient = ca.Function("at", [x], [ca.gradient(face(x), x)])(center)
    normal = gradient / ca.norm_2(gradient)
    if axis.shape[1] == 3:
        along = axis.T @ normal
        return gradient, center - axis @ along / ca.norm_2(along)
    across = normal - ca.dot(normal, axis) * axis
    size = length(across)
    return gradient, center - ca.if_else(size > ON_END, radius / size, 0) * across
