"""A compiled program: its library, and what that says about it (`struct program`)."""

from __future__ import annotations

import _ctypes
import ctypes
from pathlib import Path
from typing import TypeVar

from .gcc import CompilationError
from .runtime.structures import structure

_Described = TypeVar("_Described", ctypes.c_size_t, ctypes.c_char, ctypes.Structure)


MOST_INPUTS = 20
"""Inputs of a program for which its callers have room; see `MOST_ARGUMENTS` in C."""

_Array = structure("program.h", "array")
_Program = structure("program.h", "program")


class CompiledLoops:
    """The library that closes a robot's loops, for all of its programs (`c_loops.walk_source`).

    Attributes
    ----------
    close : address of `close_all`. memory : how many numbers remember where loops were last.

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
    loops, terms : what closes its loops, and what they are to it; None where there are none.

    Attributes
    ----------
    inputs : rows and columns of every input array by name, in order.
    shape : rows and columns of the result.
    operations : of one run, about.
    memory : how many numbers remember where loops were closed last.
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
