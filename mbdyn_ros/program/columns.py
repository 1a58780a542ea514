"""Expressions on columns of numbers, by NumPy: an operation over all states or designs at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from .symbols import serialized

BY_NUMPY: dict[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda x: x, ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv, ca.OP_NEG: operator.neg,
    ca.OP_INV: np.reciprocal, ca.OP_SQ: np.square, ca.OP_TWICE: lambda x: x + x,
    ca.OP_SQRT: np.sqrt, ca.OP_SIN: np.sin, ca.OP_COS: np.cos, ca.OP_ATAN2: np.arctan2,
    ca.OP_ACOS: np.arccos, ca.OP_ASIN: np.arcsin, ca.OP_FABS: np.abs, ca.OP_SIGN: np.sign,
    ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax, ca.OP_LT: np.less, ca.OP_LE: np.less_equal,
    ca.OP_EQ: np.equal, ca.OP_NE: np.not_equal, ca.OP_NOT: np.logical_not,
    ca.OP_AND: np.logical_and, ca.OP_OR: np.logical_or,
    ca.OP_IF_ELSE_ZERO: lambda which, x: np.where(which, x, 0.0),
}  # fmt: skip


class Columns:
    """Matrices of expressions of columns of symbols, each element of which may be an array; these
    are broadcast."""

    @serialized
    def __init__(self, symbols: Sequence[ca.SX], *expressions: ca.SX) -> None:
        given, results = (list(map(ca.densify, some)) for some in (symbols, expressions))
        function = ca.Function("columns", given, results, {"cse": True})
        self._shapes = [function.size_out(k) for k in range(function.n_out())]
        self._lines = [
            (
                code := function.instruction_id(k),
                function.instruction_input(k),
                function.instruction_output(k),
                function.instruction_constant(k) if code == ca.OP_CONST else 0.0,
            )
            for k in range(function.n_instructions())
        ]

    def __call__(self, *inputs: Sequence[Any] | Array) -> list[Any]:
        """The elements of the first matrix; NaN and infinity where there is no number."""
        return self._all(inputs)[0]

    def _all(self, inputs: Sequence[Sequence[Any] | Array]) -> list[list[Any]]:
        """The elements of all matrices, column by column."""
        values: dict[int, Any] = {}
        results: list[list[Any]] = [[None] * (rows * columns) for rows, columns in self._shapes]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for code, reads, writes, constant in self._lines:
                if code == ca.OP_OUTPUT:
                    results[writes[0]][writes[1]] = values[reads[0]]
                elif code == ca.OP_INPUT:
                    values[writes[0]] = inputs[reads[0]][reads[1]]
                elif code == ca.OP_CONST:
                    values[writes[0]] = constant
                else:
                    values[writes[0]] = BY_NUMPY[code](*[values[k] for k in reads])
        return results

    def at(self, numbers: Array) -> Array:
        """The column (..., m) at numbers (..., n) of the only column of symbols."""
        result = np.empty((*numbers.shape[:-1], self._shapes[0][0]))
        for k, one in enumerate(self(np.moveaxis(numbers, -1, 0))):
            result[..., k] = one
        return result

    def matrices(self, count: int, *inputs: Array) -> list[Array]:
        """All matrices (N, rows, columns) at columns (n, N) of numbers."""
        found = [np.empty((count, columns, rows)) for rows, columns in self._shapes]
        for matrix, elements in zip(found, self._all(inputs), strict=True):
            flat = matrix.reshape(count, -1)
            for k, one in enumerate(elements):
                flat[:, k] = one
        return [matrix.swapaxes(1, 2) for matrix in found]
