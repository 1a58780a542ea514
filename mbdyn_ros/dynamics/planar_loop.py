"""Closed form of a planar loop of four joints: the cylinder triangle, the four-bar, the slider.

Where all axes of a loop are parallel and all slides lie across them, the loop is a figure in the
plane of complex numbers: a joint turned by theta multiplies what it carries by exp(i theta). With
one joint given, the two dependent ones and the closing pin are the corners of a triangle. Two
dependent turns solve, with unit W_A and W_B,

    W_A l_a - W_B l_b = D:
    W_A = D conj(l_a) (X + i s Y) / (2 |D|^2 |l_a|^2),   W_B = (W_A l_a - D) conj(l_b) / |l_b|^2,
    X = |D|^2 + |l_a|^2 - |l_b|^2,   Y = sqrt(4 |D|^2 |l_a|^2 - X^2);

a dependent slide d along the unit U and a dependent turn W solve

    W l = Z + d U:   d = -h + s sqrt(h^2 - |Z|^2 + |l|^2),   h = Re(Z conj(U)),
    W = (Z + d U) conj(l) / |l|^2.

s = +-1 is the assembly branch. Cosines and sines come out without any angle: one square root.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..model.clusters import Cluster, loop_axes
from ..model.tree import Tree
from .spatial import SX, Position, Turn

PLANAR = 1e-12
"""Sine of the largest angle between axes of a planar loop."""


@dataclass(frozen=True)
class Complex:
    """A complex number on symbols."""

    re: SX
    im: SX

    @staticmethod
    def of(value: complex) -> Complex:
        """A constant."""
        return Complex(SX(value.real), SX(value.imag))

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def scaled(self, factor: SX) -> Complex:
        """Times a real number."""
        return Complex(self.re * factor, self.im * factor)

    def conj(self) -> Complex:
        """The conjugate."""
        return Complex(self.re, -self.im)

    def square(self) -> SX:
        """|z|^2."""
        return self.re * self.re + self.im * self.im


@dataclass(frozen=True)
class Line:
    """c0 + c1 t, where t is exp(i sigma theta) or the slide of the given joint.

    A product of joints with one given is always of this form, which makes its direction a
    continuous function of the joint however far it turns.
    """

    c0: complex
    c1: complex = 0j

    def __add__(self, other: Line) -> Line:
        return Line(self.c0 + other.c0, self.c1 + other.c1)

    def __sub__(self, other: Line) -> Line:
        return Line(self.c0 - other.c0, self.c1 - other.c1)

    def __mul__(self, other: Line) -> Line:
        if other.c1 != 0:
            return other * self if self.c1 == 0 else Line(math.nan)
        return Line(self.c0 * other.c0, self.c1 * other.c0)

    def at(self, t: Complex) -> Complex:
        """The value."""
        if self.c1 == 0:
            return Complex.of(self.c0)
        return Complex.of(self.c0) + Complex.of(self.c1) * t

    def direction(self, t: Complex, angle: SX | None) -> SX:
        """A continuous argument; `angle` is that of t, None where t is a slide."""
        if self.c1 == 0:
            return SX(cmath.phase(self.c0))
        if angle is None:
            # a straight line, seen from a point beside it, stays within a half turn
            side = 1j if (self.c0 / (1j * self.c1)).real > 0 else -1j
            seen = Line(self.c0 / (side * self.c1), 1 / side).at(t)
            return cmath.phase(side * self.c1) + ca.atan2(seen.im, seen.re)
        if abs(self.c1) <= abs(self.c0):
            seen = Line(1, self.c1 / self.c0).at(t)
            return cmath.phase(self.c0) + ca.atan2(seen.im, seen.re)
        seen = Line(1, self.c0 / self.c1).at(t.conj())
        return cmath.phase(self.c1) + angle + ca.atan2(seen.im, seen.re)


@dataclass(frozen=True)
class PlanarJoint:
    """A joint in the plane, at zero: its place, its sense of turning or its direction."""

    body: int
    revolute: bool
    place: complex
    sense: float
    direction: complex
    offset: float

    def turn(self, w: Complex) -> Turn:
        """The turn of the body's frame whose effect in the plane is w."""
        return Turn(w.re, self.sense * w.im)

    def angle(self, argument: SX) -> SX:
        """The joint's angle at a planar angle."""
        return self.sense * argument - self.offset

    def parameter(self, q: SX) -> tuple[Complex, SX | None]:
        """t of the lines, and its angle, at the joint's position."""
        if not self.revolute:
            return Complex(q, SX(0)), None
        turn = Turn.by(q, self.offset)
        return Complex(turn.cosine, self.sense * turn.sine), self.sense * (q + self.offset)


