"""C of a whole program: a function `name(arg, res)`, and one for every step that it takes."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir import (
    Block,
    Code,
    Constant,
    Factor,
    Lane,
    Map,
    Product,
    Put,
    Solve,
    Step,
    Sum,
    Table,
)
from .blocks import block_text
from .factors import factor_lines
from .lines import Places
from .products import FUNCTIONS, ProductPrinter
from .row_loops import factor_loops, solution_loops
from .solutions import solution_lines
from .sums import SHUFFLE, sum_text
from .tables import LAYOUT, blocks, places, size, storage

RESULT = """  for (size_t r = 0; r < {rows}; ++r) {{
{puts}  }}
"""

PUT = """    {{
      enum {{ COUNT = BLOCKS{n}({width}), REST = {width} - (COUNT - 1) * WIDTH{n} }};
      const realv* x = (const realv*){table} + {start} + r;
      real{n}* out = res[0] + r * {columns} + {before};
      for (size_t b = 0; b < COUNT - 1; ++b) put{n}(out + b * WIDTH{n}, x[b * {height}], WIDTH{n});
      put{n}(out + (COUNT - 1) * WIDTH{n}, x[(COUNT - 1) * {height}], REST);
    }}
"""


def code_text(code: Code, name: str) -> str:
    """The C functions."""
    if len(code.steps) == 1 and isinstance(code.steps[0], Block):
        return block_text(code.steps[0], name)
    return _StepsPrinter(code, name).text()


class _StepsPrinter:
    """The C of a program of several steps over tables."""

    def __init__(self, code: Code, name: str) -> None:
        self._code, self._name, self._lane = code, name, code.lane
        self._functions = [LAYOUT, SHUFFLE, FUNCTIONS]
        self._body: list[str] = []
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
        elif isinstance(step, Block):
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
        else:
            self._write_result(step)

    def _function(self, kind: str) -> str:
        """A name for the next function."""
        return f"{self._name}_{kind}{len(self._functions)}"

    # ---- tables ---------------------------------------------------------------------------

    def _declare(self, table: Table) -> str:
        lane = self._lane
        name = self._names[table] = table.name
        room = size(table, lane)
        if solve := self._solves.get(table):
            if solve.unrolled:
                self._functions.append(solution_lines(solve.elimination, table, self._solver))
            else:
                self._functions.append(solution_loops(solve.elimination, table, self._solver, lane))
                parts = f"{self._solver}_PARTS * {self._solver}_PART"
                room = f"{parts} * {table.rows} * WIDTH{lane}"
        kind = f"{storage(table.height * max(table.widths))}{lane.real}"
        self._body.append(f"  {kind} {name}[{room}] __attribute__((aligned(64)));\n")
        return name

    @property
    def _solver(self) -> str:
        return f"{self._name}_solve"

    def _clear(self, table: Table) -> None:
        """Fill the last block up: what a vector computes of chance numbers can be slow."""
        if self._lane is Lane.SINGLE and table.widths[0]:
            (width,), rows = table.widths, table.rows
            start = f"PLACE1({rows}, 0, (BLOCKS1({width}) - 1) * LANES)"
            self._body.append(
                f"  if ({width} % LANES) memset({self._names[table]} + {start}, 0, "
                f"sizeof(double[{rows}][LANES]));\n"
            )

    def _column(self, table: Table, kind: str) -> str:
        return f"({kind}*){self._names[table]} + b * {table.rows}"

    # ---- steps ----------------------------------------------------------------------------

    def _write_constants(self, step: Constant) -> None:
        lane, table = self._lane, step.table
        name = self._names[table] = f"{self._name}_{table.name}"
        listed = ", ".join(
            f"[{place}] = ONCE{lane}({value!r})"
            for place, value in zip(places(table, lane), step.values, strict=True)
        )
        self._functions.append(
            f"static const {lane.real} {name}[{size(table, lane)}] __attribute__((aligned(64))) = "
            f"{{{listed}}};\n"
        )

    def _write_block(self, step: Block) -> None:
        name, lane = self._function("lines"), self._lane
        reads, writes = ([array.table for array in side] for side in (step.reads, step.writes))
        where: Places = {
            (side, i): places(table, lane)
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
            name = self._function("formula")
            self._functions.append(block_text(block, name))
            for array in block.writes:
                self._declare(array.table)
            arg = [self._column(array.table, "const realv") for array in block.reads]
            res = [self._column(array.table, "realv") for array in block.writes]
            calls.append(self._call(name, block.lane, arg, res))
        head = f"  for (int b = 0; b < BLOCKS{self._lane}({step.columns}); ++b) {{\n"
        self._body += [head, *calls, "  }\n"]

    def _write_sums(self, step: Sum) -> None:
        name = self._function("sums")
        self._functions.append(sum_text(step, name, self._lane))
        given = f"(const realv*){self._names[step.source]}"
        self._body.append(f"  {name}({given}, (realv*){self._declare(step.table)});\n")

    def _write_products(self, step: Product) -> None:
        if step.table not in self._names:
            self._declare(step.table)
        printer = ProductPrinter(step, self._function("products"), self._lane)
        self._functions.append(printer.text())
        self._body.append(printer.call(self._names))

    def _write_factors(self, step: Factor) -> None:
        name = self._function("factors")
        if step.unrolled:
            self._functions.append(factor_lines(step.elimination, name))
        else:
            self._functions.append(factor_loops(step.elimination, name, self._lane))
        self._names[step.table] = self._names.pop(step.matrix)
        self._body.append(f"  {name}((realv*){self._names[step.table]});\n")

    def _write_solution(self, step: Solve) -> None:
        if not step.unrolled:
            self._fill_up(step.table)
        table, factors = self._names[step.table], self._names[step.factors]
        self._body.append(f"  {self._solver}((realv*){table}, {factors});\n")

    def _write_result(self, step: Put) -> None:
        """The table's blocks into the rows of the result."""
        table, lane = step.table, self._lane
        puts = "".join(
            PUT.format(
                n=lane,
                columns=table.columns,
                width=width,
                before=sum(table.widths[:matrix]),
                table=self._names[table],
                height=table.height,
                start=matrix * table.rows,
            )
            for matrix, width in enumerate(table.widths)
        )
        self._body.append(RESULT.format(rows=table.rows, puts=puts))

    def _fill_up(self, right: Table) -> None:
        """Zeros where narrow matrices have no blocks, and behind the last."""
        name, lane, rows = self._names[right], self._lane, right.rows
        block = f"sizeof({lane.real}) * {rows} * WIDTH{lane}"
        for matrix, width in enumerate(right.widths):
            if width < max(right.widths):
                self._body.append(
                    f"  for (size_t b = BLOCKS{lane}({width}); b < {blocks(right, lane)}; ++b)\n"
                    f"    memset({name} + (b * {right.height} + {matrix * rows}) * WIDTH{lane}, 0, "
                    f"{block});\n"
                )
        last = f"{self._solver}_VECTORS"
        self._body.append(
            f"  memset({name} + {last} * {rows} * WIDTH{lane}, 0, "
            f"({self._solver}_PARTS * {self._solver}_PART - {last}) * {block});\n"
        )
