"""How far a ball is from a wall g = 0, with the normal and the curvature where they meet.

A ball of radius r about x is free where g > 0 in all of it, and touches where the least g of it,

    min g(y) over |y - x| <= r,   with u = y - x:   u + l grad g(y) = 0, l > 0, |u| = r,

is zero: its deepest point y is then the foot of the perpendicular. No other place of the wall is
looked at, so that nothing is touched from afar, however the wall bends. Where r is less than the
least radius of curvature of hollows there is one such y, and one search from x finds it; wider
balls are searched from many places (see `deepest_points`). g(y) changes with the speed of x along
grad g(y), and the unit normal n at y with x by (1 + r S)^-1 S, from the curvature
S = (1 - n n^T) H / |grad g| there.

In a quadric, whose second derivatives H are constant, one point u from the middle x is the deepest
(More and Sorensen 1983):

    (H + l 1) u = -grad g(x),   |u| = r,   H + l 1 positive semidefinite.

In the axes of H, with curvatures d_1 <= d_2 <= d_3, that is one equation |u(m)| = r for
m = l + d_1 > 0. 1 / |u(m)| is concave, so that Newton's method comes from below and never passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...array import Array
from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX, constant
from .steepness import Steepness

SECULAR_STEPS = 8
"""Newton steps for the multiplier."""

LEAST_PART = 1e-200
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
    least = ca.if_else(slope[0] < 0, ca.fmin(slope[0], -LEAST_PART), ca.fmax(slope[0], LEAST_PART))
    slope = ca.vertcat(least, slope[1:])
    m = ca.mmax(ca.fabs(slope) / r - more)
    for _ in range(SECULAR_STEPS):
        u = slope / (more + m)
        far = ca.sumsqr(u)
        m = m + far * (ca.sqrt(far) - r) / (r * ca.sumsqr(u / ca.sqrt(more + m)))
    u = -(slope / (more + m))
    found = constant(axes) @ (r / ca.norm_2(u) * u)
    return lasting(ca.Function("deepest", list(given), [ca.densify(found)], {"cse": True}))


DESCENTS, POLISHES = 3, 3
"""Newton steps to the deepest point: those that must go down, and those that square the error."""

SHORTEST = 1e-12
"""Length (m) that a vector is taken to have at least, where its direction is asked for."""


class Differentiated(NamedTuple):
    """A number at a point x (3, 1), its gradient (3, 1) and its second derivatives (3, 3).

    steepness : bounds of these, where they are known.
    """

    value: SX
    gradient: SX
    second: SX
    steepness: Steepness | None = None

    @staticmethod
    def of(value: SX, x: SX) -> Differentiated:
        """An expression of x."""
        second, first = ca.hessian(value, x)
        return Differentiated(value, first, second)


def face_of(g: SX | Differentiated, x: SX) -> ca.Function:
    """A face of a wall: g, its gradient and second derivatives, as a function of x (3, 1)."""
    given = g if isinstance(g, Differentiated) else Differentiated.of(g, x)
    return lasting(ca.Function("face", [x], list(given[:3])))


@serialized
def level(face: ca.Function) -> ca.Function:
    """Of the surface g = const through a point: |grad g|, normal, and H / |grad g|, of any g."""
    x = SX.sym("x", 3)
    _, first, second = face(x)
    size = ca.norm_2(first)
    return lasting(
        ca.Function("level", [x], [size, ca.densify(first / size), ca.densify(second / size)])
    )


class Ball(NamedTuple):
    """The meeting of a ball at x (3, 1), of radius r, with a face.

    search : functions of x, r and u, one after the other, which lead from u = 0 to the place of the
        deepest point from x (3, 1); none where the rest asks for no such place.
    meets : function of x, r and u: least g, |grad g| and normal (3, 1), and the derivatives (3, 3)
        of the normal by x.
    face, steepness : of those whose balls may have several deepest points; None for the others.
    """

    search: tuple[ca.Function, ...]
    meets: ca.Function
    face: ca.Function | None = None
    steepness: Steepness | None = None

    def is_wide(self, radius: float) -> bool:
        """Whether a ball of this radius (m) may have several deepest points."""
        return self.steepness is not None and not radius < self.steepness.widest

    def __call__(self, x: SX, r: SX) -> list[SX]:
        """All of it, by x and r."""
        u = 0 * x
        for step in self.search:
            u = step(x, r, u)
        return list(self.meets(x, r, u))


@serialized
def from_distance(distance: ca.Function) -> Ball:
    """The same as `from_face`, from the distance of a point in closed form."""
    x, r, u = SX.sym("x", 3), SX.sym("r"), SX.sym("u", 3)
    value, first, second = distance(x)
    return Ball((), _function([x, r, u], value - r, SX(1), first, second))


@serialized
def from_face(face: ca.Function, steepness: Steepness | None = None) -> Ball:
    """By the deepest point of the ball; of one deepest point at most where no `steepness` is."""
    given = x, r, u = SX.sym("x", 3), SX.sym("r"), SX.sym("u", 3)
    g, slope, bend = face(x + u)
    newton, down = newton_step(u, r, slope, bend), -r / length(slope) * slope
    better = ca.if_else(face(x + newton)[0] <= face(x + down)[0], newton, down)
    first, descent, polish = (
        lasting(ca.Function("search", given, [ca.densify(one)], {"cse": True}))
        for one in (down, better, newton)
    )
    n = slope / length(slope)
    shape = tangential(n, bend) / ca.norm_2(slope)
    meets = _function(given, g, ca.norm_2(slope), n, ca.inv(SX.eye(3) + r * shape) @ shape)
    curved = curvatures(face)
    if curved is not None:
        return Ball((deepest_in_quadric(face, curved),), meets, face, steepness)
    search = (first, *[descent] * DESCENTS, *[polish] * POLISHES)
    if steepness is None:
        return Ball(search, meets)
    return Ball(search, meets, face, steepness)


def newton_step(u: SX, r: SX, slope: SX, bend: SX) -> SX:
    """From a place u (3, 1) on a ball to another, by gradient and second derivatives of g at it."""
    scale = r / length(slope)
    inverse = ca.inv(SX.eye(3) + scale * bend)
    apart, across = inverse @ (u + scale * slope), inverse @ slope
    newton = u - apart + ca.dot(u, apart) / ca.dot(u, across) * across
    return r / length(newton) * newton


def tangential(normal: SX, second: SX) -> SX:
    """The part of second derivatives (3, 3) along a surface."""
    return (SX.eye(3) - normal @ normal.T) @ second


def _function(given: Sequence[SX], gap: SX, slope: SX, normal: SX, bend: SX) -> ca.Function:
    found = [gap, slope, ca.densify(normal), ca.densify(bend)]
    return lasting(ca.Function("ball", list(given), found))


def length(vector: SX) -> SX:
    """The length of a vector, with a derivative where it is zero."""
    return ca.sqrt(ca.fmax(ca.sumsqr(vector), SHORTEST**2))
