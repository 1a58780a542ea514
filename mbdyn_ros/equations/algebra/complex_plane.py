"""Complex numbers on symbols, and lines in the plane with a continuous direction."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Any

import casadi as ca

from .spatial import SX


@dataclass(frozen=True)
class Complex:
    """A complex number on symbols; floats and arrays serve as well."""

    re: Any
    im: Any

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

    def value(self, t: complex) -> complex:
        """The value at a number."""
        return self.c0 + self.c1 * t

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
