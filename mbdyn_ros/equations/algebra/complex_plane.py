"""Complex numbers on symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
