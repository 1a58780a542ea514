"""Kernels that CasADi's interpreter runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from ..array import Array
from ..program.program import Program
from .bound import Bound
from .kernel import Kernel, memory, snapshot
from .walker import Walker


class InterpretedKernel(Kernel):
    """A program as CasADi's function, of inputs alone; its result is stored row by row.

    walker : what the function finds the positions of loops with, where it does.
    """

    compiled = False

    def __init__(
        self, program: Program, function: ca.Function, home: Array, walker: Walker | None = None
    ) -> None:
        inputs = {
            function.name_in(i): (function.size2_in(i), function.size1_in(i))
            for i in range(function.n_in())
            if function.name_in(i) in program.called_with
        }
        super().__init__(program, inputs, (function.size2_out(0), function.size1_out(0)), home)
        self._function, self._walker = function, walker

    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """The call holds a bare pointer into CasADi's buffer."""
        buffer: Any
        buffer, evaluate = self._function.buffer()
        for i, array in enumerate(arguments):
            buffer.set_arg(i, memory(array))
        if len(arguments) < self._function.n_in():
            behind = self.home[-self._function.size1_in("parameters") :]
            buffer.set_arg(len(arguments), memory(behind))
        buffer.set_res(0, memory(result))
        return evaluate, (buffer, self._walker)

    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """State by state."""
        return functools.partial(self._fill, arguments, result)

    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = True,
    ) -> None:
        """State by state."""
        home = snapshot(self.home).copy()
        own = InterpretedKernel(self.program, self._function, home, self._walker)
        bound = Bound(own)
        for k in range(len(result)):
            for one, array, n in zip(bound.arguments, arrays, self._ndim, strict=True):
                one[...] = array[k] if array.ndim > n else array
            if homes is not None:
                home[:] = homes[k]
            if self._walker is None:
                bound()
            else:
                with self._walker.starting_at(home):
                    bound()
            result[k] = bound.result
