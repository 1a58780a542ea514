"""Stretches of a block that do the same to one body after another become loops.

A recursion along a chain leaves the same lines for every body, with other numbers, other elements
of the inputs, and values of the body before. Such stretches need not be written down again and
again: a loop does, whose code stays in the processor's first cache however long the chain. It is
loop rerolling (Stitt, Vahid, *New decompilation techniques for binary-level co-processor
generation*, 2005; LLVM's LoopReroll), for code that never was a loop.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..block import TURNS, Kind, Operand, RolledLoop, StraightBlock
from ..ir import Code
from ..options import Options


def roll(code: Code, options: Options) -> Code:
    """Find the loops of blocks too long for one function, whose arrays are plain."""

    def rolled(block: StraightBlock) -> StraightBlock:
        if len(block.order) <= options.longest(block.lane) or not block.plain:
            return block
        return replace(block, loops=find_loops(block, block.computed, options))

    return code.rewritten(rolled)


def find_loops(
    block: StraightBlock, order: Sequence[int], options: Options
) -> tuple[RolledLoop, ...]:
    """All loops in an order of what the block computes, first to last."""
    described = _Described(block, order)
    periods = [_Period(described, period, options) for period in described.periods(options)]
    found: list[RolledLoop] = []
    starts = np.flatnonzero(sum((period.counts for period in periods), np.zeros(1, dtype=int)))
    for start in starts.tolist():
        if found and start < found[-1].end:
            continue
        counts = ((period, period.readable(start, found)) for period in periods)
        lasting = [(period, count) for period, count in counts if count >= period.least]
        if lasting:
            best, count = max(lasting, key=lambda one: (one[0].period * one[1], -one[0].period))
            found.append(best.loop(start, count))
    return tuple(found)


class _Described:
    """The lines of an order as arrays, so that passes can be compared.

    alike (n,) : a number for the operation and the kinds of what it reads; passes have the same.
    kind, which, number (n, 2) : of its operands, see `Operand`; numbers grow from pass to pass.
    """

    def __init__(self, block: StraightBlock, order: Sequence[int]) -> None:
        lines = block.lines
        numbers = ((line.code, *line.place, *line.reads, -1, -1)[:5] for line in lines)
        table = np.fromiter(chain.from_iterable(numbers), np.int64).reshape(-1, 5).T
        (code, array, element), reads = table[:3], table[3:].T
        place = np.full(len(lines), -1)
        place[list(order)] = np.arange(len(order))
        angle = np.full(len(lines), -1)
        angle[list(block.early)] = np.arange(len(block.early))
        angle = angle[reads[:, 0]]
        turns = np.isin(code, TURNS)

        kind = np.select(
            [code == ca.OP_CONST, code == ca.OP_INPUT, turns & (angle >= 0), turns | (place < 0)],
            [Kind.CONSTANT, Kind.INPUT, Kind.TURN, Kind.FIXED],
            Kind.LINE,
        )
        which = np.select([kind == Kind.INPUT, kind == Kind.TURN], [array, code], 0)
        number = np.select(
            [kind == Kind.CONSTANT, kind == Kind.INPUT, kind == Kind.TURN, kind == Kind.FIXED],
            [0, element, angle, np.arange(len(lines))],
            place,
        )
        made = np.column_stack([kind, which, number])
        operands = np.where((reads >= 0)[..., None], made[reads], [Kind.NONE, 0, 0])
        outputs = code == ca.OP_OUTPUT
        operands[outputs, 1] = np.column_stack([0 * code + Kind.INPUT, array, element])[outputs]
        self.kind, self.which, self.number = np.moveaxis(operands[list(order)], -1, 0)
        alike = code[list(order)]
        for part in (*self.kind.T, *self.which.T):
            alike = alike * (1 + part.max(initial=0)) + part
        self.alike = np.unique(alike, return_inverse=True)[1]
        # a later angle's sine and cosine are made together, and in no loop; nor are calls
        unlike = (turns | (code == ca.OP_CALL))[list(order)]
        self.alike[unlike] = -1 - np.flatnonzero(unlike)

    def periods(self, options: Options) -> list[int]:
        """The distances after which many lines come again."""
        memory, size = self.alike.tobytes(), self.alike.itemsize
        seen: dict[bytes, int] = {}
        distances: Counter[int] = Counter()
        for place in range(len(self.alike) - options.window, -1, -1):
            window = memory[size * place : size * (place + options.window)]
            if window in seen:
                distances[seen[window] - place] += 1
            seen[window] = place
        most = distances.most_common(options.periods)
        often = (one for one, count in most if count >= options.least_saved)
        return sorted(period for period in often if period <= options.longest_pass)


class _Period:
    """Which lines repeat with a given period.

    counts (n,) : passes from each place on, 0 where they are too few for a loop.
    """

    def __init__(self, lines: _Described, period: int, options: Options) -> None:
        self.period, self._lines, self._longest_wait = period, lines, options.longest_wait
        self.least = max(options.fewest_passes, 1 + math.ceil(options.least_saved / period))
        alike, number = lines.alike, lines.number
        self._step = number[period:] - number[:-period]
        like = _false_after(alike[period:] == alike[:-period])
        steady = _false_after((self._step[period:] == self._step[:-period]).all(axis=1))
        counts = np.minimum(1 + like[: len(steady)] // period, 2 + steady // period)
        self.counts = np.zeros(len(alike), dtype=int)
        self.counts[: len(counts)] = np.where(counts >= self.least, counts, 0)

    def readable(self, start: int, found: Sequence[RolledLoop]) -> int:
        """For how many passes from a place on one loop may read the operands, loops before being
        found."""
        count = int(self.counts[start])
        if not count:
            return 0
        one = slice(start, start + self.period)
        kind, first, step = self._lines.kind[one], self._lines.number[one], self._step[one]
        line, uniform = kind == Kind.LINE, step == 0
        if step[kind == Kind.FIXED].any() or (first[line & uniform] >= start).any():
            return 0
        waits = (step == self.period) & (first >= start - self._longest_wait * self.period)
        far = line & ~uniform & ~waits
        pairs = zip(first[far].tolist(), step[far].tolist(), strict=True)
        return min([count, *(_passes_within(*pair, found) for pair in pairs)])

    def loop(self, start: int, count: int) -> RolledLoop:
        """The loop of that number of passes."""
        one = slice(start, start + self.period)
        lines = self._lines
        parts = (lines.kind[one], lines.which[one], lines.number[one], self._step[one])
        operands = tuple(
            tuple(
                Operand(Kind(kind), *rest)
                for kind, *rest in zip(*described, strict=True)
                if kind != Kind.NONE
            )
            for described in zip(*(part.tolist() for part in parts), strict=True)
        )
        return RolledLoop(start, self.period, count, operands, self._longest_wait)


def _false_after(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """By place, how far it is to the first from there on that is false, or to the end."""
    own = np.arange(len(flags))
    places = np.where(flags, len(flags), own)
    result: NDArray[np.int64] = np.minimum.accumulate(places[::-1])[::-1] - own
    return result


def _passes_within(first: int, step: int, found: Sequence[RolledLoop]) -> int:
    """How many places from the first on, by steps, are the same place in passes of one loop."""
    for loop in found:
        if loop.start <= first < loop.end:
            passes, rest = divmod(step, loop.period)
            before = (first - loop.start) // loop.period
            ahead = loop.count - 1 - before if passes > 0 else before
            return 0 if rest else 1 + ahead // abs(passes)
    return 0
