"""C of sums along a tree over the columns of a table, whose numbers ascend along it.

Where a vector lies along the columns, numbers go from column to column inside a block and between
blocks: a step adds to the lanes of one block lanes of another, or of the same. A chain inside a
block takes a step for every doubling of its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...program.stages import NO_COLUMN, Chains
from ..ir import Sum
from ..table import Lane
from .tables import TableLayout

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
