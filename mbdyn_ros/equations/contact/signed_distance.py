"""How far a ball is from a wall g = 0, with the normal and the curvature where they meet.

A ball of radius r about x is free where g > 0 in all of it, and touches where the least g of it,

    min g(y) over |y - x| <= r,   with u = y - x:   u + l grad g(y) = 0, l > 0, |u| = r,

is zero: its deepest point y is then the foot of the perpendicular. No other place of the wall is
looked at, so that nothing is touched from afar, however the wall bends. g(y) changes with the speed
of x along grad g(y), and the unit normal n at y with x by (1 + r S)^-1 S, from the curvature
S = (1 - n n^T) H / |grad g| there.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from ...program.symbols import lasting, serialized
from ..algebra.spatial import SX

DESCENTS, POLISHES = 3, 3
"""Newton steps to the deepest point: those that must go down, and those that square the error."""

SHORTEST = 1e-12
"""Length (m) that a vector is taken to have at least, where its direction is asked for."""


class Differentiated(NamedTuple):
    """A number at a point x (3, 1), its gradient (3, 1) and its second derivatives (3, 3)."""

    value: SX
    gradient: SX
    second: SX

    @staticmethod
    def of(value: SX, x: SX) -> Differentiated:
        """An expression of x."""
        second, first = ca.hessian(value, x)
        return Differentiated(value, first, second)


def face_of(g: SX | Differentiated, x: SX) -> ca.Function:
    """A face of a wall: g, its gradient and second derivatives, as a function of x (3, 1)."""
    given = g if isinstance(g, Differentiated) else Differentiated.of(g, x)
    return lasting(ca.Function("face", [x], list(given)))


@serialized
def level(face: ca.Function) -> ca.Function:
    """Of the surface g = const through a point: |grad g|, normal, and H / |grad g|, of any g."""
    x = SX.sym("x", 3)
    _, first, second = face(x)
    size = ca.norm_2(first)
    return lasting(
        ca.Function("level", [x], [size, ca.densify(first / size), ca.densify(second / size)])
    )


@serialized
def from_distance(distance: ca.Function) -> ca.Function:
    """The same as `from_face`, from the distance of a point in closed form."""
    x, r = SX.sym("x", 3), SX.sym("r")
    value, first, second = distance(x)
    return _ball(x, r, value - r, SX(1), first, second)


@serialized
def from_face(face: ca.Function) -> ca.Function:
    """Of a ball at x (3, 1) with radius r: least g, |grad g| and normal (3, 1) there, and the
    derivatives (3, 3) of the normal by x."""
    x, r = SX.sym("x", 3), SX.sym("r")

    def against(slope: SX) -> SX:
        return -r / length(slope) * slope

    u = against(face(x)[1])
    for k in range(DESCENTS + POLISHES):
        _, slope, bend = face(x + u)
        scale = r / length(slope)
        inverse = ca.inv(SX.eye(3) + scale * bend)
        apart, across = inverse @ (u + scale * slope), inverse @ slope
        newton = u - apart + ca.dot(u, apart) / ca.dot(u, across) * across
        newton = r / length(newton) * newton
        if k < DESCENTS:
            down = against(slope)
            newton = ca.if_else(face(x + newton)[0] <= face(x + down)[0], newton, down)
        u = newton
    g, slope, bend = face(x + u)
    n = slope / length(slope)
    shape = tangential(n, bend) / ca.norm_2(slope)
    return _ball(x, r, g, ca.norm_2(slope), n, ca.inv(SX.eye(3) + r * shape) @ shape)


def tangential(normal: SX, second: SX) -> SX:
    """What of second derivatives (3, 3) lies along a surface."""
    return (SX.eye(3) - normal @ normal.T) @ second


def _ball(x: SX, r: SX, gap: SX, slope: SX, normal: SX, bend: SX) -> ca.Function:
    return lasting(ca.Function("ball", [x, r], [gap, slope, ca.densify(normal), ca.densify(bend)]))


def length(vector: SX) -> SX:
    """The length of a vector, with a derivative where it is zero."""
    return ca.sqrt(ca.fmax(ca.sumsqr(vector), SHORTEST**2))
