"""Long blocks become several C functions: compilers need time that grows faster than a function.

Their register allocation colours a graph of all values that live at once (Chaitin, *Register
allocation and spilling via graph coloring*, 1982), a few thousand lines of which take minutes.
Every loop is a function of its own; what is between is cut into pieces.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import casadi as ca

from ..block import TURNS, Piece, StraightBlock
from ..ir import Code
from ..options import Options


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
