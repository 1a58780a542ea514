"""The bound and the plain call: compiled programs as functions of CPython's own kind.

What they cost and promise stands in runtime/call.c.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..array import Array
from .compiled_program import CompiledProgram
from .runtime.library import runtime


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
