"""Starts of motions: refused or lifted where inside walls, and the stops of joints from there on.

Walls without a value or a normal are refused too.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from ...errors import SimulationError, SimulationWarning, warn
from ...model.model import BASE_JOINT, Array, Joint
from ...robot import Robot
from .contacts import Contacts, Flags
from .environment import Environment

VANISHING = 1e-3
"""Share of the gradient nearby under which a gradient vanishes."""

KINK = 1e-2
"""Turn of a normal (rad) within 1e-7 m that no smooth wall makes."""


def refuse_inside(contacts: Contacts, q: Array, v: Array, depth: float) -> None:
    """Refuse points that are deeper (m) than this inside walls.

    Raises
    ------
    SimulationError
        One is; the message names point, wall, place and depth.
    """
    g, _, slope = contacts.distances(q, v)
    if not np.isfinite(g).all():
        refuse_no_value(contacts, q)
    bad = ~np.isfinite(g) | (g < -depth * np.where(slope > 0, slope, 1.0))
    for k in np.flatnonzero(bad).tolist():
        far = -g[k] / slope[k] if slope[k] > 0 else np.nan
        words, unit, help_ = "starts beyond its stop", "m (or rad)", "start within the limits"
        if k < contacts.geometry.touching:
            (x,) = contacts.rows(q, v, np.array([k])).places
            inside, unit, help_ = "the wall", "m", "start in free space"
            if k >= contacts.geometry.pairs:
                inside, help_ = "it", f"{help_}, or name links that always overlap in disabled"
            words = f"starts inside {inside}, at {_words(x)}"
        raise SimulationError(
            f"{contacts.name(k)} {words}: g is {g[k]:.6g}, about {far:.3g} {unit} too far; {help_}"
        )


def refuse_no_value(contacts: Contacts, q: Array) -> None:
    """Refuse walls without a value at a point, or in a ball.

    Raises
    ------
    SimulationError
        A value is not finite; the message names point, wall and place.
    """
    g, _, _ = contacts.distances(q, np.zeros(contacts.nv))
    for k in np.flatnonzero(~np.isfinite(g[: contacts.geometry.pairs])).tolist():
        here = f"{contacts.name(k)}, at {_words(contacts.place(k, q))}:"
        edge = ""
        if contacts.table.point[k, 3] > 0:
            edge = (
                ", or an edge of the wall is within the ball, where its normal jumps; edges that "
                "balls may meet are those of boxes: collision shapes of links fixed to the world, "
                "with links=LinkContacts(convex=True)"
            )
        raise SimulationError(f"{here} g has no value{edge or '; write g for wherever it may go'}")


def require_smooth(contacts: Contacts, k: int, x: Array, normal: Array) -> None:
    """Refuse a wall without a gradient where it is touched: at x (3,), with a normal (3,).

    Raises
    ------
    SimulationError
        The gradient vanishes or jumps there; the message names surface, point and place.
    """
    if k >= contacts.geometry.pairs:
        return
    here = f"at {_words(x)}, where {contacts.name(k)} touches,"
    if not np.isfinite(normal).all():
        raise SimulationError(
            f"{here} the gradient of the surface vanishes or is not finite: it has no normal "
            "there; write g so that its gradient differs from zero on the wall"
        )
    side = contacts.side(k)
    level = side.surface.levels[side.face]
    ways = 1e-7 * max(1.0, float(np.abs(x).max())) * np.vstack([np.eye(3), -np.eye(3)])
    sizes, directions, _ = level(np.vstack([x, x + 1e3 * ways, x + ways]).T)
    slopes, normals = sizes.full()[0, :7], directions.full().T[7:]
    if not slopes[0] > VANISHING * slopes.max():
        raise SimulationError(
            f"{here} the gradient of the surface vanishes (it is {slopes[0]:.3g}, and "
            f"{slopes.max():.3g} 0.1 mm further); write g so that its gradient differs from "
            "zero on the wall"
        )
    if not np.abs(normals - normal).max() < KINK:
        raise SimulationError(
            f"{here} the surface is not differentiable: its normal jumps. Give the faces of a "
            "wall with edges one by one: g may return several expressions"
        )


BEHIND = 1e-6
"""Depth (m) in a wall at which its inside is looked for, at one metre from the origin."""


def has_inside(contacts: Contacts, k: int, x: Array) -> bool:
    """Whether g is surely negative behind the wall of a contact whose point is at x (3,), near it.

    Steps ask for it in vain where many contacts turn the motion at one instant.
    """
    side, depth = contacts.side(k), BEHIND * max(1.0, float(np.abs(x).max()))
    for _ in range(TRIES):
        size, normal, _ = (one.full().ravel() for one in side.surface.levels[side.face](x))
        if not (size[0] > 0 and np.isfinite(normal).all()):
            return False
        way = side.surface.value(x)[side.face] / size[0]
        x = x - way * normal
        if not abs(way) > depth:
            break
    return bool(side.surface.value(x - depth * normal)[side.face] < 0)


def no_inside(contacts: Contacts, k: int, q: Array) -> SimulationError:
    """The error of a wall that is zero at a contact, and rises on both sides, near q (nq,)."""
    return SimulationError(
        f"{contacts.name(k)}, near {_words(contacts.place(k, q))}: the wall has no inside, g rises "
        "on both sides of it, as abs(z) does, so that it holds nothing; write g negative behind "
        "the wall, such as abs(z) - 0.01 for a sheet of 2 cm"
    )


def refuse_unsound(contacts: Contacts, k: int, q: Array, v: Array) -> None:
    """Refuse the wall of a contact that compiled steps have met, and know no value or normal of.

    Raises
    ------
    SimulationError
        It has no value, no normal or no inside there; the message names point, wall and place.
    """
    g, _, slope = (one.copy() for one in contacts.distances(q, v))
    if np.isfinite(g[k]) and slope[k] > 0:
        if has_inside(contacts, k, contacts.place(k, q)):
            return
        raise no_inside(contacts, k, q)
    refuse_no_value(contacts, q)
    if np.isfinite(g[k]):
        require_smooth(contacts, k, contacts.place(k, q), np.full(3, np.nan))


def _words(x: Array) -> str:
    return f"({x[0]:.6g}, {x[1]:.6g}, {x[2]:.6g}) m"


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


ON_THE_LIMIT = 1e-9
"""rad or m by which a joint that starts on its limit may be beyond it."""


def limited_joints(robot: Robot) -> list[Joint]:
    """The joints whose limits may be stops."""
    return [
        joint
        for joint in robot.model.joints
        if joint.nq == 1
        and joint.mimic is None
        and np.isfinite([joint.limits.lower, joint.limits.upper]).any()
    ]


def with_all_stops(robot: Robot, environment: Environment) -> Environment:
    """The environment; where it says nothing of stops, with those at all limits."""
    if environment.joint_limits is not None:
        return environment
    return environment.with_stops([joint.name for joint in limited_joints(robot)])


def without_stops(environment: Environment | None) -> Environment:
    """The environment; where it says nothing of stops, with none."""
    given = environment or Environment([])
    return given.with_stops(()) if given.joint_limits is None else given


def beyond_limits(robot: Robot, q: Array) -> tuple[Array, Flags]:
    """Of positions (nq,) or (N, nq) the places (..., n) of the `limited_joints`, and which of them
    are beyond their limits."""
    joints, labels = limited_joints(robot), robot.system.coordinates.joint_labels
    places = robot.joint_state(q)[0][..., [labels.index(joint.name) for joint in joints]]
    low = np.array([joint.limits.lower for joint in joints]) - ON_THE_LIMIT
    high = np.array([joint.limits.upper for joint in joints]) + ON_THE_LIMIT
    return places, (places < low) | (places > high)


@overload
def with_stops(
    robot: Robot, q: Array, environment: Environment, room: bool = False
) -> Environment: ...


@overload
def with_stops(
    robot: Robot, q: Array, environment: Environment | None, room: bool = False
) -> Environment | None: ...


def with_stops(
    robot: Robot, q: Array, environment: Environment | None, room: bool = False
) -> Environment | None:
    """The environment; where it says nothing of stops, with those at all limits that q keeps.

    A joint that starts beyond its limits has no stops, and is warned of. None where there is
    nothing to hit.

    room : whether its programs have room for these stops too, so that they are the same wherever
        motions start.

    Warns
    -----
    SimulationWarning
        By joint, position and limits.
    """
    joints = limited_joints(robot)
    if not joints or (environment is not None and environment.joint_limits is not None):
        return environment
    places, out = beyond_limits(robot, q)
    if out.any():
        beyond = (
            f"{joint.name} at {place:.6g}, limits {joint.limits.lower:g} to {joint.limits.upper:g}"
            for joint, place, is_out in zip(joints, places, out, strict=True)
            if is_out
        )
        warn(
            f"{robot.model.source}: the motion starts beyond limits, which then do not act as "
            f"stops: {'; '.join(beyond)}",
            SimulationWarning,
        )
    held = [joint.name for joint, is_out in zip(joints, out, strict=True) if not is_out]
    limited = [joint.name for joint in joints] if room else ()
    return (environment or Environment([])).with_stops(held, limited)
