"""Vectors in the plane that turning and sliding links make: sums of phasors.

A link that has turned by theta multiplies what it carries by the unit number exp(i theta), and a
slide stretches it. So every vector in a planar linkage is a sum of terms c s exp(i phi), where s
is 1 or a slide and phi a sum of angles. Kept apart, terms that two points share cancel between
them, and the direction of the sum is known as a continuous function of the angles.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ...array import Array
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


ROUNDING = 4e-16
"""Share of two numbers under which their sum is rounding."""

EIGHTH = math.pi / 4
"""An eighth of a turn."""


@dataclass
class KnownPhasors:
    """Symbols by number: unit numbers, their continuous angles, and slides.

    `angles` may be left empty where no direction is asked for.
    """

    units: dict[int, Complex] = field(default_factory=dict)
    angles: dict[int, SX] = field(default_factory=dict)
    slides: dict[int, SX] = field(default_factory=dict)


class Coefficient(complex):
    """A number that is an expression of a robot's lengths: its value where these are as described.

    What is decided by the number (which term is the longest, on which side a point lies) is so
    decided; what is computed is computed with the expression.

    expression : it. samples : (s,) its values at several lengths, the described ones first.
    """

    expression: Complex
    samples: Array

    def __new__(cls, samples: Array, expression: Complex) -> Coefficient:
        self = complex.__new__(cls, samples[0])
        self.samples, self.expression = samples, expression
        return self

    def __add__(self, other: complex) -> Coefficient:
        return Coefficient(self.samples + samples(other), self.expression + on_symbols(other))

    def __sub__(self, other: complex) -> Coefficient:
        return Coefficient(self.samples - samples(other), self.expression - on_symbols(other))

    def __rsub__(self, other: complex) -> Coefficient:
        return Coefficient(samples(other) - self.samples, on_symbols(other) - self.expression)

    def __mul__(self, other: complex) -> Coefficient:
        return Coefficient(self.samples * samples(other), self.expression * on_symbols(other))

    def __truediv__(self, other: complex) -> Coefficient:
        return self * (1 / complex(other))

    def __neg__(self) -> Coefficient:
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def conjugate(self) -> Coefficient:
        """The conjugate."""
        return Coefficient(self.samples.conj(), self.expression.conj())

    def __bool__(self) -> bool:
        return bool(self.samples.any())

    def phase(self) -> SX:
        """The argument, continuous within half a turn of its value at the described lengths."""
        back = on_symbols(complex(self).conjugate())
        turned = self.expression * back
        return cmath.phase(complex(self)) + ca.atan2(turned.im, turned.re)


def samples(value: complex) -> Array:
    """The values (s,) of a coefficient, or (1,) of a number."""
    return value.samples if isinstance(value, Coefficient) else np.array([value])


def on_symbols(value: complex) -> Complex:
    """A coefficient's expression, or a number as one."""
    return value.expression if isinstance(value, Coefficient) else Complex.of(complex(value))


Numbers = Mapping[int, complex]
"""Numbers of symbols: of unit numbers, and of slides."""


@dataclass(frozen=True)
class Phasor:
    """`factor` times unit numbers (by their powers) and, where `slide` is not None, a slide."""

    factor: complex = 1 + 0j
    powers: tuple[tuple[int, int], ...] = ()
    slide: int | None = None

    def __mul__(self, other: Phasor) -> Phasor:
        assert self.slide is None or other.slide is None, "a vector has one slide at most"
        powers = dict(self.powers)
        for symbol, power in other.powers:
            powers[symbol] = powers.get(symbol, 0) + power
        kept = tuple(sorted((symbol, power) for symbol, power in powers.items() if power))
        slide = self.slide if other.slide is None else other.slide
        return Phasor(self.factor * other.factor, kept, slide)

    def conj(self) -> Phasor:
        """The conjugate; of a unit number its inverse."""
        powers = tuple((symbol, -power) for symbol, power in self.powers)
        return Phasor(self.factor.conjugate(), powers, self.slide)

    @property
    def symbols(self) -> set[int]:
        """The symbols it depends on."""
        slides = set() if self.slide is None else {self.slide}
        return {symbol for symbol, _ in self.powers} | slides

    def number(self, numbers: Numbers) -> complex:
        """The value at numbers."""
        value = self.factor if self.slide is None else self.factor * numbers[self.slide]
        for symbol, power in self.powers:
            unit = numbers[symbol] if power > 0 else numbers[symbol].conjugate()
            value *= unit ** abs(power)
        return value

    def at(self, known: KnownPhasors) -> Complex:
        """The value on symbols."""
        value = on_symbols(self.factor)
        if self.slide is not None:
            value = value.scaled(known.slides[self.slide])
        for symbol, power in self.powers:
            unit = known.units[symbol]
            for _ in range(abs(power)):
                value = value * (unit if power > 0 else unit.conj())
        return value

    def argument(self, known: KnownPhasors) -> SX:
        """The continuous argument, of one without slide."""
        factor = self.factor
        total = factor.phase() if isinstance(factor, Coefficient) else SX(cmath.phase(factor))
        for symbol, power in self.powers:
            total = total + power * known.angles[symbol]
        return total


