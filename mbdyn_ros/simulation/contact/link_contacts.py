"""Which links of a robot may touch each other."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ...arguments import Sealed, require_link
from ...equations.contact.rods import Couple, Rod
from ...errors import InputError
from ...model.model import Array
from ...model.shapes import Capsule, Sphere
from ...prepare.tree import WORLD
from .points import LinkFrames
from .solids import Solid, SolidPair, solids_of
from .surfaces import FRICTION, RESTITUTION, checked_restitution, number_within

if TYPE_CHECKING:
    from ...robot import Robot

NO_PAIRS: Mapping[tuple[str, str], tuple[float, float]] = MappingProxyType({})

FREE = 6
"""Velocities of a joint that holds nothing."""

Pair = frozenset[str]
"""The names of two links."""

Named = tuple[str, Couple]
"""Words for a couple, and the couple."""


def checked_law(
    pair: tuple[str, str], law: tuple[float, float], what: str = "links"
) -> tuple[float, float]:
    """The restitution and friction of a pair; refused where they are none."""
    words = f"{what} {' and '.join(pair)}"
    e, mu = law
    return (
        checked_restitution(words, e),
        number_within(f"{words}: friction", mu, np.inf, "0 or more"),
    )


class LinkContacts(Sealed):
    """Contacts of links with each other: the spheres and capsules of their `<collision>`.

    Links of one body, of bodies that a joint or a loop joins, and pairs that are `disabled` do
    not. Fixed links touch all but what they carry by joints. Boxes, cylinders and meshes touch
    walls, and other links if `convex`.

    Parameters
    ----------
    restitution, friction : of every such contact; default: 0 and 0.8, as those of walls.
    disabled : pairs of links, as `read_disabled_pairs` gives those of an SRDF.
    convex : whether boxes, cylinders and meshes touch other shapes too, and curved walls as
        wholes, as capsules do; near each other they move in equal steps. A mesh is its convex
        hull: of one with hollows is warned.
    laws : restitution and friction of pairs of links for which they are others.

    Examples
    --------
    >>> import mbdyn_ros
    >>> cradle = mbdyn_ros.Environment([], links=LinkContacts(restitution=1.0))
    """

    def __init__(
        self,
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        disabled: Sequence[tuple[str, str]] = (),
        convex: bool = False,
        laws: Mapping[tuple[str, str], tuple[float, float]] = NO_PAIRS,
    ) -> None:
        self.restitution = checked_restitution("links", restitution)
        self.friction = number_within("links: friction", friction, np.inf, "0 or more")
        try:
            pairs = [(one, other) for one, other in disabled]
        except (TypeError, ValueError):
            raise InputError(f"disabled must be pairs of links; it is {disabled!r}") from None
        for one, other in pairs:
            if one == other:
                raise InputError(
                    f"disabled names link {one!r} twice in one pair: a link never touches itself; "
                    "name two links, or leave the pair out"
                )
        self.disabled = frozenset(map(frozenset, pairs))
        if not isinstance(convex, bool):
            raise InputError(f"links: convex is {convex!r}; it must be True or False")
        self.convex = convex
        self.laws = {frozenset(pair): checked_law(pair, law) for pair, law in laws.items()}
        self.seal()

    def apart(self, pairs: Iterable[tuple[str, str]]) -> LinkContacts:
        """The same, but that these pairs of links do not touch either."""
        return self._with(self.disabled | set(map(frozenset, pairs)), self.laws)

    def without(self, links: Collection[str]) -> LinkContacts:
        """The same for a robot that these links are no part of."""
        return self._with(
            {pair for pair in self.disabled if pair.isdisjoint(links)},
            {pair: law for pair, law in self.laws.items() if pair.isdisjoint(links)},
        )

    def _with(
        self, disabled: Collection[Pair], laws: Mapping[Pair, tuple[float, float]]
    ) -> LinkContacts:
        other = copy.copy(self)
        other.__dict__.update(disabled=frozenset(disabled), laws=dict(laws))
        return other

    def law(self, one: Rod | Solid, other: Rod | Solid) -> tuple[float, float]:
        """Restitution and friction of two shapes."""
        usual = self.restitution, self.friction
        return self.laws.get(frozenset((one.link, other.link)), usual)

    def couples(self, robot: Robot, alone: bool = False) -> tuple[Named, ...]:
        """All couples that may touch.

        alone : whether there may be none, as where shapes touch each other or walls as wholes.

        Raises
        ------
        InputError
            A disabled link is not the robot's, or nothing is left that may touch.
        """
        may_touch = self._judge(robot)
        found = [
            (words_for(one.link, other.link), Couple(one, other))
            for one, other in combinations(_rods(robot), 2)
            if may_touch(one.link, other.link)
        ]
        if not found and not alone:
            raise InputError(
                f"{robot.model.source}: no two links can touch each other: that takes spheres or "
                "capsules (with convex=True also boxes, cylinders and meshes) as <collision> of "
                "moving links that no joint joins and that are not disabled; leave links out"
            )
        return tuple(found)

    def solid_pairs(
        self, robot: Robot, solids: Sequence[Solid] | None = None
    ) -> tuple[SolidPair, ...]:
        """All pairs of shapes that may touch, except for the `couples`; none unless `convex`.

        solids : the shapes of the robot, where they are known.
        """
        every = self.shape_pairs(robot, solids) if self.convex else ()
        return tuple(pair for pair in every if not all(one.is_round for one in pair))

    def shape_pairs(
        self, robot: Robot, solids: Sequence[Solid] | None = None
    ) -> tuple[SolidPair, ...]:
        """All pairs of shapes that may touch, convex or not; for solids see `solid_pairs`."""
        may_touch = self._judge(robot)
        return tuple(
            (one, other)
            for one, other in combinations(solids_of(robot) if solids is None else solids, 2)
            if may_touch(one.link, other.link)
        )

    def concern(self, robot: Robot) -> bool:
        """Whether any two links that have shapes may touch; no mesh is read for that."""
        shaped = [link.name for link in robot.model.links if link.collisions]
        may_touch = self._judge(robot)
        return any(may_touch(*pair) for pair in combinations(shaped, 2))

    def _judge(self, robot: Robot) -> Callable[[str, str], bool]:
        """Whether two links may touch."""
        tree, model = robot.system.tree, robot.model
        for link in sorted({str(link) for pair in (*self.disabled, *self.laws) for link in pair}):
            require_link(tree, link, model.source)
        joined = {
            frozenset((k, body.parent))
            for k, body in enumerate(tree.bodies)
            if body.parent != WORLD
        }
        carried = _carried(robot)
        for loop in model.loops:
            ends = (tree.frames[link][0] for link in (loop.predecessor, loop.successor))
            joined.add(frozenset(ends))

        def may_touch(one: str, other: str) -> bool:
            first, second = (tree.frames[link][0] for link in (one, other))
            bodies, links = frozenset((first, second)), frozenset((one, other))
            if {(first, other), (second, one)} & carried:
                return False
            return len(bodies) == 2 and bodies not in joined and links not in self.disabled

        return may_touch


def _carried(robot: Robot) -> set[tuple[int, str]]:
    """Bodies with the fixed links that carry them: by a joint that is not free, or further down."""
    model, tree = robot.model, robot.system.tree
    below = {joint.child: joint.parent for joint in model.joints}
    found = set()
    for joint in model.joints:
        link: str | None = joint.parent
        if tree.frames[joint.parent][0] == WORLD and 0 < joint.nv < FREE:
            while link is not None:
                found.add((tree.frames[joint.child][0], link))
                link = below.get(link)
    return found


MOST_NAMED = 40
"""Pairs in one message."""


def words_for(link: str, other: str) -> str:
    """Words for the contact of two links."""
    return f"link {link!r} on link {other!r}"


def words_to_disable(pairs: Iterable[tuple[str, ...]]) -> str:
    """A remedy for a start inside something. pairs : of links that overlap there."""
    every = sorted({(one, other) for one, other in map(sorted, pairs)})
    if not every:
        return "start in free space"
    of = f" ({MOST_NAMED} of {len(every)})" if len(every) > MOST_NAMED else ""
    return (
        "start in free space, or name links that always overlap, as an SRDF may: "
        f"disabled={every[:MOST_NAMED]}{of}"
    )


def _rods(robot: Robot) -> list[Rod]:
    """Spheres and capsules of all links, in frames as `LinkFrames` counts them."""
    found, frames = [], LinkFrames.of_robot(robot)
    for link in robot.model.links:
        body, pose = frames.of[link.name]
        for collision in link.collisions:
            shape = collision.geometry
            if isinstance(shape, Sphere):
                half = 0.0
            elif isinstance(shape, Capsule):
                half = shape.length / 2
            else:
                continue
            at = pose @ collision.origin
            half_axis: Array = at.rotation @ np.array([0.0, 0.0, half])
            ends = at.translation - half_axis, at.translation + half_axis
            found.append(Rod(body, *ends, shape.radius, link.name))
    return found
