"""Polynomials as text and in LaTeX, by names of their variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from .polynomial import Monomial, Polynomial

LINE = 64
"""Width of a line of a formula on paper, roughly in digits."""

WHOLE = 1e6
"""Whole numbers below it are written without a decimal point."""

Name = TypeVar("Name")

Names = Sequence[tuple[Name, Name]]
"""Of each variable: of an angle the names of its cosine and sine, of others the name twice."""


def factors(monomial: Monomial, names: Names[Name]) -> Iterator[tuple[Name, int]]:
    """The factors of a term: names and powers."""
    for (even, odd), code in zip(names, monomial, strict=True):
        power, sine = divmod(code, 2)
        if power:
            yield even, power
        if sine:
            yield odd, 1


def plain_sum(polynomial: Polynomial, names: Names[str], digits: int | None = None) -> str:
    """The formula as Python reads it; all digits unless a number of them is given."""
    terms = [
        "*".join(
            [
                *_coefficient(value, monomial, digits),
                *(name + (f"**{power}" if power > 1 else "")
                  for name, power in factors(monomial, names)),
            ]
        )
        for monomial, value in polynomial.coefficients.items()
    ]  # fmt: skip
    signed = [
        ("- " if value < 0 else "+ ") + term
        for term, value in zip(terms, polynomial.coefficients.values(), strict=True)
    ]
    first = signed[0] if signed else "+ 0"
    return " ".join([first.replace("+ ", "", 1).replace("- ", "-", 1), *signed[1:]])


def latex_lines(polynomial: Polynomial, names: Names[str], digits: int | None = None) -> list[str]:
    """The terms of a formula in LaTeX, as many in a line as it holds."""
    lines: list[str] = []
    width = LINE
    for monomial, value in polynomial.coefficients.items():
        parts, wide = [], 0
        for text in _coefficient(value, monomial, digits):
            mantissa, _, exponent = text.partition("e")
            parts.append(mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else ""))
            wide += len(text)
        for name, power in factors(monomial, names):
            parts.append(name + (f"^{{{power}}}" if power > 1 else ""))
            wide += len(re.sub(r"\\[a-z]+|[{}_ ]", "", name))
        term = ("-" if value < 0 else "+" if lines else "") + r"\,".join(parts)
        if width + wide > LINE:
            lines.append(term)
            width = wide
        else:
            lines[-1] += f" {term}"
            width += wide
    return lines


def _coefficient(value: float, monomial: Monomial, digits: int | None) -> list[str]:
    """The number before a term, without its sign; nothing where it is 1 and has something to be
    a factor of."""
    size = abs(value)
    if size == 1.0 and any(monomial):
        return []
    if size == int(size) < WHOLE:
        return [f"{int(size)}"]
    return [repr(size) if digits is None else f"{size:.{digits}g}"]
