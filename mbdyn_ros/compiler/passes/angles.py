"""Sines and cosines are taken in pairs; those of angles that depend on inputs alone at the start.

Both come from one reduction of the angle (Cody, Waite, *Software Manual for the Elementary
Functions*, 1980, chapter 8), and several angles at once fill a vector even where a program is for
one state.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..block import Block
from ..ir import Code
from ..options import Options

STEPS = (ca.OP_ASSIGN, ca.OP_NEG, ca.OP_TWICE, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_INPUT)
"""What may lead from inputs to an angle whose sine is taken at the start."""


def angles(code: Code, options: Options) -> Code:
    """Find the early angles, and leave of every later pair the first."""
    return code.rewritten(paired)


def paired(block: Block) -> Block:
    """The same for a block."""
    lines = block.lines
    leads = [False] * len(lines)
    for k, line in enumerate(lines):
        leads[k] = line.code == ca.OP_CONST or (
            line.code in STEPS and all(leads[i] for i in line.reads)
        )
    early = tuple(angle for angle in block.turns if leads[angle])
    needed = set(early)
    for k in range(len(lines) - 1, -1, -1):
        if k in needed:
            needed.update(lines[k].reads)
    first = tuple(k for k in sorted(needed) if lines[k].code != ca.OP_CONST)
    made_before = {k for angle in early for k in block.turns[angle]}
    made_before.update(k for turns in block.turns.values() for k in turns[1:])
    order = tuple(
        k
        for k, line in enumerate(lines)
        if line.code != ca.OP_CONST and k not in needed and k not in made_before
    )
    return replace(block, order=order, early=early, first=first)
