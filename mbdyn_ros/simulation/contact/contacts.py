"""The contacts of one robot with its walls and stops, as numbers at a state."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from ...compiler.bound import Bound, BoundBatch
from ...equations.contact.contact import ContactLayout, contact_state, distances
from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from .couple_terms import CoupleTerms
from .environment import Environment, Side
from .face_terms import FaceTerms
from .rows import Indices, Rows, rim_arm, skew, tangent_planes


class Contacts:
    """Distances and contact rows of a robot in an environment.

    A contact is a number k: pairs of a point and a face first, then couples of links, then the
    stops of joints.

    Attributes
    ----------
    nv : of the robot. restitution, friction : of every contact (m,).
    meeting : of every slot in use words for it, and its links.
    solid_pairs : convex shapes that may touch in slots. gravity : (3,) m/s^2.

    only_watch : whether distances are asked for often, and rows seldom or never: those are
        compiled when they are first asked for.
    """

    def __init__(self, robot: Robot, environment: Environment, only_watch: bool = False) -> None:
        self.environment, self._robot = environment, robot
        self.points = environment.contact_points(robot) if environment.surfaces else ()
        if environment.surfaces and not self.points:
            raise InputError(
                f"{robot.model.source}: no point of the robot can hit a wall: its links have no "
                "mass, or do not move; give the environment points=[(link, xyz), ...]"
            )
        self.geometry = environment.geometry(robot)
        programs = (distances,) if only_watch else (distances, contact_state)
        self._kernel, *_ = robot.calls.load(*((program, self.geometry) for program in programs))
        self._many: BoundBatch | None = None
        self._distances = Bound(self._kernel)
        self.nv = robot.nv
        faces, count = environment.sides, len(self.points)
        stops = len(self.geometry.stops)
        walls = [side.surface for _ in range(count) for side in faces]
        pairs, slots = len(self.geometry.couples), self.geometry.slots
        e, mu = (0.0, 0.0)
        if environment.links is not None:
            e, mu = environment.links.restitution, environment.links.friction
        bounces = [*(one.restitution for one in walls), *[e] * pairs]
        rubs = [*(one.friction for one in walls), *[mu] * pairs]
        stopped = [environment.limit_restitution] * stops
        self.restitution = np.array([*bounces, *stopped, *[e] * slots])
        self.friction = np.array([*rubs, *[0.0] * stops, *[mu] * slots])
        self.meeting: dict[int, tuple[str, tuple[str, str]]] = {}
        self.gravity = robot.gravity
        self.solid_pairs = environment.solid_pairs(robot)
        couples = [name for name, _ in environment.couples(robot)]
        self._names = (*couples, *environment.stop_names(robot))
        self._couples: dict[int, CoupleTerms] = {}
        points, bodies = self.geometry.points, self.geometry.bodies
        self._body = np.array([bodies.index(point.body) for point in points], dtype=np.intp)
        self._local = np.array([[*point.place, 1.0] for point in points]).reshape(-1, 4)
        self._radius = np.array([point.radius if point.axis is None else 0.0 for point in points])
        self._rims: dict[int, tuple[Array, float]] = {}
        for k, point in enumerate(points):
            if point.axis is not None:
                self._rims[k] = point.axis, point.radius
        self._levels = [FaceTerms(side.surface.levels[side.face]) for side in faces]
        self._signed = [FaceTerms(signed) for signed in self.geometry.signed]

    def __len__(self) -> int:
        return self.geometry.count

    @functools.cached_property
    def state(self) -> Bound:
        """The bound program behind `layout`."""
        return Bound(self._robot.calls.kernel(contact_state, self.geometry))

    @functools.cached_property
    def layout(self) -> ContactLayout:
        """Layout of what `rows` reads."""
        return ContactLayout(self.state.result, self.geometry, self._robot.nv)

    def point(self, k: int) -> int:
        """Index of a contact's point; -1 for two links, and for the stop of a joint."""
        return k // len(self.environment.sides) if k < self.geometry.pairs else -1

    def surface(self, k: int) -> str:
        """Name of a contact's surface, of two links, or of the joint whose stop it is."""
        if k >= self.geometry.lasting:
            return self.meeting[k][0] if k in self.meeting else "two links"
        if k >= self.geometry.pairs:
            return self._names[k - self.geometry.pairs]
        return self.environment.sides[k % len(self.environment.sides)].name

    def links(self, k: int) -> tuple[str, ...]:
        """The link that a contact pushes, and the one that it pushes back; () for a stop."""
        if k >= self.geometry.lasting:
            return self.meeting[k][1]
        if k >= self.geometry.touching:
            return ()
        if k < self.geometry.pairs:
            return (self.points[self.point(k)].link,)
        one, other = self.geometry.couples[k - self.geometry.pairs]
        return one.link, other.link

    def name(self, k: int) -> str:
        """Words for a contact in messages: the point and the surface."""
        if k >= self.geometry.pairs:
            return self.surface(k)
        p = self.point(k)
        return f"point {p} {self.points[p]} on surface {self.surface(k)!r}"

    def side(self, k: int) -> tuple[Side, FaceTerms]:
        """The face of a wall that the contact of a point touches, and it as numbers."""
        face = k % len(self.environment.sides)
        return self.environment.sides[face], self._levels[face]

    def place(self, k: int, q: Array) -> Array:
        """Where the point of a contact with a wall is (3,), m; of a ball its middle."""
        self.state.q[:] = q
        self.state()
        p = self.point(k)
        place: Array = self.layout.transforms[self._body[p], 0, :3] @ self._local[p]
        return place

    def distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """g, its rate, and |grad g| of every contact (m,) each; the next call overwrites them."""
        self._distances.q[:], self._distances.v[:] = q, v
        self._distances()
        m = len(self)
        result = self._distances.result
        return result[:m], result[m : 2 * m], result[2 * m :]

    def many_distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """The `distances` (N, m), three times, at states (N, nq), (N, nv)."""
        m = len(self)
        many = self._many
        if many is None or len(many.result) != len(q):
            many = self._many = BoundBatch(self._kernel, len(q))
        many.arguments[0][:], many.arguments[1][:] = q, v
        many()
        result = many.result.copy()
        return result[:, :m], result[:, m : 2 * m], result[:, 2 * m :]

    def rows(self, q: Array, v: Array, which: Indices) -> Rows:
        """Contact rows of the contacts `which` (k,)."""
        self.state.q[:], self.state.v[:] = q, v
        self.state()
        layout, count, nv = self.layout, len(which), self.nv
        places, normals = np.full((count, 3), np.nan), np.full((count, 3), np.nan)
        jacobians, W, drift = np.zeros((count, 3, nv)), np.zeros((count, nv)), np.zeros(count)
        along = np.zeros((count, 3))
        at_wall, at_stop = which < self.geometry.pairs, which >= self.geometry.touching
        stops = which[at_stop] - self.geometry.touching
        W[at_stop], drift[at_stop] = layout.stop_rows[stops], layout.stop_drift[stops]
        p, f = np.divmod(which[at_wall], max(1, len(self.environment.sides)))
        body, radius = self._body[p], self._radius[p, None]
        moved = layout.transforms[body] @ self._local[p, None, :, None]
        x, speed, h = moved[:, 0, :, 0], moved[:, 1, :, 0], moved[:, 2, :, 0]
        J = layout.linear[body] - skew(x - layout.transforms[body, 0, :, 3]) @ layout.angular[body]
        n, change = np.empty_like(x), np.empty_like(x)
        for row, (k, face) in enumerate(zip(p.tolist(), f.tolist(), strict=True)):
            terms = self._signed[face] if self._radius[k] else self._levels[face]
            _, n[row], bend = terms(x[row])
            change[row] = bend @ speed[row]
        places[at_wall], normals[at_wall] = x - radius * n, n
        W[at_wall] = (n[:, None, :] @ J)[:, 0]
        drift[at_wall] = (n * h + speed * change).sum(axis=1)
        if radius.any():  # balls touch with their surface, whose velocity along the wall is theirs
            turning = layout.angular[body] @ v
            h = h + radius * (np.cross(n, layout.turn_drift[body]) + np.cross(change, turning))
            J = J + skew(radius * n) @ layout.angular[body]
        normal_rows, normal_drift = W[at_wall], drift[at_wall]
        for row in [row for row, k in enumerate(p.tolist()) if k in self._rims]:
            (axis, size), turning = self._rims[p[row]], layout.angular[body[row]] @ v
            turned = layout.transforms[body[row], 0, :, :3] @ axis
            arm, rate = rim_arm(n[row], turned, size, turning)
            J[row] -= skew(arm[None])[0] @ layout.angular[body[row]]
            h[row] += np.cross(layout.turn_drift[body[row]], arm) + np.cross(turning, rate)
            x[row] += arm
            normal_rows[row], normal_drift[row] = n[row] @ J[row], n[row] @ h[row]
        if self._rims:
            W[at_wall], drift[at_wall], places[at_wall] = normal_rows, normal_drift, x - radius * n
        jacobians[at_wall], along[at_wall] = J, h
        for row in np.flatnonzero(~at_wall & ~at_stop).tolist():
            k = int(which[row]) - self.geometry.pairs
            if k not in self._couples:
                self._couples[k] = CoupleTerms(self.geometry.couples[k])
            bodies = [self.geometry.bodies.index(rod.body) for rod in self.geometry.couples[k]]
            terms = self._couples[k](*layout.transforms[bodies])
            normals[row], places[row], drift[row], along[row] = terms
            arms = places[row] - layout.transforms[bodies, 0, :, 3]
            one, other = layout.linear[bodies] - skew(arms) @ layout.angular[bodies]
            jacobians[row] = one - other
            W[row] = normals[row] @ jacobians[row]
        friction = self.friction[which]
        across = np.where(friction[:, None, None] > 0, tangent_planes(normals), 0.0)
        tangents, tangent_drift = across @ jacobians, (across @ along[:, :, None])[:, :, 0]
        return Rows(places, normals, jacobians, W, drift, tangents, tangent_drift, friction)

    def flat_table(self, which: Indices) -> tuple[NDArray[np.int64], Array] | None:
        """Contacts (k,) as `struct held` has them; None where one is on no flat wall."""
        faces = max(1, len(self.environment.sides))
        places, numbers = np.full((len(which), 2), -1, dtype=np.int64), np.zeros((len(which), 18))
        for row, k in enumerate(which.tolist()):
            if k >= self.geometry.touching:
                places[row, 1] = k - self.geometry.touching
                continue
            p, face = divmod(k, faces)
            if k >= self.geometry.pairs or not self._levels[face].flat:
                return None
            _, normal, _ = self._levels[face](self._local[p, :3])
            places[row, 0] = self._body[p]
            numbers[row, :5] = *self._local[p, :3], self._radius[p], self.friction[k]
            numbers[row, 5:8] = normal
            numbers[row, 8:14] = tangent_planes(normal[None]).ravel()
            if p in self._rims:
                numbers[row, 14:17], numbers[row, 17] = self._rims[p]
        return places, numbers
