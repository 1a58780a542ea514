"""Eliminations of few factors are written line by line, so that none of their zeros is touched.

The rows of the factors are known beforehand (symbolic factorization: Davis, *Direct Methods for
Sparse Linear Systems*, 2006, chapter 4); beyond some size, code that runs once loads more slowly
than lists of rows.
"""

from __future__ import annotations

from dataclasses import replace

from ..block import Lane
from ..ir import Code, Factor, Solve, Step
from ..options import Options


def unroll(code: Code, options: Options) -> Code:
    """Choose between lines and loops; where every number is a vector, loops serve."""

    def chosen(step: Step) -> Step:
        if not isinstance(step, Factor | Solve):
            return step
        factors = sum(1 + len(row) for row in step.elimination.columns)
        return replace(step, unrolled=code.lane is Lane.SINGLE and factors <= options.unrolled)

    return replace(code, steps=tuple(map(chosen, code.steps)))
