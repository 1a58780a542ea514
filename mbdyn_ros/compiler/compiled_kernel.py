"""Kernels that run in C: their programs as functions of CPython's own kind (runtime/call.c).

A compiled program is a library and its description of itself (`struct program`).
"""

from __future__ import annotations

import _ctypes
import ctypes
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..array import Array
from ..program.program import Program
from .gcc import CompilationError
from .kernel import Kernel, snapshot
from .runtime.library import runtime, structure
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

    def _addressed(self, arrays: Sequence[Array], result: Array, home: Array) -> tuple[object, ...]:
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

    Its arguments are the program's inputs, followed by either nothing or `others`: all others
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
        assert array.flags.c_contiguous
        return array.ctypes.data


_Described = TypeVar("_Described", ctypes.c_size_t, ctypes.c_char, ctypes.Structure)


MOST_INPUTS = 20
"""Inputs of a program for which its callers have room; see `MOST_ARGUMENTS` in C."""

_Array = structure("program.h", "array")
_Program = structure("program.h", "program")


class CompiledLoops:
    """The library that closes a robot's loops, for all of its programs (`c_loops.walk_source`).

    Attributes
    ----------
    close : address of `close_all`. memory : number of values that store the last loop positions.

    Raises
    ------
    CompilationError
        The library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library, self.memory = _loaded(path, ctypes.c_size_t, "memory_size")
        self.close = ctypes.cast(self._library.close_all, ctypes.c_void_p)


class CompiledTerms:
    """The library of what a robot's loops are to all of its programs (`source.terms_source`).

    Attributes
    ----------
    find : address of `find_terms`.

    Raises
    ------
    CompilationError
        The library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library, found = _loaded(path, ctypes.c_char, "find_terms")
        self.find = ctypes.c_void_p(ctypes.addressof(found))


class CompiledProgram:
    """The program in a library.

    Parameters
    ----------
    loops, terms : the library that closes its loops, and that of their terms; None without loops.

    Attributes
    ----------
    inputs : rows and columns of every input array by name, in order.
    shape : rows and columns of the result.
    operations : of one run, about.
    memory : number of values that store the last loop positions.
    address : of its `struct program`, for the runtime library.

    Raises
    ------
    CompilationError
        There is no program in the library.
    """

    def __init__(
        self,
        path: Path,
        loops: CompiledLoops | None = None,
        terms: CompiledTerms | None = None,
    ) -> None:
        self._library, described = _loaded(path, _Program, "program")
        self._closed_by = loops, terms
        if described.inputs > MOST_INPUTS:
            raise CompilationError(f"{path}: a program of {described.inputs} inputs")
        if loops is not None:
            described.close, described.memory = loops.close, loops.memory.value
        if terms is not None:
            described.find_terms = terms.find
        arrays = (_Array * described.inputs).from_address(described.input)
        self.inputs = {one.name.decode(): (one.rows, one.columns) for one in arrays}
        self.shape: tuple[int, int] = described.rows, described.columns
        self.operations: int = described.operations
        self.memory: int = described.memory
        self.address = ctypes.c_void_p(ctypes.addressof(described))


def _loaded(path: Path, kind: type[_Described], name: str) -> tuple[ctypes.CDLL, _Described]:
    """A library, and the object of that name in it."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilationError(f"{path}: the library does not load: {error}") from error
    try:
        return library, kind.in_dll(library, name)
    except ValueError as error:
        _ctypes.dlclose(library._handle)  # else its successor of this name is never seen
        raise CompilationError(f"{path}: there is no {name} in it: {error}") from error
