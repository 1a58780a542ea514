"""Two links that touch, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiler.kernel import memory
from ...equations.contact.rods import Couple, touching_terms
from ...model.model import Array


class CoupleTerms:
    """Where and how the rods of one couple touch; serves one thread."""

    def __init__(self, couple: Couple) -> None:
        self._buffer: Any
        self._buffer, self._evaluate = touching_terms(couple).buffer()
        self._given, self._result = np.zeros((2, 36)), np.zeros(10)
        for k in range(2):
            self._buffer.set_arg(k, memory(self._given[k]))
        self._buffer.set_res(0, memory(self._result))

    def __call__(self, one: Array, other: Array) -> tuple[Array, Array, float, Array]:
        """Normal, place, and the accelerations along the normal and of the relative velocity.

        Parameters
        ----------
        one, other : T, T' and T'' (3, 3, 4) of both bodies, as `ContactLayout.transforms`.
        """
        self._given[0] = one.transpose(0, 2, 1).ravel()
        self._given[1] = other.transpose(0, 2, 1).ravel()
        self._evaluate()
        n, x, along, h = np.split(self._result.copy(), [3, 6, 7])
        return n, x, float(along[0]), h
