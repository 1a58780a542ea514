"""Polynomials in the cosines and sines of angles, and in lengths of slides; also as text.

Every polynomial is in normal form: S_k^2 is written 1 - C_k^2, so that a sine occurs at most once
in a term, and two polynomials are equal where their terms are. With each coefficient goes the sum
of the magnitudes of all that was added up in it; what is smaller than the rounding of that sum
was meant to be zero.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import casadi as ca

from ..errors import InputError

MOST_PRODUCTS = 250_000
"""Products of two terms that one robot may ask for: seconds of work, hundred thousands of terms."""

Monomial = tuple[int, ...]
"""A code for each variable: 2 a + b for C^a S^b of an angle, 2 a for the power a of a slide."""

COEFFICIENT_ROUNDING = 1e-14
"""Share of the magnitude of what was added up that is rounding: no more than 45 units of it."""


@functools.cache
def _product(one: Monomial, other: Monomial) -> tuple[tuple[Monomial, int], ...]:
    """The product of two monomials in normal form: monomials and signs."""
    terms: list[tuple[list[int], int]] = [([], 1)]
    for a, b in zip(one, other, strict=True):
        if a & b & 1:  # S S C^n = C^n - C^(n + 2)
            power = a + b - 2
            terms = [
                ([*codes, code], sign * side)
                for codes, sign in terms
                for code, side in ((power, 1), (power + 4, -1))
            ]
        else:
            for codes, _ in terms:
                codes.append(a + b)
    return tuple((tuple(codes), sign) for codes, sign in terms)


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A sum of monomials: each with its coefficient and the magnitude that was added up in it."""

    terms: dict[Monomial, tuple[float, float]]

    @staticmethod
    def constant(value: float, variables: int) -> Polynomial:
        """The number `value` as a polynomial in that number of variables."""
        return Polynomial({(0,) * variables: (value, abs(value))} if value else {})

    @staticmethod
    def variable(place: int, code: int, variables: int) -> Polynomial:
        """C (code 2) or S (code 1) of an angle, or a slide (code 2)."""
        return Polynomial({(0,) * place + (code,) + (0,) * (variables - place - 1): (1.0, 1.0)})

    @property
    def coefficients(self) -> dict[Monomial, float]:
        """The coefficients that are not rounding, from the constant upwards in degree."""
        kept = {
            monomial: value
            for monomial, (value, size) in self.terms.items()
            if abs(value) > COEFFICIENT_ROUNDING * size
        }
        return {monomial: kept[monomial] for monomial in sorted(kept, key=_rank)}

    def value(self, values: Sequence[float], angles: Sequence[bool]) -> float:
        """The number at values of the variables: 0 where it is rounding of its terms' sum.

        angles : whether each variable is an angle, which occurs as its cosine and sine.
        """
        found = magnitude = 0.0
        for monomial, (coefficient, size) in self.terms.items():
            for code, number, angle in zip(monomial, values, angles, strict=True):
                power, sine = divmod(code, 2)
                if angle:
                    coefficient *= math.cos(number) ** power * (math.sin(number) if sine else 1.0)
                else:
                    coefficient *= number**power
                    size *= abs(number) ** power
            found += coefficient
            magnitude += size
        return found if abs(found) > COEFFICIENT_ROUNDING * magnitude else 0.0

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collect((*self.terms.items(), *other.terms.items()))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1.0)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collect(
            (monomial, (sign * a * b, size * other_size))
            for one, (a, size) in self.terms.items()
            for two, (b, other_size) in other.terms.items()
            for monomial, sign in _product(one, two)
        )

    def scaled(self, factor: float) -> Polynomial:
        """The polynomial times a number."""
        return Polynomial(
            {key: (factor * value, abs(factor) * size) for key, (value, size) in self.terms.items()}
        )

    def derivative(self, place: int, angle: bool) -> Polynomial:
        """The derivative with respect to a variable: an angle, or else a slide."""
        found = []
        for monomial, (value, size) in self.terms.items():
            power, sine = divmod(monomial[place], 2)
            if not angle:
                new = [(2 * power - 2, power)]
            elif sine:  # (C^a S)' = C^(a + 1) - a C^(a - 1) (1 - C^2)
                new = [(2 * power + 2, power + 1), (2 * power - 2, -power)]
            else:  # (C^a)' = -a C^(a - 1) S
                new = [(2 * power - 1, -power)]
            for code, factor in new:
                if factor:
                    key = (*monomial[:place], code, *monomial[place + 1 :])
                    found.append((key, (factor * value, abs(factor) * size)))
        return _collect(found)


def _collect(terms: Iterable[tuple[Monomial, tuple[float, float]]]) -> Polynomial:
    sums: dict[Monomial, tuple[float, float]] = {}
    for monomial, (value, size) in terms:
        if monomial in sums:
            before, so_far = sums[monomial]
            sums[monomial] = before + value, so_far + size
        else:
            sums[monomial] = value, size
    return Polynomial({key: pair for key, pair in sums.items() if pair[0]})


