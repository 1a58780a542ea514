"""Stretches of a program that do the same to one body after another: loops, found in the lines.

A recursion along a chain leaves the same lines for every body, with other numbers, other elements
of the inputs, and values of the body before. Such stretches need not be written down again and
again: a loop does, whose code stays in the processor's first cache however long the chain.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from .lines import TURNS, Script

FEWEST = 4
"""Passes that make a loop."""

LEAST = 200
"""Lines that a loop must save the program: for fewer it is not worth its way through memory."""

LONGEST = 2000
"""Lines of the longest pass that is looked for."""

WINDOW = 24
"""Lines that two passes must have alike to be compared."""

PERIODS = 8
"""Periods that are tried, those of most lines."""

DELAY = 4
"""Passes for which a value may wait in a variable; others go through memory."""

NONE, CONSTANT, INPUT, TURN, LINE, FIXED = range(6)


@dataclass(frozen=True)
class Operand:
    """What the lines at one place of all passes read.

    kind : CONSTANT; INPUT, element `first` + `step` * pass of array `which`; TURN, sine or cosine
        (`which`) of an early angle, by its place; LINE, by its place in the script's order; FIXED,
        a value that is not in this order, by its line.
    """

    kind: int
    which: int
    first: int
    step: int


@dataclass(frozen=True, eq=False)
class Repeat:
    """`count` passes of `period` lines from place `start` on of an order of lines.

    operands : of every line of a pass; an output's place stands last, as an INPUT.
    """

    start: int
    period: int
    count: int
    operands: tuple[tuple[Operand, ...], ...]

    @property
    def end(self) -> int:
        """The place after the last pass."""
        return self.start + self.period * self.count

    def slot(self, place: int) -> int:
        """The place in its pass."""
        return (place - self.start) % self.period

    def delay(self, operand: Operand) -> int | None:
        """How many passes before the value was made, 0 for the same; None for elsewhere."""
        if operand.kind != LINE or operand.step != self.period:
            return None
        passes = -((operand.first - self.start) // self.period)
        return passes if passes <= DELAY else None

    @functools.cached_property
    def delays(self) -> dict[int, int]:
        """By place in the pass, the passes for which its value waits, where it does."""
        found: dict[int, int] = {}
        for operand in self._lines_read:
            if passes := self.delay(operand):
                slot = self.slot(operand.first)
                found[slot] = max(passes, found.get(slot, 0))
        return found

    def holds(self, place: int) -> bool:
        """Whether the value made at a place still waits in a variable after the last pass."""
        left = self.count - (place - self.start) // self.period
        return left <= self.delays.get(self.slot(place), 0)

    @property
    def uniform(self) -> list[Operand]:
        """What all passes read from the same line."""
        return [operand for operand in self._lines_read if not operand.step]

    @property
    def far(self) -> list[Operand]:
        """What passes read from those of another repeat."""
        return [one for one in self._lines_read if one.step and self.delay(one) is None]

    @property
    def _lines_read(self) -> list[Operand]:
        return [one for operands in self.operands for one in operands if one.kind == LINE]


def find_repeats(script: Script, order: Sequence[int]) -> list[Repeat]:
    """All repeats in an order of the script's lines, first to last."""
    described = _Described(script, order)
    periods = [_Period(described, period) for period in described.periods()]
    found: list[Repeat] = []
    place = 0
    while periods and place < len(order):
        counts = ((one, one.passes(place, found)) for one in periods)
        lasting = [(one, count) for one, count in counts if count >= one.least]
        if not lasting:
            place += 1
            continue
        best, count = max(lasting, key=lambda one: (one[0].period * one[1], -one[0].period))
        found.append(best.repeat(place, count))
        place = found[-1].end
    return found


