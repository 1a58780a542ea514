"""Rods along circular arcs on walls: the place of a piece that is nearest to a wall.

The centre line is c(t) = o + a cos(t) + b sin(t), with a and b across each other and as long as the
radius R of the arc; a piece has |t| <= h. The rod is all balls of radius r about c(t). Its gap is
the least gap d(t) of these (see `signed_distance`), and

    d'(t) = n . c'(t),   d''(t) = c' . B c' + n . c'',   n, B: normal and its derivatives by c.

Planes and spheres leave d a function of A - C cos(t - t*), which falls towards t*: the nearest
place is t*, or the end of the piece that is nearer to it round the circle. This is exact for every
piece of less than half a turn. On other walls d' is bracketed between the ends of the piece and
Newton's method finds its zero; that is the least gap where d' vanishes once at most in the piece.
On cylinders g itself serves, the balls being nearest where their middles are:

    g'(t) = n.b cos t - n.a sin t + (b.Hb - a.Ha) sin t cos t + a.Hb cos 2t,   n = grad g(o).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...program.symbols import serialized
from ..algebra.spatial import SX
from .signed_distance import Ball

CIRCULAR = 1e-12
"""Share of the curvature of a cylinder by which rounding changes it."""

IN_PLANE = 1e-7
"""Sine of the angle between axis and normal below which an arc lies flat: its middle touches."""

BRACKETED, REFINEMENTS = 6, 2
"""Newton steps within a bracket; on walls that are not round they take the normal below the centre
line, and more steps take that where the rod is nearest."""

PLANES, SPHERES, CYLINDERS, OTHERS = range(4)
"""Kinds of walls, by what the surfaces g = const are."""


@serialized
def kind_of(face: ca.Function) -> int:
    """The kind of a face, by its second derivatives H: planes have none, spheres H = k 1, and
    cylinders H = k (1 - d d^T) with a gradient across d."""
    x = SX.sym("x", 3)
    _, first, second = face(x)
    if not second.is_constant():
        return OTHERS
    bend = ca.DM(second).full()
    sizes, ways = np.linalg.eigh(bend)
    most = sizes[np.abs(sizes).argmax()]
    curved = np.abs(sizes) > CIRCULAR * abs(most)
    if not curved.any():
        return PLANES
    slope = ca.DM(ca.substitute(first, x, SX.zeros(3))).full()
    flat = np.abs(ways[:, ~curved].T @ slope).max(initial=0.0) <= CIRCULAR * np.abs(slope).max()
    if curved.sum() < 2 or not flat or np.ptp(sizes[curved]) > CIRCULAR * abs(most):
        return OTHERS
    return SPHERES if curved.all() else CYLINDERS


class Arc(NamedTuple):
    """The centre line of a piece.

    middle : (3, 1) of it. ways : (3, 2) a and b. half : h, rad.
    """

    middle: SX
    ways: SX
    half: SX

    def place(self, t: SX) -> SX:
        """c(t)."""
        return self.middle - self.ways[:, 0] + self.ways @ ca.vertcat(ca.cos(t), ca.sin(t))

    def along(self, t: SX) -> SX:
        """c'(t)."""
        return self.ways @ ca.vertcat(-ca.sin(t), ca.cos(t))

    def inwards(self, t: SX) -> SX:
        """c''(t)."""
        return -self.ways @ ca.vertcat(ca.cos(t), ca.sin(t))

    def rates(self, t: SX, n: SX, bend: SX) -> tuple[SX, SX]:
        """d' and d'' at an angle."""
        along = self.along(t)
        return ca.dot(n, along), ca.dot(along, bend @ along) + ca.dot(n, self.inwards(t))