def _rank(monomial: Monomial) -> tuple[int, Monomial]:
    """Terms of low degree first, those of the first variables before others."""
    return sum((code + 1) // 2 for code in monomial), tuple(-code for code in monomial)


def expand(
    function: ca.Function, angles: Sequence[bool], most: int = MOST_PRODUCTS
) -> list[list[Polynomial]]:
    """The results of a CasADi function of q as polynomials.

    Parameters
    ----------
    function : of one vector q, and perhaps one of other numbers, built of sums, products, and
        sines and cosines of joint angles.
    angles : whether each element of q is an angle; else it is a slide, or another number.
    most : products of two terms that may be needed.

    Returns
    -------
    Of every result its nonzeros, in CasADi's order.

    Raises
    ------
    InputError
        It is not a trigonometric polynomial: an operation is none of these, or an angle counts
        with a factor that is not a whole number. Or it has too many terms.
    """
    n = len(angles)
    work: dict[int, Polynomial] = {}
    products = 0
    results = [
        [Polynomial({}) for _ in range(function.nnz_out(k))] for k in range(function.n_out())
    ]
    for k in range(function.n_instructions()):
        operation = function.instruction_id(k)
        inputs, outputs = function.instruction_input(k), function.instruction_output(k)
        if operation == ca.OP_OUTPUT:
            results[outputs[0]][outputs[1]] = work[inputs[0]]
        elif operation == ca.OP_INPUT:
            place = inputs[1] + (function.numel_in(0) if inputs[0] else 0)
            work[outputs[0]] = Polynomial.variable(place, 2, n)
        elif operation == ca.OP_CONST:
            work[outputs[0]] = Polynomial.constant(function.instruction_constant(k), n)
        elif operation in _OPERATIONS:
            operands = [work[i] for i in inputs]
            if operation in (ca.OP_MUL, ca.OP_SQ):
                products += len(operands[0].terms) * len(operands[-1].terms)
                if products > most:
                    raise InputError(
                        "the formulas of this robot have too many terms to be read: more than "
                        f"{most} products of terms. Export C code instead."
                    )
            work[outputs[0]] = _OPERATIONS[operation](*operands)
        elif operation in (ca.OP_SIN, ca.OP_COS):
            work[outputs[0]] = _turn(work[inputs[0]], angles)[operation == ca.OP_SIN]
        else:
            raise InputError(
                "the equations of this robot are not polynomials in sines and cosines (operation "
                f"{operation})"
            )
    return results


_OPERATIONS: dict[int, Callable[..., Polynomial]] = {
    ca.OP_ADD: Polynomial.__add__,
    ca.OP_SUB: Polynomial.__sub__,
    ca.OP_MUL: Polynomial.__mul__,
    ca.OP_SQ: lambda x: x * x,
    ca.OP_NEG: lambda x: x.scaled(-1.0),
    ca.OP_TWICE: lambda x: x.scaled(2.0),
}


def _turn(angle: Polynomial, angles: Sequence[bool]) -> tuple[Polynomial, Polynomial]:
    """Cosine and sine of a sum of joint angles, each a whole number of times, and a number."""
    n = len(angles)
    cosine, sine = Polynomial.constant(1.0, n), Polynomial({})
    for monomial, (value, _) in angle.terms.items():
        times = 1
        if any(monomial):
            place = next(k for k, code in enumerate(monomial) if code)
            if sum(monomial) != 2 or not angles[place] or value != round(value):
                raise InputError(
                    "the equations of this robot are not polynomials in sines and cosines: a "
                    f"joint turns {value:g} times as far as an independent one"
                )
            times = abs(int(value))
            c = Polynomial.variable(place, 2, n)
            s = Polynomial.variable(place, 1, n).scaled(math.copysign(1.0, value))
        else:
            c, s = (Polynomial.constant(part, n) for part in (math.cos(value), math.sin(value)))
        for _ in range(times):
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
    return cosine, sine


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


def equation(
    left: str, polynomial: Polynomial, names: Names[str], digits: int | None = None
) -> str:
    """A left side and a formula as an equation of amsmath, as many terms in a line as it holds."""
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
    body = " \\\\\n&\\quad ".join(lines)
    return f"{left} &= {body or '0'}"


def _coefficient(value: float, monomial: Monomial, digits: int | None) -> list[str]:
    """The number before a term, without its sign; nothing where it is 1 and has something to be
    a factor of."""
    size = abs(value)
    if size == 1.0 and any(monomial):
        return []
    if size == int(size) < WHOLE:
        return [f"{int(size)}"]
    return [repr(size) if digits is None else f"{size:.{digits}g}"]