class _Described:
    """The lines of an order as arrays, so that passes can be compared.

    alike (n,) : a number for the operation and the kinds of what it reads; passes have the same.
    kind, which, number (n, 2) : of its operands, see `Operand`; numbers grow from pass to pass.
    """

    def __init__(self, script: Script, order: Sequence[int]) -> None:
        lines = script.lines
        code = np.array([line.code for line in lines], dtype=np.int64)
        array, element = np.array([line.place for line in lines], dtype=np.int64).reshape(-1, 2).T
        reads = np.array([(*line.reads, -1, -1)[:2] for line in lines], dtype=np.int64)
        place = np.full(len(lines), -1)
        place[list(order)] = np.arange(len(order))
        angle = np.full(len(lines), -1)
        angle[script.angles] = np.arange(len(script.angles))
        angle = angle[reads[:, 0]]
        turns = np.isin(code, TURNS)

        kind = np.select(
            [code == ca.OP_CONST, code == ca.OP_INPUT, turns & (angle >= 0), turns | (place < 0)],
            [CONSTANT, INPUT, TURN, FIXED],
            LINE,
        )
        which = np.select([kind == INPUT, kind == TURN], [array, code], 0)
        number = np.select(
            [kind == CONSTANT, kind == INPUT, kind == TURN, kind == FIXED],
            [0, element, angle, np.arange(len(lines))],
            place,
        )
        made = np.column_stack([kind, which, number])
        operands = np.where((reads >= 0)[..., None], made[reads], [NONE, 0, 0])
        outputs = code == ca.OP_OUTPUT
        operands[outputs, 1] = np.column_stack([0 * code + INPUT, array, element])[outputs]
        self.kind, self.which, self.number = np.moveaxis(operands[list(order)], -1, 0)
        alike = code[list(order)]
        for part in (*self.kind.T, *self.which.T):
            alike = alike * (1 + part.max(initial=0)) + part
        self.alike = np.unique(alike, return_inverse=True)[1]
        # a later angle's sine and cosine are made together, and in no loop
        unlike = turns[list(order)]
        self.alike[unlike] = -1 - np.flatnonzero(unlike)

    def periods(self) -> list[int]:
        """The distances after which many lines come again."""
        alike = self.alike.tolist()
        seen: dict[tuple[int, ...], int] = {}
        distances: Counter[int] = Counter()
        for place in range(len(alike) - WINDOW, -1, -1):
            window = tuple(alike[place : place + WINDOW])
            if window in seen:
                distances[seen[window] - place] += 1
            seen[window] = place
        often = (one for one, count in distances.most_common(PERIODS) if count >= LEAST)
        return sorted(period for period in often if period <= LONGEST)


class _Period:
    """Which lines come again after so many others."""

    def __init__(self, lines: _Described, period: int) -> None:
        self.period, self._lines = period, lines
        self.least = max(FEWEST, 1 + math.ceil(LEAST / period))
        alike, number = lines.alike, lines.number
        self._step = number[period:] - number[:-period]
        self._like = _next_false(alike[period:] == alike[:-period])
        self._steady = _next_false((self._step[period:] == self._step[:-period]).all(axis=1))

    def passes(self, start: int, found: Sequence[Repeat]) -> int:
        """How many passes there are from a place on, those before being found."""
        if start + 2 * self.period >= len(self._lines.alike):
            return 0
        count = 1 + int(self._like[start] - start) // self.period
        count = min(count, 2 + int(self._steady[start] - start) // self.period)
        return count if count < self.least else self._readable(start, count, found)

    def _readable(self, start: int, count: int, found: Sequence[Repeat]) -> int:
        """For how many of these passes one loop may read the operands."""
        one = slice(start, start + self.period)
        kind, first, step = self._lines.kind[one], self._lines.number[one], self._step[one]
        line, uniform = kind == LINE, step == 0
        if step[kind == FIXED].any() or (first[line & uniform] >= start).any():
            return 0
        waits = (step == self.period) & (first >= start - DELAY * self.period)
        far = line & ~uniform & ~waits
        pairs = zip(first[far].tolist(), step[far].tolist(), strict=True)
        return min([count, *(_passes_within(*pair, found) for pair in pairs)])

    def repeat(self, start: int, count: int) -> Repeat:
        """The repeat of so many passes."""
        one = slice(start, start + self.period)
        lines = self._lines
        parts = (lines.kind[one], lines.which[one], lines.number[one], self._step[one])
        operands = tuple(
            tuple(Operand(*read) for read in zip(*described, strict=True) if read[0] != NONE)
            for described in zip(*(part.tolist() for part in parts), strict=True)
        )
        return Repeat(start, self.period, count, operands)


def _next_false(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """By place, the first from there on that is false, or the end."""
    places = np.where(flags, len(flags), np.arange(len(flags)))
    result: NDArray[np.int64] = np.minimum.accumulate(places[::-1])[::-1]
    return result


def _passes_within(first: int, step: int, found: Sequence[Repeat]) -> int:
    """How many places from the first on, by steps, are the same place in passes of one repeat."""
    for repeat in found:
        if repeat.start <= first < repeat.end:
            passes, rest = divmod(step, repeat.period)
            before = (first - repeat.start) // repeat.period
            ahead = repeat.count - 1 - before if passes > 0 else before
            return 0 if rest else 1 + ahead // abs(passes)
    return 0
