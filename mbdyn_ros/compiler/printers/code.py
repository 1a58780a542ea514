"""C of a whole program: a function `name(arg, res)`, and one for every step that it takes."""

from __future__ import annotations

from collections.abc import Iterable

from ..block import Lane, StraightBlock, Table
from ..ir import Code, Combine, Constant, Factor, Map, Product, Put, Solve, Step, Sum
from .blocks import block_text
from .combinations import combinations_text
from .lines import Places, TableLayout, storage
from .operations import number, numbers_text
from .products import ProductPrinter, sum_text
from .solutions import factor_lines, factor_loops, parts, solution_lines, solution_loops

TABLES = '#include "tables.h"\n'

RESULT = """  for (size_t r = 0; r < {rows}; ++r) {{
{puts}  }}
"""

PUT = """    {{
      const realv* x = (const realv*){table} + {start} + r;
      real{n}* out = res[0] + r * {columns} + {before};
      for (size_t b = 0; b < {last}; ++b) put{n}(out + b * {step}, x[b * {height}], {step});
      put{n}(out + {last} * {step}, x[{last} * {height}], {rest});
    }}
"""


def code_text(code: Code, name: str, lanes: int) -> str:
    """The C functions, for vectors of that number of lanes."""
    every = (line.called for block in code.blocks for line in block.lines)
    called = {one.name: one for one in every if one}
    numbers = "".join(map(numbers_text, called.values()))
    if len(code.steps) == 1 and isinstance(code.steps[0], StraightBlock):
        return numbers + block_text(code.steps[0], name)
    return numbers + _StepsPrinter(code, name, lanes).text()


