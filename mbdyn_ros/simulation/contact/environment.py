"""The walls around a robot, the points of it that may touch them, and the stops of its joints."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...arguments import Sealed, no_environment, require_link
from ...equations.contact.contact import ContactGeometry
from ...equations.contact.deepest_points import MOST_DEEPEST
from ...equations.contact.rods import Couple
from ...equations.contact.signed_distance import Ball
from ...equations.contact.touching import BodyPoint
from ...errors import InputError, SimulationWarning, suggestion, warn
from ...model.model import Array
from ...model.pose import Pose
from ...prepare.tree import WORLD, Tree
from .curved_rods import CurvedRod, with_pieces
from .link_contacts import NO_PAIRS, LinkContacts, checked_law
from .points import GivenPoint, LinkFrames, Point, checked_points, collision_points, default_points
from .solids import CurvedWall, Solid, SolidPair, solids_of
from .surfaces import NO_LAWS, Surface, checked_restitution, number_within

if TYPE_CHECKING:
    from ...robot import Robot

FLAT = ("plane", "box")
"""Kinds of walls whose faces are planes with convex free space."""

MOST_PAIRS, MOST_POINTS = 24, 4
"""Pairs of convex shapes for which there is room at first, and points of each, as C has them."""

MOST_ACTIVE = 128
"""Contacts that may be active in one step, at first."""

TIE_WINDOW = 1e-5
"""Time (s) within which contacts count as simultaneous."""


@dataclass(frozen=True)
class Side:
    """One face of one surface."""

    surface: Surface
    face: int

    @property
    def name(self) -> str:
        """The surface's name, with the face where there are several."""
        several = len(self.surface.faces) > 1
        return f"{self.surface.name}[{self.face}]" if several else self.surface.name


@dataclass(frozen=True)
class TouchReport:
    """Words on what may touch what; `str(report)` is for people, `to_dict()` for programs.

    Attributes
    ----------
    surfaces : names of the walls.
    points : link name -> number of its points, balls and rims that may touch any wall.
    pairs : the links that may touch each other.
    stops : words for the limits of joints that are stops.
    """

    surfaces: tuple[str, ...]
    points: dict[str, int]
    pairs: tuple[tuple[str, str], ...]
    stops: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        lines = []
        if self.points:
            links = ", ".join(f"{link} ({count})" for link, count in self.points.items())
            lines.append(f"walls {', '.join(self.surfaces)}: points of {links}")
        if self.pairs:
            pairs = ", ".join(f"{one} and {other}" for one, other in self.pairs)
            lines.append(f"links on each other: {pairs}")
        if self.stops:
            lines.append(f"stops: {', '.join(self.stops)}")
        return "\n".join(lines) or "nothing touches anything"


