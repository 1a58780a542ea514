"""Passes over whole steps: eliminations unrolled, results placed at once, maps fused.

The rows of the factors are known beforehand (symbolic factorization: Davis, *Direct Methods for
Sparse Linear Systems*, 2006, chapter 4); beyond some size, code that runs once loads more slowly
than lists of rows.

Copy propagation (Aho, Lam, Sethi, Ullman, *Compilers*, 2006, section 9.1.5), for tables.

What a block leaves in a table the next still finds in the first cache: loop fusion (Allen, Kennedy,
*Optimizing Compilers for Modern Architectures*, 2002, section 6.2). Every column is by itself, so
nothing forbids it.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Code, Constant, Factor, Map, Product, Put, Solve, Step
from ..options import Options
from ..table import Lane


def unroll(code: Code, options: Options) -> Code:
    """Choose between lines and loops; where every number is a vector, loops serve."""

    def chosen(step: Step) -> Step:
        if not isinstance(step, Factor | Solve):
            return step
        factors = sum(1 + len(row) for row in step.elimination.columns)
        return replace(step, unrolled=code.lane is Lane.SINGLE and factors <= options.unrolled)

    return replace(code, steps=tuple(map(chosen, code.steps)))


def direct(code: Code, options: Options) -> Code:
    """Let the products of the last table, where one step makes all, fill the result."""
    *steps, before, last = code.steps if len(code.steps) > 1 else 2 * code.steps
    if not isinstance(last, Put) or not isinstance(before, Product):
        return code
    if len(before.matrices) < len(before.table.widths):  # another step makes some of its matrices
        return code
    result = replace(last.result, widths=before.table.widths)
    product = Product(result, before.matrices)
    return replace(code, steps=(*steps, product), result=result)


def fuse(code: Code, options: Options) -> Code:
    """Join maps between which there are constants at most; these come before."""
    steps: list[Step] = []
    last = -1  # where the map is that another may join
    for step in code.steps:
        before = steps[last] if last >= 0 else None
        if isinstance(step, Constant):
            steps.insert(last if last >= 0 else len(steps), step)
            last += last >= 0
        elif isinstance(step, Map) and isinstance(before, Map) and before.columns == step.columns:
            steps[last] = Map(step.columns, (*before.blocks, *step.blocks))
        else:
            last = len(steps) if isinstance(step, Map) else -1
            steps.append(step)
    return replace(code, steps=tuple(steps))
