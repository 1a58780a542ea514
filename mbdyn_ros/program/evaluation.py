"""Expressions evaluated on arrays, without matrices of CasADi's in between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from .symbols import lasting


class Evaluation:
    """The numbers of expressions at numbers of their symbols, for those who ask many times.

    A call of CasADi's function makes matrices of its arguments and arrays of these again, which
    takes ten times as long as a few dozen operations. Here it reads and writes arrays, which every
    thread has for itself.

    symbols : dense columns (n, 1) or matrices. expressions : of the same forms.
    """

    def __init__(self, name: str, symbols: Sequence[ca.SX], expressions: Sequence[ca.SX]) -> None:
        dense = [ca.densify(one) for one in expressions]
        self._function = lasting(ca.Function(name, list(symbols), dense, {"cse": True}))
        self._own = threading.local()

    def __call__(self, *arguments: Array) -> list[Array]:
        """Arrays (n,) and (m, n), as the expressions are, at arrays that are as the symbols are."""
        if not hasattr(self._own, "tied"):
            self._own.tied = self._tied()
        _, evaluate, given, found = self._own.tied
        for array, argument in zip(given, arguments, strict=True):
            array[...] = argument
        evaluate()
        return [array.copy() for array in found]

    def __getstate__(self) -> dict[str, object]:
        """What a copy or a pickle keeps: all but the arrays of this process's threads."""
        return {"_function": self._function}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__ |= state
        self._own = threading.local()

    def _tied(self) -> tuple[Any, Callable[[], None], list[Array], list[Array]]:
        """A buffer, its call, and its arrays."""
        function: Any = self._function
        buffer, evaluate = function.buffer()
        given = [_columns(function.size_in(k)) for k in range(function.n_in())]
        found = [_columns(function.size_out(k)) for k in range(function.n_out())]
        for k, array in enumerate(given):
            buffer.set_arg(k, memoryview(array.T.reshape(-1)))  # type: ignore[arg-type]
        for k, array in enumerate(found):
            buffer.set_res(k, memoryview(array.T.reshape(-1)))  # type: ignore[arg-type]
        return buffer, evaluate, given, found


def _columns(size: tuple[int, int]) -> Array:
    """An array that lies in memory column by column."""
    rows, columns = size
    return np.zeros(rows) if columns == 1 else np.zeros((columns, rows)).T
