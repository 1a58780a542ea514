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
    Combine     sums of a table's columns, each times a number known beforehand, into the same

Each step fills one table or several, which later steps read. Inside a block, line k makes value k;
it reads lines of lower numbers. Nothing is read before it is made: `verify` sees to that between
passes, `listing` shows the code to people. Nodes are never changed; a pass makes new ones.

Whether code makes sense: everything is made before it is read, once, and where it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import casadi as ca

from ..program.elimination import Elimination
from ..program.stages import Chains, Mask
from .block import TURNS, Lane, StraightBlock, Table


@dataclass(frozen=True, eq=False)
class Constant:
    """A table of numbers known beforehand, column by column."""

    table: Table
    values: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Map:
    """Blocks that run one after the other for every column of their tables."""

    columns: int
    blocks: tuple[StraightBlock, ...]


@dataclass(frozen=True, eq=False)
class Sum:
    """A table of sums of another's columns along a tree; see `Chains.sums`."""

    table: Table
    source: Table
    chains: Chains
    backward: bool


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
        """All tables that are read."""
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


@dataclass(frozen=True, eq=False)
class Combine:
    """Linear combinations of the columns of a table into the columns of the result.

    weights : (columns of the table, columns of the result), sparse.
    """

    table: Table
    result: Table
    weights: ca.DM


Step = Constant | StraightBlock | Map | Sum | Product | Factor | Solve | Put | Combine


@dataclass(frozen=True, eq=False)
class Code:
    """A whole program: steps from its inputs to its result."""

    inputs: tuple[Table, ...]
    steps: tuple[Step, ...]
    result: Table
    lane: Lane

    @property
    def blocks(self) -> Iterator[StraightBlock]:
        """All blocks, those of maps too."""
        for step in self.steps:
            if isinstance(step, Map):
                yield from step.blocks
            elif isinstance(step, StraightBlock):
                yield step

    def rewritten(self, rewrite: Callable[[StraightBlock], StraightBlock]) -> Code:
        """The program with every block rewritten."""

        def after(step: Step) -> Step:
            if isinstance(step, Map):
                return Map(step.columns, tuple(map(rewrite, step.blocks)))
            return rewrite(step) if isinstance(step, StraightBlock) else step

        return replace(self, steps=tuple(map(after, self.steps)))


class InvalidCode(AssertionError):
    """A pass left code that cannot be right; the message says which, and what is wrong."""


def verify(code: Code, stage: str) -> None:
    """Raise `InvalidCode` unless tables are filled before they are read, and values made.

    stage : the pass that made the code, for the message.
    """
    try:
        _Tables(code).check()
        for block in code.blocks:
            _check_block(block)
    except InvalidCode as error:
        raise InvalidCode(f"after pass {stage}: {error}") from None


class _Tables:
    """State of the tables of a program, step by step."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._filled: set[Table] = set(code.inputs)
        self._parts: dict[Table, set[int]] = {}
        self._used_up: set[Table] = set()

    def check(self) -> None:
        """Go through all steps."""
        for step in self._code.steps:
            self._check(step)
        if self._code.result not in self._filled:
            raise InvalidCode("no step fills the result")

    def _check(self, step: Step) -> None:
        if isinstance(step, Constant):
            if len(step.values) != int(step.table.filled.sum()):
                raise InvalidCode(f"{step.table.name} has not as many numbers as places for them")
            self._fill(step.table)
        elif isinstance(step, StraightBlock):
            self._run(step)
        elif isinstance(step, Map):
            for block in step.blocks:
                for array in (*block.reads, *block.writes):
                    if array.table.columns != step.columns:
                        raise InvalidCode(
                            f"a map over {step.columns} columns has {array.table.name} of "
                            f"{array.table.columns}"
                        )
                self._run(block)
        elif isinstance(step, Sum):
            self._read(step.source)
            self._fill(step.table)
        elif isinstance(step, Product):
            for table in step.tables:
                self._read(table)
            self._fill_part(step.table, {matrix for matrix, _ in step.matrices})
        elif isinstance(step, Factor):
            self._read(step.matrix)
            self._used_up.add(step.matrix)
            self._fill(step.table)
        elif isinstance(step, Solve):
            self._read(step.table)
            self._read(step.factors)
        else:
            self._read(step.table)
            self._fill(step.result)

    def _run(self, block: StraightBlock) -> None:
        for i in {line.place[0] for line in block.lines if line.code == ca.OP_INPUT}:
            if i >= len(block.reads):
                raise InvalidCode(f"a block of {len(block.reads)} arrays reads array {i}")
            self._read(block.reads[i].table)
        for array in block.writes:
            self._fill(array.table)

    def _read(self, table: Table) -> None:
        if table in self._used_up:
            raise InvalidCode(f"{table.name} is read, but its factors have taken its place")
        if table not in self._filled:
            raise InvalidCode(f"{table.name} is read before it is filled")

    def _fill(self, table: Table) -> None:
        if table in self._filled:
            raise InvalidCode(f"{table.name} is filled twice")
        self._filled.add(table)

    def _fill_part(self, table: Table, matrices: set[int]) -> None:
        parts = self._parts.setdefault(table, set())
        if parts & matrices:
            raise InvalidCode(f"{table.name} is filled twice")
        parts |= matrices
        if len(parts) == len(table.widths):
            self._fill(table)


def _check_block(block: StraightBlock) -> None:
    """Lines in their order, loops within it, and pieces that know what they read."""
    lines = block.lines
    made = {k for k, line in enumerate(lines) if line.code in (ca.OP_CONST, ca.OP_INPUT)}
    _run(block, block.first, made)
    for angle in block.early:
        made.update(block.turns[angle])
    _run(block, block.order, made)
    if missing := {k for k, line in enumerate(lines) if line.code == ca.OP_OUTPUT} - made:
        raise InvalidCode(f"output {lines[min(missing)].place} is never written")
    for array, element in (line.place for line in lines if line.code == ca.OP_OUTPUT):
        if block.preset and element in block.preset[array]:
            raise InvalidCode(f"output {array, element} is computed and known beforehand")
    end = 0
    for loop in block.loops:
        if loop.start < end or loop.end > len(block.computed):
            raise InvalidCode(
                f"the loop from place {loop.start} to {loop.end} meets another, or "
                f"ends after the {len(block.computed)} lines"
            )
        end = loop.end
    made_before: set[int] = set()
    for b, piece in enumerate(block.pieces):
        for i in sorted(piece.reads - piece.makes - made_before):
            if lines[i].code != ca.OP_INPUT:
                raise InvalidCode(f"piece {b} reads value {i}, which no piece before makes")
        if block.memory is not None:
            for i in sorted(piece.reads & made_before - piece.makes):
                if i not in block.memory.places:
                    raise InvalidCode(f"piece {b} reads value {i}, which has no place in memory")
        made_before |= piece.makes


def _run(block: StraightBlock, order: Iterable[int], made: set[int]) -> None:
    """Lines one after the other."""
    for k in order:
        line = block.lines[k]
        for i in line.reads:
            if i not in made:
                raise InvalidCode(f"value {k} reads value {i} before it is made")
        made.update(block.turns[line.reads[0]] if line.code in TURNS else (k,))
