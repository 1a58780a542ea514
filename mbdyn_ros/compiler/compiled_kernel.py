"""Kernels that run in C: their programs as functions of CPython's own kind (runtime/call.c)."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import Array
from ..program.program import Program
from .compiled_program import CompiledProgram
from .kernel import Kernel, snapshot
from .runtime.library import runtime
from .threads import threads_for

MANY = 256
"""States from which on a program for many at once is compiled."""


class CompiledKernel(Kernel):
    """A program in C.

    Parameters
    ----------
    scalar : for one state.
    vectors : gives that for a vector of states when first needed; None where it cannot.
    worth_a_thread : see `Options.worth_a_thread`.
    """

    compiled = True

    def __init__(
        self,
        program: Program,
        scalar: CompiledProgram,
        home: Array,
        vectors: Callable[[], CompiledProgram | None],
        worth_a_thread: int,
    ) -> None:
        super().__init__(program, scalar.inputs, scalar.shape, home)
        self.scalar, self._made, self._runtime = scalar, vectors, runtime()
        self.worth_a_thread = worth_a_thread
        self._addresses = ctypes.c_void_p * (len(self.inputs) + 1)
        self._steps = ctypes.c_size_t * (len(self.inputs) + 1)

    @functools.cached_property
    def plain(self) -> Callable[..., Array | None]:  # type: ignore[override]
        """The plain call: of the inputs alone, or with wrenches and friction, and out."""
        others = (None, True, None) if self.program.declaration.loaded else (None,)
        return plain_call(self.scalar, self.shape, self.home, others)

    @functools.cached_property
    def vectors(self) -> CompiledProgram | None:
        """The program for a vector of states, made when first needed."""
        return self._made()

    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """Arrays and program stay with the call, which follows a motion."""
        return bound_call(self.scalar, (*arguments, self.home, self.memory(), result)), None

    def memory(self) -> Array:
        """Memory for a caller that follows a motion; see `close` in runtime/program.h."""
        memory = np.zeros(self.scalar.memory)
        memory[:1] = self.farthest
        return memory

    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """State by state; the caller keeps the arrays."""
        addressed = self._addressed(arguments, result, self.home)
        return functools.partial(self._runtime.batch_of_few, self.scalar.address, *addressed)

    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = False,
    ) -> None:
        """From `MANY` states on several at once, in vectors and on `threads()`."""
        home = homes
        if home is None:
            home = snapshot(self.home) if self.program.kept else self.home
        addressed = self._addressed(arrays, result, home)  # which stays until this returns
        vectors = self.vectors if len(result) >= MANY and not apart else None
        if vectors is None:
            self._runtime.batch_of_few(self.scalar.address, *addressed)
        else:
            threads = threads_for(len(result) * vectors.operations, self.worth_a_thread)
            self._runtime.batch(vectors.address, *addressed, threads)

    def _addressed(
        self, arrays: Sequence[Array], result: Array, home: Array
    ) -> tuple[object, ...]:
        """Number of states, where inputs and home are, their steps, and where the result is."""
        count = len(result)
        start = self._addresses(*map(address, (*arrays, home)))
        steps = (
            x.size // count if x.ndim > n else 0 for x, n in zip(arrays, self._ndim, strict=True)
        )
        step = self._steps(*steps, home.shape[1] if home.ndim > 1 else 0)
        return ctypes.c_size_t(count), start, step, ctypes.c_void_p(address(result))


def bound_call(program: CompiledProgram, arrays: Sequence[Array]) -> Callable[[], None]:
    """The bound call of a program on arrays: its inputs, home, memory, and the result."""
    addresses = program.address.value, *(array.ctypes.data for array in arrays)
    block = np.array(addresses, dtype=np.uintp)
    call: Callable[[], None] = _maker("new_bound_call")((block, program, *arrays))  # kept alive
    return call


def plain_call(
    program: CompiledProgram, shape: tuple[int, ...], home: Array, others: tuple[object, ...]
) -> Callable[..., Array | None]:
    """The plain call of a program with a result of that shape.

    Its arguments are the program's inputs, and behind them either nothing or `others`: all others
    of the method, in order. It may be called from several threads.
    """
    objects = np.empty, shape, np.ndarray
    addresses = (
        *(program.address.value, home.ctypes.data, *map(id, objects)),
        *(len(others), *map(id, others)),
    )
    block = np.array(addresses, dtype=np.uintp)
    call: Callable[..., Array | None] = _maker("new_plain_call")(
        (block, program, home, objects, others)  # all are kept alive
    )
    return call


def _maker(name: str) -> Callable[[tuple[object, ...]], Any]:
    """A function of the runtime that makes a call of its `self`."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)((name, runtime()))


def address(array: Array) -> int:
    """Where the numbers of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        return array.ctypes.data
