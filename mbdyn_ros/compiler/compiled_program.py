"""A compiled program: its library, and what that says about it (`struct program`)."""

from __future__ import annotations

import _ctypes
import ctypes
from pathlib import Path

from .gcc import CompilationError


class _Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("rows", ctypes.c_size_t), ("columns", ctypes.c_size_t)]


class _Program(ctypes.Structure):
    """`struct program` of runtime/program.h."""

    _fields_ = [
        ("input", ctypes.POINTER(_Array)),
        ("inputs", ctypes.c_size_t),
        ("rows", ctypes.c_size_t),
        ("columns", ctypes.c_size_t),
        ("quaternion", ctypes.POINTER(ctypes.c_size_t)),
        ("quaternions", ctypes.c_size_t),
        ("close", ctypes.c_void_p),
        ("z", ctypes.c_size_t),
        ("memory", ctypes.c_size_t),
        ("alone", ctypes.c_void_p),
        ("together", ctypes.c_void_p),
        ("batch", ctypes.c_void_p),
        ("rollout", ctypes.c_void_p),
        ("operations", ctypes.c_size_t),
    ]


class CompiledProgram:
    """The program in a library.

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

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise CompilationError(f"{path}: the library does not load: {error}") from error
        try:
            described = _Program.in_dll(self._library, "program")
        except ValueError as error:
            _ctypes.dlclose(self._library._handle)  # else its successor of this name is never seen
            raise CompilationError(f"{path}: there is no program in it: {error}") from error
        arrays = described.input[: described.inputs]
        self.inputs = {one.name.decode(): (one.rows, one.columns) for one in arrays}
        self.shape: tuple[int, int] = described.rows, described.columns
        self.operations: int = described.operations
        self.memory: int = described.memory
        self.address = ctypes.c_void_p(ctypes.addressof(described))