class Environment(Sealed):
    """Walls, and the points of a robot that may touch them.

    Parameters
    ----------
    surfaces : the walls.
    points : [(link, xyz), ...] or [(link, xyz, radius), ...], places (m) in link frames; with a
        radius (m) a ball about the place; a `CurvedRod` is a rod along an arc. Default: those of
        the shapes of collision; of a robot without them every joint's origin and every link's end
        (see `contact_points`).
    tie_window : s; contacts that come so close after each other are solved as one impact.
    joint_limits : whether the lower and upper limits of the description are stops, or names of
        the joints whose limits are. None: of the joints that start within them.
    limit_restitution : e of these stops.
    links : that links touch each other, and how; None: they pass through each other.
    laws : restitution and friction by (link, name of a wall) where they are not those of the wall.

    Examples
    --------
    >>> import mbdyn_ros
    >>> floor = mbdyn_ros.Surface.plane(restitution=0.5, name="floor")
    >>> environment = mbdyn_ros.Environment([floor], points=[("foot", (0.0, 0.0, -0.02))])
    """

    def __init__(
        self,
        surfaces: Sequence[Surface],
        points: Sequence[GivenPoint | CurvedRod] | None = None,
        tie_window: float = TIE_WINDOW,
        joint_limits: bool | Sequence[str] | None = None,
        limit_restitution: float = 0.0,
        links: LinkContacts | None = None,
        laws: Mapping[tuple[str, str], tuple[float, float]] = NO_PAIRS,
    ) -> None:
        if isinstance(surfaces, Surface):
            surfaces = [surfaces]
        try:
            self.surfaces = tuple(surfaces)
        except TypeError:
            raise InputError(f"surfaces must be a list of Surface, not {surfaces!r}") from None
        for surface in self.surfaces:
            if not isinstance(surface, Surface):
                raise InputError(f"surfaces must be a list of Surface; one is {surface!r}")
        names = [surface.name for surface in self.surfaces]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two surfaces have the name {name!r}; give each its own name")
        self.points = None
        if points is not None:
            self.points = checked_points(with_pieces(points, self.surfaces))
        self._found: dict[Tree, tuple[Point, ...]] = {}  # of the last robot; copies share both
        self._solid: dict[Tree, tuple[SolidPair, ...]] = {}
        self._stopped: dict[tuple[tuple[str, ...], ...], Environment] = {}
        self._limited: tuple[str, ...] = ()
        self._room, self.most_active = MOST_PAIRS, MOST_ACTIVE
        self._roomier: dict[bool, Environment] = {}
        self.tie_window = number_within("tie_window", tie_window, 1e-2, "of seconds up to 0.01")
        self.joint_limits = joint_limits if joint_limits is None else _checked_limits(joint_limits)
        self.limit_restitution = checked_restitution("joint limits", limit_restitution)
        if links is not None and not isinstance(links, LinkContacts):
            raise InputError(f"links must be a LinkContacts, not {links!r}")
        self.links = links
        self.laws = {pair: checked_law(pair, law, "laws:") for pair, law in laws.items()}
        for link, wall in self.laws:
            if wall not in names:
                raise InputError(
                    f"laws: there is no surface {wall!r} for link {link!r}{suggestion(wall, names)}"
                )
        self.sides = _sides(self.surfaces)
        self.seal()

    def __repr__(self) -> str:
        parts = [repr(list(self.surfaces))]
        if self.points is not None:
            parts.append(f"{len(self.points)} points")
        if self.joint_limits is not None:
            parts.append(f"joint_limits={self.joint_limits!r}")
        if self.links is not None:
            parts.append(f"links={self.links!r}")
        return f"Environment({', '.join(parts)})"

    def with_stops(self, joints: Sequence[str], limited: Sequence[str] = ()) -> Environment:
        """A copy with stops at the limits of these joints; the same whenever asked for.

        limited : joints for whose stops programs have room too; see `Contacts.beyond`.
        """
        chosen = tuple(joints), () if set(limited) <= set(joints) else tuple(limited)
        if chosen not in self._stopped:
            self._stopped[chosen] = other = copy.copy(self)
            other.__dict__.update(joint_limits=chosen[0], _limited=chosen[1])
        return self._stopped[chosen]

    def with_more_room(self, contacts: bool = False) -> Environment:
        """A copy with room for twice as many pairs of convex shapes near each other, always one.

        contacts : for twice as many active contacts instead.
        """
        if contacts not in self._roomier:
            self._roomier[contacts] = other = copy.copy(self)
            name = "most_active" if contacts else "_room"
            other.__dict__.update({"_stopped": {}, "_roomier": {}, name: 2 * getattr(self, name)})
        return self._roomier[contacts]

    @functools.cached_property
    def plain(self) -> Environment:
        """The same without walls that have laws of their own; itself where there are none."""
        plain = tuple(one for one in self.surfaces if one.laws == NO_LAWS)
        if len(plain) == len(self.surfaces):
            return self
        other = copy.copy(self)
        other.__dict__.update(
            surfaces=plain, sides=_sides(plain), _stopped={}, _roomier={}, _found={}, _solid={}
        )
        return other

    def contact_points(self, robot: Robot) -> tuple[Point, ...]:
        """The points (link, xyz) that may touch: those given, else those of every link.

        Those are what `<collision>` describes: balls, corners of boxes, points on the edges of
        cylinders, corners of the hulls of meshes. In a robot without shapes a link has its joint's
        origin and, if it carries no other link, its end: as far beyond
        the centre of mass as the origin lies before it, which is the end of an even rod. Places
        that coincide whatever the robot does are taken once; links that cannot move, or that
        belong to a body without mass, have none.
        """
        if self.points is not None:
            for link, _ in self.points:
                body, _ = robot.system.tree.frames[
                    require_link(robot.system.tree, link, robot.model.source)
                ]
                if body == WORLD:
                    raise InputError(
                        f"{robot.model.source}: link {link!r} cannot move, so no point of it can "
                        "hit a wall; leave it out of the points"
                    )
            return self.points
        tree = robot.calls.traced.tree
        if tree not in self._found:  # meshes are read once
            flat = all(map(_is_flat, self.surfaces))
            points = collision_points(robot, flat) or default_points(robot)
            self._found.clear()
            self._found[tree] = points
        return self._found[tree]

    def report(self, robot: Robot) -> TouchReport:
        """The report on what of a robot may touch what; `print` it.

        Raises
        ------
        InputError
            A point or a pair of links that is named is not the robot's, or a shape cannot be used.
        """
        points = self.contact_points(robot) if self.surfaces else ()
        solid = [
            (one.link, other.link) for one, other in self.solid_pairs(robot) if not other.is_wall
        ]
        rods = [(pair.one.link, pair.other.link) for _, pair in self.couples(robot)]
        return TouchReport(
            surfaces=tuple(wall.name for wall in self.surfaces),
            points=dict(Counter(point.link for point in points)),
            pairs=tuple(dict.fromkeys(rods + solid)),
            stops=tuple(name for _, name, _ in self._stops(robot)),
        )

    def law(self, link: str, wall: Surface) -> tuple[float, float]:
        """Restitution and friction of a link on a wall."""
        return self.laws.get((link, wall.name), (wall.restitution, wall.friction))

    def solid_law(self, one: Solid, other: Solid) -> tuple[float, float]:
        """Restitution and friction of two shapes."""
        if other.is_wall:
            (wall,) = (surface for surface in self.surfaces if surface.name == other.link)
            return self.law(one.link, wall)
        assert self.links is not None
        return self.links.law(one, other)

    def geometry(self, robot: Robot) -> ContactGeometry:
        """Points, faces and stops of a robot among the walls, for its programs."""
        for link, _ in self.laws:
            require_link(robot.system.tree, link, robot.model.source)
        stops = tuple(stop for *_, stop in self._stops(robot, self._limited))
        if not self.surfaces and self.links is None:
            return ContactGeometry((), (), stops)
        frames = LinkFrames.of_robot(robot)
        places: list[BodyPoint] = []
        points = self.contact_points(robot) if self.surfaces else ()
        for point in points:
            body, pose = frames.of[point.link]
            place = pose.rotation @ np.array(point.xyz) + pose.translation
            axis = None if point.axis is None else pose.rotation @ np.array(point.axis)
            places.append(BodyPoint(body, place, point.radius, axis, point.half, len(places)))
        faces = tuple(side.surface.faces[side.face] for side in self.sides)
        signed: tuple[Ball, ...] = ()
        if any(point.is_ball or point.half for point in places):
            signed = tuple(side.surface.signed[side.face] for side in self.sides)
        balls = [one for one in places if one.is_ball]
        wide = [one for one in balls if any(wall.is_wide(one.radius) for wall in signed)]
        places += [one._replace(rank=rank) for rank in range(1, MOST_DEEPEST) for one in wide]
        couples = tuple(couple for _, couple in self.couples(robot))
        pairs = self.solid_pairs(robot)
        wholes = {other.link for _, other in pairs if other.is_wall}
        apart = frozenset(
            k
            for k, (point, side) in enumerate(product(points, self.sides))
            if point.of_whole and side.surface.name in wholes
        )
        solid = sorted({one.body for pair in pairs for one in pair})
        slots = MOST_POINTS * min(len(pairs), self._room)
        return ContactGeometry(
            tuple(places), faces, stops, signed, couples, tuple(solid), slots, frames.links, apart
        )

    def solid_pairs(self, robot: Robot) -> tuple[SolidPair, ...]:
        """The shapes that may touch each other, except for the `couples`, or curved walls."""
        if self.links is None:
            return ()
        tree = robot.calls.traced.tree
        if tree not in self._solid:  # as points
            solids = solids_of(robot) if self.links.convex else []
            pairs = self.links.solid_pairs(robot, solids) + self._wall_pairs(robot, solids)
            self._solid.clear()
            self._solid[tree] = pairs
        return self._solid[tree]

    @property
    def _curved(self) -> tuple[Side, ...]:
        """The faces that shapes touch as wholes: curved ones of walls without laws of their own."""
        if self.links is None or not self.links.convex or self.points is not None:
            return ()
        plain = [one for one in self.sides if one.surface.laws == NO_LAWS]
        return tuple(one for one in plain if not _is_flat(one.surface))

    def _wall_pairs(self, robot: Robot, solids: list[Solid]) -> tuple[SolidPair, ...]:
        """The shapes that touch curved walls as wholes, and these."""
        tree = robot.system.tree
        moved = {
            link
            for link, (body, _) in tree.frames.items()
            if body != WORLD and tree.bodies[body].inertia.mass
        }
        wholes = [one for one in solids if one.link in moved and one.touches_as_whole]
        least = min((one.shape.reach for one in wholes), default=1.0)
        walls = [
            Solid(
                one.surface.name, WORLD, Pose(),
                CurvedWall(
                    one.surface.faces[one.face], one.surface.signed[one.face].steepness, least
                ),
            )
            for one in self._curved
        ]  # fmt: skip
        return tuple(product(wholes, walls))

    def couples(self, robot: Robot) -> tuple[tuple[str, Couple], ...]:
        """The links that may touch each other, with words for them."""
        if self.links is None:
            return ()
        return self.links.couples(robot, alone=bool(self._curved or self.solid_pairs(robot)))

    def stops(self, robot: Robot) -> tuple[tuple[str, bool], ...]:
        """Words for every stop that programs have room for, in order, and whether it acts."""
        chosen = self.joint_limits
        return tuple(
            (words, chosen is True or joint in (chosen or ()))
            for joint, words, _ in self._stops(robot, self._limited)
        )

    def _stops(
        self, robot: Robot, limited: tuple[str, ...] = ()
    ) -> list[tuple[str, str, tuple[int, int, float, float]]]:
        """Joint, words and numbers of every stop of the joints that have some, or of `limited`."""
        chosen = limited or self.joint_limits
        if not chosen:
            return []
        stops: list[tuple[str, str, tuple[int, int, float, float]]] = []
        limited_joints = {joint.name: joint for joint in robot.model.limited_joints}
        for body in robot.system.tree.bodies:
            joint = limited_joints.get(body.joint)
            if joint is None or not (isinstance(chosen, bool) or joint.name in chosen):
                continue
            q, v = body.q.start, body.v.start
            for side, bound, word in (
                (1, joint.limits.lower, "lower"),
                (-1, joint.limits.upper, "upper"),
            ):
                if np.isfinite(bound):
                    words = f"{word} limit of joint {joint.name!r}"
                    stops.append((joint.name, words, (q, v, side, bound)))
        return stops


