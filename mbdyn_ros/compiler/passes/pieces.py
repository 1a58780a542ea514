"""Long blocks as several C functions, and the places of an array through which they hand values on.

Their register allocation colours a graph of all values that live at once (Chaitin, *Register
allocation and spilling via graph coloring*, 1982), a few thousand lines of which take minutes.
Every loop is a function of its own; what is between is cut into pieces.

A value lives from the piece that makes it to the last that reads it; intervals get places as they
come (linear scan: Poletto, Sarkar, *Linear scan register allocation*, 1999). What loops put there
in every pass is in tables with a row a pass, which stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import casadi as ca

from ..block import TURNS, Memory, Piece, RolledLoop, StraightBlock
from ..ir import Code
from ..options import Options
from ..table import Lane


def split(code: Code, options: Options) -> Code:
    """Cut blocks that are too long for one function."""
    return code.rewritten(lambda block: _split(block, options))


def _split(block: StraightBlock, options: Options) -> StraightBlock:
    if not block.loops and len(block.order) <= options.longest(block.lane):
        return block
    order = block.computed
    pieces = [_early(block)]
    place = 0
    for loop in [*block.loops, None]:
        end = len(order) if loop is None else loop.start
        for start in range(place, end, options.piece):
            pieces.append(_piece(block, order[start : min(start + options.piece, end)]))
        if loop is not None:
            made = frozenset(order[loop.start : loop.end])
            pieces.append(Piece((), made, loop.reads(order), loop))
            place = loop.end
    return replace(block, order=order, pieces=tuple(pieces))


def _early(block: StraightBlock) -> Piece:
    """The piece that leads to the early angles, and makes their sines and cosines."""
    turns = chain.from_iterable(block.turns[angle] for angle in block.early)
    inputs = frozenset(k for k in block.first if block.lines[k].code == ca.OP_INPUT)
    lines = tuple(k for k in block.first if k not in inputs)
    return Piece(lines, frozenset([*lines, *turns]), inputs)


def _piece(block: StraightBlock, part: tuple[int, ...]) -> Piece:
    lines = block.lines
    makes = {k for k in part if lines[k].code not in TURNS}
    late = (lines[k].reads[0] for k in part if lines[k].code in TURNS)
    makes.update(k for angle in late for k in block.turns[angle])
    reads = {i for k in part for i in lines[k].reads if lines[i].code != ca.OP_CONST}
    return Piece(part, frozenset(makes), frozenset(reads))


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
