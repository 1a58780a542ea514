"""Formulations in stages: tables of numbers, filled one after the other.

Where every column of a table comes from columns of earlier tables by one and the same formula (a
column a body, or a column a coordinate), a program need not write the formula down for each: it
runs it in a loop, over several columns at once. The same holds for sums along a tree, and for a
matrix whose entries are products of a row's numbers with a column's. So a formulation that works
on tables says which of its steps are alike, and remains one formulation: `Stages.inlined` writes
everything out.

Where some inputs are known early and others come late, `split_by_time` makes two functions of one.
What depends on the early ones alone is computed once, and kept for whatever comes late: the binding
times of Jones, Gomard, Sestoft, *Partial Evaluation and Automatic Program Generation* (1993).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from .elimination import Elimination

Mask = NDArray[np.bool_]
"""Which entries of a matrix."""

WRITTEN_OUT = 250
"""Operations up to which a function is written out wherever it is applied."""

NO_COLUMN = -1
"""No column."""


@dataclass(frozen=True)
class Chains:
    """The columns of bodies, each after another: they form chains that part where bodies do.

    before : which column every column follows, `NO_COLUMN` for none.
    bodies : the columns of every body, one after the other; bodies after those that carry them.
    """

    before: tuple[int, ...]
    bodies: tuple[range, ...]

    @staticmethod
    def of(bodies: Sequence[slice], parents: Sequence[int]) -> Chains:
        """The chains of bodies with these columns and parents, a number below 0 for none."""
        ranges = tuple(range(columns.start, columns.stop) for columns in bodies)
        before = [NO_COLUMN] * sum(len(columns) for columns in ranges)
        for columns, parent in zip(ranges, parents, strict=True):
            for k in columns:
                if k > columns.start:
                    before[k] = k - 1
                elif parent >= 0:
                    before[k] = ranges[parent].stop - 1
        return Chains(tuple(before), ranges)

    @property
    def ascending(self) -> bool:
        """Whether every column has a higher number than the one that it follows."""
        return all(before < k for k, before in enumerate(self.before))

    def whole(self, backward: bool) -> tuple[int, ...]:
        """For every column the one of its body whose sum goes over all columns of the body."""
        ends = {k: body[0] if backward else body[-1] for body in self.bodies for k in body}
        return tuple(ends[k] for k in range(len(self.before)))

    def sums(self, table: SX, backward: bool) -> list[SX]:
        """The sum for every column: over the bodies from the root to its own, or, backward, over
        its own and all that it carries. Columns of one body have the same sum."""
        columns = [table[:, k] for k in range(len(self.before))]
        order = [k for body in self.bodies for k in body]
        for k in reversed(order) if backward else order:
            before = self.before[k]
            if before != NO_COLUMN:
                target, other = (before, k) if backward else (k, before)
                columns[target] = columns[target] + columns[other]
        return [columns[k] for k in self.whole(backward)]


@dataclass(frozen=True, eq=False)
class StageTable:
    """Numbers filled at one stage and read at later ones.

    symbols : (rows, columns); structural zeros are never read.
    widths : number of columns of each of the matrices side by side.
    """

    symbols: SX
    widths: tuple[int, ...]

    def __getitem__(self, rows: slice) -> StageRows:
        """Some rows."""
        return StageRows(self, rows.start or 0, rows.stop or self.symbols.shape[0])


@dataclass(frozen=True, eq=False)
class StageRows:
    """Rows `start` to `stop` of a table."""

    table: StageTable
    start: int
    stop: int

    @property
    def symbols(self) -> SX:
        """Their symbols."""
        return self.table.symbols[self.start : self.stop, :]


@dataclass(frozen=True, eq=False)
class Written:
    """A table whose numbers are written down one by one."""

    table: StageTable
    expression: SX

    @property
    def length(self) -> int:
        """How many operations fill it, about."""
        return int(ca.n_nodes(self.expression)) if self.expression.numel() else 0

    @property
    def values(self) -> SX:
        """The table as an expression of earlier ones."""
        return self.expression


@dataclass(frozen=True, eq=False)
class Mapped:
    """A table whose columns are those of earlier tables under a formula."""

    table: StageTable
    formula: ca.Function
    arguments: tuple[StageTable, ...]

    @property
    def length(self) -> int:
        """How many operations fill it, about."""
        return int(self.formula.n_instructions()) * self.table.symbols.shape[1]

    @property
    def values(self) -> SX:
        """The table as an expression of earlier ones."""
        columns = []
        for k in range(self.table.symbols.shape[1]):
            columns.append(self.formula(*(one.symbols[:, k] for one in self.arguments)))
        return ca.horzcat(*columns)


@dataclass(frozen=True, eq=False)
class Summed:
    """A table of sums of an earlier one's columns along a tree; see `Chains.sums`."""

    table: StageTable
    source: StageTable
    chains: Chains
    backward: bool

    @property
    def length(self) -> int:
        """How many operations fill it, about."""
        return int(self.table.symbols.numel())

    @property
    def values(self) -> SX:
        """The table as an expression of earlier ones."""
        return ca.horzcat(*self.chains.sums(self.source.symbols, self.backward))


