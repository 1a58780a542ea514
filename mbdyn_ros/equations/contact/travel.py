"""How far contacts move at most when coordinates change: what is far stays far for a while."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...array import Array
from ...prepare.tree import WORLD, Body
from ...program.symbols import serialized
from ..system import System
from .contact import ContactGeometry


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
    return all(ca.jacobian(face(x), x).is_constant() for face in contacts.faces)


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
        reach = float(np.linalg.norm(point.place)) + point.radius
        arms[point.body] = max(arms[point.body], reach)
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
