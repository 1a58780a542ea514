"""Lines in the order in which results ask for them, so that few values wait for their use.

Of the operands of a line the one that needs most values at once comes first (Sethi, Ullman, *The
generation of optimal code for arithmetic expressions*, 1970), and most of what is left to wait
stays in registers or in the first cache. A block that is mostly loops keeps its order: in that of
the recursion passes are alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ..block import Operation, StraightBlock
from ..ir import Code
from ..options import Options
from .angles import paired


def depth_first(code: Code, options: Options) -> Code:
    """Put each line as late as what first asks for it; few loops are given up for that."""
    return code.rewritten(_ordered)


def _ordered(block: StraightBlock) -> StraightBlock:
    if 2 * sum(one.end - one.start for one in block.loops) > len(block.computed):
        return block
    order = _order(block.lines)
    places = {k: place for place, k in enumerate(order)}
    lines = tuple(block.lines[k].moved(places) for k in order)
    return paired(block.with_lines(lines))


def _order(lines: Sequence[Operation]) -> list[int]:
    waiting = [1] * len(lines)  # how many values wait at once, were nothing shared
    for k, line in enumerate(lines):
        below = [waiting[i] for i in line.reads]
        if len(below) > 1:
            below.sort(reverse=True)
            waiting[k] = max([n + place for place, n in enumerate(below)])
        elif below:
            waiting[k] = below[0]
    outputs = [k for k, line in enumerate(lines) if line.code == ca.OP_OUTPUT]
    stack = sorted(outputs, key=lambda k: lines[k].reads, reverse=True)
    places: dict[int, int] = {}
    while stack:
        k = stack[-1]
        if missing := [i for i in lines[k].reads if i not in places]:
            stack += sorted(missing, key=waiting.__getitem__) if len(missing) > 1 else missing
            continue
        stack.pop()
        places.setdefault(k, len(places))
    return list(places)