@dataclass(frozen=True, eq=False)
class StageProduct:
    """left^T right, (rows, columns), where `where` is true; zero elsewhere."""

    left: StageRows
    right: StageRows
    where: Mask

    @property
    def values(self) -> SX:
        """The matrix (rows, columns)."""
        left, right = self.left.symbols, self.right.symbols
        matrix = SX(*self.where.shape)
        for i, j in zip(*self.where.nonzero(), strict=True):
            matrix[int(i), int(j)] = ca.dot(left[:, int(i)], right[:, int(j)])
        return matrix


@dataclass(frozen=True, eq=False)
class Multiplied:
    """Matrices side by side; each is a sum of products."""

    table: StageTable
    sums: tuple[tuple[StageProduct, ...], ...]

    @property
    def length(self) -> int:
        """How many operations fill it, about."""
        products = [product for one in self.sums for product in one]
        return sum(2 * (one.left.stop - one.left.start) * int(one.where.sum()) for one in products)

    @property
    def values(self) -> SX:
        """The table as an expression of earlier ones."""
        return ca.horzcat(*(_sum([product.values for product in one]) for one in self.sums))


def _sum(matrices: list[SX]) -> SX:
    first, *others = matrices
    for other in others:
        first = first + other
    return first


@dataclass(frozen=True, eq=False)
class Factored:
    """A table (n, n) of the factors of -H: L, and 1 / D on the diagonal; `matrix` has the lower
    triangle of H, and is used up.

    elimination : of -H, in symbols of the table.
    """

    table: StageTable
    matrix: StageTable
    elimination: Elimination

    @property
    def length(self) -> int:
        """How many operations fill it, about."""
        return sum(len(row) * (len(row) + 2) for row in self.elimination.columns)

    @property
    def values(self) -> SX:
        """The table as an expression of earlier ones."""
        return Elimination.of(self.matrix.symbols).negated().triangle


Stage = Written | Mapped | Summed | Multiplied | Factored