@dataclass(frozen=True)
class Vector:
    """A sum of phasors."""

    terms: tuple[Phasor, ...] = ()

    @staticmethod
    def of(value: complex) -> Vector:
        """A constant."""
        return Vector((Phasor(value),) if value else ())

    def __add__(self, other: Vector) -> Vector:
        terms = {(term.powers, term.slide): term.factor for term in self.terms}
        for term in other.terms:
            key, factor = (term.powers, term.slide), term.factor
            total = terms.get(key, 0j) + factor
            beside = (np.abs(samples(one)) for one in (terms.get(key, 0j), factor))
            if np.all(np.abs(samples(total)) <= ROUNDING * sum(beside)):
                terms.pop(key, None)
            else:
                terms[key] = total
        return Vector(tuple(Phasor(factor, *key) for key, factor in terms.items()))

    def __sub__(self, other: Vector) -> Vector:
        return self + other.turned(Phasor(-1 + 0j))

    def turned(self, phasor: Phasor) -> Vector:
        """Times a phasor."""
        return Vector(tuple(phasor * term for term in self.terms))

    @property
    def symbols(self) -> set[int]:
        """The symbols it depends on."""
        return {symbol for term in self.terms for symbol in term.symbols}

    def number(self, numbers: Numbers) -> complex:
        """The value at numbers."""
        return sum((term.number(numbers) for term in self.terms), 0j)

    def at(self, known: KnownPhasors) -> Complex:
        """The value on symbols."""
        value = Complex.of(0j)
        for term in self.terms:
            value = value + term.at(known)
        return value

    def eighths(self, home: Numbers) -> int:
        """Eighths of a turn by which, at numbers of a configuration, the sum is turned from its
        longest term; 0 where `direction` needs no such reference."""
        if not self.terms:
            return 0
        longest, reference = self._reference()
        if reference is not None:
            return 0
        return round(cmath.phase(self.turned(longest.conj()).number(home)) / EIGHTH)

    def direction(self, known: KnownPhasors, eighths: int = 0) -> SX:
        """A continuous argument.

        It is continuous everywhere where one term is longer than the others together, or where
        nothing but a slide moves; else within half a turn of the longest term, turned by some
        `eighths` of a turn.
        """
        longest, reference = self._reference()
        if reference is None:
            reference = longest * Phasor(cmath.rect(1.0, EIGHTH * eighths))
        if len(self.terms) == 1 and reference is longest:
            return longest.argument(known)
        unit = Phasor(reference.factor / abs(reference.factor), reference.powers)
        shown = self.turned(unit.conj()).at(known)
        return unit.argument(known) + ca.atan2(shown.im, shown.re)

    def _reference(self) -> tuple[Phasor, Phasor | None]:
        """The longest term, slides left out, and what the sum is always within half a turn of."""
        longest = max(self.terms, key=lambda term: (term.slide is None, abs(term.factor)))
        others = [term for term in self.terms if term is not longest]
        if longest.slide is not None:
            return Phasor(longest.factor, longest.powers), None
        if len(others) == 1 and others[0].slide is not None:
            (unit,) = others
            if unit.powers == longest.powers:  # a straight line, seen from a point off it
                side = 1j if (longest.factor / (1j * unit.factor)).real > 0 else -1j
                return longest, Phasor(side * unit.factor, longest.powers)
        if any(term.slide is not None for term in others):
            return longest, None
        dominates = sum(abs(term.factor) for term in others) <= abs(longest.factor)
        return longest, longest if dominates else None
