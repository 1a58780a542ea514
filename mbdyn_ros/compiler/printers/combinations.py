"""C of linear combinations of a table's columns, their weights being known beforehand.

Results that have the same columns, as all points of a body have its pose, follow each other in a
run: its columns stay in registers, and its weights are read one after the other. These are the
products of a sparse matrix in blocks (Saad, *Iterative Methods for Sparse Linear Systems*, 2003,
section 3.4), with every block as wide as it comes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir import Combine
from .lines import TableLayout
from .operations import number

COMBINATIONS = """
static void {name}(const real{n}* from, real{n}* to) {{
  static const double weight[] __attribute__((aligned(64))) = {{{weights}}};
  static const unsigned column[] = {{{columns}}};
  static const unsigned run[] = {{{runs}}};
  combine{n}(from, {rows}, to, {size}, weight, column, run, {count});
}}
"""

TERMS = 4
"""Columns of a combination in C; fewer have weights of zero."""


@dataclass
class Run:
    """Results that are combinations of the same columns, or columns themselves.

    columns : which. first, step : where the first result is, and how far it is to the next.
    weights : (terms,) of every result; none where each is a column itself.
    """

    columns: list[int]
    first: int
    step: int = 1
    weights: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many results."""
        return len(self.weights) or len(self.columns)

    def takes(self, place: int) -> bool:
        """Whether the next result is at that place; the second one says how far apart they are."""
        if self.count == 1:
            self.step = place - self.first
        return place == self.first + self.count * self.step

    def read(self, width: int) -> list[float]:
        """Weights as they are read: of `width` results for one column after the other."""
        found = []
        for start in range(0, len(self.weights), width):
            some = self.weights[start : start + width]
            for j in range(TERMS):
                found += [one[j] for one in some] + [0.0] * (width - len(some))
        return found


def _runs(step: Combine) -> list[Run]:
    starts, columns = step.weights.colind(), step.weights.row()
    values = step.weights.nonzeros()
    runs: list[Run] = []
    last: dict[tuple[int, ...], Run] = {}
    for k, (start, end) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        taken, weights = columns[start:end], values[start:end]
        more = TERMS - len(taken)
        alone = weights == [1.0]
        key = () if alone else (*taken, *taken[:1] * more)
        run = last.get(key)
        if run is None or not run.takes(k):
            run = last[key] = Run(list(key), k)
            runs.append(run)
        if alone:
            run.columns += taken
        else:
            run.weights.append((*weights, *[0.0] * more))
    return runs


def combinations_text(step: Combine, name: str, layout: TableLayout) -> str:
    """C of the function `name(from, to)`."""
    runs = _runs(step)
    heads = [(run.first, run.step, run.count, int(not run.weights)) for run in runs]
    weights = [number(value) for run in runs for value in run.read(layout.width)]
    return COMBINATIONS.format(
        name=name,
        n=layout.lane,
        weights=", ".join(weights or ["0"]),
        columns=", ".join(str(k) for run in runs for k in run.columns),
        runs=", ".join(str(k) for head in heads for k in head),
        rows=step.table.rows,
        size=step.result.columns,
        count=len(runs),
    )
