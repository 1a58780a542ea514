"""Points of a robot against walls: distances, contact Jacobians, and what curves or drifts.

A wall is a function g of a world point, positive in free space. Its gradient, by automatic
differentiation, gives the unit normal n into free space. For the point x = r(q) of a link with
x' = J v and x'' = J a + h, the distance changes with n.x', and where it stays zero

    n.J a + n.h + x'.H x' / |grad g| = 0,   H the second derivatives of g.

A point with a radius is a ball about x. Its g is the least in it (see `signed_distance`); it
touches with its material point at x - r n, which moves along the wall with x' + r n x w.

What touches at x moves there, on a body with the pose T = (R, o), with u = W (x - o) + o' and
W = R' R^T; of two bodies u is the difference. The distance changes with n u, therefore

    (n u)' = n u' + n' u,   u' = W' (x - o) + W (x' - o') + o'',   W' = R'' R^T + R' R'^T

where x' runs along the bodies as the contact does. R'' and o'' are those without accelerations of
the coordinates here.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import casadi as ca

from ...program.program import program
from ...program.stages import Staged, Stages
from ...program.symbols import SerializedProperty
from ..algebra.spatial import SX, cross
from ..system import System
from ..tree.gibbs_motion import GibbsMotion, touching_motions
from .rods import Couple, between, couple_bytes
from .signed_distance import Ball
from .touching import BodyPoint, Kind, Plane, Wall, acceleration, carried

OUT_OF_REACH = 1e9
"""Distance (m) of what does not touch."""

UNTOUCHED = (OUT_OF_REACH, 0.0, 1.0)
"""Its column of `distances`."""


@dataclass(frozen=True, eq=False)
class ContactGeometry:
    """The points and the walls that may touch.

    points : every point; may touch every face. After them the further places of balls that may
        touch some face at several, see `BodyPoint`.
    faces : functions of a world point (3, 1), as `face_of` has them.
    signed : of every face what a ball meets; only where a point is a ball or a piece of a rod.
    couples : rods of different bodies, which may touch each other.
    stops : tree position and velocity coordinate of a joint, side (1 from below, -1 from above),
        and the position (rad or m) of its stop.
    links : of which the frames are counted on from the bodies; see `touching_motions`.
    apart : pairs that do not touch, as of corners of shapes that touch a wall in slots.
    solid, slots : bodies with shapes of which others find where they touch, and how many such
        contacts there are room for: far away in the programs here, see `struct motion` in C.
    """

    points: tuple[BodyPoint, ...]
    faces: tuple[ca.Function, ...]
    stops: tuple[tuple[int, int, float, float], ...] = ()
    signed: tuple[Ball, ...] = ()
    couples: tuple[Couple, ...] = ()
    solid: tuple[int, ...] = ()
    slots: int = 0
    links: tuple[str, ...] = ()
    apart: frozenset[int] = frozenset()

    @SerializedProperty
    def digest(self) -> str:
        """Hash of all of it."""
        content = hashlib.sha256()
        for body, place, radius, axis, half, of, rank in self.points:
            content.update(f"{body} {radius!r} {half!r} {of} {rank}".encode() + place.tobytes())
            content.update(b"" if axis is None else axis.tobytes())
        balls = (part for ball in self.signed for part in (*ball.search, ball.meets))
        content.update(f"{[ball.steepness for ball in self.signed]!r}".encode())
        for face in (*self.faces, *balls):
            content.update(face.serialize().encode())
        for couple in self.couples:
            content.update(couple_bytes(couple))
        content.update(f"{self.stops!r} {self.solid} {self.slots}".encode())
        content.update(f"{sorted(self.apart)}".encode())
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

    @functools.cached_property
    def walls(self) -> list[Wall]:
        """Every face, with the formulas of what touches it."""
        return [
            Wall(face, self.signed[k] if self.signed else None) for k, face in enumerate(self.faces)
        ]

    @functools.cached_property
    def planes(self) -> list[Plane | None]:
        """Of every pair the plane that it touches; None where g is not linear in a place."""
        return [wall.plane(point) for point in self.points for wall in self.walls]

    @functools.cached_property
    def normals(self) -> list[int]:
        """Of every pair whose normal it has: of those on one plane that of the first."""
        first: dict[tuple[int, bytes], int] = {}
        count = len(self.faces)
        return [
            k if plane is None else first.setdefault((k % count, plane.normal.tobytes()), k)
            for k, plane in enumerate(self.planes)
        ]

    def touches(
        self, stages: Stages, formula: Callable[[Wall, Kind], ca.Function],
        given: Callable[[BodyPoint], list[SX]], pairs: Iterable[int],
    ) -> dict[int, list[SX]]:  # fmt: skip
        """The results of a formula for some pairs, by what is `given` of their points: place and
        radius first."""
        found: dict[int, list[SX]] = {}
        count, places = len(self.faces), {}
        alike: dict[tuple[int, Kind], list[int]] = {}
        for pair in pairs:
            if pair in self.apart:
                continue
            i, k = divmod(pair, count)
            alike.setdefault((k, self.points[i].kind), []).append(pair)
            if i not in places:
                places[i] = given(self.points[i])
        for (k, kind), some in alike.items():
            wall, which = self.walls[k], [pair // count for pair in some]
            centres = [places[i][:2] for i in which]
            u = wall.deepest([self.points[i] for i in which], stages, centres)
            whole = [
                [place, ca.norm_2(deepest) if self.points[i].rank else radius, *others, deepest]
                for i, deepest in zip(which, u, strict=True)
                for place, radius, *others in [places[i]]
            ]
            found.update(zip(some, stages.applied(formula(wall, kind), whole), strict=True))
        return found

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


@program("q v", output="distances", matrix=True, about="contacts", internal=True)
def distances(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX | Staged:
    """g of every pair, couple, stop and slot, its rate, and |grad g| (3, m).

    On a plane the first two are combinations of the numbers of a body's pose and of its rate.
    """
    embedding, stages = system.embedding(q, z), Stages()
    velocity = embedding.velocity(v)
    rest = SX.zeros(system.tree.nv)
    motions = touching_motions(system.tree, embedding.joints, velocity, rest, contacts.links)
    position = embedding.values()
    columns: list[SX] = []
    weights: list[dict[int, float]] = []
    on_planes: dict[tuple[int, int], int] = {}

    def own(*column: SX | float) -> None:
        weights.append({len(columns): 1.0})
        columns.append(ca.vertcat(*column))

    touches = contacts.touches(
        stages, Wall.touch, lambda point: point.placed(motions[point.body].T[:3, :]),
        (pair for pair, plane in enumerate(contacts.planes) if plane is None),
    )  # fmt: skip
    for pair, plane in enumerate(contacts.planes):
        i, k = divmod(pair, len(contacts.faces))
        point = contacts.points[i]
        motion = motions[point.body]
        T, rate = motion.T[:3, :], motion.rate[:3, :]
        if plane is not None:
            first = on_planes.setdefault((point.body, id(plane)), len(columns))
            if first == len(columns):
                columns += ca.horzsplit(plane.seen_from(T, rate))
            weights.append(dict(enumerate([*map(float, point.place), 1.0], first)))
            continue
        if pair in contacts.apart:
            own(*UNTOUCHED)
            continue
        g, slope, gradient, _, foot = touches[pair]
        place, speed = (one[0] for one in map(point.moved, (T, rate)))
        if point.axis is not None:
            speed = speed + cross(T[:, :3] @ motion.w, foot - place)
        own(g, ca.dot(gradient, speed), slope)
    for couple in contacts.couples:
        one, other = (motions[rod.body] for rod in couple)
        gap, n, x = between(couple, one.T[:3, :], other.T[:3, :])
        speeds = [
            cross(motion.T[:3, :3] @ motion.w, x - motion.T[:3, 3]) + motion.rate[:3, 3]
            for motion in (one, other)
        ]
        own(gap, ca.dot(n, speeds[0] - speeds[1]), SX(1))
    for row, j, side, bound in contacts.stops:
        own(side * (position[row] - bound), side * velocity[j], SX(1))
    for _ in range(contacts.slots):
        own(*UNTOUCHED)
    return stages.combined(ca.horzcat(SX(3, 0), *columns), weights)


@program("q v", output="drift", about="contacts", internal=True)
def contact_drift(system: System, q: SX, z: SX, v: SX, contacts: ContactGeometry) -> SX | Staged:
    """(n u)' and u' (3, 1) of every pair and couple, then (n u)' of every stop."""
    embedding = system.embedding(q, z)
    velocity = embedding.velocity(v)
    drift = embedding.drift(velocity)
    motions = touching_motions(system.tree, embedding.joints, velocity, drift, contacts.links)
    stages = Stages()

    frames = {body: carried(motions[body]) for body in contacts.bodies}

    def placed(point: BodyPoint) -> list[SX]:
        motion = motions[point.body]
        rates = point.moved(motion.rate[:3, :])
        return [*point.placed(motion.T[:3, :]), *rates, *frames[point.body]]

    touches = contacts.touches(stages, Wall.drift, placed, range(contacts.pairs))
    result = [touches.get(pair, [SX.zeros(4)])[0] for pair in range(contacts.pairs)]
    for couple in contacts.couples:
        both = [motions[rod.body] for rod in couple]
        touch = _moving(lambda T, S, couple=couple: between(couple, T, S)[1:], *both)
        result.append(acceleration(touch, *(frames[rod.body] for rod in couple)))
    result += [side * drift[k] for _, k, side, _ in contacts.stops]
    return stages.column(ca.densify(ca.vertcat(SX(0, 1), *result)))


def _moving(touch: Callable[..., Sequence[SX]], *motions: GibbsMotion) -> list[SX]:
    """Normal and place (3, 1), and the rates of both, by the poses of the bodies."""
    poses, rates = ([SX.sym(name, 3, 4) for _ in motions] for name in ("T", "V"))
    n, x = touch(*poses)
    at, ahead = (ca.vertcat(*map(ca.vec, some)) for some in (poses, rates))
    change = [ca.jtimes(one, at, ahead) for one in (n, x)]
    moving = ca.Function("moving", [*poses, *rates], [n, x, *change])
    given = [motion.T[:3, :] for motion in motions] + [motion.rate[:3, :] for motion in motions]
    return list(moving(*given))
