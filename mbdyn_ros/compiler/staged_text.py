"""C of a program in stages: tables of numbers, and loops over their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from ..program.elimination import Elimination
from ..program.stages import (
    Factored,
    Mapped,
    Multiplied,
    Product,
    Staged,
    Summed,
    Table,
    Written,
    nonzeros,
)
from .elimination_text import elimination_text, factor_text
from .factor_lines import factor_lines
from .line_text import Places
from .product_text import FUNCTIONS, ProductText, Target
from .solution_lines import solution_lines
from .straight_line import StraightLine
from .sum_text import SHUFFLE, sum_text
from .table_layout import LAYOUT, blocks, height, places, size, storage

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

FEW = 1000
"""Factors up to which an elimination is written line by line."""


class StagedText:
    """The C function `name(arg, res)` of a staged program over inputs `symbols`.

    n : "1" for numbers, "v" for vectors; see `StraightLine`.
    """

    def __init__(self, staged: Staged, symbols: Sequence[SX], name: str, n: str) -> None:
        self._staged, self._symbols, self._name, self._n = staged, list(symbols), name, n
        self._functions = [LAYOUT, SHUFFLE, FUNCTIONS]
        self._body: list[str] = []
        self._names: dict[Table, str] = {}
        self._waiting: list[Written] = []
        self._mapping: list[str] = []
        self._columns = 0

    def text(self) -> str:
        """The C functions."""
        for stage in self._staged.stages.listed:
            if isinstance(stage, Written):
                if stage.expression.is_constant() and stage.table is not self._staged.right:
                    self._write_constants(stage)
                else:
                    self._waiting.append(stage)
                continue
            if isinstance(stage, Summed) and not stage.chains.ascending:
                self._waiting.append(Written(stage.table, stage.values))
                continue
            self._write_lines()
            if isinstance(stage, Mapped):
                self._write_map(stage)
                continue
            self._write_loop()
            if isinstance(stage, Summed):
                self._write_sums(stage)
            elif isinstance(stage, Factored):
                self._write_factors(stage)
            else:
                self._write_products(stage)
        self._write_lines()
        self._write_loop()
        self._write_result()
        n, name = self._n, self._name
        head = f"static void {name}(const real{n}* const* arg, real{n}* const* res) {{\n"
        return "".join([*self._functions, head, *self._body, "}\n"])

    # ---- tables ---------------------------------------------------------------------------

    @property
    def _solver(self) -> str:
        return f"{self._name}_solve"

    def _is_short(self, elimination: Elimination) -> bool:
        """Whether it is better written line by line."""
        return self._n == "1" and elimination.triangle.nnz() <= FEW

    def _declare(self, table: Table) -> str:
        n, name = self._n, f"t{len(self._names)}"
        self._names[table] = name
        room = size(table, n)
        if table is self._staged.right and self._staged.elimination is not None:
            rows, elimination = table.symbols.shape[0], self._staged.elimination
            if self._is_short(elimination):
                self._functions.append(solution_lines(elimination, table, self._solver))
            else:
                self._functions.append(elimination_text(elimination, table, self._solver, n))
                room = f"{self._solver}_PARTS * {self._solver}_PART * {rows} * WIDTH{n}"
        kind = f"{storage(height(table) * max(table.widths))}real{n}"
        self._body.append(f"  {kind} {name}[{room}] __attribute__((aligned(64)));\n")
        return name

    def _clear(self, table: Table) -> None:
        """Fill the last block up: what a vector computes of chance numbers can be slow."""
        rows, name = table.symbols.shape[0], self._names[table]
        if self._n == "1" and table.widths[0]:
            (width,) = table.widths
            start = f"PLACE1({rows}, 0, (BLOCKS1({width}) - 1) * LANES)"
            self._body.append(
                f"  if ({width} % LANES) memset({name} + {start}, 0, "
                f"sizeof(double[{rows}][LANES]));\n"
            )

    def _block(self, table: Table, kind: str) -> str:
        return f"({kind}*){self._names[table]} + b * {table.symbols.shape[0]}"

    # ---- stages ---------------------------------------------------------------------------

    def _write_constants(self, stage: Written) -> None:
        n, table = self._n, stage.table
        name = self._names[table] = f"{self._name}_t{len(self._names)}"
        values = np.array(ca.DM(stage.expression)).T.ravel().tolist()
        listed = ", ".join(
            f"[{place}] = ONCE{n}({value!r})"
            for place, value in zip(places(table, n), values, strict=True)
        )
        self._functions.append(
            f"static const real{n} {name}[{size(table, n)}] __attribute__((aligned(64))) = "
            f"{{{listed}}};\n"
        )

    def _write_lines(self) -> None:
        """Straight lines for the tables that wait for them."""
        if not self._waiting:
            return
        self._write_loop()
        n, name = self._n, f"{self._name}_lines{len(self._functions)}"
        known = list(self._names)
        inputs = [*self._symbols, *(nonzeros(table.symbols) for table in known)]
        symbols = [nonzeros(stage.table.symbols) for stage in self._waiting]
        outputs = [nonzeros(stage.expression) for stage in self._waiting]
        outputs, _ = ca.substitute_inplace(symbols, outputs, [])
        function = ca.Function("lines", inputs, outputs, {"cse": True})
        where: Places = {
            **{("arg", k): places(table, n) for k, table in enumerate(known, len(self._symbols))},
            **{("res", k): places(stage.table, n) for k, stage in enumerate(self._waiting)},
        }
        for stage in self._waiting:
            self._declare(stage.table)
            self._clear(stage.table)
        self._functions.append(StraightLine(function, name, n, where).text())
        arg = [f"arg[{i}]" for i in range(len(self._symbols))]
        arg += [self._names[table] for table in known]
        res = [self._names[stage.table] for stage in self._waiting]
        self._body.append(self._call(name, f"real{n}", arg, res))
        self._waiting = []

    @staticmethod
    def _call(name: str, number: str, arg: Iterable[str], res: Iterable[str]) -> str:
        return (
            "  {\n"
            f"    const {number}* const in[] = {{{', '.join(arg)}}};\n"
            f"    {number}* const out[] = {{{', '.join(res)}}};\n"
            f"    {name}(in, out);\n"
            "  }\n"
        )

    def _write_map(self, stage: Mapped) -> None:
        """A formula, in one loop with those before it over as many columns."""
        (columns,) = stage.table.widths
        if columns != self._columns:
            self._write_loop()
            self._columns = columns
        name = f"{self._name}_formula{len(self._functions)}"
        self._functions.append(StraightLine(stage.formula, name, "v").text())
        self._declare(stage.table)
        arg = [self._block(table, "const realv") for table in stage.arguments]
        self._mapping.append(self._call(name, "realv", arg, [self._block(stage.table, "realv")]))

    def _write_loop(self) -> None:
        """The loop over the formulas that wait for it."""
        if self._mapping:
            head = f"  for (int b = 0; b < BLOCKS{self._n}({self._columns}); ++b) {{\n"
            self._body += [head, *self._mapping, "  }\n"]
            self._mapping = []

    def _write_sums(self, stage: Summed) -> None:
        name = f"{self._name}_sums{len(self._functions)}"
        self._functions.append(sum_text(stage, name, self._n))
        given = f"(const realv*){self._names[stage.source]}"
        self._body.append(f"  {name}({given}, (realv*){self._declare(stage.table)});\n")

    def _write_products(self, stage: Multiplied) -> None:
        """The products of a stage; those of the result go where they belong at once."""
        n, table = self._n, stage.table
        rows, _ = table.symbols.shape
        alike: dict[int, list[tuple[int, Sequence[Product]]]] = {}
        for matrix, products in enumerate(stage.sums):
            alike.setdefault(table.widths[matrix], []).append((matrix, products))
        direct = (
            table is self._staged.right and self._staged.elimination is None and len(alike) == 1
        )
        if direct:
            self._names[table] = "res[0]"
        else:
            self._declare(table)
        stages = self._staged.stages.listed
        eliminated = {one.matrix for one in stages if isinstance(one, Factored)}
        for matrices in alike.values():
            name = f"{self._name}_products{len(self._functions)}"
            target = Target(rows, table.widths, direct, lower=table in eliminated)
            written = ProductText(name, n, matrices, target)
            self._functions.append(written.text())
            self._body.append(written.call(self._names, self._names[table]))

    def _write_factors(self, stage: Factored) -> None:
        """The factors take the matrix's place."""
        name = f"{self._name}_factors{len(self._functions)}"
        if self._is_short(stage.elimination):
            self._functions.append(factor_lines(stage.elimination, name))
        else:
            self._functions.append(factor_text(stage.elimination, name, self._n))
        self._names[stage.table] = self._names.pop(stage.matrix)
        self._body.append(f"  {name}((realv*){self._names[stage.table]});\n")

    # ---- result ---------------------------------------------------------------------------

    def _write_result(self) -> None:
        """Solve, and put the tables' blocks into the rows of the result."""
        staged, n, right = self._staged, self._n, self._staged.right
        name, (rows, columns) = self._names[right], staged.shape
        if name == "res[0]":
            return
        if staged.elimination is not None and staged.factors is not None:
            if not self._is_short(staged.elimination):
                self._fill_up(right)
            self._body.append(f"  {self._solver}((realv*){name}, {self._names[staged.factors]});\n")
        puts = "".join(
            PUT.format(
                n=n,
                columns=columns,
                width=width,
                before=sum(right.widths[:matrix]),
                table=name,
                height=height(right),
                start=matrix * rows,
            )
            for matrix, width in enumerate(right.widths)
        )
        self._body.append(RESULT.format(rows=rows, puts=puts))

    def _fill_up(self, right: Table) -> None:
        """Zeros where narrow matrices have no blocks, and behind the last."""
        name, n, rows = self._names[right], self._n, right.symbols.shape[0]
        block = f"sizeof(real{n}) * {rows} * WIDTH{n}"
        for matrix, width in enumerate(right.widths):
            if width < max(right.widths):
                self._body.append(
                    f"  for (size_t b = BLOCKS{n}({width}); b < {blocks(right, n)}; ++b)\n"
                    f"    memset({name} + (b * {height(right)} + {matrix * rows}) * WIDTH{n}, 0, "
                    f"{block});\n"
                )
        last = f"{self._solver}_VECTORS"
        self._body.append(
            f"  memset({name} + {last} * {rows} * WIDTH{n}, 0, "
            f"({self._solver}_PARTS * {self._solver}_PART - {last}) * {block});\n"
        )
