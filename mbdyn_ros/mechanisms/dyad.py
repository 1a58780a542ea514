"""Position analysis in closed form: pairs of links (dyads) whose outer ends are known.

An Assur group of two links adds no freedom to a mechanism, so its position follows from those of
its ends. R is a turning, P a sliding joint. Directions are unit complex numbers; s = +-1 is the
assembly branch. The margin is the squared sine of the transmission angle: zero at a toggle, where
the dyad is stretched or folded, and negative where it cannot be closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..equations.algebra.complex_plane import Complex
from .link import Number


@dataclass(frozen=True)
class Dyad:
    """A solved dyad.

    first, second : directions of its links, or the slide of one.
    margin : squared sine of the transmission angle. transmission : its cosine.
    """

    first: Any
    second: Any
    margin: Number
    transmission: Number


def rrr(start: Complex, end: Complex, a: Number, b: Number, s: Number) -> Dyad:
    """Links of lengths a from `start` and b from `end` to their pin: start + a A = end + b B.

    s > 0: the pin is to the left of the line from start to end.
    """
    d = end - start
    d2 = d.square()
    x = d2 + a * a - b * b
    area = 4 * d2 * (a * a) - x * x  # (4 times the triangle)^2
    turn = Complex(x, s * root(area)).scaled(1 / (2 * d2 * a))
    first = d * turn
    second = (first.scaled(a) - d).scaled(1 / b)
    return Dyad(first, second, area / (4 * (a * a) * (b * b)), (a * a + b * b - d2) / (2 * a * b))


def rrp(start: Complex, a: Number, point: Complex, direction: Complex, s: Number) -> Dyad:
    """A link of length a from `start` to a block on the line point + d direction.

    second : d. s > 0: the farther of the two places along the line.
    """
    seen = (point - start) * direction.conj()
    margin = 1 - (seen.im / a) ** 2
    d = s * a * root(margin) - seen.re
    first = (point - start + direction.scaled(d)).scaled(1 / a)
    return Dyad(first, d, margin, seen.im / a)


def rpr(pin: Complex, pivot: Complex, offset: Number, s: Number) -> Dyad:
    """A lever on `pivot` on which a block with the pin slides, `offset` to its left.

    first : direction of the lever; second : slide d, with pin = pivot + (d + i offset) first.
    The margin is that share of the distance which lies along the lever.
    """
    d = pin - pivot
    d2 = d.square()
    margin = 1 - offset * offset / d2
    slide = s * root(d2 - offset * offset)
    first = (d * Complex(slide, 0 - offset)).scaled(1 / d2)
    return Dyad(first, slide, margin, offset / root(d2))


def pp(gap: Complex, first: Complex, second: Complex) -> Dyad:
    """Slides d along two directions: d_1 first + d_2 second = gap (PRP, RPP: no branch).

    first, second : d_1 and d_2.
    """
    cross, along = _cross(first, second), first.re * second.re + first.im * second.im
    return Dyad(_cross(gap, second) / cross, _cross(first, gap) / cross, cross * cross, along)


def _cross(a: Complex, b: Complex) -> Any:
    return a.re * b.im - a.im * b.re


def root(x: Number) -> Number:
    """The square root of a number, an array or a symbol; NaN of what is negative."""
    return x**0.5
