"""C statements of a program's lines, for any number type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import casadi as ca

from .lines import TURNS, Script

UNARY = {
    ca.OP_ASSIGN: "{0}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2. * {0}",
    ca.OP_INV: "1. / {0}",
    ca.OP_SQRT: "root{n}({0})",
    ca.OP_FABS: "magnitude{n}({0})",
    ca.OP_SIGN: "sign{n}({0})",
    ca.OP_NOT: "truth{n}(is{n}({0} == 0))",
}

BINARY = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_LT: "truth{n}(is{n}({0} < {1}))",
    ca.OP_LE: "truth{n}(is{n}({0} <= {1}))",
    ca.OP_EQ: "truth{n}(is{n}({0} == {1}))",
    ca.OP_NE: "truth{n}(is{n}({0} != {1}))",
    ca.OP_AND: "truth{n}(is{n}({0} != 0) & is{n}({1} != 0))",
    ca.OP_OR: "truth{n}(is{n}({0} != 0) | is{n}({1} != 0))",
    ca.OP_IF_ELSE_ZERO: "select{n}(is{n}({0} != 0), {1}, all{n}(0.))",
    ca.OP_FMIN: "least{n}({0}, {1})",
    ca.OP_FMAX: "greatest{n}({0}, {1})",
    ca.OP_COPYSIGN: "with_sign{n}({0}, {1})",
    ca.OP_ATAN2: "arctangent2{n}({0}, {1})",
}

EACH = {
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_FMOD: "fmod",
    ca.OP_HYPOT: "hypot",
}
"""Operations left to the C library, number by number."""

PAIRS = ("pow", "fmod", "hypot")

OPERATIONS = {
    **UNARY,
    **BINARY,
    **{
        code: f"each_{name}{{n}}({{0}}, {{1}})" if name in PAIRS else f"each_{name}{{n}}({{0}})"
        for code, name in EACH.items()
    },
}


def each_functions() -> str:
    """C of the operations left to the C library, for one number and for a vector."""
    return "".join(
        f"EACH{'_PAIR' if name in PAIRS else ''}{n}(each_{name}, {name})\n"
        for n in "1v"
        for name in dict.fromkeys(EACH.values())
    )


Places = Mapping[tuple[str, int], Sequence[str]]
"""C of where the numbers of ("arg", i) or ("res", i) stand, where not one after the other."""


class LineText:
    """The C of a script's lines; line k makes the variable ak.

    Parameters
    ----------
    script : the lines.
    n : "1" for numbers, "v" for vectors of them.
    places : of the numbers in arrays.
    """

    def __init__(self, script: Script, n: str, places: Places | None = None) -> None:
        self._script, self._lines, self._n = script, script.lines, n
        self._places = places or {}

    def angles(self, sine: str, cosine: str) -> Iterator[str]:
        """The sines and cosines of the first angles, into two arrays."""
        n, angles = self._n, self._script.angles
        if angles:
            listed = ", ".join(self._operand(angle) for angle in angles)
            yield f"real{n} angle[{self.room}] = {{{listed}}};"
            yield f"sines_cosines{n}({len(angles)}, angle, {sine}, {cosine});"

    @property
    def room(self) -> str:
        """Elements of an array of the first angles, in C."""
        count = len(self._script.angles)
        return f"{count} + LANES" if self._n == "1" else f"{count}"

    def statements(self, numbers: Iterable[int]) -> list[str]:
        """Lines by their numbers, one after the other."""
        n = self._n
        result = []
        for k in numbers:
            line = self._lines[k]
            if line.code in TURNS:
                result += self._late_angle(line.reads[0])
            elif line.code == ca.OP_INPUT:
                result.append(f"const real{n} a{k} = {self._element('arg', *line.place)};")
            else:
                operands = [self._operand(i) for i in line.reads]
                result.append(self.assigned(k, operands, self._element("res", *line.place)))
        return result

    def _element(self, side: str, array: int, element: int) -> str:
        places = self._places.get((side, array))
        return f"{side}[{array}][{element if places is None else places[element]}]"

    def assigned(self, k: int, operands: Sequence[str], result: str) -> str:
        """Line k on these operands; it goes to `result` where it is an output."""
        n, line = self._n, self._lines[k]
        constants = [self._lines[i].code == ca.OP_CONST for i in line.reads]
        if line.code not in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV):
            operands = [
                f"all{n}({text})" if constant else text
                for text, constant in zip(operands, constants, strict=True)
            ]
        if line.code == ca.OP_OUTPUT:
            return f"{result} = {operands[0]};"
        return f"const real{n} a{k} = {OPERATIONS[line.code].format(*operands, n=n)};"

    def _late_angle(self, angle: int) -> list[str]:
        n = self._n
        names = {ca.OP_SIN: f"s{angle}", ca.OP_COS: f"c{angle}"}
        lines = [
            f"real{n} s{angle}, c{angle};",
            f"sine_cosine{n}({self._operand(angle)}, &s{angle}, &c{angle});",
        ]
        for k in self._script.pairs[angle]:
            lines.append(f"const real{n} a{k} = {names[self._lines[k].code]};")
        return lines

    def _operand(self, k: int) -> str:
        line = self._lines[k]
        return number(line.value) if line.code == ca.OP_CONST else f"a{k}"


def number(value: float) -> str:
    """A constant in C, every digit kept."""
    if math.isfinite(value):
        return f"({value!r})"
    return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
