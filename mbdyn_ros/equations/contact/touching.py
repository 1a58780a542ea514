"""Where points, balls, rims and rods touch a wall: a formula for each kind of shape.

Rims of cylinders and ellipsoids touch with their point that is nearest to a plane of normal N. Of a
circle of radius R about c, across a unit vector a, that is c - R n / |n|, n = N - (N.a) a. It runs
along the circle as that turns; the distance changes with the velocity of the material point there.
Of an ellipsoid with half axes E (3, 3) it is c - E E^T N / |E^T N|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...model.model import Array
from ...program.symbols import serialized
from ..algebra.spatial import SX, constant
from .arcs import Arc, nearest, turning
from .signed_distance import length, tangential

ON_END = 1e-7
"""Sine of the angle between axis and normal below which a cylinder stands on its end: its centre
touches then, and points of its edge."""


class BodyPoint(NamedTuple):
    """A point of a body at a place (3,) in its frame (m); with a radius (m) a ball about it.

    axis : (3,) unit vector of a rim, a circle of that radius across it; (3, 3) of an ellipsoid, its
        half axes (m) as columns; (3, 2) of a piece of a curved rod about the place, from the centre
        of its arc to the place, and along the arc, both as long as its radius (m); None for others.
    half : rad, half of the angle of such a piece.
    """

    body: int
    place: Array
    radius: float = 0.0
    axis: Array | None = None
    half: float = 0.0

    @property
    def is_ball(self) -> bool:
        """Whether it is a ball, which touches on the normal through its middle."""
        return bool(self.radius) and self.axis is None

    @property
    def reach(self) -> float:
        """How far (m) from the origin of its body anything of it is, at most."""
        far = float(np.linalg.norm(self.place)) + self.radius
        if self.half and self.axis is not None:
            far += 2 * float(np.linalg.norm(self.axis[:, 0])) * math.sin(self.half / 2)
        return far

    @property
    def kind(self) -> tuple[bool, int]:
        """Whether it is a ball, and how many axes it has: those of one kind share formulas."""
        return self.is_ball, 0 if self.axis is None else self.axis.size // 3

    def placed(self, T: SX) -> list[SX]:
        """What formulas take of it: place (3, 1) and axes (3, n) in the world, radius, and half.

        T : pose (3, 4) of its body.
        """
        return [*self.moved(T), SX(self.radius), SX(self.half)]

    def moved(self, T: SX) -> list[SX]:
        """Place and axes; or their rates, where T is the rate of the pose."""
        axes = np.zeros((3, 0)) if self.axis is None else self.axis
        return [T @ constant([*self.place, 1.0]), T[:, :3] @ constant(axes)]


@dataclass(frozen=True, eq=False)
class Wall:
    """One face of a wall.

    face : its g, gradient and second derivatives, as `face_of` has them.
    signed : what `from_face` gives for a ball; None where no point is a ball or a piece of a rod.
    """

    face: ca.Function
    signed: ca.Function | None

    @serialized
    def touch(self, kind: tuple[bool, int]) -> ca.Function:
        """Least g of a point of that kind, |grad g|, grad g, the normal and the place (3, 1)."""
        given = x, axes, r, half = _symbols(kind)
        is_ball, ways = kind
        if is_ball or ways == PIECE:
            assert self.signed is not None
            if ways == PIECE:
                arc = Arc(x, axes, half)
                x = arc.place(nearest(arc, r, self.face, self.signed))
            g, slope, normal, _ = self.signed(x, r)
            found = [g, slope, slope * normal, normal, x - r * normal]
        else:
            g, gradient, _ = self.face(x)
            slope = ca.norm_2(gradient)
            normal = gradient / slope
            if ways:
                x = _lowest(x, axes, r, normal)
                g, *_ = self.face(x)
            found = [g, slope, gradient, normal, x]
        return ca.Function("touch", given, list(map(ca.densify, found)))

    @serialized
    def moving(self, kind: tuple[bool, int]) -> ca.Function:
        """The normal and the place (3, 1) where a point of that kind touches, and both rates, with
        the rates of its place and axes as arguments too."""
        given = x, axes, r, half = _symbols(kind)
        rates = x_rate, axes_rate = SX.sym("x_rate", 3), SX.sym("axes_rate", *axes.shape)
        is_ball, ways = kind
        if is_ball or ways == PIECE:
            assert self.signed is not None
            if ways == PIECE:
                arc, rate = Arc(x, axes, half), Arc(x_rate, axes_rate, half)
                t = nearest(arc, r, self.face, self.signed)
                x, x_rate = arc.place(t), rate.place(t)
            _, _, normal, bend = self.signed(x, r)
            if ways == PIECE:
                x_rate = x_rate + turning(arc, rate, t, normal, bend) * arc.along(t)
            turn = bend @ x_rate
            found = [normal, x - r * normal, turn, x_rate - r * turn]
        else:
            _, gradient, second = self.face(x)
            slope = ca.norm_2(gradient)
            normal = gradient / slope
            turn = tangential(normal, second) / slope @ x_rate
            if ways:
                N = SX.sym("N", 3)
                foot = _lowest(x, axes, r, N)
                at = ca.vertcat(x, ca.vec(axes), N)
                run = ca.jtimes(foot, at, ca.vertcat(x_rate, ca.vec(axes_rate), turn))
                x, x_rate = ca.substitute([foot, run], [N], [normal])
            found = [normal, x, turn, x_rate]
        return ca.Function("moving", [*given, *rates], list(map(ca.densify, found)))


PIECE = 2
"""Axes of a piece of a curved rod."""


def _symbols(kind: tuple[bool, int]) -> list[SX]:
    return [SX.sym("x", 3), SX.sym("axes", 3, kind[1]), SX.sym("radius"), SX.sym("half")]


def _lowest(center: SX, axes: SX, radius: SX, normal: SX) -> SX:
    """The point (3, 1) of a rim or an ellipsoid that is nearest to a plane with that normal.

    axes : (3, 1), a unit vector in the world, or (3, 3), half axes.
    """
    if axes.shape[1] == 3:
        along = axes.T @ normal
        return center - axes @ along / ca.norm_2(along)
    across = normal - ca.dot(normal, axes) * axes
    size = length(across)
    return center - ca.if_else(size > ON_END, radius / size, 0) * across