class Stages:
    """The stages of one formulation, in the order in which it asks for them."""

    def __init__(self) -> None:
        self.listed: list[Stage] = []

    def written(self, expression: SX) -> StageTable:
        """A table of an expression of inputs and earlier tables."""
        expression = ca.densify(expression)
        table = self._table(expression.sparsity(), (expression.shape[1],))
        self.listed.append(Written(table, expression))
        return table

    def mapped(self, formula: Callable[..., SX], *arguments: StageTable) -> StageTable:
        """A table: `formula`, of one column (rows, 1) of each argument, applied to all columns."""
        (count,) = {table.symbols.shape[1] for table in arguments}
        columns = [SX.sym("column", table.symbols.shape[0]) for table in arguments]
        function = ca.Function("formula", columns, [ca.densify(formula(*columns))], {"cse": True})
        rows = function.size1_out(0)
        table = self._table(ca.Sparsity.dense(rows, count), (count,))
        self.listed.append(Mapped(table, function, arguments))
        return table

    def summed(self, source: StageTable, chains: Chains, backward: bool) -> StageTable:
        """A table of sums along a tree; see `Chains.sums`."""
        rows, columns = source.symbols.shape
        table = self._table(ca.Sparsity.dense(rows, columns), (columns,))
        self.listed.append(Summed(table, source, chains, backward))
        return table

    def multiplied(self, *sums: Sequence[StageProduct]) -> StageTable:
        """A table of sums of products, side by side."""
        wanted = [np.logical_or.reduce([product.where for product in one]) for one in sums]
        whole = np.hstack(wanted)
        rows, columns = (places.tolist() for places in whole.nonzero())
        height, width = whole.shape
        sparsity = ca.Sparsity.triplet(height, width, rows, columns)
        table = self._table(sparsity, tuple(one.shape[1] for one in wanted))
        self.listed.append(Multiplied(table, tuple(tuple(one) for one in sums)))
        return table

    def factored(self, matrix: StageTable) -> tuple[Elimination, StageTable]:
        """The elimination of -H, and the table of its factors; `matrix` is used up."""
        whole = Elimination.of(matrix.symbols)
        table = self._table(whole.triangle.sparsity(), matrix.widths)
        elimination = Elimination(table.symbols)
        self.listed.append(Factored(table, matrix, elimination))
        return elimination, table

    def applied(self, formula: ca.Function, arguments: Sequence[Sequence[SX]]) -> list[list[SX]]:
        """The results of a function for many arguments each; where it is long, by a table that has
        a column for each."""
        if len(arguments) < 2 or formula.n_instructions() <= WRITTEN_OUT:
            return [list(formula.call(list(given))) for given in arguments]
        results = _on_columns(formula, [one.shape for one in arguments[0]])
        table = self.mapped(results, self._columns(arguments)).symbols
        shapes = [formula.size_out(i) for i in range(formula.n_out())]
        return [_parts(table[:, k], shapes) for k in range(len(arguments))]

    def changed(
        self, start: Sequence[SX], steps: Sequence[ca.Function], arguments: Sequence[Sequence[SX]]
    ) -> list[SX]:
        """Columns (n, 1) after functions of arguments and, last, of the column itself, one after
        the other; in tables where there are several."""
        if len(start) < 2 or not steps:
            found = list(start)
            for step in steps:
                found = [step(*one, x) for one, x in zip(arguments, found, strict=True)]
            return found
        given, now = self._columns(arguments), self.written(ca.horzcat(*start))
        shapes = [one.shape for one in arguments[0]]
        for step in steps:
            now = self.mapped(_on_columns(step, shapes), given, now)
        return ca.horzsplit(now.symbols, 1)

    def column(self, result: SX) -> SX | Staged:
        """A program's result (n, 1), an expression of inputs and of tables, if there are any."""
        return Staged(self, self.written(result.T)) if self.listed else result

    def combined(self, columns: SX, weights: Sequence[Mapping[int, float]]) -> SX | Staged:
        """A program's result: sums of columns (rows, n) by the weights of every column of it."""
        places = [(j, k) for k, one in enumerate(weights) for j in one]
        if len(places) == len(weights) == columns.shape[1] and not self.listed:
            return columns
        values = [value for one in weights for value in one.values()]
        j, k = map(list, zip(*places, strict=True))
        matrix = ca.DM.triplet(j, k, ca.DM(values), columns.shape[1], len(weights))
        return Staged(self, self.written(columns), weights=matrix)

    def inlined(self, expressions: Sequence[SX]) -> list[SX]:
        """Expressions of tables as expressions of inputs."""
        symbols, values = [], []
        for stage in self.listed:
            sparsity = stage.table.symbols.sparsity()
            symbols.append(nonzeros(stage.table.symbols))
            values.append(nonzeros(ca.project(stage.values, sparsity)))
        found = resolved(symbols, values)
        return ca.substitute(list(expressions), symbols, found) if symbols else []

    def _columns(self, arguments: Sequence[Sequence[SX]]) -> StageTable:
        return self.written(ca.horzcat(*(ca.vertcat(*map(ca.vec, one)) for one in arguments)))

    def _table(self, sparsity: ca.Sparsity, widths: tuple[int, ...]) -> StageTable:
        return StageTable(SX.sym(f"table{len(self.listed)}", sparsity), widths)


def resolved(symbols: Sequence[SX], values: Sequence[SX]) -> list[SX]:
    """Values of symbols, each of which may have those before it, without these symbols.

    CasADi's `substitute_inplace` would be that, but it leaves the calls of tables out.
    """
    found: list[SX] = []
    for k, value in enumerate(values):
        found += ca.substitute([value], list(symbols[:k]), found) if k else [value]
    return found


