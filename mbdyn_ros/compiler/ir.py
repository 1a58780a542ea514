"""The compiler's language: what a program does, in a few kinds of steps over tables of numbers.

`from_casadi` puts a program of robotics into it, `passes` rewrite it one by one, and `printers`
write as C what is decided then. A `Code` is a whole program; its steps are

    Constant    a table of numbers known beforehand
    Block       straight lines, one operation each; stretches of them may become loops
    Map         blocks, run for every column of tables
    Sum         sums of the columns of a table along a tree
    Product     matrices whose entries are sums of products of rows with columns
    Factor      the factors of a symmetric matrix, in its place
    Solve       the solution of equations with these factors, in the place of their right side
    Put         a table into the rows of the result

Each step fills one table or several, which later steps read. Inside a block, line k makes value k;
it reads lines of lower numbers. Nothing is read before it is made: `verify` sees to that between
passes, `listing` shows the code to people. Nodes are never changed; a pass makes new ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..program.chains import Chains
from ..program.elimination import Elimination
from ..program.stages import Mask
from .loop import Loop

TURNS = (ca.OP_SIN, ca.OP_COS)


class Lane(Enum):
    """What a value is: one number, a vector of as many as the processor takes, or one in C99."""

    SINGLE = "1"
    VECTOR = "v"
    C99 = ""

    @property
    def real(self) -> str:
        """The C type of a value."""
        return f"real{self.value}" if self.value else "double"

    def __str__(self) -> str:
        """What names of C functions for such values end in."""
        return self.value


@dataclass(frozen=True, eq=False)
class Table:
    """Matrices of numbers, side by side.

    name : in C and in listings. rows : of each matrix. widths : columns of each.
    filled : (rows, all columns), False for zeros by structure, which are never read.
    plain : whether the numbers stand one after the other, as inputs and results do; else they stand
        in blocks of columns, see `printers.tables`.
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
        """Itself, as that of a `Column` is the whole table."""
        return self

    @property
    def columns(self) -> int:
        """Of all matrices."""
        return sum(self.widths)

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
"""What a block reads and writes."""


class Line(NamedTuple):
    """One operation: its code in CasADi, the lines it reads, and what is left to say.

    place : (array, element) of an input or output. value : of a constant.
    """

    code: int
    reads: tuple[int, ...]
    place: tuple[int, int] = (0, 0)
    value: float = 0.0


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of a long block that becomes a C function of its own.

    lines : in order; none where it is a loop. makes, reads : values, inputs among those read.
    """

    lines: tuple[int, ...]
    makes: frozenset[int]
    reads: frozenset[int]
    loop: Loop | None = None


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
    columns: dict[Loop, dict[int, int]]
    starts: dict[Loop, int]

    def element(self, place: int, step: int) -> tuple[int, int] | None:
        """Where the value of a place in the order is that grows by a step a pass: the element for
        the first pass, and how far it is to the next; None if no loop puts it there."""
        loop = next((one for one in self.columns if one.start <= place < one.end), None)
        if loop is None or loop.slot(place) not in self.columns[loop]:
            return None
        return self.place(loop, place), step // loop.period * len(self.columns[loop])

    def place(self, loop: Loop, place: int) -> int:
        """The element for the value of one place of a loop."""
        columns = self.columns[loop]
        passed = (place - loop.start) // loop.period
        return self.starts[loop] + passed * len(columns) + columns[loop.slot(place)]


@dataclass(frozen=True, eq=False)
class Block:
    """Straight lines; line k makes value k.

    Attributes
    ----------
    lines : all of them by number, constants among them.
    reads, writes : arrays of the inputs and outputs among the lines.
    lane : what its values are.
    order : the lines as they run, without constants and without `first`.
    early : lines that give angles whose sines and cosines are taken together at the start.
    first : lines that lead to these, which run before. See pass `angles`.
    loops : stretches of `computed` that are passes of one loop. See pass `roll`.
    pieces : C functions that it is split into; none where it is one. See pass `split`.
    memory : how these hand values on. See pass `place`.
    """

    lines: tuple[Line, ...]
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]
    lane: Lane
    order: tuple[int, ...]
    early: tuple[int, ...] = ()
    first: tuple[int, ...] = ()
    loops: tuple[Loop, ...] = ()
    pieces: tuple[Piece, ...] = ()
    memory: Memory | None = None

    @staticmethod
    def of(
        lines: tuple[Line, ...], reads: tuple[Array, ...], writes: tuple[Array, ...], lane: Lane
    ) -> Block:
        """Lines that run as they stand."""
        order = tuple(k for k, line in enumerate(lines) if line.code != ca.OP_CONST)
        return Block(lines, reads, writes, lane, order)

    @property
    def plain(self) -> bool:
        """Whether elements of its arrays stand one after the other."""
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


@dataclass(frozen=True, eq=False)
class Constant:
    """A table of numbers known beforehand, column by column."""

    table: Table
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Map:
    """Blocks that run one after the other for every column of their tables."""

    columns: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Sum:
    """A table of sums of another's columns along a tree; see `Chains.sums`."""

    table: Table
    source: Table
    chains: Chains
    inward: bool


@dataclass(frozen=True)
class Rows:
    """Rows `start` to `stop` of a table."""

    table: Table
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Term:
    """left^T right, where `where` is true; zero elsewhere."""

    left: Rows
    right: Rows
    where: Mask


@dataclass(frozen=True, eq=False)
class Product:
    """Matrices of a table, of equal width; each is a sum of products.

    matrices : (which of the table's, its terms) each.
    """

    table: Table
    matrices: tuple[tuple[int, tuple[Term, ...]], ...]

    @property
    def tables(self) -> set[Table]:
        """Those that are read."""
        terms = [term for _, listed in self.matrices for term in listed]
        return {rows.table for term in terms for rows in (term.left, term.right)}


@dataclass(frozen=True, eq=False)
class Factor:
    """The factors of -H, rows of L and 1 / D on the diagonal; they take the place of H, `matrix`.

    unrolled : whether line by line; else by loops over lists of rows.
    """

    table: Table
    matrix: Table
    elimination: Elimination
    unrolled: bool = False


@dataclass(frozen=True, eq=False)
class Solve:
    """x of H x = table in the table's place, `factors` being those of H."""

    table: Table
    factors: Table
    elimination: Elimination
    unrolled: bool = False


@dataclass(frozen=True, eq=False)
class Put:
    """A table into the rows of the result."""

    table: Table
    result: Table


Step = Constant | Block | Map | Sum | Product | Factor | Solve | Put


@dataclass(frozen=True, eq=False)
class Code:
    """A whole program: steps from its inputs to its result."""

    inputs: tuple[Table, ...]
    steps: tuple[Step, ...]
    result: Table
    lane: Lane

    @property
    def blocks(self) -> Iterator[Block]:
        """All blocks, those of maps too."""
        for step in self.steps:
            if isinstance(step, Map):
                yield from step.blocks
            elif isinstance(step, Block):
                yield step

    def rewritten(self, rewrite: Callable[[Block], Block]) -> Code:
        """The same with every block rewritten."""

        def after(step: Step) -> Step:
            if isinstance(step, Map):
                return Map(step.columns, tuple(map(rewrite, step.blocks)))
            return rewrite(step) if isinstance(step, Block) else step

        return replace(self, steps=tuple(map(after, self.steps)))
