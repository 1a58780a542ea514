"""The lines of repeats in an order that lets a pass begin before the one before it has ended.

Within a pass one result waits for another, and a processor looks ahead less than a pass. So each
line is given a time, as if passes began at a steady interval and every operation took its own
while (modulo scheduling: Rau 1994); in the order of these times, lines that wait for each other
stand apart, and in between those of the next pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import casadi as ca

from .lines import Script
from .repeats import LINE, Repeat

CYCLES = {ca.OP_DIV: 14, ca.OP_INV: 14, ca.OP_SQRT: 18, ca.OP_OUTPUT: 0}
"""Cycles until a result is there, where it takes more or less than a sum or a product."""

USUAL = 4
"""Those of a sum, a product, or a product and a sum in one."""

AT_ONCE = 2
"""Operations that begin in one cycle."""

PASS = range(10, 200)
"""Lines of a pass that is put in order. In a longer one enough can be done at once as it stands,
and values that wait longer ask for more registers than there are."""


def overlapped(script: Script, repeats: Sequence[Repeat]) -> list[int]:
    """The script's order with the lines of each repeat in the order of their times."""
    order, result, place = script.computed, [], 0
    uses = Counter(i for line in script.lines for i in line.reads)
    for repeat in repeats:
        result += order[place : repeat.start]
        interval, times = _times(script, repeat, uses)
        starts = sorted(
            (passed * interval + time, passed, slot)
            for passed in range(repeat.count)
            for slot, time in enumerate(times)
        )
        result += [order[repeat.start + repeat.period * i + slot] for _, i, slot in starts]
        place = repeat.end
    return result + order[place:]


def _times(script: Script, repeat: Repeat, uses: Counter[int]) -> tuple[int, list[int]]:
    """The interval of passes, and when in its pass each line begins, in cycles."""
    if repeat.period not in PASS:
        return 1, [0] * repeat.period
    waits = [
        (repeat.slot(operand.first), slot, delay)
        for slot, operands in enumerate(repeat.operands)
        for operand in operands
        if operand.kind == LINE and (delay := repeat.delay(operand)) is not None
    ]
    cycles = _cycles(script, repeat, uses)
    interval = math.ceil(sum(1 for one in cycles if one) / AT_ONCE)
    while (early := _early(waits, cycles, interval)) is None:
        interval += 1
    return interval, _late(waits, cycles, interval, early)


def _cycles(script: Script, repeat: Repeat, uses: Counter[int]) -> list[int]:
    """Cycles by line of a pass; none for a product that is one operation with the sum it is for."""
    order, lines = script.computed[repeat.start : repeat.start + repeat.period], script.lines
    fused = set()
    for line in (lines[k] for k in order):
        if line.code in (ca.OP_ADD, ca.OP_SUB):
            products = (i for i in line.reads if lines[i].code in (ca.OP_MUL, ca.OP_SQ))
            fused.update(sorted(i for i in products if uses[i] == 1)[-1:])
    return [0 if k in fused else CYCLES.get(lines[k].code, USUAL) for k in order]


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
    """The same as late as what reads them allows: values then wait in fewer registers."""
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
