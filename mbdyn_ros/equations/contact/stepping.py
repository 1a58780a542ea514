"""Program of a compiled step among walls, and how far contacts move at most in one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import casadi as ca
import numpy as np

from ...array import Array
from ...prepare.tree import WORLD, Body
from ...program.program import program
from ...program.stages import Staged, Stages
from ...program.symbols import serialized
from ..algebra.spatial import SX, by_rows
from ..dry_friction import DryFrictionRows
from ..programs import joint_space_inertia, reduced_damping, staged_inertia
from ..system import System
from ..tree.gibbs_motion import touching_motions
from ..tree.kinematics import chain, joint_twists
from ..tree.newton_euler import acting
from .contact import ContactGeometry
from .reach import Mobility, carrier_of
from .rods import between
from .touching import Wall


@program("q step:1", output="matrix", matrix=True, internal=True)
def damped_mass(system: System, q: SX, z: SX, step: SX) -> SX | Staged:
    """Mass matrix (nv, nv) with what damping over a step (s) adds to it."""
    if (staged := staged_inertia(system, q, z, step)) is not None:
        return staged
    damping = reduced_damping(system, system.embedding(q, z))
    return ca.densify(joint_space_inertia(system, q, z) + step * damping)


@program("q", output="rows", about="contacts", internal=True)
def contact_rows(system: System, q: SX, z: SX, contacts: ContactGeometry) -> SX | Staged:
    """Bodies that may touch, normals, stops and dry friction; see `RowsLayout`."""
    embedding = system.embedding(q, z)
    v = SX.sym("v", system.coordinates.nv)
    velocity = embedding.velocity(v)
    rest = SX.zeros(system.tree.nv)
    motions = touching_motions(system.tree, embedding.joints, velocity, rest, contacts.links)
    bodies: list[SX] = []
    normals: list[SX] = []
    tree = system.tree
    poses = [(motion.T[:3, :3], motion.T[:3, 3]) for motion in motions]
    centres = [poses[chain(tree, i)[-1]][1] for i in range(len(tree.bodies))]
    for body in contacts.bodies:
        carrier = carrier_of(tree, contacts.links, body)
        centre = SX.zeros(3) if carrier == WORLD else centres[carrier]
        bodies += [by_rows(ca.horzcat(*poses[body])), centre]
    twists = SX(6, tree.nv)
    for i, own in enumerate(tree.bodies):
        twists[:, own.v] = joint_twists(embedding.joints[i], *poses[i], centres[i])
    for k, moved in Mobility.of(system, contacts).motions:
        bodies.append(ca.densify(twists[:, list(moved)] @ embedding.matrix[list(moved), k]))
    stages = Stages()
    pairs = dict.fromkeys(contacts.normals)
    touches = contacts.touches(
        stages, Wall.touch, lambda point: point.placed(motions[point.body].T[:3, :]), pairs
    )
    for pair in pairs:
        *_, normal, place = touches.get(pair, [SX.zeros(3), SX.zeros(3)])
        is_rim = contacts.points[pair // len(contacts.faces)].axis is not None
        normals += [normal, place] if is_rim else [normal]
    for couple in contacts.couples:
        one, other = (motions[rod.body].T[:3, :] for rod in couple)
        normals += between(couple, one, other)[1:]
    normals.append(SX.zeros(6 * contacts.slots))
    stops = [side * velocity[k] for _, k, side, _ in contacts.stops]
    rubbing, dry = DryFrictionRows.of(system), acting(system.tree, "friction")
    rub = [v[k] for k, _ in rubbing.single] + [velocity[row] for row in rubbing.own]
    bounds = [
        sum((ca.fabs(embedding.matrix[i, k]) * dry[i] for i in members), SX(0))
        for k, members in rubbing.single
    ] + [SX(dry[row]) for row in rubbing.own]
    rows = by_rows(ca.jacobian(ca.vertcat(SX(0, 1), *stops, *rub), v))
    return stages.column(ca.densify(ca.vertcat(*bodies, rows, *normals, *bounds)))


BODY = 15
"""Numbers of a body in the column of `contact_rows`."""


@dataclass(frozen=True)
class RowsLayout:
    """Where in the column of `contact_rows` every contact stands.

    body : of every contact the place of its body: the transform (3, 4) into the world, and the
        centre (3,) of its tree; of a stop that of its row (nv,).
    partner : of every couple of links the place of the other body likewise; -2 for a rim, -1 for
        the others.
    normal : of its normal (3,), -1 for a stop, which those on one plane share; of a couple and a
        rim the place (3,) follows. Slots are couples whose bodies, normals and places others fill
        in.
    rubbing, bound : of the rows (r, nv), and of the bounds (r,), of dry friction.
    order : of every body that may touch.
    motions : of the velocities (6,) by every motion of `mobility`: of what is at the centre, and of
        its turning.
    drift : where in the result of `contact_drift` every contact stands.
    """

    body: tuple[int, ...]
    partner: tuple[int, ...]
    normal: tuple[int, ...]
    rubbing: int
    bound: int
    order: dict[int, int]
    motions: int
    mobility: Mobility
    drift: tuple[int, ...]

    @staticmethod
    def of(system: System, contacts: ContactGeometry) -> RowsLayout:
        """The layout of a system's rows."""
        nv, faces = system.coordinates.nv, len(contacts.faces)
        order = {body: BODY * k for k, body in enumerate(contacts.bodies)}
        motions, mobility = BODY * len(order), Mobility.of(system, contacts)
        bodies = [order[point.body] for point in contacts.points for _ in range(faces)]
        first = motions + 6 * len(mobility.motions)
        stops = [first + nv * k for k in range(len(contacts.stops))]
        rubbing = first + nv * len(stops)
        normals = rubbing + nv * len(DryFrictionRows.of(system))
        couples = [[order[rod.body] for rod in couple] for couple in contacts.couples]
        rims = [point.axis is not None for point in contacts.points for _ in range(faces)]
        lengths = [
            (6 if rim else 3) if own == pair else 0
            for pair, (rim, own) in enumerate(zip(rims, contacts.normals, strict=True))
        ]
        *at, between_links = accumulate(lengths, initial=normals)
        at_walls = [at[own] for own in contacts.normals]
        alone = [-2 if rim else -1 for rim in rims]
        count, slots = len(couples), contacts.slots
        at_links = [between_links + 6 * k for k in range(count + slots)]
        return RowsLayout(
            (*bodies, *(one for one, _ in couples), *stops, *[0] * slots),
            (*alone, *(two for _, two in couples), *[-1] * len(stops), *[0] * slots),
            (*at_walls, *at_links[:count], *[-1] * len(stops), *at_links[count:]),
            rubbing,
            between_links + 6 * (count + slots),
            order,
            motions,
            mobility,
            (
                *range(0, 4 * contacts.touching, 4),
                *range(4 * contacts.touching, 4 * contacts.touching + len(stops)),
                *[0] * slots,
            ),
        )

    def velocity(self, column: Array, start: int, place: Array, v: Array) -> Array:
        """Velocities (3, n) that a body has at a place (3,) by v (nv, n); of one (nv,), (3,).

        start : where the body is in a column of `contact_rows`.
        """
        moves = list(self.mobility.bodies.values())[start // BODY]
        motions = column[self.motions :][: 6 * len(self.mobility.motions)].reshape(-1, 6)
        twist = motions[list(moves.values())].T @ v[list(moves)]
        arm = place - column[start + BODY - 3 : start + BODY]
        found: Array = twist[:3] + np.cross(twist[3:], arm, axisa=0, axisc=0)
        return found


def travel(system: System, contacts: ContactGeometry) -> tuple[Array, Array] | None:
    """Metres (nq,), (nv,) that distances change at most with each position, and their rates with v.

    All walls are flat, so that a distance changes no more than a point moves; a turn moves no point
    further than it is away from the axis, and a quaternion p by less than 2 |dp| times that. None
    where a wall is not flat, shapes meet in slots, coordinates depend on others or have other
    units, or a slide carries points away from where others turn them: nothing bounds that.
    """
    tree, own = system.tree, system.coordinates
    if contacts.slots or own.nq < tree.nq or system.parameters is not None or not _flat(contacts):
        return None
    arms = _arms(system, contacts)
    positions, velocities = np.zeros(tree.nq), np.zeros(tree.nv)
    for body, arm in zip(tree.bodies, arms[:-1], strict=True):
        turning, quaternion = _turning(body), body.motion.quaternion
        if turning is None:
            return None
        velocities[body.v] = np.where(turning, arm, 1.0)
        if quaternion is None:
            positions[body.q] = velocities[body.v]
        else:
            positions[body.q] = np.where(np.arange(body.motion.nq) < quaternion, 1.0, 2 * arm)
    for q, v, _, _ in contacts.stops:
        positions[q], velocities[v] = max(1.0, positions[q]), max(1.0, velocities[v])
    if not np.isfinite([*positions, *velocities]).all():
        return None
    return positions[list(own.q)], velocities[list(own.v)]


@serialized
def _flat(contacts: ContactGeometry) -> bool:
    x = ca.SX.sym("x", 3)
    return all(face(x)[1].is_constant() for face in contacts.faces)


def _turning(body: Body) -> list[bool] | None:
    """Of every velocity of a body whether it is a turn; None where one is not a slide either."""
    motion = body.motion
    if motion.is_hinge and motion.keeps_origin:
        return [True]
    if motion.slides:
        return [False] * motion.nv
    return [part.unit == "rad" for part in motion.velocities] if motion.quaternion == 3 else None


def _arms(system: System, contacts: ContactGeometry) -> list[float]:
    """How far (m) from the origin of every body anything is that it carries and that may touch."""
    bodies = system.tree.bodies
    arms = [0.0] * (len(bodies) + 1)  # the last: of what is fixed to the world
    for point in contacts.points:
        arms[point.body] = max(arms[point.body], point.reach)
    for rod in (rod for couple in contacts.couples for rod in couple):
        reach = max(map(float, np.linalg.norm([rod.start, rod.end], axis=1))) + rod.radius
        arms[rod.body] = max(arms[rod.body], reach)
    for k in range(len(bodies) - 1, -1, -1):
        body = bodies[k]
        if body.parent != WORLD:
            stays = body.motion.keeps_origin
            far = float(np.linalg.norm(body.placement.translation)) + arms[k] if stays else np.inf
            arms[body.parent] = max(arms[body.parent], far)
    return arms
