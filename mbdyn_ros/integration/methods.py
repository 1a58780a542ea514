"""All methods of integration by name, fixed steps as they are taken, and those that choose theirs.

A new one is an entry here. `Stepper`, rollouts, `simulate`, mechanisms and the command line
offer the methods of `FIXED` and `ADAPTIVE`, and refuse other names with the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..array import Array
from ..errors import InputError, unknown

if TYPE_CHECKING:
    from scipy.integrate import OdeSolver

LANDINGS = 3
"""Most steps that are taken to land on an instant; Newton's method needs two."""


def first_true(condition: Callable[[float], bool], before: float, after: float) -> float:
    """Where a condition, false at `before` and true at `after`, becomes true: to the last digit."""
    while before != (middle := 0.5 * (before + after)) != after:
        if condition(middle):
            after = middle
        else:
            before = middle
    return after


def zero_between(function: Callable[[float], float], a: float, b: float) -> float:
    """A zero between two times with different signs (Brent's method)."""
    from scipy.optimize import brentq  # slow to import, and only contacts need it

    if function(a) * function(b) > 0:  # by rounding: one of them is the zero
        return a if abs(function(a)) < abs(function(b)) else b
    accuracy = 1e-15 * max(1.0, abs(b))
    found, _ = brentq(function, a, b, xtol=accuracy, rtol=1e-15, full_output=True, disp=False)
    return float(found)


def land(
    step_to: Callable[[float], tuple[float, float, float] | None],
    instant: float,
    window: tuple[float, float],
) -> float:
    """Step to where a falling distance is zero, by Newton's method on the steps themselves.

    Parameters
    ----------
    step_to : takes the step up to an instant, each time anew; the distance at its end, its rate,
        and what distance counts as none. None where there is no step so short.
    instant : where to step first. window : where the instant must lie.

    Returns
    -------
    The instant at which the last step ends.
    """
    ends = instant
    for _ in range(LANDINGS):
        found = step_to(instant)
        if found is None:
            break
        ends, (distance, rate, none) = instant, found
        if abs(distance) <= none or not rate < 0:
            break
        instant = ends - distance / rate
        if not window[0] < instant < window[1] or instant == ends:
            break
    return ends


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
        """The numbers of a Runge-Kutta step, as `compiler/runtime/runge_kutta.h` has them."""
        return ()


@dataclass(frozen=True)
class SemiImplicitEuler(FixedMethod):
    """The velocity first, then the position with that velocity."""


@dataclass(frozen=True)
class RungeKutta(FixedMethod):
    """An explicit Runge-Kutta method, by its Butcher tableau.

    rows : of every stage but the first, the shares of a step on the slopes before it.
    weights, divisor : the step is h / divisor times the sum of the slopes, each with its weight.
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


@dataclass(frozen=True)
class AdaptiveMethod:
    """A method that chooses its steps by an estimate of their error.

    formula : name of its class in `scipy.integrate`.
    words : what it is, for lists of choices.
    compiled : whether its steps can be compiled too (`CompiledFormula`).
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
        raise InputError(unknown(kind, name, [*others, *methods]))
    return methods[name]


def described(methods: Mapping[str, AdaptiveMethod]) -> str:
    """The methods in words, for help."""
    return "; ".join(f"{name}: {method.words}" for name, method in methods.items()) + "."


AUTO = "auto"
"""The name of the choice between `RK4` and `SEMI_IMPLICIT`."""

STIFFEST_FOR_RK4 = 1.0
"""Largest step times damping rate for rk4 in "auto". It is stable up to 2.78; the damping rate
is taken at one position and differs at others."""


class StepMethod:
    """The choice of a method of fixed steps.

    Parameters
    ----------
    name : one of `integration.methods.FIXED`, or "auto": rk4 unless damping is too stiff for it.

    Raises
    ------
    InputError
        There is no such method; the message has the list.

    Examples
    --------
    >>> [StepMethod("auto").at(1e-3, rate).name for rate in (10.0, 1e6)]
    ['rk4', 'semi_implicit']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._named = None if name == AUTO else named("method", name, FIXED, AUTO)

    def at(self, step: float, damping_rate: float) -> FixedMethod:
        """The method for steps of that length (s), where damping is as fast as that (1/s)."""
        stiff = step * damping_rate > STIFFEST_FOR_RK4
        return self._named or (SEMI_IMPLICIT if stiff else RK4)


Rate = Callable[[Array, Array, Array], object]
"""Fills its last argument with q' at (q, v)."""

Acceleration = Callable[[float, Array, Array, Array], object]
"""Fills its last argument with v' at a share of the step, q and v."""


class FixedSteps:
    """A state, advanced in place by fixed steps of one method.

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
        for slope, weight in zip(slopes, method.weights, strict=True):
            self._state += (h / method.divisor * weight) * slope
