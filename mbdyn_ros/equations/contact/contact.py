"""Points of a robot against walls: distances, contact Jacobians, and what curves or drifts.

A wall is a function g of a world point, positive in free space. Its gradient, by automatic
differentiation, gives the unit normal n into free space. For the point x = r(q) of a link with
x' = J v and x'' = J a + h, the distance changes with n.x', and where it stays zero

    n.J a + n.h + x'.H x' / |grad g| = 0,   H the second derivatives of g.

A point with a radius is a ball about x. Its g is the least in it (see `signed_distance`); it
touches with its material point at x - r n, which moves along the wall with x' + r n x w.

Rims of cylinders and ellipsoids touch with their point that is nearest to a plane of normal N. Of a
circle of radius R about c, across a unit vector a, that is c - R n / |n|, n = N - (N.a) a. It runs
along the circle as that turns; the distance changes with the velocity of the material point there.
Of an ellipsoid with half axes E (3, 3) it is c - E E^T N / |E^T N|.

What touches at x moves there, on a body with the pose T = (R, o), with u = W (x - o) + o' and
W = R' R^T; of two bodies u is the difference. The distance changes with n u, therefore

    (n u)' = n u' + n' u,   u' = W' (x - o) + W (x' - o') + o'',   W' = R'' R^T + R' R'^T

where x' runs along the bodies as the contact does. R'' and o'' are those without accelerations of
the coordinates here.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...model.model import Array
from ...program.declaration import program
from ...program.symbols import SerializedProperty
from ..algebra.spatial import SX, constant, cross
from ..system import System
from ..tree.gibbs_motion import GibbsMotion, touching_motions
from .arcs import on_wall
from .rods import Couple, between, couple_bytes
from .signed_distance import length

OUT_OF_REACH = 1e9
"""Distance (m) of what does not touch."""

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


@dataclass(frozen=True, eq=False)
class ContactGeometry:
    """The points and the walls that may touch.

    points : every point; may touch every face.
    faces : functions of a world point (3, 1), one number each.
    signed : of every face what `from_face` gives for a ball, as a function of its middle and its
        radius; only where a point is a ball or a piece of a rod.
    couples : rods of different bodies, which may touch each other.
    stops : tree position and velocity coordinate of a joint, side (1 from below, -1 from above),
        and the position (rad or m) of its stop.
    links : of which the frames are counted on from the bodies; see `touching_motions`.
    solid, slots : bodies with shapes of which others find where they touch, and how many such
        contacts there are room for: far away in the programs here, see `struct motion` in C.
    """

    points: tuple[BodyPoint, ...]
    faces: tuple[ca.Function, ...]
    stops: tuple[tuple[int, int, float, float], ...] = ()
    signed: tuple[ca.Function, ...] = ()
    couples: tuple[Couple, ...] = ()
    solid: tuple[int, ...] = ()
    slots: int = 0
    links: tuple[str, ...] = ()

    @SerializedProperty
    def digest(self) -> str:
        """Hash of all of it."""
        content = hashlib.sha256()
        for body, place, radius, axis, half in self.points:
            content.update(f"{body} {radius!r} {half!r}".encode() + place.tobytes())
            content.update(b"" if axis is None else axis.tobytes())
        for face in (*self.faces, *self.signed):
            content.update(face.serialize().encode())
        for couple in self.couples:
            content.update(couple_bytes(couple))
        content.update(f"{self.stops!r} {self.solid} {self.slots}".encode())
        if self.links:
            content.update(f"{self.links!r}".encode())
        return content.hexdigest()

    def __repr__(self) -> str:
        return f"ContactGeometry({self.digest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContactGeometry) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @functools.cached_property
    def bodies(self) -> list[int]:
        """The bodies, and frames of links, that have points."""
        rods = {rod.body for couple in self.couples for rod in couple}
        return sorted({point.body for point in self.points} | rods | set(self.solid))

    def nearest(self, point: BodyPoint, k: int, T: SX) -> tuple[SX, SX, SX, SX]:
        """Of a point with an axis on face k: least g, |grad g|, normal and place (3, 1) there.

        T : pose (3, 4) of its body.
        """
        assert point.axis is not None
        place, axis = T @ constant([*point.place, 1.0]), T[:, :3] @ constant(point.axis)
        if point.half:
            return on_wall(place, axis, point.half, point.radius, self.faces[k], self.signed[k])
        gradient, foot = lowest(place, axis, point.radius, self.faces[k])
        slope = ca.norm_2(gradient)
        return self.faces[k](foot), slope, gradient / slope, foot

    @property
    def pairs(self) -> int:
        """Number of points x faces: pair k is point k // faces, face k % faces."""
        return len(self.points) * len(self.faces)

    @property
    def touching(self) -> int:
        """Number of pairs and, after them, couples."""
        return self.pairs + len(self.couples)

    @property
    def lasting(self) -> int:
        """Number of pairs, couples and, after them, stops."""
        return self.touching + len(self.stops)

    @property
    def count(self) -> int:
        """Number of all of these and, after them, slots."""
        return self.lasting + self.slots


