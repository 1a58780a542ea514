"""One division for all by the same number: the others become products with its reciprocal.

A division takes as long as three products and more, and few run at once. It is common subexpression
elimination on 1 / x (Muchnick, *Advanced Compiler Design and Implementation*, 1997, section 13.1),
which a C compiler must not do, since each product rounds once more.
"""

from __future__ import annotations

from collections import Counter

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
    return block.with_lines(tuple(result))
