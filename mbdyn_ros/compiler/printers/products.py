"""C of matrices, side by side, that are sums of products of which only some entries are wanted.

C of sums along a tree over the columns of a table, whose numbers ascend along it.

Where a vector lies along the columns, numbers go from column to column inside a block and between
blocks: a step adds to the lanes of one block lanes of another, or of the same. A chain inside a
block takes a step for every doubling of its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...program.stages import NO_COLUMN, Chains, Mask
from ..block import Lane, Table
from ..ir import Product, Sum, Term
from .lines import TableLayout, whole_numbers

ALONG_COLUMNS = """
static void {name}(const realv* restrict from, realv* restrict to) {{
  const realv none = allv(0.);
  for (size_t r = 0; r < {rows}; ++r) {{
{loads}{steps}{stores}  }}
}}
"""

ACROSS_COLUMNS = """
static void {name}(const realv* restrict from, realv* restrict to) {{
  static const int before[] = {{{before}}}, whole[] = {{{whole}}};
  memcpy(to, from, sizeof(realv[{columns}][{rows}]));
  for (int k = {first}; k != {last}; k += {step}) {{
    if (before[k] < 0) continue;
    realv* sum = to + {target} * {rows};
    for (int r = 0; r < {rows}; ++r) sum[r] += to[{other} * {rows} + r];
  }}
  for (int k = 0; k < {columns}; ++k) {{
    if (whole[k] != k) memcpy(to + k * {rows}, to + whole[k] * {rows}, sizeof(realv[{rows}]));
  }}
}}
"""


def sum_text(stage: Sum, name: str, layout: TableLayout) -> str:
    """C of the function `name(from, to)`."""
    rows, columns = stage.table.rows, stage.table.columns
    if layout.lane is Lane.VECTOR:
        backward = stage.backward
        return ACROSS_COLUMNS.format(
            name=name,
            rows=rows,
            columns=columns,
            before=", ".join(map(str, stage.chains.before)),
            whole=", ".join(map(str, stage.chains.whole(backward))),
            first=columns - 1 if backward else 0,
            last=-1 if backward else columns,
            step=-1 if backward else 1,
            target="before[k]" if backward else "k",
            other="k" if backward else "before[k]",
        )
    lanes, count = layout.lanes, layout.blocks(columns)
    return ALONG_COLUMNS.format(
        name=name,
        rows=rows,
        loads="".join(f"    realv x{b} = from[{b * rows} + r];\n" for b in range(count)),
        steps="".join(step.text(lanes) for step in _steps(stage.chains, stage.backward, lanes)),
        stores="".join(f"    to[{b * rows} + r] = x{b};\n" for b in range(count)),
    )


@dataclass(frozen=True)
class SumStep:
    """Step of a sum in a block: for some lanes which lane of another it takes.

    adds : whether it is added; else it takes the lane's place.
    """

    target: int
    source: int
    lanes: dict[int, int]
    adds: bool = True

    def text(self, width: int) -> str:
        """C of the step."""
        x, y = f"x{self.target}", f"x{self.source}"
        if self.adds:
            lanes = [self.lanes.get(k, width + k) for k in range(width)]
            return f"    {x} += TAKEN({y}, none, {', '.join(map(str, lanes))});\n"
        lanes = [width + self.lanes[k] if k in self.lanes else k for k in range(width)]
        return f"    {x} = TAKEN({x}, {y}, {', '.join(map(str, lanes))});\n"


def _steps(chains: Chains, backward: bool, width: int) -> Iterator[SumStep]:
    """All steps, in order."""
    columns = len(chains.before)
    blocks = [range(start, min(start + width, columns)) for start in range(0, columns, width)]
    for block in reversed(blocks) if backward else blocks:
        yield from (_backward if backward else _forward)(chains.before, block, width)
    moved: dict[tuple[int, int], dict[int, int]] = {}
    for k, end in enumerate(chains.whole(backward)):
        if end != k:
            moved.setdefault((k // width, end // width), {})[k % width] = end % width
    for (target, source), lanes in moved.items():
        yield SumStep(target, source, lanes, adds=False)


def _doublings(follows: dict[int, int], width: int) -> Iterator[SumStep]:
    """Sums along the chains in a block, where `follows` has the next column of some."""
    while follows:
        (block,) = {k // width for k in follows}
        yield SumStep(block, block, {k % width: to % width for k, to in follows.items()})
        follows = {k: follows[to] for k, to in follows.items() if to in follows}


def _forward(before: tuple[int, ...], block: range, width: int) -> Iterator[SumStep]:
    yield from _doublings({k: before[k] for k in block if before[k] in block}, width)
    links: dict[int, dict[int, int]] = {}
    for k in block:
        top = k
        while before[top] in block:
            top = before[top]
        if before[top] != NO_COLUMN:
            links.setdefault(before[top] // width, {})[k % width] = before[top] % width
    for source, lanes in links.items():
        yield SumStep(block.start // width, source, lanes)


def _backward(before: tuple[int, ...], block: range, width: int) -> Iterator[SumStep]:
    """Sums along chains; then those of the other branches are added to all that carry them in the
    block, the highest columns first, for these carry none whose sum is not complete."""
    follows: dict[int, int] = {}
    for k in block:
        if before[k] in block:
            follows.setdefault(before[k], k)
    yield from _doublings(follows, width)
    taken = set(follows.values())
    for k in reversed(range(block.start, len(before))):
        if before[k] not in block or k in taken:
            continue
        lanes: dict[int, int] = {}
        carrier = before[k]
        while carrier in block:
            lanes[carrier % width] = k % width
            carrier = before[carrier]
        yield SumStep(block.start // width, k // width, lanes)


LOOP = """
static void {name}({arguments}, real{n}* restrict target) {{
  const {integer}* at = {name}_at;
{last}  for (size_t r = 0; r < {rows}; ++r) {{
{row}{lefts}    for (size_t b = {blocks}; b-- > 0;) {{
{rights}      realv {sums};
      switch (*at++) {{
{cases}        default: {nothing};
      }}
{puts}    }}
  }}
{copy}}}
"""

LAST = """  /* The last block first: what a block has too much reaches into the next matrix or row,
     and is put right there; behind the last row there is none. */
  double last[{columns} + LANES];
