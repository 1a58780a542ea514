"""Expressions evaluated on arrays, without matrices of CasADi's in between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array, memory
from .symbols import lasting


class Evaluation:
    """The numbers of expressions at numbers of their symbols, for those who ask many times.

    A call of CasADi's function makes matrices of its arguments and arrays of these again, which
    takes ten times as long as a few dozen operations. Here it reads and writes arrays, which every
    thread has for itself.

    symbols : dense columns (n, 1). expressions : (m, n) each.
    """

    def __init__(self, name: str, symbols: Sequence[ca.SX], expressions: Sequence[ca.SX]) -> None:
        dense = [ca.densify(one) for one in expressions]
        self._function = lasting(ca.Function(name, list(symbols), dense, {"cse": True}))
        self._own = threading.local()

    def __call__(self, *arguments: Array) -> list[Array]:
        """Arrays (m, n) of the expressions, at arrays (n,) of the symbols."""
        if not hasattr(self._own, "tied"):
            self._own.tied = self._tied()
        _, evaluate, given, found = self._own.tied
        for array, argument in zip(given, arguments, strict=True):
            array[...] = argument
        evaluate()
        return [array.copy() for array in found]

    def __getstate__(self) -> dict[str, object]:
        """Attributes for a copy or a pickle: all but the arrays of this process's threads."""
        return {"_function": self._function}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__ |= state
        self._own = threading.local()

    def _tied(self) -> tuple[Any, Callable[[], None], list[Array], list[Array]]:
        """A buffer, its call, and its arrays."""
        function: Any = self._function
        buffer, evaluate = function.buffer()
        given = [np.zeros(function.size1_in(k)) for k in range(function.n_in())]
        found = [np.zeros(function.size_out(k), order="F") for k in range(function.n_out())]
        for k, array in enumerate(given):
            buffer.set_arg(k, memory(array))
        for k, array in enumerate(found):  # CasADi's matrices lie column by column
            buffer.set_res(k, memory(array.T))
        return buffer, evaluate, given, found
