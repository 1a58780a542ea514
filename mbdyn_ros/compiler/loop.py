"""Loops over passes: stretches of a block's lines that do the same again and again."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """Kind of an operand of a loop's line; see `Operand`."""

    NONE, CONSTANT, INPUT, TURN, LINE, FIXED = range(6)


@dataclass(frozen=True)
class Operand:
    """Operand of the lines at one place of all passes.

    kind : CONSTANT; INPUT, element `first` + `step` * pass of array `which`; TURN, sine or cosine
        (`which`) of an early angle, by its place; LINE, by its place in the block's order; FIXED, a
        value that is not in this order, by its line.
    """

    kind: Kind
    which: int
    first: int
    step: int


@dataclass(frozen=True, eq=False)
class RolledLoop:
    """`count` passes of `period` lines from place `start` on of what a block computes.

    operands : of every line of a pass; an output's place is last, as an INPUT.
    longest_wait : passes for which a value may wait in a variable.
    """

    start: int
    period: int
    count: int
    operands: tuple[tuple[Operand, ...], ...]
    longest_wait: int

    @property
    def end(self) -> int:
        """The place after the last pass."""
        return self.start + self.period * self.count

    def slot(self, place: int) -> int:
        """The place in its pass."""
        return (place - self.start) % self.period

    def delay(self, operand: Operand) -> int | None:
        """How many passes before the value was made, 0 for the same; None for elsewhere."""
        if operand.kind != Kind.LINE or operand.step != self.period:
            return None
        passes = -((operand.first - self.start) // self.period)
        return passes if passes <= self.longest_wait else None

    @functools.cached_property
    def delays(self) -> dict[int, int]:
        """By place in the pass, the passes for which its value waits, where it does."""
        found: dict[int, int] = {}
        for operand in self._lines_read:
            if passes := self.delay(operand):
                slot = self.slot(operand.first)
                found[slot] = max(passes, found.get(slot, 0))
        return found

    @property
    def waiting(self) -> dict[int, list[int]]:
        """By place in the pass, the places of the values that wait for the first pass."""
        return {
            slot: [self.start + slot - passes * self.period for passes in range(1, delay + 1)]
            for slot, delay in sorted(self.delays.items())
        }

    def holds(self, place: int) -> bool:
        """Whether the value made at a place still waits in a variable after the last pass."""
        left = self.count - (place - self.start) // self.period
        return left <= self.delays.get(self.slot(place), 0)

    def reads(self, order: tuple[int, ...]) -> frozenset[int]:
        """The lines that it needs from before."""
        places = [operand.first for operand in self._lines_read if not operand.step]
        places += [place for waiting in self.waiting.values() for place in waiting]
        fixed = (one.first for one in self._operands if one.kind == Kind.FIXED)
        return frozenset([*fixed, *(order[place] for place in places)])

    @property
    def far(self) -> list[Operand]:
        """Operands that passes read from those of another loop."""
        return [one for one in self._lines_read if one.step and self.delay(one) is None]

    @property
    def _operands(self) -> Iterator[Operand]:
        return (one for operands in self.operands for one in operands)

    @property
    def _lines_read(self) -> list[Operand]:
        return [one for one in self._operands if one.kind == Kind.LINE]