"""

COPY = """  memcpy(target + {rows} * {columns}, last, sizeof(double[{columns}]));
"""

LEFT = """    realv y{k}[{count}];
    for (size_t k = 0; k < {count}; ++k) {{
      y{k}[k] = ONE{n}({table}[PLACE{n}({tall}, {start} + k, r)]);
    }}
"""

CASE = """        case {wanted}: {{
{products}          break;
        }}
"""

PRODUCT = """          {{
            const unsigned bits = *at++;
{terms}          }}
"""


class ProductPrinter:
    """The C function `name` of one step; `call` calls it."""

    def __init__(self, step: Product, name: str, layout: TableLayout) -> None:
        self._name, self._layout, self._target = name, layout, step.table
        self._lane = layout.lane
        self._matrices = step.matrices
        self._width = step.table.widths[step.matrices[0][0]]
        self._alike: dict[bytes, tuple[Mask, list[tuple[int, Term]]]] = {}
        for matrix, terms in step.matrices:
            for term in terms:
                _, members = self._alike.setdefault(term.where.tobytes(), (term.where, []))
                members.append((matrix, term))
        lefts: dict[tuple[Table, int], int] = {}
        rights: list[Table] = []
        for _, members in self._alike.values():
            for _, term in members:
                left, start, stop = term.left.table, term.left.start, term.left.stop
                lefts[left, start] = max(lefts.get((left, start), 0), stop - start)
                rights.append(term.right.table)
        self._lefts, self._rights = lefts, list(dict.fromkeys(rights))
        self._tables = list(dict.fromkeys([*(table for table, _ in lefts), *rights]))
        self._wanted = self._rows(layout.width)

    def call(self, names: Mapping[Table, str]) -> str:
        """C of the call, where tables have these names."""
        given = [f"(const {self._lane.real}*){names[table]}" for table in self._tables]
        return f"  {self._name}({', '.join([*given, names[self._target]])});\n"

    def _row(self) -> str:
        """C of where row r begins."""
        target = self._target
        if not target.plain:
            return f"target + r * {self._layout.width}"
        row = f"target + r * {target.columns}"
        return f"r + 1 < {target.rows} ? {row} : last" if self._over else row

    def _place(self, matrix: int) -> str:
        """C of the place of block b in its row."""
        target = self._target
        if target.plain:
            return f"{sum(target.widths[:matrix])} + b * {self._layout.width}"
        return f"(b * {target.height} + {matrix * target.rows}) * {self._layout.width}"

    @property
    def _over(self) -> bool:
        """Whether a row's last block reaches beyond it."""
        return self._target.plain and self._lane is Lane.SINGLE

    def text(self) -> str:
        """C of the function."""
        n, target, over = self._lane, self._target, self._over
        puts = "".join(
            f"      put{n}(row + {self._place(matrix)}, sum{matrix}, LANES);\n"
            for matrix, _ in self._matrices
        )
        integer, at = whole_numbers(f"{self._name}_at", self._entries())
        columns = target.columns
        return at + LOOP.format(
            name=self._name,
            n=n,
            arguments=", ".join(f"const {n.real}* restrict t{k}" for k in range(len(self._tables))),
            integer=integer,
            last=LAST.format(columns=columns) if over else "",
            row=f"    {n.real}* row = {self._row()};\n",
            lefts=self._left_lines(),
            rights=self._right_lines(),
            rows=target.rows,
            blocks="*at++" if target.lower else self._layout.blocks(self._width),
            sums=", ".join(f"sum{matrix}" for matrix, _ in self._matrices),
            cases="".join(map(self._case, sorted(self._occurring()))),
            nothing=" = ".join([*(f"sum{matrix}" for matrix, _ in self._matrices), "allv(0.)"]),
            puts=puts,
            copy=COPY.format(rows=target.rows - 1, columns=columns) if over else "",
        )

    def _occurring(self) -> set[int]:
        """All that is wanted of some block."""
        return {wanted for row in self._wanted for wanted, _ in row if wanted}

    def _case(self, wanted: int) -> str:
        """C of the sums of a block of which these products are wanted."""
        known: set[int] = set()
        products = ""
        for place, (_, members) in enumerate(self._alike.values()):
            if wanted >> place & 1:
                terms = ""
                for matrix, term in members:
                    sign = "+=" if matrix in known else "="
                    terms += f"            sum{matrix} {sign} {self._term(term)};\n"
                    known.add(matrix)
                products += PRODUCT.format(terms=terms)
        for matrix, _ in self._matrices:
            if matrix not in known:
                products += f"          sum{matrix} = allv(0.);\n"
        return CASE.format(wanted=wanted, products=products)

    def _term(self, term: Term) -> str:
        left, right = term.left, term.right
        x = f"x{self._rights.index(right.table)}"
        y = f"y{list(self._lefts).index((left.table, left.start))}"
        products = (f"{x}[{right.start + k}] * {y}[{k}]" for k in range(left.stop - left.start))
        return f"kept{self._lane}(bits, {' + '.join(products)})"

    def _left_lines(self) -> str:
        """C of a row's numbers."""
        return "".join(
            LEFT.format(
                n=self._lane,
                k=k,
                count=count,
                table=f"t{self._tables.index(table)}",
                tall=table.rows,
                start=start,
            )
            for k, ((table, start), count) in enumerate(self._lefts.items())
        )

    def _right_lines(self) -> str:
        """C of the place of a block's numbers."""
        return "".join(
            f"      const realv* x{k} = (const realv*)t{self._tables.index(table)} "
            f"+ b * {table.rows};\n"
            for k, table in enumerate(self._rights)
        )

    def _rows(self, columns: int) -> list[list[tuple[int, list[int]]]]:
        """The blocks of every row, the last first: which products are wanted, as bits, and the
        columns of each, as bits."""
        rows = []
        for r in range(self._target.rows):
            wheres = [where[r] for where, _ in self._alike.values()]
            last = max((int(k) for where in wheres for k in where.nonzero()[0]), default=-1)
            blocks = []
            count = -(-(last + 1 if self._target.lower else self._width) // columns)
            for b in reversed(range(count)):
                parts = [
                    sum(1 << int(k) for k in where[b * columns :][:columns].nonzero()[0])
                    for where in wheres
                ]
                wanted = sum(1 << place for place, bits in enumerate(parts) if bits)
                blocks.append((wanted, [bits for bits in parts if bits]))
            rows.append(blocks)
        return rows

    def _entries(self) -> list[int]:
        """The numbers of all blocks; before a row how many there are where not all are written."""
        listed: list[int] = []
        for row in self._wanted:
            if self._target.lower:
                listed.append(len(row))
            for wanted, parts in row:
                listed += [wanted, *parts]
        return listed