def nearest(arc: Arc, radius: SX, face: ca.Function, ball: Ball) -> SX:
    """The angle of the place of a piece that is nearest to a wall.

    Parameters
    ----------
    radius : r, m. face, ball : the wall, and what balls meet of it.
    """
    a, b = arc.ways[:, 0], arc.ways[:, 1]
    kind = kind_of(face)
    _, gradient, second = face(arc.middle - a)
    if kind in (PLANES, SPHERES):
        return _falling(-ca.dot(gradient, a), -ca.dot(gradient, b), gradient, a, arc.half)
    if kind == CYLINDERS:
        return _bracketed(_quadratic(gradient, a, b, second), arc.half)

    def about(t: SX) -> tuple[SX, SX, SX]:
        _, slope, _ = face(arc.place(t))
        g, first, second = face(arc.place(t) - radius / ca.norm_2(slope) * slope)
        size = ca.norm_2(first)
        return g, *arc.rates(t, first / size, second / size)

    t = _bracketed(about, arc.half)
    for _ in range(REFINEMENTS):
        _, _, n, bend = ball(arc.place(t), radius)
        d, dd = arc.rates(t, n, bend)
        t = _within(t - _within(ca.if_else(dd > 0, d / dd, 0), arc.half / 4), arc.half)
    return t


def turning(arc: Arc, rate: Arc, t: SX, n: SX, bend: SX) -> SX:
    """The rate of the nearest angle t, at which d' stays zero; none at an end of the piece.

    rate : of the centre line. n, bend : normal and its derivatives, for the ball at t.
    """
    _, dd = arc.rates(t, n, bend)
    change = ca.dot(bend @ rate.place(t), arc.along(t)) + ca.dot(n, rate.along(t))
    moves = ca.logic_and(ca.fabs(t) < arc.half, dd > IN_PLANE * ca.norm_2(arc.ways[:, 0]))
    return ca.if_else(moves, -change / ca.if_else(moves, dd, 1), 0)


def _falling(along: SX, across: SX, gradient: SX, a: SX, half: SX) -> SX:
    """Where a piece is nearest whose gap falls towards one angle of the circle."""
    tilted = along**2 + across**2 > IN_PLANE**2 * ca.sumsqr(gradient) * ca.sumsqr(a)
    t = ca.atan2(ca.if_else(tilted, across, 0), ca.if_else(tilted, along, 1))
    return _within(t, half)


About = Callable[[SX], tuple[SX, SX, SX]]
"""Of an angle: g except for a constant, and what has the signs of d' and d'' there."""


def _quadratic(gradient: SX, a: SX, b: SX, second: SX) -> About:
    """Along the centre line, by the gradient at the centre of the arc, where H is constant."""
    na, nb = ca.dot(gradient, a), ca.dot(gradient, b)
    aa, ab, bb = ca.dot(a, second @ a), ca.dot(a, second @ b), ca.dot(b, second @ b)

    def about(t: SX) -> tuple[SX, SX, SX]:
        c, s = ca.cos(t), ca.sin(t)
        g = na * c + nb * s + (aa * c * c + bb * s * s) / 2 + ab * s * c
        d = nb * c - na * s + (bb - aa) * s * c + ab * (c * c - s * s)
        return g, d, (bb - aa) * (c * c - s * s) - nb * s - na * c - 4 * ab * s * c

    return about


def _bracketed(about: About, half: SX) -> SX:
    """Nearly where a piece is nearest."""
    low, high = -half, half
    (g_low, d_low, _), (g_high, d_high, _) = about(low), about(high)
    has_zero = ca.logic_and(d_low < 0, d_high > 0)
    end = ca.if_else(d_low + d_high > 0, low, high)  # both rise, or both fall
    end = ca.if_else(
        ca.logic_and(d_low > 0, d_high < 0), ca.if_else(g_low < g_high, low, high), end
    )
    t = low + 2 * half * ca.if_else(has_zero, -d_low / (d_high - d_low), 0.5)
    for _ in range(BRACKETED):
        _, d, dd = about(t)
        low, high = ca.if_else(d > 0, low, t), ca.if_else(d > 0, t, high)
        newton = t - d / dd
        inside = ca.logic_and(dd > 0, ca.logic_and(newton >= low, newton <= high))
        t = ca.if_else(inside, newton, (low + high) / 2)
    return ca.if_else(has_zero, t, end)


def _within(t: SX, half: SX) -> SX:
    return ca.fmin(ca.fmax(t, -half), half)
