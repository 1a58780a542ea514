"""Where points, balls, rims and rods touch a wall: a formula for each kind of shape.

Rims of cylinders and ellipsoids touch with their point that is nearest to a plane of normal N. Of a
circle of radius R about c, across a unit vector a, that is c - R n / |n|, n = N - (N.a) a. It runs
along the circle as that turns; the distance changes with the velocity of the material point there.
Of an ellipsoid with half axes E (3, 3) it is c - E E^T N / |E^T N|.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import casadi as ca
import numpy as np

from ...model.model import Array
from ...program.stages import Stages
from ...program.symbols import serialized
from ..algebra.spatial import SX, constant
from ..tree.gibbs_motion import GibbsMotion
from .arcs import Arc, nearest, turning
from .deepest_points import deepest
from .signed_distance import Ball, length, tangential

ON_END = 1e-7
"""Sine of the angle between axis and normal below which a cylinder stands on its end: its centre
touches then, and points of its edge."""


Kind: TypeAlias = tuple[bool, int]
"""Whether a point is a ball, and how many axes it has: those of one kind share formulas."""


class BodyPoint(NamedTuple):
    """A point of a body at a place (3,) in its frame (m); with a radius (m) a ball about it.

    axis : (3,) unit vector of a rim, a circle of that radius across it; (3, 3) of an ellipsoid, its
        half axes (m) as columns; (3, 2) of a piece of a curved rod about the place, from the centre
        of its arc to the place, and along the arc, both as long as its radius (m); None for others.
    half : rad, half of the angle of such a piece.
    of, rank : a ball that may touch a wall at several places has a point for each, the deepest
        first: the number of that with rank 0, and which one it is.
    """

    body: int
    place: Array
    radius: float = 0.0
    axis: Array | None = None
    half: float = 0.0
    of: int = -1
    rank: int = 0

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
    def kind(self) -> Kind:
        """Its kind."""
        return self.is_ball, 0 if self.axis is None else self.axis.size // 3

    def placed(self, T: SX) -> list[SX]:
        """The arguments of formulas: place (3, 1), radius, axes (3, n) in the world, and half.

        T : pose (3, 4) of its body.
        """
        place, axes = self.moved(T)
        return [place, SX(self.radius), axes, SX(self.half)]

    def moved(self, T: SX) -> list[SX]:
        """Place and axes; or their rates, where T is the rate of the pose."""
        axes = SX(3, 0) if self.axis is None else T[:, :3] @ constant(self.axis)
        return [T @ constant([*self.place, 1.0]), axes]


class Plane(NamedTuple):
    """A wall that has the same normal everywhere, as points of one kind and radius touch it.

    gradient, offset : G (3,) and c of g = G.x + c; x is their place, m. slope : |G|.
    normal : (3,) unit vector.
    """

    gradient: Array
    offset: float
    slope: float
    normal: Array

    def seen_from(self, T: SX, rate: SX) -> SX:
        """(3, 4): g, its rate and |G| of places (x, y, z, 1) in a frame with this pose (3, 4)."""
        n, still = constant(self.gradient).T, SX(1, 3)
        return ca.vertcat(
            n @ T + ca.horzcat(still, self.offset), n @ rate, ca.horzcat(still, self.slope)
        )


PIECE = 2
"""Axes of a piece of a curved rod."""


@dataclass(frozen=True, eq=False)
class Wall:
    """One face of a wall.

    face : its g, gradient and second derivatives, as `face_of` has them.
    ball : what a ball meets of it; None where no point is a ball or a piece of a rod.
    """

    face: ca.Function
    ball: Ball | None

    def deepest(
        self, points: Sequence[BodyPoint], stages: Stages, centres: Sequence[Sequence[SX]]
    ) -> list[SX]:
        """Where points of one kind are deepest, from their places (3, 1).

        Of a place that is not there it is 0.

        centres : their places and radii as symbols.
        """
        found = [SX(3, 1)] * len(points)
        if self.ball is None or not points[0].is_ball:
            return found
        some = [i for i, point in enumerate(points) if not point.rank]
        wide = [i for i in some if self.ball.is_wide(points[i].radius)]
        narrow = [i for i in some if i not in wide]
        places = stages.changed(
            [SX(3, 1)] * len(narrow), self.ball.search, [centres[i] for i in narrow]
        )
        for i, place in zip(narrow, places, strict=True):
            found[i] = place
        if wide:
            radii = [points[i].radius for i in wide]
            several = deepest(self.ball, stages, [centres[i] for i in wide], radii)
            places_of = dict(zip([points[i].of for i in wide], several, strict=True))
            for i, point in enumerate(points):
                if point.of in places_of:
                    found[i] = places_of[point.of][point.rank]
        return found

    @serialized
    def plane(self, point: BodyPoint) -> Plane | None:
        """Where a point touches whose g is linear in its place; None for others."""
        kind = point.kind
        if kind not in self._linear:
            g, _, gradient, *_ = self.touch(kind)(*(given := _symbols(kind)))
            linear = not kind[1] and gradient.is_constant() and not ca.depends_on(g, given[-1])
            self._linear[kind] = linear
        if not self._linear[kind]:
            return None
        radius = 0.0 if point.rank else point.radius  # a ball touches a plane at one place
        if (kind, radius) not in self._planes:
            still = np.zeros(3)
            found = self.touch(kind)(still, radius, np.zeros((3, 0)), 0.0, still)
            g, slope, gradient, normal, _ = (one.full().ravel() for one in found)
            plane = Plane(gradient, float(g[0]), float(slope[0]), normal)
            self._planes[kind, radius] = plane
        return self._planes[kind, radius]

    @functools.cached_property
    def _linear(self) -> dict[Kind, bool]:
        return {}

    @functools.cached_property
    def _planes(self) -> dict[tuple[Kind, float], Plane]:
        return {}

    @functools.cached_property
    def _touch(self) -> dict[Kind, ca.Function]:
        return {}

    @serialized
    def touch(self, kind: Kind) -> ca.Function:
        """Least g of a point of that kind, |grad g|, grad g, the normal and the place (3, 1).

        It is traced once for all programs.
        """
        if kind in self._touch:
            return self._touch[kind]
        x, r, axes, half, u = given = _symbols(kind)
        is_ball, ways = kind
        if is_ball or ways == PIECE:
            assert self.ball is not None
            if ways == PIECE:
                arc = Arc(x, axes, half)
                x = arc.place(nearest(arc, r, self.face, self.ball))
                g, slope, normal, _ = self.ball(x, r)
            else:
                g, slope, normal, _ = self.ball.meets(x, r, u)
            found = [g, slope, slope * normal, normal, x - r * normal]
        else:
            g, gradient, _ = self.face(x)
            slope = ca.norm_2(gradient)
            normal = gradient / slope
            if ways:
                x = _lowest(x, axes, r, normal)
                g, *_ = self.face(x)
            found = [g, slope, gradient, normal, x]
        return self._touch.setdefault(
            kind, ca.Function("touch", given, list(map(ca.densify, found)))
        )

    @serialized
    def drift(self, kind: Kind) -> ca.Function:
        """(n u)' and u' (4, 1) where a point of that kind touches.

        Its arguments are those of `touch`, between them the rates of place and axes, and how its
        body is `carried`.
        """
        x, r, axes, half, u = _symbols(kind)
        rates = x_rate, axes_rate = SX.sym("x_rate", 3), SX.sym("axes_rate", *axes.shape)
        body = [SX.sym("body", 3, 3) for _ in range(3)]
        given = [x, r, axes, half, *rates, *body, u]
        is_ball, ways = kind
        if is_ball or ways == PIECE:
            assert self.ball is not None
            if ways == PIECE:
                arc, rate = Arc(x, axes, half), Arc(x_rate, axes_rate, half)
                t = nearest(arc, r, self.face, self.ball)
                x, x_rate = arc.place(t), rate.place(t)
                _, _, normal, bend = self.ball(x, r)
                x_rate = x_rate + turning(arc, rate, t, normal, bend) * arc.along(t)
            else:
                _, _, normal, bend = self.ball.meets(x, r, u)
            turn = bend @ x_rate
            x, x_rate = x - r * normal, x_rate - r * turn
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
        found = acceleration([normal, x, turn, x_rate], body)
        return ca.Function("drift", given, [ca.densify(found)])


def _symbols(kind: Kind) -> list[SX]:
    columns = {"x": (3, 1), "r": (1, 1), "axes": (3, kind[1]), "half": (1, 1), "u": (3, 1)}
    return [SX.sym(name, *shape) for name, shape in columns.items()]


def carried(motion: GibbsMotion) -> list[SX]:
    """W, W' (3, 3), and o, o', o'' (3, 3) side by side, of a body."""
    R, V, A = (one[:3, :3] for one in (motion.T, motion.rate, motion.acceleration))
    o = [one[:3, 3] for one in (motion.T, motion.rate, motion.acceleration)]
    return [V @ R.T, A @ R.T + V @ V.T, ca.horzcat(*o)]


def acceleration(touch: Sequence[SX], *bodies: Sequence[SX]) -> SX:
    """(n u)' and u' (4, 1), by normal and place, and their rates, and how bodies are `carried`."""
    n, x, n_rate, x_rate = touch
    speeds, changes = [], []
    for W, W_rate, origin in bodies:
        o, o_rate, o_bend = ca.horzsplit(origin, 1)
        speeds.append(W @ (x - o) + o_rate)
        changes.append(W_rate @ (x - o) + W @ (x_rate - o_rate) + o_bend)
    u, u_rate = speeds[0], changes[0]
    if len(bodies) > 1:
        u, u_rate = u - speeds[1], u_rate - changes[1]
    return ca.vertcat(ca.dot(n, u_rate) + ca.dot(n_rate, u), u_rate)


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
