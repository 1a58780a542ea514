"""Programs of CasADi expressions, written out or in stages, in the compiler's language."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from ..program import stages
from ..program.lookup import numbers_of
from ..program.stages import (
    Factored,
    Mapped,
    Multiplied,
    Staged,
    Summed,
    Written,
    nonzeros,
    resolved,
)
from .block import Array, Column, Lane, Numbers, Operation, StraightBlock, Table
from .ir import Code, Combine, Constant, Factor, Map, Product, Put, Rows, Solve, Step, Sum, Term


def function_lines(function: ca.Function) -> tuple[Operation, ...]:
    """The operations of a function of scalars, each reading the lines that made its operands.

    A result is written as soon as it is known.
    """
    instructions = [
        (function.instruction_id(k), function.instruction_input(k), function.instruction_output(k))
        for k in range(function.n_instructions())
    ]
    called: dict[str, Numbers] = {}
    calls = any(code == ca.OP_CALL for code, *_ in instructions)
    expressions = function.instructions_sx() if calls else SX()
    made: dict[int, int] = {}  # by element of CasADi's memory
    results: dict[int, list[tuple[int, int]]] = {}
    for k, (code, reads, writes) in enumerate(instructions):
        if code == ca.OP_OUTPUT:
            results.setdefault(made[reads[0]], []).append((writes[0], writes[1]))
        else:
            made[writes[0]] = k
    lines: list[Operation] = []
    for k, (code, reads, writes) in enumerate(instructions):
        if code == ca.OP_OUTPUT:
            continue
        if code == ca.OP_INPUT:
            line = Operation(code, (), (reads[0], reads[1]))
        elif code == ca.OP_CONST:
            line = Operation(code, (), value=function.instruction_constant(k))
        else:
            line = Operation(code, tuple(map(made.__getitem__, reads)))
            if code == ca.OP_CALL:
                table = expressions[k].which_function()
                name = table.name()
                if name not in called:
                    called[name] = Numbers(name, tuple(numbers_of(table).tolist()))
                line = line._replace(called=called[name])
        made[writes[0]] = number = len(lines)
        lines.append(line)
        lines += [Operation(ca.OP_OUTPUT, (number,), place) for place in results.get(k, ())]
    return tuple(lines)


def function_code(function: ca.Function, lane: Lane) -> Code:
    """A function of scalars (SX), without calls: one block."""
    inputs = tuple(
        Table.dense(function.name_in(i), *function.size_in(i)) for i in range(function.n_in())
    )
    outputs = tuple(
        Table.dense(function.name_out(i), *function.size_out(i)) for i in range(function.n_out())
    )
    block = StraightBlock.of(function_lines(function), inputs, outputs, lane)
    return Code(inputs, (block,), outputs[0], lane)


def staged_code(staged: Staged, symbols: dict[str, SX], lane: Lane) -> Code:
    """A program in stages over these inputs."""
    return _Lowering(staged, symbols, lane).code()


class _Lowering:
    """Takes stages one by one; expressions that follow each other wait for one common block."""

    def __init__(self, staged: Staged, symbols: dict[str, SX], lane: Lane) -> None:
        self._staged, self._symbols, self._lane = staged, list(symbols.values()), lane
        self._inputs = tuple(Table.dense(name, *x.shape) for name, x in symbols.items())
        self._steps: list[Step] = []
        self._tables: dict[stages.StageTable, Table] = {}
        self._waiting: list[Written] = []
        listed = staged.stages.listed
        self._factored = {stage.matrix for stage in listed if isinstance(stage, Factored)}

    def code(self) -> Code:
        """All of it."""
        staged, right = self._staged, self._staged.right
        for stage in staged.stages.listed:
            self._add(stage)
        self._write()
        if staged.elimination is not None and staged.factors is not None:
            factors = self._tables[staged.factors]
            self._steps.append(Solve(self._tables[right], factors, staged.elimination))
        table, result = self._tables[right], Table.dense("result", *staged.shape)
        if staged.weights is None:
            self._steps.append(Put(table, result))
        else:
            self._steps.append(Combine(table, result, staged.weights))
        return Code(self._inputs, tuple(self._steps), result, self._lane)

    def _add(self, stage: stages.Stage) -> None:
        if isinstance(stage, Written):
            if stage.expression.is_constant() and stage.table is not self._staged.right:
                values = np.array(ca.DM(stage.expression)).T.ravel().tolist()
                self._steps.append(Constant(self._table(stage.table), tuple(values)))
            else:
                self._waiting.append(stage)
        elif isinstance(stage, Summed) and not stage.chains.ascending:
            self._waiting.append(Written(stage.table, stage.values))
        else:
            self._write()
            if isinstance(stage, Mapped):
                self._map(stage)
            elif isinstance(stage, Summed):
                source, table = self._tables[stage.source], self._table(stage.table)
                self._steps.append(Sum(table, source, stage.chains, stage.backward))
            elif isinstance(stage, Multiplied):
                self._multiply(stage)
            else:
                matrix = self._tables.pop(stage.matrix)
                table = self._table(stage.table, f"{matrix.name}_factors")
                self._steps.append(Factor(table, matrix, stage.elimination))

    def _table(self, table: stages.StageTable, name: str = "") -> Table:
        rows = table.symbols.shape[0]
        filled = np.array(ca.DM(table.symbols.sparsity(), 1), dtype=bool)
        name, lower = name or f"t{len(self._tables)}", table in self._factored
        self._tables[table] = made = Table(name, rows, table.widths, filled, lower=lower)
        return made

    def _write(self) -> None:
        """One block for the expressions that wait, what they share computed once."""
        if not self._waiting:
            return
        known = self._tables.copy()
        inputs = [*self._symbols, *(nonzeros(table.symbols) for table in known)]
        symbols = [nonzeros(stage.table.symbols) for stage in self._waiting]
        outputs = [nonzeros(stage.expression) for stage in self._waiting]
        outputs = resolved(symbols, outputs)
        function = ca.Function("lines", inputs, outputs, {"cse": True})
        writes = tuple(self._table(stage.table) for stage in self._waiting)
        reads = (*self._inputs, *known.values())
        self._steps.append(StraightBlock.of(function_lines(function), reads, writes, self._lane))
        self._waiting = []

    def _map(self, stage: Mapped) -> None:
        reads: tuple[Array, ...] = tuple(Column(self._tables[one]) for one in stage.arguments)
        table = self._table(stage.table)
        lines = function_lines(stage.formula)
        block = StraightBlock.of(lines, reads, (Column(table),), Lane.VECTOR)
        self._steps.append(Map(table.columns, (block,)))

    def _multiply(self, stage: Multiplied) -> None:
        """Matrices of one width together: they have the same blocks of columns."""
        table = self._table(stage.table)
        alike: dict[int, list[tuple[int, tuple[Term, ...]]]] = {}
        for matrix, products in enumerate(stage.sums):
            terms = tuple(
                Term(self._rows(one.left), self._rows(one.right), one.where) for one in products
            )
            alike.setdefault(table.widths[matrix], []).append((matrix, terms))
        self._steps += [Product(table, tuple(matrices)) for matrices in alike.values()]

    def _rows(self, rows: stages.StageRows) -> Rows:
        return Rows(self._tables[rows.table], rows.start, rows.stop)
