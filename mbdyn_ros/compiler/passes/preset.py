"""Results that are known beforehand are copied from a table before the others are written.

Matrices of contacts are mostly zeros, and a C compiler compares every store with those after it
(dead store elimination: Muchnick, *Advanced Compiler Design and Implementation*, 1997, section
18.10), which takes most of its time in a long list of constants.
"""

from __future__ import annotations

import casadi as ca

from ..block import Operation, StraightBlock
from ..ir import Code
from ..options import Options


def preset(code: Code, options: Options) -> Code:
    """Take outputs of constants out of the lines of a block where they are most of an array."""
    return code.rewritten(lambda block: _rewritten(block, options))


def _rewritten(block: StraightBlock, options: Options) -> StraightBlock:
    known: list[dict[int, float]] = [{} for _ in block.writes]
    for line in block.lines:
        if _is_constant(block, line):
            array_number, element = line.place
            known[array_number][element] = block.lines[line.reads[0]].value
    for i, array in enumerate(block.writes):
        few = len(known[i]) < max(options.fewest_preset, array.table.size / 2)
        if few or array != array.table or not array.plain:
            known[i] = {}
    if not any(known):
        return block
    result: list[Operation] = []
    places: list[int] = []
    for line in block.lines:
        places.append(len(result))
        if not (_is_constant(block, line) and known[line.place[0]]):
            result.append(line.moved(places))
    return block.with_lines(tuple(result), tuple(known))


def _is_constant(block: StraightBlock, line: Operation) -> bool:
    return line.code == ca.OP_OUTPUT and block.lines[line.reads[0]].code == ca.OP_CONST
