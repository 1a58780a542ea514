"""Blocks: straight lines of single operations, and loops over what they do again and again.

They read and write tables of numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..program.stages import Mask


class Lane(Enum):
    """Type of a value: one number, a vector of as many as the processor takes, or one in C99."""

    SINGLE = "1"
    VECTOR = "v"
    C99 = ""

    @property
    def real(self) -> str:
        """The C type of a value."""
        return f"real{self.value}" if self.value else "double"

    def __str__(self) -> str:
        """The ending of C functions for such values."""
        return self.value


@dataclass(frozen=True, eq=False)
class Table:
    """Matrices of numbers, side by side.

    name : in C and in listings. rows : of each matrix. widths : columns of each.
    filled : (rows, all columns), False for zeros by structure, which are never read.
    plain : whether the numbers are contiguous, as inputs and results are; else they are
        in blocks of columns, see `printers.lines`.
    lower : whether only the lower triangle is ever read.
    """

    name: str
    rows: int
    widths: tuple[int, ...]
    filled: Mask
    plain: bool = False
    lower: bool = False

    @staticmethod
    def dense(name: str, rows: int, columns: int, plain: bool = True) -> Table:
        """One matrix without zeros."""
        return Table(name, rows, (columns,), np.ones((rows, columns), dtype=bool), plain)

    @property
    def table(self) -> Table:
        """The table itself; a `Column` gives the one that it is of."""
        return self

    @property
    def columns(self) -> int:
        """Columns of all matrices."""
        return sum(self.widths)

    @property
    def size(self) -> int:
        """Numbers of all matrices, zeros by structure too."""
        return self.rows * self.columns

    @property
    def height(self) -> int:
        """Rows of all matrices, as if they stood one above the other."""
        return self.rows * len(self.widths)


@dataclass(frozen=True)
class Column:
    """The column of a table that a `Map` is at: its rows one after the other."""

    table: Table

    plain = True

    @property
    def name(self) -> str:
        """In listings."""
        return f"{self.table.name}[:, b]"


Array = Table | Column
"""Memory that a block reads and writes."""



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


TURNS = (ca.OP_SIN, ca.OP_COS)


class Numbers(NamedTuple):
    """Numbers that lines take by their places: an array in C of that name."""

    name: str
    values: tuple[float, ...]


class Operation(NamedTuple):
    """One operation: its code in CasADi, the lines it reads, and what is left to say.

    place : (array, element) of an input or output. value : of a constant. called : the numbers of
        which a call takes the one at the place that it reads.
    """

    code: int
    reads: tuple[int, ...]
    place: tuple[int, int] = (0, 0)
    value: float = 0.0
    called: Numbers | None = None

    def moved(self, numbers: Sequence[int] | Mapping[int, int]) -> Operation:
        """The operation among lines that have these numbers now."""
        reads = tuple([numbers[i] for i in self.reads])
        return Operation(self.code, reads, self.place, self.value, self.called)


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a long block that becomes a C function of its own.

    lines : in order; none where it is a loop. makes, reads : values, inputs among those read.
    """

    lines: tuple[int, ...]
    makes: frozenset[int]
    reads: frozenset[int]
    loop: RolledLoop | None = None


@dataclass(frozen=True, eq=False)
class Memory:
    """The array w through which the pieces of a block hand values on.

    size : of w. sine, cosine : where those of the early angles begin.
    places : where the value of a line is. stores : by piece, the lines that it puts there; a loop
        puts others there in every pass: columns : by loop and place in the pass, the column in a
        table of a row a pass, which begins at `starts`.
    """

    size: int
    sine: int
    cosine: int
    places: dict[int, int]
    stores: tuple[tuple[int, ...], ...]
    columns: dict[RolledLoop, dict[int, int]]
    starts: dict[RolledLoop, int]

    def element(self, place: int, step: int) -> tuple[int, int] | None:
        """Where the value of a place in the order is that grows by a step a pass: the element for
        the first pass, and how far it is to the next; None if no loop puts it there."""
        loop = next((one for one in self.columns if one.start <= place < one.end), None)
        if loop is None or loop.slot(place) not in self.columns[loop]:
            return None
        return self.place(loop, place), step // loop.period * len(self.columns[loop])

    def place(self, loop: RolledLoop, place: int) -> int:
        """The element for the value of one place of a loop."""
        columns = self.columns[loop]
        passed = (place - loop.start) // loop.period
        return self.starts[loop] + passed * len(columns) + columns[loop.slot(place)]


@dataclass(frozen=True, eq=False)
class StraightBlock:
    """Straight lines; line k makes value k.

    Attributes
    ----------
    lines : all of them by number, constants among them.
    reads, writes : arrays of the inputs and outputs among the lines.
    lane : what its values are.
    preset : by array of `writes`, numbers by element that are there before; none, or one mapping
        for each array. See pass `preset`.
    order : the lines as they run, without constants and without `first`.
    early : lines that give angles whose sines and cosines are taken together at the start.
    first : lines that lead to these, which run before. See pass `angles`.
    loops : stretches of `computed` that are passes of one loop. See pass `roll`.
    pieces : C functions that it is split into; none where it is one. See pass `split`.
    memory : how these hand values on. See pass `place`.
    """

    lines: tuple[Operation, ...]
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]
    lane: Lane
    order: tuple[int, ...]
    preset: tuple[Mapping[int, float], ...] = ()
    early: tuple[int, ...] = ()
    first: tuple[int, ...] = ()
    loops: tuple[RolledLoop, ...] = ()
    pieces: tuple[Piece, ...] = ()
    memory: Memory | None = None

    @staticmethod
    def of(
        lines: tuple[Operation, ...],
        reads: tuple[Array, ...],
        writes: tuple[Array, ...],
        lane: Lane,
        preset: tuple[Mapping[int, float], ...] = (),
    ) -> StraightBlock:
        """Lines that run as they stand."""
        order = tuple(k for k, line in enumerate(lines) if line.code != ca.OP_CONST)
        return StraightBlock(lines, reads, writes, lane, order, preset)

    def with_lines(
        self,
        lines: tuple[Operation, ...],
        preset: tuple[Mapping[int, float], ...] | None = None,
    ) -> StraightBlock:
        """Other lines over the same arrays, which run as they stand."""
        kept = self.preset if preset is None else preset
        return StraightBlock.of(lines, self.reads, self.writes, self.lane, kept)

    @property
    def plain(self) -> bool:
        """Whether the elements of its arrays are contiguous."""
        return all(array.plain for array in (*self.reads, *self.writes))

    @functools.cached_property
    def turns(self) -> dict[int, tuple[int, ...]]:
        """By angle, the lines of its sine and its cosine."""
        found: dict[int, tuple[int, ...]] = {}
        for k, line in enumerate(self.lines):
            if line.code in TURNS:
                found[line.reads[0]] = (*found.get(line.reads[0], ()), k)
        return found

    @functools.cached_property
    def computed(self) -> tuple[int, ...]:
        """The order without inputs, which can be read anywhere."""
        return tuple(k for k in self.order if self.lines[k].code != ca.OP_INPUT)
