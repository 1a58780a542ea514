"""Fixed steps of any method on a state of positions and velocities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..array import Array
from .methods import FixedMethod, RungeKutta

Rate = Callable[[Array, Array, Array], object]
"""Fills its last argument with q' at (q, v)."""

Acceleration = Callable[[float, Array, Array, Array], object]
"""Fills its last argument with v' at a share of the step, q and v."""


class Stepper:
    """A state, advanced in place by steps of one method.

    Attributes
    ----------
    q, v : the state, of any shapes; to be filled in place.
    """

    def __init__(self, method: FixedMethod, q: Array, v: Array) -> None:
        self._shapes = q.shape, v.shape
        self._state = np.concatenate([q.ravel(), v.ravel()])
        self._trial = np.empty_like(self._state)
        self.q, self.v = self._split(self._state)
        self._ahead = self._split(self._trial)
        self.method = method

    @property
    def method(self) -> FixedMethod:
        """The method that takes the steps; it may be changed between them."""
        return self._method

    @method.setter
    def method(self, method: FixedMethod) -> None:
        self._method = method
        stages = len(method.weights) if isinstance(method, RungeKutta) else 1
        self._slopes = np.zeros((stages, len(self._state)))
        self._slope = [self._split(slope) for slope in self._slopes]

    def _split(self, state: Array) -> tuple[Array, Array]:
        """Views of the positions and the velocities in a flat state."""
        q_shape, v_shape = self._shapes
        end = int(np.prod(q_shape))
        return state[:end].reshape(q_shape), state[end:].reshape(v_shape)

    def advance(self, h: float, rate: Rate, accelerate: Acceleration) -> None:
        """Take one step of length h."""
        if isinstance(self._method, RungeKutta):
            self._runge_kutta(self._method, h, rate, accelerate)
            return
        by_q, by_v = self._slope[0]
        accelerate(0.0, self.q, self.v, by_v)
        self.v += h * by_v
        rate(self.q, self.v, by_q)
        self.q += h * by_q

    def _runge_kutta(
        self, method: RungeKutta, h: float, rate: Rate, accelerate: Acceleration
    ) -> None:
        slopes, trial = self._slopes, self._trial
        q, v = self._ahead
        trial[:] = self._state
        for stage, share in enumerate(method.nodes):
            if stage:
                trial[:] = self._state
                for slope, part in zip(slopes, method.rows[stage - 1], strict=False):
                    if part:
                        trial += (h * part) * slope
            by_q, by_v = self._slope[stage]
            rate(q, v, by_q)
            accelerate(share, q, v, by_v)
        total = sum(weight * np.add.reduce(slopes[run]) for weight, run in method.runs)
        self._state += (h / method.divisor) * total
