"""Points of a robot against walls: distances, contact Jacobians and what curves them.

A wall is a function g of a world point, positive in free space. Its gradient, by automatic
differentiation, gives the unit normal n into free space. For the point x = r(q) of a link with
x' = J v and x'' = J a + h, the distance changes with n.x', and where it stays zero

    n.J a + n.h + x'.H x' / |grad g| = 0,   H the second derivatives of g.

A point with a radius is a ball about x. Its g is the least in it (see `signed_distance`); it
touches with its material point at x - r n, which moves along the wall with x' + r n x w.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from ...model.model import Array
from ...prepare.tree import Tree
from ...program.declaration import program
from ...program.symbols import SerializedProperty
from ..algebra.spatial import SX, JointMotion, constant, cross
from ..system import System
from ..tree.gibbs_motion import body_motions, touching_motions
from .rims import lowest
from .rods import Couple, between, couple_bytes

OUT_OF_REACH = 1e9
"""Distance (m) of what does not touch."""


class BodyPoint(NamedTuple):
    """A point of a body at a place (3,) in its frame (m); with a radius (m) a ball about it.

    axis : (3,) unit vector of a rim, a circle of that radius across it; None for others.
    """

    body: int
    place: Array
    radius: float = 0.0
    axis: Array | None = None


@dataclass(frozen=True, eq=False)
class ContactGeometry:
    """The points and the walls that may touch.

    points : every point; may touch every face.
    faces : functions of a world point (3, 1), one number each.
    signed : of every face what `from_face` tells of a ball, as a function of its middle and its
        radius; only where a point has a radius.
    couples : rods of different bodies, which may touch each other.
    stops : tree position and velocity coordinate of a joint, side (1 from below, -1 from above),
        and the position (rad or m) of its stop.
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

    @SerializedProperty
    def digest(self) -> str:
        """Hash of all of it."""
        content = hashlib.sha256()
        for body, place, radius, axis in self.points:
            content.update(f"{body} {radius!r}".encode() + place.tobytes())
            content.update(b"" if axis is None else axis.tobytes())
        for face in (*self.faces, *self.signed):
            content.update(face.serialize().encode())
        for couple in self.couples:
            content.update(couple_bytes(couple))
        content.update(f"{self.stops!r} {self.solid} {self.slots}".encode())
        return content.hexdigest()

    def __repr__(self) -> str:
        return f"ContactGeometry({self.digest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContactGeometry) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @functools.cached_property
    def bodies(self) -> list[int]:
        """The bodies that have points."""
        rods = {rod.body for couple in self.couples for rod in couple}
        return sorted({point.body for point in self.points} | rods | set(self.solid))

    @property
    def pairs(self) -> int:
        """Number of points x faces: pair k is point k // faces, face k % faces."""
        return len(self.points) * len(self.faces)

    @property
    def touching(self) -> int:
        """Number of pairs and, behind them, couples."""
        return self.pairs + len(self.couples)

    @property
    def lasting(self) -> int:
        """Number of pairs, couples and, behind them, stops."""
        return self.touching + len(self.stops)

    @property
    def count(self) -> int:
        """Number of all of these and, behind them, slots."""
        return self.lasting + self.slots


@dataclass(frozen=True, eq=False)
class PointMotion:
    """Place and velocity of a point (3, 1), in the world.

    turning : angular velocity (3, 1) of its body, in the world.
    """

    place: SX
    velocity: SX
    turning: SX


def point_motions(
    tree: Tree,
    joints: Sequence[JointMotion],
    v: SX,
    a: SX,
    points: Sequence[BodyPoint],
) -> list[PointMotion]:
    """The motion of points at tree velocities and accelerations."""
    motions = body_motions(tree, joints, v, a)
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
    points = point_motions(system.tree, embedding.joints, velocity, rest, contacts.points)
    motions = touching_motions(system.tree, embedding.joints, velocity, rest)
    position = embedding.values()
    values, rates, slopes = [], [], []
    for point, (body, _, radius, axis) in zip(points, contacts.points, strict=True):
        if axis is not None:
            for face in contacts.faces:
                turned = motions[body].T[:3, :3] @ constant(axis)
                gradient, foot = lowest(point.place, turned, radius, face)
                values.append(face(foot))
                speed = point.velocity + cross(point.turning, foot - point.place)
                rates.append(ca.dot(gradient, speed))
                slopes.append(ca.norm_2(gradient))
            continue
        if radius:
            for signed in contacts.signed:
                gap, slope, normal, _ = signed(point.place, radius)
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
