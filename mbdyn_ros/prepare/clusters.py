"""Which bodies move together: loops and gears on the bodies of the tree, and their clusters.

A loop constrains the joints on the paths from the last common ancestor of its two bodies. Loops
that share a joint act on one cluster; a body that no loop or gear touches is a cluster of its
own. Clusters form a tree, so the recursions run over clusters as they run over bodies
(Jain 2012, local constraint embedding; Chignoli et al. 2023).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from ..model.closing_types import ClosingType, closing_type
from ..model.model import Array, Combination, Coupling, Model, Pose
from ..model.motion_law import MotionLaw
from ..model.pose import noise, without_noise

if TYPE_CHECKING:
    from .tree import Tree

PARALLEL_AXES = 1e-12
"""Sine of the largest angle between axes that count as parallel."""


@dataclass(frozen=True, eq=False)
class Closure:
    """A loop on bodies: its frames in the bodies' frames, and the joints on its two paths.

    `predecessor_path` and `successor_path` lead from below the last common ancestor outwards.
    """

    name: str
    type: str
    axis: Array
    predecessor: int
    predecessor_frame: Pose
    predecessor_path: tuple[int, ...]
    successor: int
    successor_frame: Pose
    successor_path: tuple[int, ...]

    @property
    def closing(self) -> ClosingType:
        """The type of its closing joint; ModelError where there is no such type."""
        return closing_type(self.type, f"loop {self.name!r}: ")

    @property
    def ends(self) -> tuple[tuple[tuple[int, ...], Pose], ...]:
        """Path and frame of the predecessor, then of the successor."""
        return (
            (self.predecessor_path, self.predecessor_frame),
            (self.successor_path, self.successor_frame),
        )

    @property
    def bodies(self) -> tuple[int, ...]:
        """All bodies whose joints the loop constrains."""
        return self.predecessor_path + self.successor_path


@dataclass(frozen=True, eq=False)
class Gear:
    """A constraint on the positions of 1-DoF joints: sum factor q + shift = 0.

    `factors` holds (body, factor) pairs, `powers` (body, coefficients) pairs of what squares, cubes
    and so on add to the sum, `laws` (body, law) pairs of what laws of motion add; `bodies` also
    those between, which move along.
    """

    name: str
    factors: tuple[tuple[int, float], ...]
    shift: float
    bodies: tuple[int, ...]
    powers: tuple[tuple[int, tuple[float, ...]], ...] = ()
    laws: tuple[tuple[int, MotionLaw], ...] = ()

    @property
    def leading(self) -> set[int]:
        """The bodies of whose positions powers or laws are taken."""
        return {body for body, _ in (*self.powers, *self.laws)}


@dataclass(frozen=True, eq=False)
class Cluster:
    """Bodies, parents first, whose joints the closures and gears constrain together."""

    bodies: tuple[int, ...]
    closures: tuple[Closure, ...] = ()
    gears: tuple[Gear, ...] = ()

    @property
    def constrained(self) -> bool:
        """Whether anything constrains the cluster's joints."""
        return bool(self.closures or self.gears)

    @property
    def linear(self) -> bool:
        """Whether gears alone constrain it, and their rows are the same at all positions."""
        return not self.closures and not any(gear.leading for gear in self.gears)

    @functools.cached_property
    def coupled(self) -> tuple[int, ...]:
        """The bodies whose joints are constrained; the others of the cluster lie between them."""
        named = {body for closure in self.closures for body in closure.bodies}
        named |= {body for gear in self.gears for body, _ in gear.factors}
        return tuple(body for body in self.bodies if body in named)

    @property
    def name(self) -> str:
        """The names of its constraints."""
        constraints: list[Closure | Gear] = [*self.closures, *self.gears]
        return ", ".join(one.name for one in constraints)


def path_from(tree: Tree, ancestor: int, body: int) -> tuple[int, ...]:
    """Bodies from below `ancestor` out to `body`."""
    path = []
    while body != ancestor:
        path.append(body)
        body = tree.bodies[body].parent
    return tuple(reversed(path))


def common_ancestor(tree: Tree, first: int, second: int) -> int:
    """The last body (or the world) that carries both."""
    while first != second:  # parents come first, and the world before all
        if first > second:
            first = tree.bodies[first].parent
        else:
            second = tree.bodies[second].parent
    return first


def loop_axes(tree: Tree, closure: Closure) -> Array:
    """Axes (3, 3) for a loop's equations, as columns in the common ancestor's axes.

    z is the first revolute axis of a path, so that a planar loop lies in the xy plane.
    """
    for path, _ in closure.ends:
        rotation: Array = np.eye(3)
        for index in path:
            rotation = rotation @ tree.bodies[index].placement.rotation
            if tree.bodies[index].kind == "revolute":
                return rotation
    return np.eye(3)


def closures_on_bodies(model: Model, tree: Tree) -> list[Closure]:
    """The loops of `model`, moved from links to bodies; see `split_joints.quaternions_in_loops`."""
    result, small = [], noise(body.placement.translation for body in tree.bodies)
    for loop in model.loops:
        ends = []
        for link, frame in (
            (loop.predecessor, loop.predecessor_frame), (loop.successor, loop.successor_frame),
        ):  # fmt: skip
            body, pose = tree.frames[link]
            ends.append((body, without_noise(pose @ frame, small)))
        result.append(closure_between(tree, loop.name, loop.closing.name, loop.axis, *ends))
    return result


