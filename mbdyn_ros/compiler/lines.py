"""The operations of a CasADi function of scalars as lines, in the order of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

ANGLE_STEPS = (ca.OP_ASSIGN, ca.OP_NEG, ca.OP_TWICE, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_INPUT)
"""What may lead from inputs to an angle whose sine is taken at the start."""

TURNS = (ca.OP_SIN, ca.OP_COS)


@dataclass(slots=True)
class Line:
    """One operation: its code, what it reads (numbers of lines), and what is left to say.

    place : (array, element) of an input or output. value : of a constant.
    """

    code: int
    reads: tuple[int, ...]
    place: tuple[int, int] = (0, 0)
    value: float = 0.0


def function_lines(function: ca.Function) -> list[Line]:
    """The operations of a function, each reading the lines that made its operands.

    A result is written as soon as it is known.
    """
    lines: list[Line] = []
    results: dict[int, list[tuple[int, int]]] = {}
    made: dict[int, int] = {}
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_OUTPUT:
            results.setdefault(made[reads[0]], []).append((writes[0], writes[1]))
            continue
        if code == ca.OP_INPUT:
            lines.append(Line(code, (), (reads[0], reads[1])))
        elif code == ca.OP_CONST:
            lines.append(Line(code, (), value=function.instruction_constant(k)))
        else:
            lines.append(Line(code, tuple(made[i] for i in reads)))
        made[writes[0]] = len(lines) - 1
    whole: list[Line] = []
    places: list[int] = []
    for k, line in enumerate(lines):
        places.append(len(whole))
        line.reads = tuple(places[i] for i in line.reads)
        whole.append(line)
        whole += [Line(ca.OP_OUTPUT, (places[k],), place) for place in results.get(k, ())]
    return whole


def in_order(lines: Sequence[Line], order: Sequence[int]) -> list[Line]:
    """The lines of these numbers, one after the other."""
    places = {k: place for place, k in enumerate(order)}
    return [
        Line(line.code, tuple(places[i] for i in line.reads), line.place, line.value)
        for line in (lines[k] for k in order)
    ]


def reciprocals(lines: Sequence[Line]) -> list[Line]:
    """The same with one division for all by the same number: the others become products."""
    divisors = [line.reads[1] for line in lines if line.code == ca.OP_DIV]
    often = {k for k, count in Counter(divisors).items() if count > 1}
    result: list[Line] = []
    places: list[int] = []
    inverses: dict[int, int] = {}
    for line in lines:
        reads = tuple(places[i] for i in line.reads)
        if line.code == ca.OP_DIV and line.reads[1] in often:
            if reads[1] not in inverses:
                inverses[reads[1]] = len(result)
                result.append(Line(ca.OP_INV, reads[1:]))
            line, reads = Line(ca.OP_MUL, ()), (reads[0], inverses[reads[1]])
        places.append(len(result))
        result.append(Line(line.code, reads, line.place, line.value))
    return result


def depth_first(lines: Sequence[Line]) -> list[Line]:
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
    return in_order(lines, list(places))


class Script:
    """Lines in the order in which a program has them.

    Attributes
    ----------
    lines : all of them.
    angles : lines that give the angles whose sines and cosines are taken together at the start.
    pairs : by angle, the lines of its sine and cosine.
    first : lines that lead to these angles. rest : what follows, constants left out; of a later
        angle's sine and cosine, which are made together, the first.
    computed : the rest without inputs, which can be read anywhere.
    """

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        early = [False] * len(lines)
        for k, line in enumerate(lines):
            early[k] = line.code == ca.OP_CONST or (
                line.code in ANGLE_STEPS and all(early[i] for i in line.reads)
            )
        self.pairs: dict[int, list[int]] = {}
        for k, line in enumerate(lines):
            if line.code in TURNS:
                self.pairs.setdefault(line.reads[0], []).append(k)
        self.angles = [angle for angle in self.pairs if early[angle]]
        needed = set(self.angles)
        for k in range(len(lines) - 1, -1, -1):
            if k in needed:
                needed.update(lines[k].reads)
        self.first = [k for k in sorted(needed) if lines[k].code != ca.OP_CONST]
        self.rest = [
            k
            for k, line in enumerate(lines)
            if k not in needed
            and line.code != ca.OP_CONST
            and (line.code not in TURNS or self._leads(k) and not early[line.reads[0]])
        ]
        self.computed = [k for k in self.rest if lines[k].code != ca.OP_INPUT]

    def _leads(self, k: int) -> bool:
        """Whether line k is the first of the sine and the cosine of its angle."""
        return self.pairs[self.lines[k].reads[0]][0] == k