@dataclass(frozen=True)
class TwoTurns:
    """W_A l_a - W_B l_b = D; the joints turn by W_A / rho_a and W_B / rho_b.

    On one path (`serial`) rho_b counts from what joint A carries.
    """

    a: PlanarJoint
    b: PlanarJoint
    d: Line
    l_a: Line
    l_b: Line
    rho_a: Line
    rho_b: Line
    serial: bool

    def positions(self, t: Complex, s: int) -> dict[int, Position]:
        """Turns of the two bodies."""
        d, l_a, l_b = self.d.at(t), self.l_a.at(t), self.l_b.at(t)
        d2, a2, b2 = d.square(), l_a.square(), l_b.square()
        x = d2 + a2 - b2
        y = ca.sqrt(4 * d2 * a2 - x * x)
        w_a = (d * l_a.conj() * Complex(x, s * y)).scaled(1 / (2 * d2 * a2))
        w_b = ((w_a * l_a - d) * l_b.conj()).scaled(1 / b2)
        inner = w_a * self.rho_b.at(t) if self.serial else self.rho_b.at(t)
        return {
            self.a.body: self.a.turn(w_a * self.rho_a.at(t).conj()),
            self.b.body: self.b.turn(w_b * inner.conj()),
        }

    def values(self, t: Complex, angle: SX | None, s: int) -> dict[int, SX]:
        """Continuous positions of the two joints, up to whole turns."""
        d2, a2, b2 = (line.at(t).square() for line in (self.d, self.l_a, self.l_b))
        x_a, x_b = d2 + a2 - b2, d2 + b2 - a2
        y = ca.sqrt(4 * d2 * a2 - x_a * x_a)
        d = self.d.direction(t, angle)
        w_a = d - self.l_a.direction(t, angle) + s * ca.atan2(y, x_a)
        w_b = d + math.pi - self.l_b.direction(t, angle) - s * ca.atan2(y, x_b)
        inner = self.rho_b.direction(t, angle) + (w_a if self.serial else 0)
        return {
            self.a.body: self.a.angle(w_a - self.rho_a.direction(t, angle)),
            self.b.body: self.b.angle(w_b - inner),
        }


@dataclass(frozen=True)
class TurnAndSlide:
    """W l = z + d u; joint `a` turns by W / rho (by its inverse where `inverse`), `b` slides d."""

    a: PlanarJoint
    b: PlanarJoint
    z: Line
    u: Line
    l: Line  # noqa: E741 (the symbol of the equation)
    rho: Line
    inverse: bool

    def positions(self, t: Complex, s: int) -> dict[int, Position]:
        """Turn and slide of the two bodies."""
        z, u, arm = self.z.at(t), self.u.at(t), self.l.at(t)
        h = (z * u.conj()).re
        d = s * ca.sqrt(h * h - z.square() + arm.square()) - h
        w = ((z + u.scaled(d)) * arm.conj()).scaled(1 / arm.square())
        w = (w.conj() if self.inverse else w) * self.rho.at(t).conj()
        return {self.a.body: self.a.turn(w), self.b.body: d}

    def values(self, t: Complex, angle: SX | None, s: int) -> dict[int, SX]:
        """Continuous positions of the two joints, up to whole turns."""
        z, u, arm = self.z.at(t), self.u.at(t), self.l.at(t)
        projected = z * u.conj()
        root = ca.sqrt(projected.re * projected.re - z.square() + arm.square())
        # z + d u = u (s root + i Im(z conj u))
        across = ca.atan2(s * projected.im, root) + (0 if s > 0 else math.pi)
        w = self.u.direction(t, angle) + across - self.l.direction(t, angle)
        w = (-w if self.inverse else w) - self.rho.direction(t, angle)
        return {self.a.body: self.a.angle(w), self.b.body: s * root - projected.re}


@dataclass(frozen=True)
class PlanarLoop:
    """A planar loop solved for one given joint, on one assembly branch.

    turns : whole turns added to the dependent joints' angles, by body.
    """

    given: PlanarJoint
    triangle: TwoTurns | TurnAndSlide
    branch: int = 1
    turns: tuple[tuple[int, int], ...] = ()

    def positions(self, q: SX) -> dict[int, Position]:
        """What the dependent joints do at the given joint's position (1, 1)."""
        t, _ = self.given.parameter(q)
        return self.triangle.positions(t, self.branch)

    def values(self, q: SX) -> dict[int, SX]:
        """Positions (1, 1) of the dependent joints, continuous in q however far it turns."""
        t, angle = self.given.parameter(q)
        values = self.triangle.values(t, angle, self.branch)
        for body, count in self.turns:
            values[body] = values[body] + 2 * math.pi * count
        return values


def planar_loop(tree: Tree, cluster: Cluster, given: int) -> PlanarLoop | None:
    """The closed form of a cluster with the joint of body `given` given; None where it has none."""
    if len(cluster.bodies) != 3 or len(cluster.closures) != 1 or cluster.gears:
        return None
    (closure,) = cluster.closures
    if closure.type not in ("revolute", "spherical"):
        return None
    reference = loop_axes(tree, closure).T
    paths = []
    for path, frame in (
        (closure.predecessor_path, closure.predecessor_frame),
        (closure.successor_path, closure.successor_frame),
    ):
        flat = _flatten(tree, path, reference, frame.translation)
        if flat is None:
            return None
        turned = flat[2] @ frame.rotation @ closure.axis
        if closure.type == "revolute" and abs(abs(turned[2]) - 1) > PLANAR:
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
        if flat > PLANAR:
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