def _is_flat(surface: Surface) -> bool:
    """Whether a wall has planes as faces."""
    return surface.shape is not None and surface.shape.kind in FLAT


def _sides(surfaces: Sequence[Surface]) -> tuple[Side, ...]:
    """The faces of walls."""
    return tuple(Side(surface, k) for surface in surfaces for k in range(len(surface.faces)))


def checked_environment(given: object) -> Environment | None:
    """The argument `environment`, refused where it is not one."""
    if given is not None and not isinstance(given, Environment):
        raise no_environment(given)
    return given


def _checked_limits(value: bool | Sequence[str]) -> bool | tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (bool, list, tuple)):
        raise InputError(f"joint_limits must be true, false or names of joints; it is {value!r}")
    return value if isinstance(value, bool) else tuple(value)


NO_WALLS = Environment([])
"""Where there are no walls, and joints have stops at most."""

Given = TypeVar("Given", bound=Environment | None)
"""Walls, or none."""

ON_THE_LIMIT = 1e-9
"""rad or m by which a joint that starts on its limit may be beyond it."""


def with_all_stops(robot: Robot, environment: Environment) -> Environment:
    """The environment; where it says nothing of stops, with those at all limits."""
    if environment.joint_limits is not None:
        return environment
    return environment.with_stops([joint.name for joint in robot.model.limited_joints])


