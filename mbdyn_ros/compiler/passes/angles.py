"""Sines and cosines are taken in pairs; those of angles that depend on inputs alone at the start.

Both come from one reduction of the angle (Cody, Waite, *Software Manual for the Elementary
Functions*, 1980, chapter 8), and several angles at once fill a vector even where a program is for
one state.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..block import StraightBlock
from ..ir import Code
from ..options import Options

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
