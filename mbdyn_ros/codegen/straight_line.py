"""C of a CasADi function of scalars: straight lines, one operation each, for any number type.

The same text serves a single state (`double`) and several at once (vector types). Sines and
cosines of angles that depend on inputs alone are computed together at the start. A long program
is cut into functions of some hundred operations, which hand values on in an array: compilers need
time that grows faster than a function's length. What leads to a result stands close before it, so
that few values wait for their use and most stay in registers or in the first cache.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

BLOCK = 500
"""Operations of one C function of a program that is cut."""

WHOLE = {"1": 5000, "v": 10000}
"""Operations of the longest program that is not cut. What vectors hand on through memory fills
the first cache sooner; compilers take minutes over programs ten times as long."""

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

ANGLE_STEPS = (ca.OP_ASSIGN, ca.OP_NEG, ca.OP_TWICE, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_INPUT)
"""What may lead from inputs to an angle whose sine is taken at the start."""


TURNS = (ca.OP_SIN, ca.OP_COS)


def each_functions() -> str:
    """C of the operations left to the C library, for one number and for a vector."""
    return "".join(
        f"EACH{'_PAIR' if name in PAIRS else ''}{n}(each_{name}, {name})\n"
        for n in "1v"
        for name in dict.fromkeys(EACH.values())
    )


@dataclass
class _Line:
    """One operation: its code, what it reads (numbers of lines), and what is left to say.

    place : (array, element) of an input or output. value : of a constant.
    """

    code: int
    reads: tuple[int, ...]
    place: tuple[int, int] = (0, 0)
    value: float = 0.0


def _lines(function: ca.Function) -> list[_Line]:
    """The operations of a function, each reading the lines that made its operands."""
    lines: list[_Line] = []
    made: dict[int, int] = {}
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        if code == ca.OP_OUTPUT:
            array, element = function.instruction_output(k)
            lines.append(_Line(code, (made[function.instruction_input(k)[0]],), (array, element)))
            continue
        (slot,) = function.instruction_output(k)
        if code == ca.OP_INPUT:
            array, element = function.instruction_input(k)
            lines.append(_Line(code, (), (array, element)))
        elif code == ca.OP_CONST:
            lines.append(_Line(code, (), value=function.instruction_constant(k)))
        else:
            lines.append(_Line(code, tuple(made[i] for i in function.instruction_input(k))))
        made[slot] = len(lines) - 1
    return lines


def _reciprocals(lines: list[_Line]) -> list[_Line]:
    """The same with one division for all by the same number: the others become products."""
    divisors = [line.reads[1] for line in lines if line.code == ca.OP_DIV]
    often = {k for k, count in Counter(divisors).items() if count > 1}
    result: list[_Line] = []
    places: list[int] = []
    inverses: dict[int, int] = {}
    for line in lines:
        reads = tuple(places[i] for i in line.reads)
        if line.code == ca.OP_DIV and line.reads[1] in often:
            if reads[1] not in inverses:
                inverses[reads[1]] = len(result)
                result.append(_Line(ca.OP_INV, reads[1:]))
            line, reads = _Line(ca.OP_MUL, ()), (reads[0], inverses[reads[1]])
        places.append(len(result))
        result.append(_Line(line.code, reads, line.place, line.value))
    return result


def _depth_first(lines: list[_Line]) -> list[_Line]:
    """The same lines, each as late as what first asks for it."""
    waiting = [1] * len(lines)  # how many values wait at once, were nothing shared (Sethi, Ullman)
    for k, line in enumerate(lines):
        below = sorted((waiting[i] for i in line.reads), reverse=True)
        waiting[k] = max((n + place for place, n in enumerate(below)), default=1)
    outputs = [k for k, line in enumerate(lines) if line.code == ca.OP_OUTPUT]
    stack = sorted(outputs, key=lambda k: lines[k].reads, reverse=True)
    places: dict[int, int] = {}
    while stack:
        k = stack[-1]
        if missing := [i for i in lines[k].reads if i not in places]:
            stack += sorted(missing, key=lambda i: waiting[i])
            continue
        stack.pop()
        places.setdefault(k, len(places))
    return [
        _Line(line.code, tuple(places[i] for i in line.reads), line.place, line.value)
        for line in (lines[k] for k in places)
    ]


class StraightLine:
    """The C of one function.

    Parameters
    ----------
    function : of scalars (SX), without calls.
    name : of the C function.
    n : "1" for a C function of doubles, "v" for one of vectors.
    """

    def __init__(self, function: ca.Function, name: str, n: str) -> None:
        self._lines = _depth_first(_reciprocals(_lines(function)))
        self._name, self._n = name, n
        self._order()

    def _order(self) -> None:
        """Put what leads to the first angles at the start; pair sines with cosines."""
        lines = self._lines
        early = [False] * len(lines)
        for k, line in enumerate(lines):
            early[k] = line.code == ca.OP_CONST or (
                line.code in ANGLE_STEPS and all(early[i] for i in line.reads)
            )
        self._pairs: dict[int, list[int]] = {}
        for k, line in enumerate(lines):
            if line.code in TURNS:
                self._pairs.setdefault(line.reads[0], []).append(k)
        self._angles = [angle for angle in self._pairs if early[angle]]
        needed = set(self._angles)
        for k in range(len(lines) - 1, -1, -1):
            if k in needed:
                needed.update(lines[k].reads)
        self._first = [k for k in sorted(needed) if lines[k].code != ca.OP_CONST]
        self._rest = [
            k
            for k, line in enumerate(lines)
            if k not in needed
            and line.code != ca.OP_CONST
            and (line.code not in TURNS or self._leads(k) and not early[line.reads[0]])
        ]

    def _leads(self, k: int) -> bool:
        """Whether line k is the first of the sine and the cosine of its angle."""
        return self._pairs[self._lines[k].reads[0]][0] == k

    def text(self) -> str:
        """The C functions."""
        n, name = self._n, self._name
        head = f"const real{n}* const* arg, real{n}* const* res"
        start = [*self._statements(self._first), *self._first_angles()]
        rest = self._rest
        if len(rest) <= WHOLE[n]:
            body = "".join(f"  {line}\n" for line in [*start, *self._statements(rest)])
            return f"static void {name}({head}) {{\n{body}}}\n"
        return self._cut(head, start)

    # ---- long programs --------------------------------------------------------------------

    def _cut(self, head: str, start: list[str]) -> str:
        """Several functions that hand values on in an array w; inputs are read again."""
        n, name, lines = self._n, self._name, self._lines
        blocks = [self._rest[k : k + BLOCK] for k in range(0, len(self._rest), BLOCK)]
        home = {k: 0 for angle in self._angles for k in self._pairs[angle]}
        home.update(dict.fromkeys(self._first, 0))
        for b, block in enumerate(blocks, 1):
            for k in block:
                home[k] = b
                if lines[k].code in TURNS:
                    home.update(dict.fromkeys(self._pairs[lines[k].reads[0]], b))
        foreign = [
            {i for k in block for i in lines[k].reads if home.get(i, b) < b}
            for b, block in enumerate(blocks, 1)
        ]
        last = {
            i: b
            for b, needed in enumerate(foreign, 1)
            for i in needed
            if lines[i].code != ca.OP_INPUT
        }
        made: dict[int, list[int]] = {}
        for i in sorted(last):
            made.setdefault(home[i], []).append(i)
        places: dict[int, int] = {}
        free: list[int] = []
        functions, size = [], 0
        for b, needed in enumerate([set(), *foreign]):
            body = self._statements(sorted(i for i in needed if i not in last))
            stored = sorted(i for i in needed if i in last)
            body += [f"const real{n} a{i} = w[{places[i]}];" for i in stored]
            body += self._statements(blocks[b - 1]) if b else start
            free += [places[i] for i in stored if last[i] == b]
            for i in made.get(b, ()):
                if not free:
                    free.append(size)
                    size += 1
                places[i] = free.pop()
                body.append(f"w[{places[i]}] = a{i};")
            text = "".join(f"  {line}\n" for line in body)
            functions.append(
                "static __attribute__((noinline))\n"
                f"void {name}_{b}({head}, real{n}* w) {{\n{text}}}\n"
            )
        calls = "".join(f"  {name}_{b}(arg, res, w);\n" for b in range(len(functions)))
        whole = f"static void {name}({head}) {{\n  real{n} w[{max(1, size)}];\n{calls}}}\n"
        return "".join([*functions, whole])

    # ---- lines ----------------------------------------------------------------------------

    def _first_angles(self) -> Iterator[str]:
        n, angles = self._n, self._angles
        if not angles:
            return
        room = f"{len(angles)} + LANES" if n == "1" else f"{len(angles)}"
        listed = ", ".join(self._operand(angle) for angle in angles)
        yield f"real{n} angle[{room}] = {{{listed}}}, sine[{room}], cosine[{room}];"
        yield f"sines_cosines{n}({len(angles)}, angle, sine, cosine);"
        for place, angle in enumerate(angles):
            for k in self._pairs[angle]:
                which = "sine" if self._lines[k].code == ca.OP_SIN else "cosine"
                yield f"const real{n} a{k} = {which}[{place}];"

    def _statements(self, numbers: list[int]) -> list[str]:
        n = self._n
        result = []
        for k in numbers:
            line = self._lines[k]
            if line.code in TURNS:
                result += self._late_angle(line.reads[0])
            elif line.code == ca.OP_OUTPUT:
                array, element = line.place
                value = self._operand(line.reads[0])
                if self._lines[line.reads[0]].code == ca.OP_CONST:
                    value = f"all{n}({value})"
                result.append(f"res[{array}][{element}] = {value};")
            elif line.code == ca.OP_INPUT:
                array, element = line.place
                result.append(f"const real{n} a{k} = arg[{array}][{element}];")
            else:
                result.append(f"const real{n} a{k} = {self._expression(line)};")
        return result

    def _late_angle(self, angle: int) -> list[str]:
        n = self._n
        names = {ca.OP_SIN: f"s{angle}", ca.OP_COS: f"c{angle}"}
        lines = [
            f"real{n} s{angle}, c{angle};",
            f"sine_cosine{n}({self._operand(angle)}, &s{angle}, &c{angle});",
        ]
        for k in self._pairs[angle]:
            lines.append(f"const real{n} a{k} = {names[self._lines[k].code]};")
        return lines

    def _expression(self, line: _Line) -> str:
        operands = [self._operand(i) for i in line.reads]
        if line.code not in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV):
            operands = [
                f"all{self._n}({text})" if self._lines[i].code == ca.OP_CONST else text
                for i, text in zip(line.reads, operands, strict=True)
            ]
        return OPERATIONS[line.code].format(*operands, n=self._n)

    def _operand(self, k: int) -> str:
        line = self._lines[k]
        if line.code != ca.OP_CONST:
            return f"a{k}"
        if math.isfinite(line.value):
            return f"({line.value!r})"
        return "NAN" if math.isnan(line.value) else "INFINITY" if line.value > 0 else "(-INFINITY)"