def closure_between(
    tree: Tree, name: str, type: str, axis: Array, first: tuple[int, Pose], second: tuple[int, Pose]
) -> Closure:
    """A loop that closes between frames of two bodies."""
    ancestor = common_ancestor(tree, first[0], second[0])
    one, other = (
        (body, frame, path_from(tree, ancestor, body)) for body, frame in (first, second)
    )
    return Closure(name, type, axis, *one, *other)


def gears_on_bodies(model: Model, tree: Tree) -> list[Gear]:
    """The couplings and mimic joints of `model` as constraints on bodies' joints."""
    gears = []
    moved = {body.joint: i for i, body in enumerate(tree.bodies)}
    for joint in model.joints:
        if joint.mimic is not None and joint.nv:
            follower, leader = moved[joint.name], moved[joint.mimic.joint]
            ancestor = common_ancestor(tree, follower, leader)
            factors: tuple[tuple[int, float], ...]
            factors = ((follower, 1.0), (leader, -joint.mimic.multiplier))
            between = path_from(tree, ancestor, follower) + path_from(tree, ancestor, leader)
            if ancestor in (follower, leader):
                between += (ancestor,)
            name = f"mimic {joint.name}"
            gears.append(Gear(name, factors, -joint.mimic.offset, between))
    for coupling in model.couplings:
        if isinstance(coupling, Combination):
            gears.append(_combined(tree, coupling, moved))
        else:
            gears.append(_coupled(model, tree, coupling))
    return gears


def _combined(tree: Tree, coupling: Combination, moved: Mapping[str, int]) -> Gear:
    """A coupling of joints by name; its row counts in the unit of the first that follows others."""
    in_order = sorted(coupling.factors, key=lambda one: one[0] not in coupling.followers)
    unit = in_order[0][1]
    factors = tuple((moved[name], factor / unit) for name, factor in in_order)
    bodies = [body for body, _ in factors]
    ancestor = functools.reduce(functools.partial(common_ancestor, tree), bodies)
    between = {body for one in bodies for body in path_from(tree, ancestor, one)}
    if ancestor in bodies:
        between.add(ancestor)
    powers = tuple(
        (moved[name], tuple(one / unit for one in more)) for name, more in coupling.powers
    )
    laws = tuple((moved[name], law.scaled(1 / unit)) for name, law in coupling.laws)
    shift = -coupling.offset / unit
    return Gear(coupling.name, factors, shift, tuple(sorted(between)), powers, laws)


def _coupled(model: Model, tree: Tree, coupling: Coupling) -> Gear:
    """A coupling of links: their turns (or ways) along the joints from their common ancestor."""
    first, second = (tree.frames[link][0] for link in (coupling.predecessor, coupling.successor))
    ancestor = common_ancestor(tree, first, second)
    inner, outer = path_from(tree, ancestor, first), path_from(tree, ancestor, second)
    where = f"{model.source}: coupling {coupling.name!r} passes through"
    instead = 'couple the joints that are meant by name: <joint name="..." factor="..."/>'
    for path in (inner, outer):
        for body in path:
            if tree.bodies[body].motion.nv > 1:
                raise ModelError(
                    f"{where} the joint {tree.bodies[body].joint!r}, which has more than one "
                    f"degree of freedom; {instead}"
                )
        if len({tree.bodies[body].motion.slides for body in path}) > 1:
            names = ", ".join(tree.bodies[body].joint for body in path)
            raise ModelError(
                f"{where} joints that turn and joints that slide ({names}), whose sum is neither "
                f"an angle nor a length; {instead}"
            )
    factors = (*((b, 1.0) for b in outer), *((b, -coupling.ratio) for b in inner))
    return Gear(coupling.name, factors, 0.0, inner + outer)


def find_clusters(model: Model, tree: Tree) -> list[Cluster]:
    """Group the bodies of `tree`, clusters in the order of their first bodies."""
    closures, gears = closures_on_bodies(model, tree), gears_on_bodies(model, tree)
    group = list(range(len(tree.bodies)))

    def find(body: int) -> int:
        while group[body] != body:
            group[body] = group[group[body]]  # a shorter way for those who come later
            body = group[body]
        return body

    constraints: list[Closure | Gear] = [*closures, *gears]
    for constraint in constraints:
        heads = sorted({find(body) for body in constraint.bodies})
        for head in heads[1:]:
            group[head] = heads[0]
    members: dict[int, list[int]] = {}
    for body in range(len(tree.bodies)):
        members.setdefault(find(body), []).append(body)
    closed: dict[int, list[Closure]] = {}
    for closure in closures:
        closed.setdefault(find(closure.bodies[0]), []).append(closure)
    geared: dict[int, list[Gear]] = {}
    for gear in gears:
        geared.setdefault(find(gear.bodies[0]), []).append(gear)
    return [
        Cluster(tuple(bodies), tuple(closed.get(head, ())), tuple(geared.get(head, ())))
        for head, bodies in members.items()
    ]
