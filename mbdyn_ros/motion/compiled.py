"""Compiled parts of time-optimal motions: points of a path, rows of limits, reachability."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..compiler.compiled_kernel import address
from ..compiler.gcc import CompilationError
from ..compiler.runtime.library import reachability
from ..compiler.runtime.structures import structure
from ..errors import SimulationError

STRUCTURES = {
    "path_states": ("path_rows.cpp", "path"),
    "path_rows": ("path_rows.cpp", "row_limits"),
    "pass_limits": ("reachability.cpp", "limits"),
}
"""Header and name of the structure that a function takes."""


def run(function: str, **fields: np.ndarray[Any, Any] | float | None) -> Any:
    """Call a function of the library on numbers and contiguous arrays.

    Raises
    ------
    SimulationError
        There is no C++ compiler.
    """
    arrays = [one for one in fields.values() if isinstance(one, np.ndarray)]
    assert all(one.flags.c_contiguous for one in arrays)
    given = structure(*STRUCTURES[function])(
        **{
            name: address(one) if isinstance(one, np.ndarray) else one
            for name, one in fields.items()
        }
    )
    try:
        return getattr(reachability(), function)(ctypes.byref(given))
    except CompilationError as error:
        raise SimulationError(f"time-optimal motions need compiled code: {error}") from error