def without_stops(environment: Environment | None) -> Environment:
    """The environment; where it says nothing of stops, with none."""
    given = environment or NO_WALLS
    return given.with_stops(()) if given.joint_limits is None else given


def beyond_limits(robot: Robot, q: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Of positions (nq,) or (N, nq) the places (..., n) of `Model.limited_joints`, and which of
    them are beyond their limits."""
    joints, labels = robot.model.limited_joints, robot.system.coordinates.joint_labels
    places = robot.joint_state(q)[0][..., [labels.index(joint.name) for joint in joints]]
    low = np.array([joint.limits.lower for joint in joints]) - ON_THE_LIMIT
    high = np.array([joint.limits.upper for joint in joints]) + ON_THE_LIMIT
    return places, (places < low) | (places > high)


def with_stops(
    robot: Robot, q: Array, environment: Given, room: bool = False
) -> Environment | Given:
    """The environment; where it says nothing of stops, with those at all limits that q keeps.

    A joint that starts beyond its limits has no stops, and is warned of. Without walls and limits
    it is what is given, which may be None.

    room : whether its programs have room for these stops too, so that they are the same wherever
        motions start.

    Warns
    -----
    SimulationWarning
        By joint, position and limits.
    """
    joints = robot.model.limited_joints
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
    return (NO_WALLS if environment is None else environment).with_stops(held, limited)