class _StepsPrinter:
    """The C of a program of several steps over tables."""

    def __init__(self, code: Code, name: str, lanes: int) -> None:
        self._code, self._name, self._lane = code, name, code.lane
        self._layout = TableLayout(code.lane, lanes)
        self._functions = [TABLES]
        self._body: list[str] = []
        self._formulas: dict[str, str] = {}
        self._names = {table: f"arg[{i}]" for i, table in enumerate(code.inputs)}
        self._names[code.result] = "res[0]"
        self._solves = {step.table: step for step in code.steps if isinstance(step, Solve)}

    def text(self) -> str:
        """The C functions."""
        for step in self._code.steps:
            self._write(step)
        real = self._lane.real
        head = f"static void {self._name}(const {real}* const* arg, {real}* const* res) {{\n"
        return "".join([*self._functions, head, *self._body, "}\n"])

    def _write(self, step: Step) -> None:
        if isinstance(step, Constant):
            self._write_constants(step)
        elif isinstance(step, StraightBlock):
            self._write_block(step)
        elif isinstance(step, Map):
            self._write_map(step)
        elif isinstance(step, Sum):
            self._write_sums(step)
        elif isinstance(step, Product):
            self._write_products(step)
        elif isinstance(step, Factor):
            self._write_factors(step)
        elif isinstance(step, Solve):
            self._write_solution(step)
        elif isinstance(step, Combine):
            self._write_combinations(step)
        else:
            self._write_result(step)

    def _function(self, kind: str) -> str:
        """A name for the next function."""
        return f"{self._name}_{kind}{len(self._functions)}"

    # ---- tables ---------------------------------------------------------------------------

    def _declare(self, table: Table) -> str:
        layout, name = self._layout, table.name
        self._names[table] = name
        room = layout.size(table)
        if (solve := self._solves.get(table)) and not solve.unrolled:
            count, part = parts(table, layout)
            room = count * part * table.rows * layout.width
        kind = f"{storage(table.height * max(table.widths))}{self._lane.real}"
        self._body.append(f"  {kind} {name}[{room}] __attribute__((aligned(64)));\n")
        return name

    def _clear(self, table: Table) -> None:
        """Fill the last block up: what a vector computes of chance numbers can be slow."""
        (width,), layout = table.widths, self._layout
        if width % layout.width:
            block = table.rows * layout.width
            start = (layout.blocks(width) - 1) * block
            self._body.append(
                f"  memset({self._names[table]} + {start}, 0, sizeof(double[{block}]));\n"
            )

    def _column(self, table: Table, kind: str) -> str:
        return f"({kind}*){self._names[table]} + b * {table.rows}"

    # ---- steps ----------------------------------------------------------------------------

    def _write_constants(self, step: Constant) -> None:
        layout, table = self._layout, step.table
        name = self._names[table] = f"{self._name}_{table.name}"
        values = [number(value) for value in step.values]
        if self._lane is Lane.VECTOR:
            values = [f"{{{', '.join([value] * layout.lanes)}}}" for value in values]
        listed = ", ".join(
            f"[{place}] = {value}"
            for place, value in zip(layout.places(table), values, strict=True)
        )
        self._functions.append(
            f"static const {self._lane.real} {name}[{layout.size(table)}] "
            f"__attribute__((aligned(64))) = {{{listed}}};\n"
        )

    def _write_block(self, step: StraightBlock) -> None:
        name, lane = self._function("lines"), self._lane
        reads, writes = ([array.table for array in side] for side in (step.reads, step.writes))
        where: Places = {
            (side, i): list(map(str, self._layout.places(table)))
            for side, tables in (("arg", reads), ("res", writes))
            for i, table in enumerate(tables)
            if not table.plain
        }
        for table in writes:
            self._declare(table)
            self._clear(table)
        self._functions.append(block_text(step, name, where))
        arg, res = ([self._names[table] for table in tables] for tables in (reads, writes))
        self._body.append(self._call(name, lane, arg, res))

    @staticmethod
    def _call(name: str, lane: Lane, arg: Iterable[str], res: Iterable[str]) -> str:
        return (
            "  {\n"
            f"    const {lane.real}* const in[] = {{{', '.join(arg)}}};\n"
            f"    {lane.real}* const out[] = {{{', '.join(res)}}};\n"
            f"    {name}(in, out);\n"
            "  }\n"
        )

    def _write_map(self, step: Map) -> None:
        """A loop over blocks of columns."""
        calls = []
        for block in step.blocks:
            name = self._formula(block)
            for array in block.writes:
                self._declare(array.table)
            arg = [self._column(array.table, "const realv") for array in block.reads]
            res = [self._column(array.table, "realv") for array in block.writes]
            calls.append(self._call(name, block.lane, arg, res))
        head = f"  for (int b = 0; b < {self._layout.blocks(step.columns)}; ++b) {{\n"
        self._body += [head, *calls, "  }\n"]

    def _formula(self, block: StraightBlock) -> str:
        """The name of the function of a map's block; one for those that do the same."""
        text = block_text(block, "formula")
        if text not in self._formulas:
            self._formulas[text] = name = self._function("formula")
            self._functions.append(block_text(block, name))
        return self._formulas[text]

    def _write_sums(self, step: Sum) -> None:
        name = self._function("sums")
        self._functions.append(sum_text(step, name, self._layout))
        given = f"(const realv*){self._names[step.source]}"
        self._body.append(f"  {name}({given}, (realv*){self._declare(step.table)});\n")

    def _write_products(self, step: Product) -> None:
        if step.table not in self._names:
            self._declare(step.table)
        printer = ProductPrinter(step, self._function("products"), self._layout)
        self._functions.append(printer.text())
        self._body.append(printer.call(self._names))

    def _write_factors(self, step: Factor) -> None:
        name = self._function("factors")
        if step.unrolled:
            self._functions.append(factor_lines(step.elimination, name, self._layout))
        else:
            self._functions.append(factor_loops(step.elimination, name, self._layout))
        self._names[step.table] = self._names.pop(step.matrix)
        self._body.append(f"  {name}((realv*){self._names[step.table]});\n")

    def _write_solution(self, step: Solve) -> None:
        name, solution = self._function("solve"), solution_lines
        if not step.unrolled:
            self._fill_up(step.table)
            solution = solution_loops
        self._functions.append(solution(step.elimination, step.table, name, self._layout))
        table, factors = self._names[step.table], self._names[step.factors]
        self._body.append(f"  {name}((realv*){table}, {factors});\n")

    def _write_combinations(self, step: Combine) -> None:
        name = self._function("combinations")
        self._functions.append(combinations_text(step, name, self._layout))
        self._body.append(f"  {name}({self._names[step.table]}, res[0]);\n")

    def _write_result(self, step: Put) -> None:
        """The table's blocks into the rows of the result."""
        table, layout = step.table, self._layout
        puts = "".join(
            PUT.format(
                n=self._lane,
                step=layout.width,
                last=layout.blocks(width) - 1,
                rest=width - (layout.blocks(width) - 1) * layout.width,
                columns=table.columns,
                before=sum(table.widths[:matrix]),
                table=self._names[table],
                height=table.height,
                start=matrix * table.rows,
            )
            for matrix, width in enumerate(table.widths)
        )
        self._body.append(RESULT.format(rows=table.rows, puts=puts))

    def _fill_up(self, right: Table) -> None:
        """Zeros where narrow matrices have no blocks, and after the last."""
        name, layout = self._names[right], self._layout
        block = right.rows * layout.width
        whole, (count, part) = layout.blocks(max(right.widths)), parts(right, layout)
        empty = [
            b * len(right.widths) + matrix
            for matrix, width in enumerate(right.widths)
            for b in range(layout.blocks(width), whole)
        ]
        for b in [*empty, *range(whole * len(right.widths), count * part)]:
            self._body.append(
                f"  memset({name} + {b * block}, 0, sizeof({self._lane.real}[{block}]));\n"
            )