@dataclass(frozen=True, eq=False)
class PointMotion:
    """Place and velocity of a point (3, 1), in the world.

    turning : angular velocity (3, 1) of its body, in the world.
    """

    place: SX
    velocity: SX
    turning: SX


def point_motions(motions: Sequence[GibbsMotion], points: Sequence[BodyPoint]) -> list[PointMotion]:
    """The motion of points of bodies that move so."""
    result = []
    for body, place, *_ in points:
        motion, r = motions[body], constant([*place, 1.0])
        turning = motion.T[:3, :3] @ motion.w
        result.append(PointMotion((motion.T @ r)[:3], (motion.rate @ r)[:3], turning))
    return result


@program("q v", output="distances", about="contacts", internal=True)
def distances(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
    """g of every pair, couple, stop and slot, then its rate, then |grad g| (3m, 1)."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    rest = SX.zeros(system.tree.nv)
    motions = touching_motions(system.tree, embedding.joints, velocity, rest, contacts.links)
    points = point_motions(motions, contacts.points)
    position = embedding.values()
    values, rates, slopes = [], [], []
    for point, given in zip(points, contacts.points, strict=True):
        if given.axis is not None:
            for k in range(len(contacts.faces)):
                g, slope, normal, foot = contacts.nearest(given, k, motions[given.body].T[:3, :])
                values.append(g)
                speed = point.velocity + cross(point.turning, foot - point.place)
                rates.append(slope * ca.dot(normal, speed))
                slopes.append(slope)
            continue
        if given.radius:
            for signed in contacts.signed:
                gap, slope, normal, _ = signed(point.place, given.radius)
                values.append(gap)
                rates.append(slope * ca.dot(normal, point.velocity))
                slopes.append(slope)
            continue
        x = SX.sym("x", 3)
        g = ca.vertcat(*(face(x) for face in contacts.faces))
        at = ca.Function("at", [x], [g, ca.jacobian(g, x)])
        value, gradient = at(point.place)
        values.append(value)
        rates.append(gradient @ point.velocity)
        slopes += [ca.norm_2(gradient[k, :]) for k in range(len(contacts.faces))]
    for couple in contacts.couples:
        one, other = (motions[rod.body] for rod in couple)
        gap, n, x = between(couple, one.T[:3, :], other.T[:3, :])
        values.append(gap)
        speeds = [
            cross(motion.T[:3, :3] @ motion.w, x - motion.T[:3, 3]) + motion.rate[:3, 3]
            for motion in (one, other)
        ]
        rates.append(ca.dot(n, speeds[0] - speeds[1]))
        slopes.append(SX(1))
    for row, k, side, bound in contacts.stops:
        values.append(side * (position[row] - bound))
        rates.append(side * velocity[k])
        slopes.append(SX(1))
    values.append(OUT_OF_REACH * SX.ones(contacts.slots))
    rates.append(SX.zeros(contacts.slots))
    slopes.append(SX.ones(contacts.slots))
    return ca.densify(ca.vertcat(*values, *rates, *slopes))


@program("q v", output="drift", about="contacts", internal=True)
def contact_drift(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX:
    """(n u)' and u' (3, 1) of every pair and couple, then (n u)' of every stop."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    drift = embedding.drift(velocity)
    motions = touching_motions(system.tree, embedding.joints, velocity, drift, contacts.links)
    result = []
    for point in contacts.points:
        motion = motions[point.body]
        for k in range(len(contacts.faces)):
            if point.is_ball:
                result.append(_acceleration(_ball(point, contacts.signed[k], motion), motion))
            else:
                result.append(_acceleration(_moving(_on_face(point, k, contacts), motion), motion))
    for couple in contacts.couples:
        both = [motions[rod.body] for rod in couple]
        touch = _moving(lambda T, S, couple=couple: between(couple, T, S)[1:], *both)
        result.append(_acceleration(touch, *both))
    result += [side * drift[k] for _, k, side, _ in contacts.stops]
    return ca.densify(ca.vertcat(SX(0, 1), *result))


def _on_face(point: BodyPoint, k: int, contacts: ContactGeometry) -> Callable[[SX], Sequence[SX]]:
    """Normal and place (3, 1) of a point, a rim or a rod on face k, by the pose (3, 4) of its
    body."""
    center, face = constant([*point.place, 1.0]), contacts.faces[k]

    def touch(T: SX) -> Sequence[SX]:
        if point.axis is not None:
            return contacts.nearest(point, k, T)[2:]
        x = SX.sym("x", 3)
        slope = ca.gradient(face(x), x)
        return ca.Function("at", [x], [slope / ca.norm_2(slope)])(T @ center), T @ center

    return touch


def _moving(touch: Callable[..., Sequence[SX]], *motions: GibbsMotion) -> list[SX]:
    """Normal and place (3, 1), and the rates of both, by the poses of the bodies."""
    poses, rates = ([SX.sym(name, 3, 4) for _ in motions] for name in ("T", "V"))
    n, x = touch(*poses)
    at, ahead = (ca.vertcat(*map(ca.vec, some)) for some in (poses, rates))
    change = [ca.jtimes(one, at, ahead) for one in (n, x)]
    moving = ca.Function("moving", [*poses, *rates], [n, x, *change])
    given = [motion.T[:3, :] for motion in motions] + [motion.rate[:3, :] for motion in motions]
    return list(moving(*given))


def _ball(point: BodyPoint, signed: ca.Function, motion: GibbsMotion) -> list[SX]:
    """The same of a ball, by the curvature of the wall."""
    center = constant([*point.place, 1.0])
    x, speed = (motion.T @ center)[:3], (motion.rate @ center)[:3]
    _, _, n, bend = signed(x, point.radius)
    turn = bend @ speed
    return [n, x - point.radius * n, turn, speed - point.radius * turn]


def _acceleration(touch: Sequence[SX], *motions: GibbsMotion) -> SX:
    """(n u)' and u' (4, 1), by normal and place, and their rates."""
    n, x, n_rate, x_rate = touch
    speeds, changes = [], []
    for motion in motions:
        R, V, A = (one[:3, :3] for one in (motion.T, motion.rate, motion.acceleration))
        o, o_rate, o_bend = (one[:3, 3] for one in (motion.T, motion.rate, motion.acceleration))
        W, W_rate = V @ R.T, A @ R.T + V @ V.T
        speeds.append(W @ (x - o) + o_rate)
        changes.append(W_rate @ (x - o) + W @ (x_rate - o_rate) + o_bend)
    u, u_rate = speeds[0], changes[0]
    if len(motions) > 1:
        u, u_rate = u - speeds[1], u_rate - changes[1]
    return ca.vertcat(ca.dot(n, u_rate) + ca.dot(n_rate, u), u_rate)


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
