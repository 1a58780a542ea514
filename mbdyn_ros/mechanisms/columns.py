"""Functions of CasADi's on columns of numbers, by NumPy: each operation over all states at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..compiler.from_casadi import function_lines

BY_NUMPY: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul,
    ca.OP_DIV: operator.truediv, ca.OP_NEG: operator.neg, ca.OP_INV: np.reciprocal,
    ca.OP_SQ: np.square, ca.OP_TWICE: lambda x: x + x, ca.OP_SQRT: np.sqrt,
    ca.OP_SIN: np.sin, ca.OP_COS: np.cos, ca.OP_ATAN2: np.arctan2, ca.OP_FABS: np.abs,
}  # fmt: skip


class Columns:
    """A function of column vectors, each element of which may be an array; they are broadcast."""

    def __init__(self, function: ca.Function) -> None:
        self._lines = function_lines(function)
        self._count = function.numel_out(0)

    def __call__(self, *inputs: Sequence[Any]) -> list[Any]:
        """The elements of the first result; NaN and infinity where there is no number."""
        values: list[Any] = []
        result: list[Any] = [None] * self._count
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for code, reads, (array, element), value, _ in self._lines:
                if code == ca.OP_INPUT:
                    value = inputs[array][element]
                elif code == ca.OP_OUTPUT:
                    result[element] = values[reads[0]]
                elif code != ca.OP_CONST:
                    value = BY_NUMPY[code](*[values[k] for k in reads])
                values.append(value)
        return result
