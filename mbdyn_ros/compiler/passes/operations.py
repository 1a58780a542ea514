"""Passes over single operations: one division for all by a number, sines and cosines in pairs.

A division takes as long as three products and more, and few run at once. It is common subexpression
elimination on 1 / x (Muchnick, *Advanced Compiler Design and Implementation*, 1997, section 13.1),
which a C compiler must not do, since each product rounds once more.

Both come from one reduction of the angle (Cody, Waite, *Software Manual for the Elementary
Functions*, 1980, chapter 8), and several angles at once fill a vector even where a program is for
one state.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import casadi as ca

from ..block import Operation, StraightBlock
from ..ir import Code
from ..options import Options


def reciprocals(code: Code, options: Options) -> Code:
    """Replace divisions by numbers that divide more than once."""
    return code.rewritten(_rewritten)


def _rewritten(block: StraightBlock) -> StraightBlock:
    lines = block.lines
    divisors = Counter(line.reads[1] for line in lines if line.code == ca.OP_DIV)
    often = {k for k, count in divisors.items() if count > 1}
    if not often:
        return block
    result: list[Operation] = []
    places: list[int] = []
    inverses: dict[int, int] = {}
    for line in lines:
        moved = line.moved(places)
        if line.code == ca.OP_DIV and line.reads[1] in often:
            number, divisor = moved.reads
            if divisor not in inverses:
                inverses[divisor] = len(result)
                result.append(Operation(ca.OP_INV, (divisor,)))
            moved = Operation(ca.OP_MUL, (number, inverses[divisor]))
        places.append(len(result))
        result.append(moved)
    return StraightBlock.of(tuple(result), block.reads, block.writes, block.lane)


TOWARDS_ANGLES = frozenset(
    [ca.OP_CONST, ca.OP_INPUT, ca.OP_ASSIGN, ca.OP_NEG, ca.OP_TWICE]
    + [ca.OP_ADD, ca.OP_SUB, ca.OP_MUL]
)
"""Operations that may lead from inputs to an angle whose sine is taken at the start."""


def angles(code: Code, options: Options) -> Code:
    """Find the early angles, and leave of every later pair the first."""
    return code.rewritten(paired)


def paired(block: StraightBlock) -> StraightBlock:
    """A block with its early angles found, and of every later pair the first."""
    lines = block.lines
    leads: set[int] = set()
    for k, line in enumerate(lines):
        if line.code in TOWARDS_ANGLES and leads.issuperset(line.reads):
            leads.add(k)
    early = tuple(angle for angle in block.turns if angle in leads)
    needed = set(early)
    for k in range(max(early, default=-1), -1, -1):
        if k in needed:
            needed.update(lines[k].reads)
    first = tuple(k for k in sorted(needed) if lines[k].code != ca.OP_CONST)
    left_out = needed.union(*(block.turns[angle] for angle in early))
    left_out.update(k for turns in block.turns.values() for k in turns[1:])
    order = tuple(
        [k for k, line in enumerate(lines) if line.code != ca.OP_CONST and k not in left_out]
    )
    return replace(block, order=order, early=early, first=first)