def _on_columns(formula: ca.Function, shapes: Sequence[tuple[int, int]]) -> Callable[..., SX]:
    """A formula of a column of all arguments of these shapes, and perhaps another column."""

    def results(column: SX, *more: SX) -> SX:
        return ca.vertcat(*map(ca.vec, formula.call([*_parts(column, shapes), *more])))

    return results


def _parts(column: SX, shapes: Sequence[tuple[int, int]]) -> list[SX]:
    """Matrices whose numbers stand one after the other in a column."""
    ends = accumulate((rows * columns for rows, columns in shapes), initial=0)
    return [
        ca.reshape(column[start : start + rows * columns], rows, columns)
        for start, (rows, columns) in zip(ends, shapes, strict=False)
    ]


def nonzeros(matrix: SX) -> SX:
    """The numbers of a matrix that are not zero by structure, column by column (n, 1)."""
    column: SX = matrix.nz[:]
    return column


@dataclass(frozen=True, eq=False)
class Staged:
    """Stages and the result of the last: a table, x of the equations H x = table, or combinations
    of the table's columns.

    elimination : of H. factors : the table (n, n) of its factors.
    weights : (columns, m) of these combinations, known beforehand; most are zero by structure.
    """

    stages: Stages
    right: StageTable
    elimination: Elimination | None = None
    factors: StageTable | None = None
    weights: ca.DM | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        rows, columns = self.right.symbols.shape
        return rows, columns if self.weights is None else self.weights.shape[1]

    @property
    def length(self) -> int:
        """How many operations lead to the result, about."""
        combined = 0 if self.weights is None else 2 * self.weights.nnz() * self.shape[0]
        return combined + sum(stage.length for stage in self.stages.listed)

    @property
    def solved(self) -> SX:
        """The result as one expression of inputs."""
        result = self.right.symbols
        if self.elimination is not None:
            result = self.elimination.solve(result)
        if self.weights is not None:
            result = result @ self.weights
        return self.stages.inlined([result])[0]


@dataclass(frozen=True, eq=False)
class _Value:
    """Result of an operation; `late` where it depends on late inputs."""

    expression: SX
    late: bool


def split_by_time(early: SX, late: SX, result: SX) -> tuple[SX, ca.Function]:
    """An expression (n, 1) of symbols, in two steps.

    Returns
    -------
    What is to be kept (k, 1), an expression of `early` alone; and the function of that and of
    `late` whose value is the result.
    """
    whole = ca.Function("whole", [early, late], [ca.densify(result)], {"cse": True})
    given = SX.sym("early", early.shape[0]), SX.sym("late", late.shape[0])
    made: dict[int, _Value] = {}  # by element of CasADi's memory
    kept: dict[_Value, SX] = {}
    found = SX.zeros(*result.shape)

    def at_last(value: _Value) -> SX:
        """The value as an expression of what is kept and of late inputs."""
        if value.late or value.expression.is_constant():
            return value.expression
        return kept.setdefault(value, SX.sym("kept"))

    for k in range(whole.n_instructions()):
        code, reads = whole.instruction_id(k), whole.instruction_input(k)
        if code == ca.OP_OUTPUT:
            found[whole.instruction_output(k)[1]] = at_last(made[reads[0]])
            continue
        if code == ca.OP_CONST:
            value = _Value(SX(whole.instruction_constant(k)), False)
        elif code == ca.OP_INPUT:
            value = _Value(given[reads[0]][reads[1]], bool(reads[0]))
        else:
            operands = [made[one] for one in reads]
            after = any(one.late for one in operands)
            parts = [at_last(one) if after else one.expression for one in operands]
            apply = SX.unary if len(parts) == 1 else SX.binary
            value = _Value(apply(code, *parts), after)
        made[whole.instruction_output(k)[0]] = value
    first = ca.vertcat(SX(0, 1), *(value.expression for value in kept))
    symbols = ca.vertcat(SX(0, 1), *kept.values())
    return ca.substitute(first, given[0], early), ca.Function("last", [symbols, given[1]], [found])
