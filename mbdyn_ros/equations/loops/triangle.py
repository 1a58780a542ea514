"""The triangle that three rigid parts of a planar linkage make, joined by three joints in a circle.

Each part has two of the joints, and the vector between them, known in its own frame, is a side of
the triangle. Three hinges solve, with the unit turns W_A and W_B of two parts,

    W_A l_a - W_B l_b = D:
    W_A = D conj(l_a) (X + i s Y) / (2 |D|^2 |l_a|^2),   W_B = (W_A l_a - D) conj(l_b) / |l_b|^2,
    X = |D|^2 + |l_a|^2 - |l_b|^2,   Y = sqrt(4 |D|^2 |l_a|^2 - X^2);

two hinges and a slide d along the unit U, with the turn W of the part between the hinges,

    W l = Z + d U:   d = -h + s sqrt(h^2 - |Z|^2 + |l|^2),   h = Re(Z conj(U)),
    W = (Z + d U) conj(l) / |l|^2;

a hinge and two slides along U and V, which turn nothing,

    Z + d U + e V = 0:   d = -Im(Z conj(V)) / Im(U conj(V)),   e = -Im(Z conj(U)) / Im(V conj(U)).

s = +-1 is the assembly branch, a number or a symbol. Cosines and sines come out without any angle:
one square root. Force passes best through a triangle where the transmission angle mu between two
of its parts, seen from the third, is a right one; where its cosine is +-1 the branches meet,

    cos mu = (|l_a|^2 + |l_b|^2 - |D|^2) / (2 |l_a| |l_b|),   Im(Z conj(U)) / |l|,   Re(U conj(V)).

To what stands under it a `penalty` is added: 0, or minus infinity where the position cannot be
reached from home.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import casadi as ca

from ..algebra.phasors import Complex, KnownPhasors, Numbers, Vector, on_symbols
from ..algebra.spatial import SX


@dataclass(frozen=True)
class TwoTurns:
    """W_A l_a - W_B l_b = D; `a` and `b` are the symbols of W_A and W_B."""

    a: int
    b: int
    d: Vector
    l_a: Vector
    l_b: Vector

    @property
    def sides(self) -> tuple[Vector, ...]:
        """The vectors it is made of."""
        return self.d, self.l_a, self.l_b

    @property
    def lengths(self) -> tuple[Vector, ...]:
        """Its sides that are lengths."""
        return self.sides

    @property
    def solved(self) -> tuple[int, ...]:
        """The symbols that it gives."""
        return self.a, self.b

    def branch_at(self, home: Numbers) -> int:
        """The branch on which it is at numbers of all symbols."""
        d, l_a, _ = (side.number(home) for side in self.sides)
        return 1 if (home[self.a] * l_a * d.conjugate()).imag > 0 else -1

    def margins(
        self, given: int, branch: int, known: KnownPhasors, still: KnownPhasors
    ) -> list[SX]:
        """Numbers positive where it closes, if of its sides one at most changes with `given`.

        known : only `given`. still : the same at zero.
        """
        one, other, side = sorted(self.sides, key=lambda side: given in side.symbols)
        p, r = (ca.sqrt(fixed.at(known).square()) for fixed in (one, other))
        size, now = ca.fmax((p + r) ** 2, side.at(still).square()), side.at(known).square()
        return [((p + r) ** 2 - now) / size, (now - (p - r) ** 2) / size]

    def margin(self, known: KnownPhasors, branch: int) -> SX:
        """A number without unit that is positive where it closes."""
        d2, a2, b2 = (side.at(known).square() for side in self.sides)
        x, size = d2 + a2 - b2, d2 + a2 + b2
        return (4 * d2 * a2 - x * x) / (size * size)

    def transmission(self, known: KnownPhasors, opposite: int = 0) -> SX:
        """cos mu of the angle opposite to the side of that number, beyond +-1 where it is open."""
        squares = [side.at(known).square() for side in self.sides]
        d2, (a2, b2) = squares.pop(opposite), squares
        return (a2 + b2 - d2) / (2 * ca.sqrt(a2 * b2))

    def solve(self, known: KnownPhasors, branch: int | SX, penalty: SX) -> None:
        """Add the turns."""
        d, l_a, l_b = (side.at(known) for side in self.sides)
        d2, a2, b2 = d.square(), l_a.square(), l_b.square()
        x = d2 + a2 - b2
        y = ca.sqrt(4 * d2 * a2 - x * x + penalty)
        w_a = (d * l_a.conj() * Complex(x, branch * y)).scaled(1 / (2 * d2 * a2))
        w_b = ((w_a * l_a - d) * l_b.conj()).scaled(1 / b2)
        known.units |= {self.a: w_a, self.b: w_b}

    def measure(
        self, known: KnownPhasors, branch: int, penalty: SX, eighths: tuple[int, ...]
    ) -> None:
        """Add the angles of the turns, continuous up to what the sides are."""
        d2, a2, b2 = (side.at(known).square() for side in self.sides)
        x_a, x_b = d2 + a2 - b2, d2 + b2 - a2
        y = ca.sqrt(4 * d2 * a2 - x_a * x_a + penalty)
        pairs = zip(self.sides, eighths, strict=True)
        d, l_a, l_b = (side.direction(known, count) for side, count in pairs)
        known.angles[self.a] = d - l_a + branch * ca.atan2(y, x_a)
        known.angles[self.b] = d + math.pi - l_b - branch * ca.atan2(y, x_b)


@dataclass(frozen=True)
class TurnAndSlide:
    """W l = z + d u; `a` is the symbol of W, `b` that of d."""

    a: int
    b: int
    z: Vector
    u: Vector
    l: Vector  # noqa: E741 (the symbol of the equation)

    @property
    def sides(self) -> tuple[Vector, ...]:
        """The vectors it is made of."""
        return self.z, self.u, self.l

    @property
    def lengths(self) -> tuple[Vector, ...]:
        """Its sides that are lengths."""
        return self.z, self.l

    @property
    def solved(self) -> tuple[int, ...]:
        """The symbols that it gives."""
        return self.a, self.b

    def branch_at(self, home: Numbers) -> int:
        """The branch on which it is at numbers of all symbols."""
        z, u, _ = (side.number(home) for side in self.sides)
        return 1 if (home[self.b] + (z * u.conjugate()).real).real > 0 else -1

    def margins(
        self, given: int, branch: int, known: KnownPhasors, still: KnownPhasors
    ) -> list[SX]:
        """Numbers positive where it closes, if of its parts one at most changes with `given`."""
        across = (self.z.at(known) * self.u.at(known).conj()).im
        if given not in self.l.symbols:
            share = across / ca.sqrt(self.l.at(known).square())
            return [1 - share, 1 + share]
        spans = (on_symbols(term.factor).square() for term in self.l.terms)  # z and u are constant
        size = ca.fmax(sum(map(ca.sqrt, spans), SX(0)) ** 2, across * across)
        return [(self.l.at(known).square() - across * across) / size]

    def margin(self, known: KnownPhasors, branch: int) -> SX:
        """A number without unit that is positive where it closes."""
        z, u, arm = (side.at(known) for side in self.sides)
        across = (z * u.conj()).im
        return (arm.square() - across * across) / (arm.square() + across * across)

    def transmission(self, known: KnownPhasors, opposite: int = 0) -> SX:
        """cos mu, beyond +-1 where it is open."""
        z, u, arm = (side.at(known) for side in self.sides)
        return (z * u.conj()).im / ca.sqrt(arm.square())

    def solve(self, known: KnownPhasors, branch: int | SX, penalty: SX) -> None:
        """Add the turn and the slide."""
        z, u, arm = (side.at(known) for side in self.sides)
        h = (z * u.conj()).re
        d = branch * ca.sqrt(h * h - z.square() + arm.square() + penalty) - h
        known.slides[self.b] = d
        known.units[self.a] = ((z + u.scaled(d)) * arm.conj()).scaled(1 / arm.square())

    def measure(
        self, known: KnownPhasors, branch: int, penalty: SX, eighths: tuple[int, ...]
    ) -> None:
        """Add the angle of the turn, continuous up to what the sides are."""
        z, u, arm = (side.at(known) for side in self.sides)
        projected = z * u.conj()
        root = ca.sqrt(projected.re * projected.re - z.square() + arm.square() + penalty)
        # z + d u = u (s root + i Im(z conj u))
        across = ca.atan2(branch * projected.im, root) + (0 if branch > 0 else math.pi)
        turned = self.u.direction(known) + across
        known.angles[self.a] = turned - self.l.direction(known, eighths[2])


@dataclass(frozen=True)
class TwoSlides:
    """z + d u + e v = 0; `a` is the symbol of d, `b` that of e. It has one branch."""

    a: int
    b: int
    z: Vector
    u: Vector
    v: Vector

    @property
    def sides(self) -> tuple[Vector, ...]:
        """The vectors it is made of."""
        return self.z, self.u, self.v

    @property
    def lengths(self) -> tuple[Vector, ...]:
        """Its sides that are lengths."""
        return (self.z,)

    @property
    def solved(self) -> tuple[int, ...]:
        """The symbols that it gives."""
        return self.a, self.b

    def branch_at(self, home: Numbers) -> int:
        """The side of u on which v is at numbers of all symbols."""
        return 1 if (self.u.number(home).conjugate() * self.v.number(home)).imag > 0 else -1

    def margins(
        self, given: int, branch: int, known: KnownPhasors, still: KnownPhasors
    ) -> list[SX]:
        """A number positive on one side of where the slides are parallel."""
        return [self.margin(known, branch)]

    def margin(self, known: KnownPhasors, branch: int) -> SX:
        """A number without unit that is positive where it closes."""
        return branch * (self.u.at(known).conj() * self.v.at(known)).im

    def transmission(self, known: KnownPhasors, opposite: int = 0) -> SX:
        """cos mu."""
        return (self.u.at(known) * self.v.at(known).conj()).re

    def solve(self, known: KnownPhasors, branch: int | SX, penalty: SX) -> None:
        """Add the slides; on either side of where they are parallel if `branch` is 0."""
        z, u, v = (side.at(known) for side in self.sides)
        across = (u * v.conj()).im
        d = -(z * v.conj()).im / across
        if branch:
            d = ca.if_else(penalty - branch * across > 0, d, math.nan)
        known.slides[self.a] = d
        known.slides[self.b] = (z * u.conj()).im / across

    def measure(
        self, known: KnownPhasors, branch: int, penalty: SX, eighths: tuple[int, ...]
    ) -> None:
        """Nothing turns."""


Triangle = TwoTurns | TurnAndSlide | TwoSlides
