"""A mechanism cut open at joints of one's choice, and the tree that is left, on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from ..equations.algebra.spatial import SX
from ..equations.geometry import SymbolicInertia, SymbolicPose
from ..errors import InputError, suggestion
from ..model.joints.types import Prismatic, Revolute
from ..model.model import Array, Pose
from ..prepare.clusters import Closure, closure_between
from ..prepare.tree import WORLD, Body, Tree
from .layout import GROUND, ORIGIN, MechanismLayout, Part, PartConnection
from .link import Piece, Point


@dataclass(frozen=True)
class Hung:
    """A part on its parent in the tree, by `joint`, which it is the first or second part of."""

    part: Part
    parent: str
    joint: PartConnection

    @property
    def reversed(self) -> bool:
        """Is true where the joint counts from the part to its parent."""
        return self.joint.first == self.part.name


@dataclass(frozen=True)
class CutOpen:
    """A mechanism whose loops are cut: the parts on the ground, parents first, and the cut joints.

    Parts that hang on one joint of the ground, a subsystem, come one after the other.
    """

    parts: tuple[Hung, ...]
    cuts: tuple[PartConnection, ...]

    @staticmethod
    def of(
        layout: MechanismLayout,
        cuts: Sequence[str],
        driven: Sequence[str],
        refusal: Callable[[str], InputError],
    ) -> CutOpen:
        """The mechanism cut at `cuts`, and at closing pins where more cuts are needed.

        Parameters
        ----------
        cuts : names of joints. driven : names of those with a drive.
        refusal : makes the error of a sentence.

        Raises
        ------
        InputError
            There is no such joint, it has a drive, or parts would hang on nothing.
        """
        joints = {one.name: one for one in layout.connections}
        for name in cuts:
            if name not in joints:
                raise refusal(
                    f"there is no joint {name!r} to cut{suggestion(name, joints)}; there are "
                    f"{', '.join(one for one in joints if one not in driven)}"
                )
            if name in driven:
                raise refusal(f"{name} is driven, its torque is wanted; cut a passive joint")
        held_by = {name: {name} for name in (GROUND, *layout.order)}
        kept, cut = [], [joints[name] for name in dict.fromkeys(cuts)]
        for one in joints.values():
            first, second = held_by[one.first], held_by[one.second]
            if one in cut:
                continue
            if first is second:
                cut.append(one)
            else:
                first |= second
                held_by |= dict.fromkeys(second, first)
                kept.append(one)
        loose = [name for name in layout.order if name not in held_by[GROUND]]
        if loose:
            raise refusal(
                f"cut at {' and '.join(dict.fromkeys(cuts))}, {' and '.join(loose)} would hang on "
                "nothing; cut one joint of every loop"
            )
        return CutOpen(tuple(_hung(layout, kept)), tuple(cut))


def _hung(layout: MechanismLayout, kept: Sequence[PartConnection]) -> list[Hung]:
    """The parts, each on the one that carries it."""
    parts = {part.name: part for part in layout.parts}
    found: list[Hung] = []

    def follow(carrier: str, inboard: PartConnection | None) -> None:
        for joint in kept:
            if joint is not inboard and carrier in (joint.first, joint.second):
                name = joint.second if joint.first == carrier else joint.first
                found.append(Hung(parts[name], carrier, joint))
                follow(name, joint)

    follow(GROUND, None)
    return found


QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def planar_pose(at: Point, rotation: Array | None = None) -> Any:
    """A frame at a point of the plane."""
    shift = ca.vertcat(SX(at[0]), SX(at[1]), 0)
    return SymbolicPose(np.eye(3) if rotation is None else rotation, shift)


def layout_tree(layout: MechanismLayout, springs: Mapping[str, SX] | None = None) -> Tree:
    """The parts of a layout as bodies in the plane z = 0 with every axis along z.

    springs : (2, 1) by part, stiffness and where its joint is slack.
    """
    hung = tuple(Hung(part, part.parent, part.connection) for part in layout.parts)
    tree = cut_tree(CutOpen(hung, ()))
    bodies: list[Any] = list(tree.bodies)
    for name, spring in (springs or {}).items():
        body, (stiffness, slack) = layout.order[name], ca.vertsplit(spring)
        bodies[body] = replace(bodies[body], spring_stiffness=stiffness, spring_reference=slack)
    return replace(tree, bodies=tuple(bodies))


def closures(layout: MechanismLayout, tree: Tree) -> list[Closure]:
    """The pins as loops of the tree."""
    axis, found = np.array([0.0, 0.0, 1.0]), list[Closure]()
    for pin in layout.pins:
        first, second = (
            (layout.order.get(part, WORLD), planar_pose(at))
            for part, at in ((pin.first, pin.at_first), (pin.second, pin.at_second))
        )
        found.append(closure_between(tree, pin.name, "revolute", axis, first, second))
    return found


def cut_tree(opened: CutOpen) -> Tree:
    """The tree of a mechanism that is cut open, every body's frame at its joint."""
    order = {hung.part.name: k for k, hung in enumerate(opened.parts)}
    inboard = {hung.part.name: hung.joint.place_on(hung.part.name) for hung in opened.parts}
    bodies = []
    for k, hung in enumerate(opened.parts):
        joint, start, name = hung.joint, inboard.get(hung.parent, ORIGIN), hung.part.name
        rotation, axis = _slide(hung) if joint.slides else (None, np.array([0.0, 0.0, 1.0]))
        place = planar_pose(_between(start, joint.place_on(hung.parent)), rotation)
        parent, inertia = order.get(hung.parent, WORLD), _inertia(hung.part.piece, inboard[name])
        motion, own = Prismatic() if joint.slides else Revolute(), slice(k, k + 1)
        bodies.append(Body(name, joint.name, motion, parent, place, axis, 0.0, inertia, own, own))
    return Tree(tuple(bodies), {GROUND: (WORLD, Pose())}, len(bodies), len(bodies))


def point_in(opened: CutOpen, part: str, at: Point) -> SX:
    """A point (3, 1) of a part, or of the ground, in the frame of its body in `cut_tree`."""
    for hung in opened.parts:
        if hung.part.name == part:
            at = _between(hung.joint.place_on(part), at)
    return ca.vertcat(SX(at[0]), SX(at[1]), 0)


def _between(start: Point, end: Point) -> Point:
    return end[0] - start[0], end[1] - start[1]


def _slide(hung: Hung) -> tuple[Array | None, Array]:
    """Rotation of a sliding part's frame in its parent's, and the axis in its own."""
    across = hung.joint.across
    if not hung.reversed:
        return (QUARTER if across else None), np.array([1.0, 0.0, 0.0])
    back = np.array([0.0, -1.0, 0.0] if across else [-1.0, 0.0, 0.0])
    return (QUARTER.T if across else None), back


def _inertia(piece: Piece, start: Point) -> Any:
    """About the point `start` of the part; what does not turn in the plane does not count."""
    x, y = (SX(one) for one in _between(start, piece.middle))
    second = SX.zeros(3, 3)
    second[2, 2] = piece.moment + piece.mass * (x * x + y * y)
    center = ca.vertcat(x, y, 0)
    return SymbolicInertia(SX(piece.mass), center, piece.mass * center, second)
