"""Kernels with arrays of their own: calling one costs the program and little else."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from .kernel import Kernel


class Bound(functools.partial):  # type: ignore[type-arg]
    """A kernel with preallocated arrays: fill the inputs in place, call, read the output.

    The arrays are attributes named as the method's arguments (`q`, `v`, `a`, `effort`,
    `wrenches`), the output also as `result`. A call checks nothing, returns nothing and
    allocates nothing; one `Bound` serves one thread.
    """

    arguments: tuple[Array, ...]
    result: Array
    _kept: object

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array: ...

    def __new__(cls, kernel: Kernel) -> Bound:
        """Allocate the arrays and tie the program to them."""
        arguments = tuple(np.zeros(shape) for shape in kernel.inputs.values())
        result = np.zeros(kernel.shape)
        call, kept = kernel.tie(arguments, result)
        self = super().__new__(cls, call)
        self._kept = kept
        self.arguments, self.result = arguments, result
        for name, array in zip(kernel.inputs, self.arguments, strict=True):
            setattr(self, name, array)
        setattr(self, kernel.program.declaration.output, self.result)
        return self


class BoundBatch:
    """A kernel with arrays for N states: fill `arguments` in place, call, read `result`.

    Attributes
    ----------
    arguments : the inputs, (N, ...) each. result : (N, ...).
    """

    def __init__(self, kernel: Kernel, count: int) -> None:
        self.arguments = [np.zeros((count, *shape)) for shape in kernel.inputs.values()]
        self.result = np.zeros((count, *kernel.shape))
        self._kernel, self._call = kernel, kernel.tie_batch(self.arguments, self.result)

    def __call__(self) -> None:
        """Run it."""
        self._call()
