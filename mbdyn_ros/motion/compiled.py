"""Compiled parts of time-optimal motions: points of a path, rows of limits, reachability."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..compiler.compiled_kernel import address
from ..compiler.gcc import CompilationError
from ..compiler.runtime.library import reachability, structure
from ..errors import SimulationError

STRUCTURES = {
    "path_states": ("path_rows.cpp", "path"),
    "path_rows": ("path_rows.cpp", "row_limits"),
    "pass_limits": ("reachability.cpp", "limits"),
}
"""Header and name of the structure that a function takes."""

Field = np.ndarray[Any, Any] | float | None
"""A number, or a contiguous array."""


class Call:
    """A function of the library with fields of its structure that stay.

    Raises
    ------
    SimulationError
        There is no C++ compiler.
    """

    def __init__(self, name: str, **kept: Field) -> None:
        self._kept = kept  # alive
        self._fields = structure(*STRUCTURES[name])()
        self._set(self._fields, kept)
        try:
            self._function = getattr(reachability(), name)
        except CompilationError as error:
            raise SimulationError(f"time-optimal motions need compiled code: {error}") from error

    def __call__(self, **fields: Field) -> Any:
        """Call it with the other fields."""
        given = type(self._fields).from_buffer_copy(self._fields)
        self._set(given, fields)
        return self._function(ctypes.byref(given))

    @staticmethod
    def _set(given: ctypes.Structure, fields: dict[str, Field]) -> None:
        for name, one in fields.items():
            setattr(given, name, address(one) if isinstance(one, np.ndarray) else one)
