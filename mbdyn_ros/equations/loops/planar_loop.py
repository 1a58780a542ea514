"""Closed form of a planar loop of four joints: the cylinder triangle, the four-bar, the slider.

Where all axes of a loop are parallel and all slides lie across them, the loop is a figure in the
plane of complex numbers: a joint turned by theta multiplies what it carries by exp(i theta). With
one joint given, the two dependent ones and the closing pin are the corners of a triangle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...model.closing_types import Slide, Turn
from ...model.clusters import PARALLEL_AXES, Cluster, loop_axes
from ...model.tree import Tree
from ..algebra.complex_plane import Line
from ..algebra.spatial import SX, Position
from .reach import Reach, reach_of_slide, reach_of_turn
from .triangle import PlanarJoint, TurnAndSlide, TwoTurns


@dataclass(frozen=True)
class PlanarLoop:
    """A planar loop solved for one given joint, on one assembly branch.

    turns : whole turns added to the dependent joints' angles, by body.
    reach : how far the given joint can go.
    """

    given: PlanarJoint
    triangle: TwoTurns | TurnAndSlide
    branch: int = 1
    turns: tuple[tuple[int, int], ...] = ()
    reach: Reach = Reach()

    @property
    def given_bodies(self) -> tuple[int, ...]:
        """The body of the given joint."""
        return (self.given.body,)

    def positions(self, q: SX) -> dict[int, Position]:
        """Turns and slides of the dependent joints at the given joint's position (1, 1); NaN out of
        reach."""
        t, _ = self.given.parameter(q)
        return self.triangle.positions(t, self.branch, self._fence(q))

    def values(self, q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints, continuous in q however far it turns."""
        t, angle = self.given.parameter(q)
        values = self.triangle.values(t, angle, self.branch, self._fence(q))
        for body, count in self.turns:
            values[body] = values[body] + 2 * math.pi * count
        return values

    def reach_from(self, home: float) -> Reach:
        """How far the given joint can go from a position at which the loop closes."""
        reach = Reach()
        for slack in self.triangle.slacks():
            if self.given.revolute:
                offset, sense = self.given.offset, self.given.sense
                reach &= reach_of_turn(slack, sense, home + offset).shifted(-offset)
            else:
                reach &= reach_of_slide(slack, home)
        return reach

    def _fence(self, q: SX) -> SX:
        """0, or minus infinity beyond an open stretch; two comparisons at most."""
        before, beyond = self.reach.before, self.reach.beyond
        outside = []
        if before > -math.inf and beyond < math.inf:
            outside = [ca.fabs(q - (before + beyond) / 2) > (beyond - before) / 2]
        elif beyond < math.inf:
            outside = [q > beyond]
        elif before > -math.inf:
            outside = [q < before]
        return ca.if_else(outside[0], -math.inf, 0) if outside else SX(0)


def planar_loop(tree: Tree, cluster: Cluster, given: int) -> PlanarLoop | None:
    """The closed form of a cluster with the joint of body `given` given; None where it has none."""
    if len(cluster.bodies) != 3 or len(cluster.closures) != 1 or cluster.gears:
        return None
    (closure,) = cluster.closures
    closing = closure.closing
    if closing.slide is not Slide.NOWHERE or closing.turn not in (Turn.ABOUT, Turn.ALL):
        return None
    reference = loop_axes(tree, closure).T
    paths = []
    for path, frame in closure.ends:
        flat = _flatten(tree, path, reference, frame.translation)
        if flat is None:
            return None
        turned = flat[2] @ frame.rotation @ closure.axis
        if closing.is_hinge and abs(abs(turned[2]) - 1) > PARALLEL_AXES:
            return None
        paths.append(flat[:2])
    chains = [_Chain(joints, pin, given) for joints, pin in paths]
    unknown = [[i for i, j in enumerate(chain.joints) if j.body != given] for chain in chains]
    known = next(j for chain in chains for j in chain.joints if j.body == given)
    if [len(u) for u in unknown] == [1, 1]:
        triangle = _on_two_paths(chains, unknown[0][0], unknown[1][0])
    else:
        serial, other = (0, 1) if len(unknown[0]) == 2 else (1, 0)
        triangle = _on_one_path(chains[serial], chains[other], *unknown[serial])
    return None if triangle is None else PlanarLoop(known, triangle)


