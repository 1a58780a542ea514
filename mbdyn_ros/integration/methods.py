"""Methods of integration by name: of fixed steps, of steps that they choose, and by collocation.

A new one is an entry here. `Stepper`, rollouts, `simulate`, mechanisms and the command line
offer what stands in `FIXED` and `ADAPTIVE`, and refuse other names with the list.

The slopes of a solution are told at the Gauss points alone, by a polynomial through them; with s
points the error of the end is of order 2 s (Hairer, Norsett and Wanner, II.7). What the equations
are between the points, they are never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.polynomial import legendre

from ..array import Array
from ..errors import InputError, shown

if TYPE_CHECKING:
    from scipy.integrate import OdeSolver


@dataclass(frozen=True)
class FixedMethod:
    """A method of fixed steps h for q' = rate(q, v), v' = acceleration(q, v).

    order : the error after a given time falls with h to this power.
    """

    name: str
    order: int

    @property
    def stages(self) -> int:
        """How many slopes a Runge-Kutta step takes; 0 for other steps."""
        return 0

    @property
    def tableau(self) -> tuple[float, ...]:
        """The numbers of a Runge-Kutta step, as C has them: see `RungeKutta.tableau`."""
        return ()


@dataclass(frozen=True)
class SemiImplicitEuler(FixedMethod):
    """The velocity first, then the position with that velocity."""


@dataclass(frozen=True)
class RungeKutta(FixedMethod):
    """An explicit Runge-Kutta method, by its Butcher tableau.

    rows : of every stage but the first, the shares of a step on the slopes before it.
    weights, divisor : the step is h / divisor times the sum of the slopes, each with its weight;
        neighbours of equal weight are added first.
    """

    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    divisor: float

    @property
    def stages(self) -> int:
        """How many slopes a step takes."""
        return len(self.weights)

    @property
    def tableau(self) -> tuple[float, ...]:
        """The rows as those of a square matrix, the weights, and the divisor."""
        rows = ((*row, *[0.0] * (self.stages - len(row))) for row in ((), *self.rows))
        return (*chain.from_iterable(rows), *self.weights, self.divisor)

    @cached_property
    def nodes(self) -> tuple[float, ...]:
        """At what share of the step each stage stands."""
        return (0.0, *(sum(row) for row in self.rows))

    @cached_property
    def runs(self) -> tuple[tuple[float, slice], ...]:
        """Neighbours of equal weight: the weight, and which stages."""
        result, first = [], 0
        for weight, same in groupby(self.weights):
            count = len(list(same))
            result.append((weight, slice(first, first + count)))
            first += count
        return tuple(result)


@dataclass(frozen=True)
class AdaptiveMethod:
    """A method that chooses its steps by an estimate of their error.

    formula : name of its class in `scipy.integrate`.
    words : what it is, for lists of choices.
    compiled : whether its steps can be compiled too (`compiled_formula`).
    polished : whether it steps to the instants of contacts exactly; else they are those of its
        interpolant.
    """

    name: str
    formula: str
    words: str
    compiled: bool = False
    polished: bool = False

    def solver(self) -> type[OdeSolver]:
        """SciPy's class that takes the steps."""
        import scipy.integrate  # it takes longer to import than all of ours

        found: type[OdeSolver] = getattr(scipy.integrate, self.formula)
        return found


RK4 = RungeKutta("rk4", 4, ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1, 2, 2, 1), 6)
"""The classical method, of Kutta."""

SEMI_IMPLICIT = SemiImplicitEuler("semi_implicit", 1)

HEUN = RungeKutta("heun", 2, ((1.0,),), (1, 1), 2)
"""The improved Euler method, of Heun: half the work of `RK4`."""

FIXED: Mapping[str, FixedMethod] = {method.name: method for method in (RK4, SEMI_IMPLICIT, HEUN)}

ADAPTIVE: Mapping[str, AdaptiveMethod] = {
    method.name: method
    for method in (
        AdaptiveMethod(
            "DOP853", "DOP853", "Dormand and Prince, order 8", compiled=True, polished=True
        ),
        AdaptiveMethod("RK45", "RK45", "Dormand and Prince, order 5 with 4, as MATLAB's ode45"),
    )
}
"""Explicit ones to choose from, the default first."""

STIFF = AdaptiveMethod("Radau", "Radau", "Radau IIA, order 5, implicit")
"""The method where damping would make explicit steps very short; not offered by name."""

Method = TypeVar("Method")


def named(kind: str, name: str, methods: Mapping[str, Method], *others: str) -> Method:
    """A method by name.

    Parameters
    ----------
    kind : what to call it, such as "method".
    others : names besides that the caller knows.

    Raises
    ------
    InputError
        There is none; the message has the list.
    """
    if not isinstance(name, str) or name not in methods:
        listed = ", ".join([*others, *methods])
        raise InputError(f"there is no {kind} {shown(name)}; there are {listed}")
    return methods[name]


def described(methods: Mapping[str, AdaptiveMethod]) -> str:
    """The methods in words, for help."""
    return "; ".join(f"{name}: {method.words}" for name, method in methods.items()) + "."


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


class GaussStep:
    """The Gauss points of an interval, and polynomials through values there.

    times : (s,) the points, rising, none at an end of the interval.
    """

    def __init__(self, start: float, end: float, stages: int) -> None:
        self._start, self._length = start, end - start
        nodes, weights = legendre.leggauss(stages)
        self.times: Array = start + (1 + nodes) / 2 * self._length
        degrees = np.arange(stages)[:, None] + 0.5
        self._coefficients = degrees * legendre.legvander(nodes, stages - 1).T * weights
        self._integrals = self._integrated(nodes)
        self._whole = self._integrated(np.ones(1))[0]

    def states(self, initial: Array, slopes: Array) -> Array:
        """States (s, n) at the points, by slopes (s, n) there."""
        result: Array = initial + self._integrals @ slopes
        return result

    def end(self, initial: Array, slopes: Array) -> Array:
        """The state (n,) at the end of the interval."""
        result: Array = initial + self._whole @ slopes
        return result

    def between(self, values: Array, times: Array) -> Array:
        """Values (N, n) at times (N,) within the interval, by those (s, n) at the points."""
        shares = 2 * (times - self._start) / self._length - 1
        vander = legendre.legvander(shares, len(self.times) - 1)
        result: Array = vander @ (self._coefficients @ values)
        return result

    def roughness(self, values: Array) -> Array:
        """The last two coefficients (n,) of Legendre's series: what polynomials cannot follow."""
        result: Array = np.abs((self._coefficients @ values)[-2:]).max(axis=0)
        return result

    def _integrated(self, shares: Array) -> Array:
        """Factors (N, s) of slopes at the points for their integral from the start."""
        sums = legendre.legint(np.eye(len(self.times)), lbnd=-1)
        return np.asarray(
            self._length / 2 * legendre.legvander(shares, len(self.times)) @ sums
            @ self._coefficients
        )  # fmt: skip
