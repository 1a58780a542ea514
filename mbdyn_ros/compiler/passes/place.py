"""Where the pieces of a block hand values on: places of an array, used again when they are free.

A value lives from the piece that makes it to the last that reads it; intervals get places as they
come (linear scan: Poletto, Sarkar, *Linear scan register allocation*, 1999). What loops put there
in every pass is in tables with a row a pass, which stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import casadi as ca

from ..block import Lane, Memory, RolledLoop, StraightBlock
from ..ir import Code
from ..options import Options


def place(code: Code, options: Options) -> Code:
    """Give all pieces their memory."""
    return code.rewritten(lambda block: _placed(block, options) if block.pieces else block)


def _placed(block: StraightBlock, options: Options) -> StraightBlock:
    """First the sines and cosines of early angles, then the loops' tables, then the rest."""
    home = {k: b for b, piece in enumerate(block.pieces) for k in piece.makes}
    foreign = [
        sorted(i for i in piece.reads if home.get(i, b) < b) for b, piece in enumerate(block.pieces)
    ]
    kept = _kept(block, (i for reads in foreign for i in reads), options.lanes)
    last = {i: b for b, reads in enumerate(foreign) for i in reads if i not in kept.places}
    stores: list[list[int]] = [[] for _ in block.pieces]
    for i in sorted(last):
        stores[home[i]].append(i)
    places: dict[int, int] = {}
    free: list[int] = []
    size = kept.size
    for b, reads in enumerate(foreign):
        free += [places[i] for i in reads if last.get(i) == b]
        for i in stores[b]:
            if not free:
                free.append(size)
                size += 1
            places[i] = free.pop()
    memory = replace(kept, size=size, places=kept.places | places, stores=tuple(map(tuple, stores)))
    return replace(block, memory=memory)


def _kept(block: StraightBlock, elsewhere: Iterable[int], lanes: int) -> Memory:
    """Memory for the early sines and cosines, and for what is read `elsewhere`, by line, or by
    another loop pass by pass. The last values of those that wait in variables need no place: the
    loop hands them on."""
    order, loops = block.computed, block.loops
    room = len(block.early)
    if block.lane is Lane.SINGLE and room:
        room += lanes  # they are made by whole vectors
    memory = Memory(2 * room, 0, room, {}, (), {loop: {} for loop in loops}, {})
    for at, angle in enumerate(block.early):
        for k in block.turns[angle]:
            sine = block.lines[k].code == ca.OP_SIN
            memory.places[k] = (memory.sine if sine else memory.cosine) + at
    slots: dict[RolledLoop, set[int]] = {loop: set() for loop in loops}
    places = {k: at for at, k in enumerate(order)}
    wanted = [places[k] for k in elsewhere if k in places]
    far = [operand.first for loop in loops for operand in loop.far]
    for loop in loops:
        slots[loop].update(
            loop.slot(at) for at in wanted if loop.start <= at < loop.end and not loop.holds(at)
        )
        slots[loop].update(loop.slot(at) for at in far if loop.start <= at < loop.end)
    size = memory.size
    for loop, chosen in slots.items():
        memory.starts[loop] = size
        memory.columns[loop] = {slot: column for column, slot in enumerate(sorted(chosen))}
        size += loop.count * len(chosen)
        for slot in chosen:
            for at in range(loop.start + slot, loop.end, loop.period):
                memory.places[order[at]] = memory.place(loop, at)
    return replace(memory, size=size)
