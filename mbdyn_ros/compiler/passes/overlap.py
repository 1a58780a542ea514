"""Lines of loops in an order that lets a pass begin before the one before it has ended.

Within a pass one result waits for another, and a processor looks ahead less than a pass. So each
line is given a time, as if passes began at a steady interval and every operation took its own while
(Rau, *Iterative modulo scheduling*, 1994); in the order of these times, lines that wait for each
other stand apart, and in between those of the next pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ..block import Kind, RolledLoop, StraightBlock
from ..ir import Code
from ..options import Options
from .roll import find_loops

CYCLES = {ca.OP_DIV: 14, ca.OP_INV: 14, ca.OP_SQRT: 18, ca.OP_OUTPUT: 0}
"""Cycles until a result is there, where it takes more or less than a sum or a product."""

USUAL_CYCLES = 4
"""Cycles of a sum, a product, or a product and a sum in one."""

AT_ONCE = 2
"""Operations that begin in one cycle."""


def overlap(code: Code, options: Options) -> Code:
    """Put the lines of loops in the order of their times, and find the loops that they are then."""

    def rewritten(block: StraightBlock) -> StraightBlock:
        order = _overlapped(block, options)
        if order == block.computed:
            return block
        return replace(block, order=order, loops=find_loops(block, order, options))

    return code.rewritten(rewritten)


def _overlapped(block: StraightBlock, options: Options) -> tuple[int, ...]:
    """Order of the block, with the lines of each loop in the order of their times."""
    order, place = block.computed, 0
    result: list[int] = []
    if not block.loops:
        return order
    uses = Counter(i for line in block.lines for i in line.reads)
    for loop in block.loops:
        result += order[place : loop.start]
        interval, times = _times(block, loop, uses, options)
        starts = sorted(
            (passed * interval + time, passed, slot)
            for passed in range(loop.count)
            for slot, time in enumerate(times)
        )
        result += [order[loop.start + loop.period * i + slot] for _, i, slot in starts]
        place = loop.end
    return (*result, *order[place:])


def _times(
    block: StraightBlock, loop: RolledLoop, uses: Counter[int], options: Options
) -> tuple[int, list[int]]:
    """The interval of passes, and when in its pass each line begins, in cycles."""
    if not options.shortest_overlap <= loop.period <= options.longest_overlap:
        return 1, [0] * loop.period
    waits = [
        (loop.slot(operand.first), slot, delay)
        for slot, operands in enumerate(loop.operands)
        for operand in operands
        if operand.kind == Kind.LINE and (delay := loop.delay(operand)) is not None
    ]
    cycles = _cycles(block, loop, uses)
    interval = math.ceil(sum(1 for one in cycles if one) / AT_ONCE)
    while (early := _early(waits, cycles, interval)) is None:
        interval += 1
    return interval, _late(waits, cycles, interval, early)


def _cycles(block: StraightBlock, loop: RolledLoop, uses: Counter[int]) -> list[int]:
    """Cycles by line of a pass; none for a product that is one operation with the sum it is for."""
    order, lines = block.computed[loop.start : loop.start + loop.period], block.lines
    fused = set()
    for line in (lines[k] for k in order):
        if line.code in (ca.OP_ADD, ca.OP_SUB):
            products = (i for i in line.reads if lines[i].code in (ca.OP_MUL, ca.OP_SQ))
            fused.update(sorted(i for i in products if uses[i] == 1)[-1:])
    return [0 if k in fused else CYCLES.get(lines[k].code, USUAL_CYCLES) for k in order]


def _early(
    waits: Sequence[tuple[int, int, int]], cycles: Sequence[int], interval: int
) -> list[int] | None:
    """Times as early as possible; None where passes cannot begin at this interval."""
    times = [0] * len(cycles)
    for _ in range(len(cycles)):
        settled = True
        for before, after, delay in waits:
            time = times[before] + cycles[before] - interval * delay
            if time > times[after]:
                times[after], settled = time, False
        if settled:
            return times
        if max(times) > sum(cycles):
            return None
    return None


def _late(
    waits: Sequence[tuple[int, int, int]],
    cycles: Sequence[int],
    interval: int,
    early: Sequence[int],
) -> list[int]:
    """Times as late as what reads each line allows: values then wait in fewer registers."""
    read = {before for before, _, _ in waits}
    never = max(early) + interval * len(cycles)
    times = [never if slot in read else time for slot, time in enumerate(early)]
    settled = False
    while not settled:
        settled = True
        for before, after, delay in reversed(waits):
            time = times[after] - cycles[before] + interval * delay
            if time < times[before]:
                times[before], settled = time, False
    return times
