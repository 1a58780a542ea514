"""The contacts of one robot with walls and stops at a state, and their laws of motion as rows."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.kernel import Bound, BoundBatch
from ...compiler.runtime.library import structure
from ...equations.contact.contact import OUT_OF_REACH, contact_drift, distances
from ...equations.contact.reach import flattened
from ...equations.contact.stepping import RowsLayout, contact_rows
from ...errors import InputError
from ...model.model import BASE_JOINT, Array
from ...robot import Robot
from .environment import Environment, Side
from .impulses import Blocks, solver
from .surfaces import NO_LAWS

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

LEANING_SPEED = 1e-4
"""Tangential velocity (m/s) below which a sliding point leans to the direction that its friction
had: near rest the direction would turn ever faster. On a straight way this changes nothing."""

Held = structure("contact/held.hpp", "held")
MobilityInC = structure("contact/contact_jacobian.hpp", "mobility")


def mobility_in_c(layout: RowsLayout) -> tuple[ctypes.Structure, list[NDArray[Any]]]:
    """How coordinates move the bodies of `contact_rows`, for C; and the arrays it points to."""
    bodies = layout.mobility.bodies.values()
    arrays: list[NDArray[Any]] = [
        *flattened(tuple(moves) for moves in bodies),
        flattened(tuple(moves.values()) for moves in bodies)[1],
    ]
    return MobilityInC(*(one.ctypes.data for one in arrays), layout.motions), arrays


@dataclass(frozen=True, eq=False)
class Assembly:
    """Rows S (m, nv), directions of forces C (m, nv), drift (m,), and where contacts stand."""

    rows: Array
    columns: Array
    drift: Array
    blocks: Blocks


@dataclass(frozen=True, eq=False)
class Table:
    """Places of contacts (k,) in the results of `contact_rows` and `contact_drift`.

    body, partner, normal, drift : (k,) see `RowsLayout`. point : (k, 4) with the radius.
    friction : (k,).
    """

    body: NDArray[np.int64]
    partner: NDArray[np.int64]
    normal: NDArray[np.int64]
    drift: NDArray[np.int64]
    point: Array
    friction: Array

    def of(self, which: Indices) -> Table:
        """The rows of some of them."""
        return Table(
            self.body[which], self.partner[which], self.normal[which], self.drift[which],
            self.point[which], self.friction[which],
        )  # fmt: skip


class Rows:
    """Laws of k contacts: along the normal and two tangents J v, with J a + drift; C fills them.

    Parameters
    ----------
    mobility : see `mobility_in_c`.
    jacobians, drifts, v : results of the programs and velocities (nv,), in whose memory others put
        new ones.
    cone : (k,) which may pass any tangential force up to mu times the normal one.
    slides : (k,) which slide, in unit directions (k, 2) along the wall; those of the others are
        zero, or the last.

    Attributes
    ----------
    places, normals : (k, 3) where they touch, m, and unit vectors into free space; NaN for stops.
    J, drifts : (k, 3, nv), (k, 3) along the normal and two tangents; of the normal W, drift :
        (k, nv), (k,). friction : (k,).
    assembly : the rows that are held, and their forces. along : (k, 2) velocities along the walls.
    fill : takes the results of the programs as they are now.
    """

    def __init__(
        self, mobility: ctypes.Structure, jacobians: Array, drifts: Array, v: Array, table: Table,
        cone: Flags,
        slides: Flags, directions: Array,
    ) -> None:  # fmt: skip
        nv, k, m = len(v), len(cone), len(cone) + 2 * int(cone.sum())
        places, J, bends = np.full((k, 2, 3), np.nan), np.zeros((k, 3, nv)), np.zeros((k, 3))
        rows, columns, drift = np.zeros((m, nv)), np.zeros((m, nv)), np.zeros(m)
        normal = np.cumsum([0, *np.where(cone, 3, 1)])[:-1]
        blocks = Blocks(normal, np.where(cone, normal + 1, -1), table.friction)
        self.assembly, self.along = Assembly(rows, columns, drift, blocks), np.zeros((k, 2))
        self.places, self.normals = places[:, 0], places[:, 1]
        self.W, self.drift = J[:, 0], bends[:, 0]
        self.friction, self.J, self.drifts = table.friction, J, bends
        self._mass, self._answers, self._a = np.zeros((nv, nv)), np.zeros((m, nv)), np.zeros(nv)
        self._matrix, self._force, self._load = np.zeros((m, m)), np.zeros(m), np.zeros(nv)
        given: list[NDArray[Any]] = [
            jacobians, drifts, table.body, table.partner, table.normal, table.drift, table.point,
            table.friction, directions, cone.astype(np.int64), slides.astype(np.int64),
        ]  # fmt: skip
        results: list[NDArray[Any]] = [
            places, J, bends, rows, columns, drift, self.along, self._mass, self._answers,
            self._matrix, np.zeros((m, m)), self._force, self._load,
        ]  # fmt: skip
        self._kept = given, results, mobility
        before, after = ([array.ctypes.data for array in some] for some in (given, results))
        self._struct = Held(nv, k, *before, ctypes.addressof(mobility), LEANING_SPEED, *after)
        own, free = ctypes.byref(self._struct), ctypes.c_void_p(self._a.ctypes.data)
        self.fill = functools.partial(solver().held_rows, own, ctypes.c_void_p(v.ctypes.data))
        self._solve = functools.partial(solver().held_forces, own, ctypes.c_size_t(m), free)

    @property
    def frames(self) -> Array:
        """Normals and both tangents (k, 3, 3) as rows."""
        return np.concatenate([self.normals[:, None], tangent_planes(self.normals)], axis=1)

    def forces(self, mass: Array, a: Array) -> tuple[Array, Array, Array] | None:
        """Accelerations (nv,) with the contacts held, forces (m,), and their load (nv,).

        None where rows depend on each other, so that forces are not determined.

        Parameters
        ----------
        mass : (nv, nv). a : (nv,) without contacts.
        """
        self._mass[:], self._a[:] = mass, a
        if self._solve():
            return self._a, self._force, self._load
        return None


def tangent_planes(normals: Array) -> Array:
    """Two unit vectors (k, 2, 3) along each wall, for any normals (k, 3) (Duff et al. 2017)."""
    x, y, z = normals.T
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    b = x * y * a
    result = np.empty((len(normals), 2, 3))
    result[:, 0, 0], result[:, 0, 1], result[:, 0, 2] = 1 + sign * x * x * a, sign * b, -sign * x
    result[:, 1, 0], result[:, 1, 1], result[:, 1, 2] = b, sign + y * y * a, -y
    return result


class Contacts:
    """Distances and contact rows of a robot in an environment.

    A contact is a number k: pairs of a point and a face first, then couples of links, then the
    stops of joints.

    Attributes
    ----------
    nv : of the robot. restitution, friction : of every contact (m,).
    special : (m, 9) laws as `Surface.laws` has them; None where no wall has any.
    meeting : of every slot in use words for it, or the name of a wall, and its links.
    solid_pairs, solid_laws : convex shapes that may touch in slots, and the restitution and
        friction of every pair. gravity : (3,) m/s^2.
    beyond : the stops of joints that start beyond their limits: out of reach wherever those move.

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
        programs = (distances,) if only_watch else (distances, contact_rows, contact_drift)
        self._kernel, *_ = robot.calls.load(*((program, self.geometry) for program in programs))
        self._many: BoundBatch | None = None
        self._distances = Bound(self._kernel)
        self.nv = robot.nv
        faces, owners = environment.sides, [self.points[one.of] for one in self.geometry.points]
        stops = len(self.geometry.stops)
        walls = [side.surface for side in faces] * len(owners)
        on_walls = [environment.law(one.link, side.surface) for one in owners for side in faces]
        slots = self.geometry.slots
        self.solid_pairs = environment.solid_pairs(robot)
        self.solid_laws = [environment.solid_law(*pair) for pair in self.solid_pairs]
        laws = []
        if environment.links is not None:
            laws = [environment.links.law(*pair) for pair in self.geometry.couples]
        bounces, rubs = np.reshape([*on_walls, *laws], (-1, 2)).T
        stopped = [environment.limit_restitution] * stops
        self.restitution = np.array([*bounces, *stopped, *[0.0] * slots])
        self.friction = np.array([*rubs, *[0.0] * stops, *[0.0] * slots])
        special = np.zeros((len(self.friction), len(NO_LAWS)))
        for k, wall in enumerate(walls):
            special[k] = wall.laws
        self.special = special if special.any() else None
        self.meeting: dict[int, tuple[str, tuple[str, ...]]] = {}
        self.gravity = robot.gravity
        couples = [name for name, _ in environment.couples(robot)]
        named = environment.stops(robot)
        self._names = (*couples, *(words for words, _ in named))
        first = self.geometry.touching
        beyond = [k for k, (_, acts) in enumerate(named, first) if not acts]
        self.beyond = np.array(beyond, dtype=np.int64)

    def __len__(self) -> int:
        return self.geometry.count

    @functools.cached_property
    def _programs(self) -> tuple[Bound, Bound]:
        """The bound programs of rows and of drifts."""
        kernel, about = self._robot.calls.kernel, self.geometry
        return Bound(kernel(contact_rows, about)), Bound(kernel(contact_drift, about))

    @functools.cached_property
    def layout(self) -> RowsLayout:
        """Where every number is in the results of the first."""
        return RowsLayout.of(self._robot.calls.traced, self.geometry)

    @functools.cached_property
    def _mobility(self) -> tuple[ctypes.Structure, list[NDArray[Any]]]:
        return mobility_in_c(self.layout)

    @functools.cached_property
    def table(self) -> Table:
        """Places of all contacts in the results of these."""
        layout = self.layout
        point = np.zeros((len(self), 4))
        for k in range(self.geometry.pairs):
            one = self.geometry.points[k // len(self.geometry.faces)]
            point[k] = *one.place, one.radius
        body, partner, normal, drift = (
            np.array(one, dtype=np.int64)
            for one in (layout.body, layout.partner, layout.normal, layout.drift)
        )
        return Table(body, partner, normal, drift, point, self.friction)

    @functools.cached_property
    def further(self) -> Indices:
        """The contacts of balls at further places than the deepest one."""
        ranks = [point.rank for point in self.geometry.points for _ in self.geometry.faces]
        return np.flatnonzero(ranks)

    def point(self, k: int) -> int:
        """Index of a contact's point; -1 for two links, and for the stop of a joint."""
        if k >= self.geometry.pairs:
            return -1
        return self.geometry.points[k // len(self.geometry.faces)].of

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

    def side(self, k: int) -> Side:
        """The face of a wall that the contact of a point touches."""
        return self.environment.sides[k % len(self.environment.sides)]

    def place(self, k: int, q: Array) -> Array:
        """Where the point of a contact with a wall is (3,), m; of a ball its middle."""
        jacobians, _ = self._programs
        jacobians.q[:] = q
        jacobians()
        at, point = self.table.body[k], self.table.point[k]
        pose = jacobians.result[at : at + 12].reshape(3, 4)
        place: Array = pose[:, :3] @ point[:3] + pose[:, 3]
        return place

    def distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """g, its rate, and |grad g| of every contact (m,) each; the next call overwrites them."""
        self._distances.q[:], self._distances.v[:] = q, v
        self._distances()
        return self._within_reach(self._distances.result)

    def many_distances(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """The `distances` (N, m), three times, at states (N, nq), (N, nv)."""
        many = self._many
        if many is None or len(many.result) != len(q):
            many = self._many = BoundBatch(self._kernel, len(q))
        many.arguments[0][:], many.arguments[1][:] = q, v
        many()
        return self._within_reach(many.result.copy())

    def _within_reach(self, result: Array) -> tuple[Array, Array, Array]:
        """The three rows of results (..., 3, m), where stops that do not act are out of reach."""
        if self.beyond.size:
            result[..., 0, self.beyond], result[..., 1, self.beyond] = OUT_OF_REACH, 0.0
        return result[..., 0, :], result[..., 1, :], result[..., 2, :]

    def rows(
        self, q: Array, v: Array, which: Indices, cone: Flags | None = None,
        slides: Flags | None = None, directions: Array | None = None,
    ) -> Rows:  # fmt: skip
        """The laws of contacts `which` (k,) at a state; for the others see `Rows`.

        cone : (k,) default those with friction. slides, directions : default none.
        """
        jacobians, drifts = self._programs
        k, table = len(which), self.table.of(which)
        rows = Rows(
            self._mobility[0], jacobians.result, drifts.result, drifts.v, table,
            table.friction > 0 if cone is None else cone,
            np.zeros(k, dtype=bool) if slides is None else slides,
            np.zeros((k, 2)) if directions is None else directions,
        )  # fmt: skip
        return self.fill(rows, q, v)

    def fill(self, rows: Rows, q: Array, v: Array) -> Rows:
        """Fill rows at another state."""
        jacobians, drifts = self._programs
        jacobians.q[:] = drifts.q[:] = q
        drifts.v[:] = v
        jacobians()
        drifts()
        rows.fill()
        return rows


TRIES = 60
"""Steps in which a free place is sought above a start."""

INSIDE = 1e-12
"""m that the lowest point may be inside: gravity takes no energy there that anybody counts."""


def lifted(robot: Robot, q: Array, environment: Environment) -> tuple[Array, str]:
    """The start of a robot with a floating base, above the walls that it would begin inside of.

    Returns
    -------
    q : (nq,), moved against gravity by as little as takes all points out of the walls. It is
        unchanged where nothing is inside, where the base is fixed, or where no way up leads out.
    words : how far, and because of what; empty where it is unchanged.
    """
    if not robot.floating_base or not environment.surfaces:
        return q, ""
    contacts = Contacts(robot, environment)
    weight = float(np.linalg.norm(robot.gravity))
    up = -robot.gravity / weight if weight else np.array([0.0, 0.0, 1.0])
    base = [robot.position_labels.index(f"{BASE_JOINT}/{axis}") for axis in "xyz"]
    still, start, height = np.zeros(robot.nv), q.copy(), 0.0
    words = ""
    for _ in range(TRIES):
        start[base] = q[base] + height * up
        g, _, slope = contacts.distances(start, still)
        walls = slice(contacts.geometry.pairs)
        depth = -g[walls] / np.maximum(slope[walls], 1e-12)
        k = int(depth.argmax())
        if not np.isfinite(depth).all():
            return q, ""
        if depth[k] <= INSIDE:
            return start, words and f"placed {height:.4g} m higher: {words}"
        if not words:
            words = f"{contacts.name(k)} would start {depth[k]:.4g} m inside"
        (normal,) = contacts.rows(start, still, np.array([k])).normals
        climb = float(normal @ up)
        if climb <= 1e-3:
            return q, ""
        height += float(depth[k]) / climb
    return q, ""
