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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..program.elimination import Elimination
from ..program.stages import Chains, Mask
from .block import StraightBlock
from .table import Lane, Table


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


Step = Constant | StraightBlock | Map | Sum | Product | Factor | Solve | Put


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
