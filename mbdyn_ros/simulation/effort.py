"""Efforts that drive the joints: none, constant, or a function of time and state."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..arguments import coordinate_array, require_finite, whole_efforts
from ..array import Array, NoNumbers, as_numbers
from ..errors import InputError, SimulationError
from ..robot import Robot

EffortFunction = Callable[[float, Array, Array], Array]
"""Efforts of the actuated joints, N m or N, at the time (s) and the state q (nq,), v (nv,).

With a floating base those of the joints alone will do: its own are zeros then.
"""


def effort_function(robot: Robot, effort: Array | EffortFunction | None) -> EffortFunction:
    """The efforts as a function that is safe to call at any stage of a step.

    Raises
    ------
    InputError
        A constant of the wrong shape, or not finite.
    """
    labels = robot.effort_labels
    if callable(effort):
        return _Checked(effort, labels)
    if effort is None:
        constant = np.zeros(len(labels))
    else:
        constant = coordinate_array("effort", whole_efforts(effort, labels), labels).copy()
        if constant.ndim != 1:
            raise InputError(
                f"effort has shape {constant.shape}; efforts that change in time are given as a "
                "function effort(t, q, v)"
            )
        require_finite("effort", constant, labels)
    constant.setflags(write=False)
    return Constant(constant)


class Constant:
    """An effort (n,) that never changes."""

    def __init__(self, effort: Array) -> None:
        self.effort = effort

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The effort."""
        return self.effort


class _Checked:
    """A user's function, with what it returns checked on every call."""

    def __init__(self, function: EffortFunction, labels: tuple[str, ...]) -> None:
        self._function = function
        self._labels = labels

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Copies go in, so that the function may keep or change them."""
        if not math.isfinite(q.sum() + v.sum()):  # a trial beyond what can be reached
            return np.full(len(self._labels), np.nan)
        try:
            effort = self._function(float(t), q.copy(), v.copy())
        except Exception as error:
            raise SimulationError(
                f"the effort function failed: {type(error).__name__}: {error}"
            ) from error
        try:
            array = as_numbers(effort)
            if array.shape != (len(self._labels),):
                array = as_numbers(whole_efforts(array, self._labels))
        except NoNumbers:
            array = np.empty(())
        if array.shape != (len(self._labels),):
            raise SimulationError(
                f"the effort function returned {effort!r}; expected {len(self._labels)} numbers "
                f"in the order {', '.join(self._labels) or '(none)'}"
            )
        if not math.isfinite(array.sum()):
            for label, number in zip(self._labels, array.tolist(), strict=True):
                if not math.isfinite(number):
                    raise SimulationError(
                        f"the effort function returned {number} for {label}; every number must "
                        "be finite"
                    )
        return array
