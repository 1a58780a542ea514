"""Kernels that run in C."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..model.model import Array
from .call import bound_call, plain_call
from .compiled_program import CompiledProgram
from .kernel import Kernel
from .program import LOADED, Variant
from .runtime.library import runtime
from .threads import threads_for

MANY = 256
"""States from which on a program for many at once is compiled."""


class CompiledKernel(Kernel):
    """A program in C.

    Parameters
    ----------
    program : of one state.
    vectors : gives the same for a vector of states when first needed; None where it cannot.
    """

    compiled = True

    def __init__(
        self,
        variant: Variant,
        program: CompiledProgram,
        home: Array,
        vectors: Callable[[], CompiledProgram | None],
    ) -> None:
        super().__init__(variant, program.inputs, program.shape, home)
        self.program, self._made, self._runtime = program, vectors, runtime()
        self._home = home.ctypes.data
        self._addresses = ctypes.c_void_p * (len(self.inputs) + 1)
        self._steps = ctypes.c_size_t * len(self.inputs)

    @functools.cached_property
    def plain(self) -> Callable[..., Array | None]:  # type: ignore[override]
        """The plain call: of the inputs alone, or with wrenches and friction, and out."""
        others = (None, True, None) if self.variant.name in LOADED else (None,)
        return plain_call(self.program, self.shape, self.home, others)

    @functools.cached_property
    def vectors(self) -> CompiledProgram | None:
        """The program for a vector of states, made when first needed."""
        return self._made()

    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """Arrays and program stay with the call."""
        return bound_call(self.program, (*arguments, self.home, result)), None

    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """State by state; the caller keeps the arrays."""
        return functools.partial(
            self._runtime.batch_of_few, self.program.address, *self._addressed(arguments, result)
        )

    def _fill(self, arrays: Sequence[Array], result: Array) -> None:
        """From `MANY` states on several at once, in vectors and on `threads()`."""
        addressed = self._addressed(arrays, result)
        vectors = self.vectors if len(result) >= MANY else None
        if vectors is None:
            self._runtime.batch_of_few(self.program.address, *addressed)
        else:
            threads = threads_for(len(result) * vectors.operations)
            self._runtime.batch(vectors.address, *addressed, threads)

    def _addressed(self, arrays: Sequence[Array], result: Array) -> tuple[object, ...]:
        """Number of states, where inputs and home are, their steps, and where the result is."""
        count = len(result)
        start = self._addresses(*map(address, arrays), self._home)
        step = self._steps(
            *(x.size // count if x.ndim > n else 0 for x, n in zip(arrays, self._ndim, strict=True))
        )
        return ctypes.c_size_t(count), start, step, ctypes.c_void_p(address(result))


def address(array: Array) -> int:
    """Where the numbers of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        return array.ctypes.data