def _flatten(
    tree: Tree, path: tuple[int, ...], rotation: np.ndarray, pin: np.ndarray
) -> tuple[list[PlanarJoint], complex, np.ndarray] | None:
    """Joints and pin of a path at zero, in the plane; None where it is not planar."""
    point, joints = np.zeros(3), []
    for index in path:
        body = tree.bodies[index]
        point = point + rotation @ body.placement.translation
        rotation = rotation @ body.placement.rotation
        axis = rotation @ body.axis
        revolute = body.kind == "revolute"
        flat = abs(abs(axis[2]) - 1) if revolute else abs(axis[2])
        if flat > PARALLEL_AXES or not (revolute or body.motion.slides):
            return None
        place, direction = complex(*point[:2]), complex(*axis[:2])
        joints.append(
            PlanarJoint(index, revolute, place, float(np.sign(axis[2])), direction, body.offset)
        )
    return joints, complex(*(point + rotation @ pin)[:2]), rotation


@dataclass(frozen=True)
class _Chain:
    """The joints of a path outwards and its pin; the one of body `given` is given."""

    joints: list[PlanarJoint]
    pin: complex
    given: int

    def span(self, start: int | None, stop: int | None) -> tuple[Line, Line]:
        """Vector from joint `start` (None: ancestor) to `stop` (None: pin), and turn between.

        In the axes of what joint `start` carries; only the given joint may lie between.
        """
        begin = 0 if start is None else start + 1
        end = len(self.joints) if stop is None else stop
        origin = 0j if start is None else self.joints[start].place
        target = self.pin if stop is None else self.joints[stop].place
        for joint in self.joints[begin:end]:
            if joint.revolute:
                return Line(joint.place - origin, target - joint.place), Line(0j, 1)
            return Line(target - origin, joint.direction), Line(1)
        return Line(target - origin), Line(1)


def _on_two_paths(chains: list[_Chain], i: int, j: int) -> TwoTurns | TurnAndSlide | None:
    """One unknown joint on each path."""
    a, b = chains[0].joints[i], chains[1].joints[j]
    if not a.revolute and not b.revolute:
        return None
    if b.revolute and not a.revolute:
        slide, turn, chain, other, k, m = a, b, chains[0], chains[1], i, j
    else:
        slide, turn, chain, other, k, m = b, a, chains[1], chains[0], j, i
    (start, rho), (end, _) = chain.span(None, k), chain.span(k, None)
    (start_turn, rho_turn), (arm, _) = other.span(None, m), other.span(m, None)
    if slide.revolute:
        return TwoTurns(turn, slide, start - start_turn, arm, end, rho_turn, rho, serial=False)
    z = start - start_turn + rho * end
    u = rho * Line(slide.direction)
    return TurnAndSlide(turn, slide, z, u, arm, rho_turn, inverse=False)


def _on_one_path(chain: _Chain, other: _Chain, i: int, j: int) -> TwoTurns | TurnAndSlide | None:
    """Both unknown joints on one path, i inside j."""
    a, b = chain.joints[i], chain.joints[j]
    (start, rho_a), (middle, rho_b) = chain.span(None, i), chain.span(i, j)
    (end, _), (pin, _) = chain.span(j, None), other.span(None, None)
    d = pin - start
    if a.revolute and b.revolute:
        return TwoTurns(a, b, d, middle, Line(0j) - end, rho_a, rho_b, serial=True)
    if a.revolute:  # conj(W_A) D = middle + rho_b (end + d u)
        z, u = middle + rho_b * end, rho_b * Line(b.direction)
        return TurnAndSlide(a, b, z, u, d, rho_a, inverse=True)
    if b.revolute:  # W_B end = D - rho_a middle - d rho_a u
        z, u = d - rho_a * middle, rho_a * Line(-a.direction)
        return TurnAndSlide(b, a, z, u, end, rho_a * rho_b, inverse=False)
    return None
