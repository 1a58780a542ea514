"""A robot that would start inside a wall, put above it."""

from __future__ import annotations

import numpy as np

from ...model.model import BASE_JOINT, Array
from ...robot import Robot
from .contacts import Contacts
from .environment import Environment

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
