"""Kernels that CasADi's interpreter runs."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..array import Array
from ..program.continuation import reach
from ..program.program import Closing, Program
from .bound import Bound
from .kernel import Kernel, memory, snapshot


class InterpretedKernel(Kernel):
    """A program as CasADi's function, of inputs alone; its result is stored row by row.

    loops : what the function finds the positions of loops with, where it does.
    """

    compiled = False

    def __init__(
        self, program: Program, function: ca.Function, home: Array, loops: LoopSolver | None = None
    ) -> None:
        inputs = {
            function.name_in(i): (function.size2_in(i), function.size1_in(i))
            for i in range(function.n_in())
            if function.name_in(i) in program.called_with
        }
        super().__init__(program, inputs, (function.size2_out(0), function.size1_out(0)), home)
        self._function, self._loops = function, loops

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
        return evaluate, (buffer, self._loops)

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
        own = InterpretedKernel(self.program, self._function, home, self._loops)
        bound = Bound(own)
        for k in range(len(result)):
            for one, array, n in zip(bound.arguments, arrays, self._ndim, strict=True):
                one[...] = array[k] if array.ndim > n else array
            if homes is not None:
                home[:] = homes[k]
            if self._loops is None:
                bound()
            else:
                with self._loops.starting_at(home):
                    bound()
            result[k] = bound.result


class LoopSolver(ca.Callback):
    """Dependent positions z of loops as a CasADi function of q, for the interpreter.

    nq : numbers in q.
    home : see `Closing.home`; the walks start there, also when its numbers are changed.
    """

    def __init__(self, closing: Closing, nq: int, home: Array) -> None:
        super().__init__()
        self._closing, self._nq, self._home = closing, nq, home
        self._own = threading.local()
        self._equations = closing.equations()
        self.construct("loops", {})

    @contextlib.contextmanager
    def starting_at(self, home: Array) -> Iterator[None]:
        """Let walks in this thread start at another home meanwhile."""
        self._own.home = home[: len(self._home)]
        try:
            yield
        finally:
            del self._own.home

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """q (nq, 1)."""
        return ca.Sparsity.dense(self._nq, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """z (nz, 1)."""
        return ca.Sparsity.dense(self._closing.nz, 1)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        """Walk every loop from home; NaN where it cannot close."""
        y = np.array(arg[0]).ravel()[list(self._closing.places)]
        home_y, home_z = np.split(getattr(self._own, "home", self._home), [len(y)])
        z = np.full(self._closing.nz, np.nan)
        iy = iz = 0
        for loop, (ny, nz) in zip(self._equations, self._closing.counts, strict=True):
            here, there = slice(iy, iy + ny), slice(iz, iz + nz)
            iy, iz = here.stop, there.stop
            walk = reach(loop, (home_y[here], home_z[there]), y[here])
            if walk.arrived:
                z[there] = walk.dependent
        return [ca.DM(z)]
