"""A cluster whose loops lie in one plane, as links and joints of that plane.

Where all axes are parallel and all slides lie across them, the cluster is a figure in the plane
of complex numbers. Every link's frame is that of the plane when all joints are at zero, so a
joint's place is the same number on both its links, and a pose is z -> turn z + shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...array import Array
from ...model.closing_types import Rotation, Translation
from ...prepare.clusters import PARALLEL_AXES, Closure, Cluster, loop_axes
from ...prepare.tree import Tree
from ..algebra.phasors import Coefficient, Complex
from ..algebra.spatial import SX, CosineSine, constant


@dataclass(frozen=True)
class PlanarJoint:
    """A joint of the tree in the plane: its place at zero, and its sense or direction."""

    body: int
    revolute: bool
    place: complex
    sense: float
    direction: complex
    offset: float

    def turn(self, w: Complex) -> CosineSine:
        """The turn of the body's frame whose effect in the plane is w."""
        return CosineSine(w.re, self.sense * w.im)

    def unit(self, q: SX) -> Complex:
        """exp(i theta) at the joint's position."""
        turn = CosineSine.by(q, self.offset)
        return Complex(turn.cosine, self.sense * turn.sine)

    def angle(self, q: Any) -> Any:
        """theta at the joint's position."""
        return self.sense * (q + self.offset)

    def position(self, theta: SX) -> SX:
        """The joint's position at theta."""
        return self.sense * theta - self.offset


@dataclass(frozen=True)
class End:
    """Where a joint holds a link: at a place, its slide along a direction."""

    link: int
    place: complex
    direction: complex


@dataclass(frozen=True)
class Connection:
    """A joint between two links: of the tree, from parent to child, or a closing one (`joint` is
    None). A slide moves the second end along its direction against the first."""

    ends: tuple[End, End]
    slides: bool
    joint: PlanarJoint | None = None


@dataclass(frozen=True)
class PlanarLinkage:
    """Links (bodies, and `root`, which carries them all) and the connections between them."""

    root: int
    joints: dict[int, PlanarJoint]
    connections: tuple[Connection, ...]


@dataclass(frozen=True, eq=False)
class Lengths:
    """Symbols in a tree (p, 1), and samples (p, s) of their values, the described ones first."""

    symbols: SX
    values: Array

    def samples(self, vector: Any) -> Array:
        """Values (s, 3) of a vector, (1, 3) where it is numbers."""
        if not isinstance(vector, SX):
            return np.array([vector])
        return np.array(ca.Function("vector", [self.symbols], [ca.densify(vector)])(self.values)).T


NUMBERS = Lengths(SX(0, 1), np.zeros((0, 1)))
"""A tree without symbols."""


@dataclass(frozen=True)
class _Frame:
    """A body's frame in the plane's axes, with all joints at zero."""

    rotation: Any
    point: Any

    def carried(self, rotation: Any, translation: Any) -> _Frame:
        if isinstance(translation, SX) or isinstance(self.point, SX) or isinstance(rotation, SX):
            own = constant(self.rotation)
            turned = self.rotation @ rotation if not isinstance(rotation, SX) else own @ rotation
            return _Frame(turned, constant(self.point) + own @ constant(translation))
        return _Frame(self.rotation @ rotation, self.point + self.rotation @ translation)


def planar_linkage(
    tree: Tree, cluster: Cluster, lengths: Lengths = NUMBERS
) -> PlanarLinkage | None:
    """A cluster as a planar linkage; None where it is not planar."""
    if cluster.gears:
        return None
    root = tree.bodies[cluster.bodies[0]].parent
    outer = (one for one in cluster.closures if tree.bodies[one.bodies[0]].parent == root)
    plane = next((loop_axes(tree, one).T for one in outer), np.eye(3))
    frames = {root: _Frame(plane, np.zeros(3))}
    joints: dict[int, PlanarJoint] = {}
    connections = []
    for index in cluster.bodies:
        body = tree.bodies[index]
        if body.parent not in frames:
            return None
        placement = body.placement
        frame = frames[body.parent].carried(placement.rotation, placement.translation)
        frames[index] = frame
        axis, revolute = frame.rotation @ body.axis, body.kind == "revolute"
        across = lengths.samples(axis)[:, 2]
        flat = np.abs(np.abs(across) - 1) if revolute else np.abs(across)
        if flat.max() > PARALLEL_AXES or not (revolute or body.motion.slides):
            return None
        place, direction = _flat(frame.point, lengths), _flat(axis, lengths)
        sense = float(np.sign(across[0]))
        joints[index] = joint = PlanarJoint(index, revolute, place, sense, direction, body.offset)
        ends = (End(link, joint.place, joint.direction) for link in (body.parent, index))
        connections.append(Connection((next(ends), next(ends)), not revolute, joint))
    for closure in cluster.closures:
        connection = _closing(closure, frames, lengths)
        if connection is None:
            return None
        connections.append(connection)
    return PlanarLinkage(root, joints, tuple(connections))


def _closing(closure: Closure, frames: dict[int, _Frame], lengths: Lengths) -> Connection | None:
    """A closing joint in the plane; None where it is neither a hinge nor a slide there."""
    closing = closure.closing
    hinge = closing.slide is Translation.NOWHERE and closing.turn in (Rotation.ABOUT, Rotation.ALL)
    slide = closing.slide is Translation.ALONG and closing.turn is Rotation.NOWHERE
    if not (hinge or slide):
        return None
    ends, senses, heights = [], [], []
    for link, frame in (
        (closure.predecessor, closure.predecessor_frame),
        (closure.successor, closure.successor_frame),
    ):
        placed = frames[link].carried(frame.rotation, frame.translation)
        axis = placed.rotation @ closure.axis
        across = np.abs(lengths.samples(axis)[:, 2])
        if closing.is_hinge and np.abs(across - 1).max() > PARALLEL_AXES:
            return None
        if slide and across.max() > PARALLEL_AXES:
            return None
        senses.append(lengths.samples(placed.rotation[2, :].T))
        heights.append(lengths.samples(placed.point)[:, 2])
        ends.append(End(link, _flat(placed.point, lengths), _flat(axis, lengths)))
    if slide and np.abs(senses[0] - senses[1]).max() > PARALLEL_AXES:
        return None
    apart = heights[1] - heights[0]
    if np.abs(apart - apart[0]).max() > PARALLEL_AXES:  # lengths that take it out of the plane
        return None
    return Connection((ends[0], ends[1]), slide)


def _flat(vector: Any, lengths: Lengths) -> complex:
    values = lengths.samples(vector)
    if not isinstance(vector, SX):
        return complex(*values[0, :2])
    return Coefficient(values[:, 0] + 1j * values[:, 1], Complex(vector[0], vector[1]))
