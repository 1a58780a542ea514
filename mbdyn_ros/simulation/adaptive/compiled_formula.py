"""Steps of DOP853 in one compiled call each, where nothing in the equations needs Python."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np

from ...compiler.kernel import CompiledKernel
from ...compiler.runtime.library import runtime
from ...model.model import Array

STAGES, POWERS = 16, 7
"""Stages of the formula and its interpolant, and powers of the latter."""

ORDER = 8


class CompiledFormula:
    """The steps that SciPy's DOP853 takes; its attributes and methods have the same names.

    Parameters
    ----------
    kernel : compiled `motion_rate`. rate : the same as a function of time and y.
    effort : (ne,) constant.
    t, y, bound : where it starts, and when it ends.
    first_step : s; by default one that suits the tolerances.
    """

    def __init__(
        self,
        kernel: CompiledKernel,
        rate: Callable[[float, Array], Array],
        effort: Array,
        t: float,
        y: Array,
        bound: float,
        max_step: float,
        tolerances: tuple[float, float],
        first_step: float | None = None,
    ) -> None:
        self.t, self.y, self.status = t, y, "running"
        size = len(y)
        self._time = np.array([t, t])
        self._limits = np.array([bound, max_step, *tolerances])
        self._length, self._start, self._next = np.zeros(1), y.copy(), np.zeros(size)
        self._stages, self._weights = np.zeros((STAGES + 2, size)), np.zeros((POWERS, size))
        self._effort, self._home = np.ascontiguousarray(effort), kernel.home
        self._f = np.zeros(size)
        self._memory = kernel.memory()
        around = self._stages, self._effort, self._home, self._memory
        self._advance = _tied(
            kernel, "dop853", self._time, self._limits, self._length, self._start, self._f,
            self._next, *around,
        )  # fmt: skip
        self._prepare = _tied(
            kernel, "dop853_between", self._time, self._start, self._next, *around,
            self._weights,
        )  # fmt: skip
        self.f = rate(t, y)
        self._length[0] = first_step or self._first(rate, tolerances)

    @property
    def f(self) -> Array:
        """y' where it stands; set it with y."""
        return self._f

    @f.setter
    def f(self, value: Array) -> None:
        self._f[:] = value

    def step(self) -> None:
        """One step that is accurate enough; `status` says "failed" where there is none."""
        self._start[:] = self.y
        self._time[0] = self.t
        if not self._advance():
            self.status = "failed"
            return
        self.y, self.t = self._next.copy(), float(self._time[1])
        if self.t >= self._limits[0]:
            self.status = "finished"

    def dense_output(self) -> Callable[[Array], Array]:
        """States (n, N) at times (N,) within the last step, to be asked for before the next."""
        self._prepare()
        start, end = self._time.tolist()
        return functools.partial(_between, start, end, self._start.copy(), self._weights.copy())

    def _first(
        self, rate: Callable[[float, Array], Array], tolerances: tuple[float, float]
    ) -> float:
        """Length of the first step to try (Hairer, Norsett and Wanner, II.4)."""
        y, f = self.y, self._f
        whole = float(self._limits[0]) - self.t
        rtol, atol = tolerances
        scale = (atol + rtol * np.abs(y)) * np.sqrt(len(y))
        value, slope = np.linalg.norm(y / scale), np.linalg.norm(f / scale)
        trial = 1e-6 if value < 1e-5 or slope < 1e-5 else 0.01 * value / slope
        trial = min(trial, whole)
        bend = np.linalg.norm((rate(self.t, y + trial * f) - f) / scale) / trial
        largest = max(slope, bend)
        if largest <= 1e-15:
            fit = max(1e-6, 1e-3 * trial)
        else:
            fit = (0.01 / largest) ** (1 / ORDER)
        return float(min(100 * trial, fit, whole, self._limits[1]))


def _tied(kernel: CompiledKernel, name: str, *arrays: Array) -> Callable[[], int]:
    """A function of the runtime with its program and arrays."""
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
    return functools.partial(getattr(runtime(), name), kernel.scalar.address, *addresses)


def _between(start: float, end: float, y: Array, weights: Array, times: Array) -> Array:
    x = (times - start) / (end - start)
    powers = np.empty((len(weights), len(x)))
    powers[0::2], powers[1::2] = x, 1 - x
    np.cumprod(powers, axis=0, out=powers)
    result: Array = y[:, None] + weights.T @ powers
    return result
