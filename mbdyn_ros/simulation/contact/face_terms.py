"""A wall's face at a point, as numbers."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ...compiler.kernel import memory
from ...model.model import Array
from ...program.symbols import serialized


class FaceTerms:
    """A number, the normal (3,) and the curvature (3, 3) of a face; serves one thread.

    Parameters
    ----------
    function : one of `Surface.levels` or `Surface.signed`.

    Attributes
    ----------
    flat : whether the normal is the same everywhere.
    """

    @serialized

    def __init__(self, function: ca.Function) -> None:
        self._buffer: Any
        self._buffer, self._evaluate = function.buffer()
        self.flat = function(ca.SX.sym("x", 3))[1].is_constant()
        self._place, self._size = np.zeros(3), np.zeros(1)
        self._normal, self._bend = np.zeros(3), np.zeros((3, 3))
        self._buffer.set_arg(0, memory(self._place))
        for k, result in enumerate((self._size, self._normal, self._bend)):
            self._buffer.set_res(k, memory(result))

    def __call__(self, place: Array) -> tuple[float, Array, Array]:
        """All three at a world point (3,); the next call overwrites the arrays."""
        self._place[:] = place
        self._evaluate()
        return float(self._size[0]), self._normal, self._bend
