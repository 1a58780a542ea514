"""The triangle that a planar loop makes of its two dependent joints and its closing pin.

Two dependent turns solve, with unit W_A and W_B,

    W_A l_a - W_B l_b = D:
    W_A = D conj(l_a) (X + i s Y) / (2 |D|^2 |l_a|^2),   W_B = (W_A l_a - D) conj(l_b) / |l_b|^2,
    X = |D|^2 + |l_a|^2 - |l_b|^2,   Y = sqrt(4 |D|^2 |l_a|^2 - X^2);

a dependent slide d along the unit U and a dependent turn W solve

    W l = Z + d U:   d = -h + s sqrt(h^2 - |Z|^2 + |l|^2),   h = Re(Z conj(U)),
    W = (Z + d U) conj(l) / |l|^2.

s = +-1 is the assembly branch. Cosines and sines come out without any angle: one square root.
To what stands under it a `fence` is added: 0, or minus infinity where no way leads from home.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from ..algebra.complex_plane import Complex, Line
from ..algebra.spatial import SX, Position, Turn

Slack = Callable[[complex], float]
"""A number without unit over t, of the form that `reach` describes."""


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

    def slacks(self) -> list[Slack]:
        """Numbers positive where the triangle closes: of its sides one changes with t at most."""
        one, other, side = sorted((self.d, self.l_a, self.l_b), key=lambda line: line.c1 != 0)
        p, r = abs(one.c0), abs(other.c0)
        size = max(p + r, abs(side.c0)) ** 2
        return [
            lambda t: ((p + r) ** 2 - abs(side.value(t)) ** 2) / size,
            lambda t: (abs(side.value(t)) ** 2 - (p - r) ** 2) / size,
        ]

    def positions(self, t: Complex, s: int, fence: SX) -> dict[int, Position]:
        """Turns of the two bodies."""
        d, l_a, l_b = self.d.at(t), self.l_a.at(t), self.l_b.at(t)
        d2, a2, b2 = d.square(), l_a.square(), l_b.square()
        x = d2 + a2 - b2
        y = ca.sqrt(4 * d2 * a2 - x * x + fence)
        w_a = (d * l_a.conj() * Complex(x, s * y)).scaled(1 / (2 * d2 * a2))
        w_b = ((w_a * l_a - d) * l_b.conj()).scaled(1 / b2)
        inner = w_a * self.rho_b.at(t) if self.serial else self.rho_b.at(t)
        return {
            self.a.body: self.a.turn(w_a * self.rho_a.at(t).conj()),
            self.b.body: self.b.turn(w_b * inner.conj()),
        }

    def values(self, t: Complex, angle: SX | None, s: int, fence: SX) -> dict[int, SX]:
        """Continuous positions of the two joints, up to whole turns."""
        d2, a2, b2 = (line.at(t).square() for line in (self.d, self.l_a, self.l_b))
        x_a, x_b = d2 + a2 - b2, d2 + b2 - a2
        y = ca.sqrt(4 * d2 * a2 - x_a * x_a + fence)
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

    def slacks(self) -> list[Slack]:
        """Numbers positive where the slide meets the circle."""

        def across(t: complex) -> float:
            return (self.z.value(t) * self.u.value(t).conjugate()).imag

        radius = abs(self.l.c0)
        if self.l.c1 == 0:
            return [lambda t: 1 - across(t) / radius, lambda t: 1 + across(t) / radius]
        size = max(radius, abs(self.l.c1), abs(across(0j))) ** 2  # z and u are constant then
        return [lambda t: (abs(self.l.value(t)) ** 2 - across(t) ** 2) / size]

    def positions(self, t: Complex, s: int, fence: SX) -> dict[int, Position]:
        """Turn and slide of the two bodies."""
        z, u, arm = self.z.at(t), self.u.at(t), self.l.at(t)
        h = (z * u.conj()).re
        d = s * ca.sqrt(h * h - z.square() + arm.square() + fence) - h
        w = ((z + u.scaled(d)) * arm.conj()).scaled(1 / arm.square())
        w = (w.conj() if self.inverse else w) * self.rho.at(t).conj()
        return {self.a.body: self.a.turn(w), self.b.body: d}

    def values(self, t: Complex, angle: SX | None, s: int, fence: SX) -> dict[int, SX]:
        """Continuous positions of the two joints, up to whole turns."""
        z, u, arm = self.z.at(t), self.u.at(t), self.l.at(t)
        projected = z * u.conj()
        root = ca.sqrt(projected.re * projected.re - z.square() + arm.square() + fence)
        # z + d u = u (s root + i Im(z conj u))
        across = ca.atan2(s * projected.im, root) + (0 if s > 0 else math.pi)
        w = self.u.direction(t, angle) + across - self.l.direction(t, angle)
        w = (-w if self.inverse else w) - self.rho.direction(t, angle)
        return {self.a.body: self.a.angle(w), self.b.body: s * root - projected.re}
