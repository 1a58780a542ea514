"""Adaptive integration from mode to mode, with the step formulas of SciPy.

Where efforts are constant and nothing rests, rubs or sticks, the steps of a method may be
compiled (`CompiledFormula`). Where damping stops a motion in microseconds, as that of some
robots' fingers does, explicit steps would have to be as short: an implicit method takes them.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...compiler.kernel import CompiledKernel
from ...compiler.runtime.library import dop853
from ...errors import ContactError, SimulationError
from ...integration import methods
from ...integration.methods import AdaptiveMethod, first_true, land
from ...model.model import Array
from ..contact.impulses import Impact
from ..contact.precision import ADAPTIVE_STEPS
from ..effort import Constant
from ..trajectory import Event, Transition
from .motion import EnergyBalance, Motion

if TYPE_CHECKING:
    from scipy.integrate import OdeSolver

MODE_PROBES = 8
"""Instants inside a step at which the end of a mode is looked for."""

STIFF_RATE = 1e5
"""Rate (1/s) of damping or of an actuator above which implicit steps are the faster ones."""

SHORTEST_STEP = 1e-14
"""Step (s), and share of the time, that is too short to count."""

MAX_SWITCHES = 100
"""Switches at one instant that are too many."""

MOST, RATE = 12.0, 30.0
"""Events of changing contacts that may come at once, and in a second (1/s)."""

SEVERAL, LENIENCE = 6, 8.0
"""Contacts that are many; how many times more events fewer ones may have."""

ALIKE = 0.1
"""How much an event counts of the same contacts as the one before: bounces that die out."""

BURST, STEP_RATE = 150.0, 300.0
"""Steps with contacts held that may be short at once, and in a second (1/s)."""

STRIDE = 0.1
"""Motion (rad or m) in a step that is not short: as smooth steps are at the default tolerances."""

RUBBING = 4.0
"""Weight of a step in which joints have dry friction too, which takes so much longer."""


@dataclass
class Step:
    """One accepted step: the states at both ends, and between them by its interpolant.

    ended : whether it ends where a contact closes.
    """

    start: float
    end: float
    initial: Array
    interpolant: Callable[[], Callable[[Array], Array]]
    ended: bool = False

    def states(self, times: Array) -> Array:
        """States (N, n) at instants (N,) within the step."""
        return self.interpolant()(times).T

    def state(self, time: float) -> Array:
        """State (n,) at one instant within the step."""
        return self.states(np.array([time]))[0]


class Crowd:
    """Counts the events of one part of a simulation, and its steps with contacts held."""

    def __init__(self) -> None:
        self._level, self._time = 0.0, 0.0
        self._steps, self._step_time = 0.0, 0.0
        self._last: frozenset[object] = frozenset()
        self._all: set[object] = set()

    def add(self, time: float, who: frozenset[object]) -> None:
        """Count an event of these contacts.

        Raises
        ------
        ContactError
            There are too many.
        """
        self._level = max(0.0, self._level - RATE * (time - self._time))
        if not self._level:
            self._all.clear()
        self._all |= who
        self._level += ALIKE if who == self._last else 1.0
        self._time, self._last = time, who
        if self._level > MOST * (1.0 if len(self._all) > SEVERAL else LENIENCE):
            raise ContactError("many contacts bounce and switch in a short time")

    def step(self, time: float, rubs: bool) -> None:
        """Count a step that begins with contacts held.

        Raises
        ------
        ContactError
            There are too many.
        """
        self._steps = max(0.0, self._steps - STEP_RATE * (time - self._step_time))
        self._steps += RUBBING if rubs else 1.0
        self._step_time = time
        if self._steps > BURST:
            raise ContactError("contacts are held in a motion whose steps stay short")


@dataclass
class Integrator:
    """Steps through time; after each, `time` and `state` are where it stands.

    tolerances : relative and absolute error of a step, in units of the state.
    report : called with every impact and transition.
    method : what steps where the motion is not stiff.
    """

    motion: Motion
    state: Array
    end: float
    tolerances: tuple[float, float]
    report: Callable[[Event], None]
    method: AdaptiveMethod
    max_step: float = np.inf
    time: float = 0.0
    count: int = 0
    _crowd: Crowd = field(default_factory=Crowd)

    def steps(self) -> Iterator[Step]:
        """Integrate; yields before a mode ends, so that the step may be sampled in its mode."""
        self._enter(self.motion.start)
        balance = EnergyBalance(self.motion, self.state, self.tolerances[0])
        switches = 0
        restless: set[str] = set()
        while self.time < self.end:
            began = self.time
            yield from self._smooth(balance)
            if self.time < self.end:
                found, impacts = self._enter(self.motion.switch)
                names = {one.joint for one in found}
                if self.motion.may_step:
                    where = {
                        pair
                        for one in impacts
                        for pair in zip(one.points, one.surfaces, strict=True)
                    }
                    self._crowd.add(self.time, frozenset(where | names))
                if self.time - began > SHORTEST_STEP * self.end:
                    switches, restless = 0, set()
                switches, restless = switches + 1, restless | names
                if switches > MAX_SWITCHES:
                    advice = ""
                    if self.motion.touching is not None and self.motion.touching.rubs:
                        advice = (
                            "; where joints and walls both rub, give the joints damping instead "
                            "of friction"
                        )
                    who = ", ".join(sorted(restless)) or "contacts"
                    raise ContactError(
                        f"{who} switch between sticking and sliding without end{advice}"
                    )

    def _enter(
        self, mode: Callable[[float, Array], list[Transition]]
    ) -> tuple[list[Transition], list[Impact]]:
        """Enter a mode, and report what happens."""
        impacts: list[Impact] = []
        try:
            found = mode(self.time, self.state)
        finally:
            impacts += self.motion.take_impacts()
            for impact in impacts:
                self.report(impact)
        for transition in found:
            self.report(transition)
        return found, impacts

    def _smooth(self, balance: EnergyBalance) -> Iterator[Step]:
        """Integrate until the mode, or the time, ends."""
        touching = self.motion.touching
        stiff = self.motion.stiffest_rate(self.state) > STIFF_RATE
        method = methods.STIFF if stiff else self.method
        solver = self._solver(
            method, self.time, self.state, self.end, self.max_step, self.tolerances
        )
        watched = self.motion.dynamics.switching or touching is not None
        if not np.isfinite(solver.f).all():
            self._explain_failure()
        corrects = self.motion.corrects
        crowded = touching is not None and len(touching.resting) > 0 and self.motion.may_step
        while solver.status == "running":
            initial = solver.y
            solver.step()
            if solver.status == "failed":
                self._explain_failure()
            if crowded and touching is not None and self._is_short(solver.t - self.time, initial):
                self._crowd.step(self.time, touching.rubs)
            self.count += 1
            start, end = self.time, float(solver.t)
            interpolant = functools.cache(solver.dense_output)
            if watched:
                step = self._ended(method, Step(start, end, initial, interpolant))
                if step is not None:
                    state = step.state(step.end)
                    self.motion.correct(state)
                    balance.check(state)
                    self.time, self.state = step.end, state
                    yield step
                    return
            balance.check(solver.y)
            self.time, self.state = end, solver.y
            yield Step(start, end, initial, interpolant)
            if corrects:
                solver.y = self.state = solver.y.copy()
                self.motion.correct(self.state)
                solver.f = self.motion.rate(end, self.state)

    def _is_short(self, length: float, state: Array) -> bool:
        """Whether a step from a state is shorter than how fast the robot moves explains."""
        return bool(length * np.abs(self.motion.split(state)[1]).max(initial=0.0) < STRIDE)

    def _solver(
        self,
        method: AdaptiveMethod,
        time: float,
        state: Array,
        end: float,
        max_step: float,
        tolerances: tuple[float, float],
        first_step: float | None = None,
    ) -> OdeSolver | CompiledFormula:
        """The solver that takes the steps, compiled where it can be."""
        kernel, effort = self.motion.dynamics.kernel, self.motion.effort
        if method.compiled and isinstance(kernel, CompiledKernel) and isinstance(effort, Constant):
            return CompiledFormula(
                kernel, self.motion.rate, effort.effort, time, state, end, max_step, tolerances,
                first_step,
            )  # fmt: skip
        rtol, atol = tolerances
        return method.solver()(
            self.motion.rate, time, state, end,
            max_step=max_step, rtol=rtol, atol=atol, first_step=first_step,
        )  # fmt: skip

    def _ended(self, method: AdaptiveMethod, step: Step) -> Step | None:
        """The step up to where its mode ends, or a point hits a wall; None where neither does."""
        end, contact = step.end, None
        touching = self.motion.touching
        if touching is not None:
            found = touching.search.first(step.states, step.start, end, touching.resting)
            if found is not None:
                end, contact = found
        if self.motion.dynamics.switching:
            broken = self._violation(step.state, step.start, end)
            if broken is not None:
                return replace(step, end=broken)
        if contact is None:
            return None
        return self._onto(method, step, end, contact)

    def _onto(self, method: AdaptiveMethod, step: Step, time: float, contact: int) -> Step:
        """One step that ends where a contact closes, by the formula itself.

        The interpolant is of lower order than the step; on it the instant is only nearly right.
        """
        assert self.motion.touching is not None
        best = replace(step, end=time, ended=True)
        if not method.polished:
            return best

        def step_to(time: float) -> tuple[float, float, float] | None:
            nonlocal best
            length = time - step.start
            if not SHORTEST_STEP * max(1.0, abs(time)) < length:
                return None
            solver = self._solver(
                method, step.start, step.initial, time, np.inf, (1.0, np.inf), length
            )
            solver.step()
            interpolant = functools.cache(solver.dense_output)
            best = Step(step.start, time, step.initial, interpolant, ended=True)
            g, rate, slope = contacts.distances(*self.motion.split(solver.y))
            return g[contact], rate[contact], ADAPTIVE_STEPS.closed * slope[contact]

        contacts = self.motion.touching.contacts
        land(step_to, time, (step.start, step.end + (step.end - step.start)))
        return best

    def _violation(self, state: Callable[[float], Array], start: float, end: float) -> float | None:
        """The first instant at which the mode has ended, to the last digit."""
        before = start
        for after in np.linspace(start, end, MODE_PROBES + 1)[1:].tolist():
            if self.motion.violated(after, state(after)):
                return first_true(lambda t: self.motion.violated(t, state(t)), before, after)
            before = after
        return None

    def _explain_failure(self) -> None:
        touching = self.motion.touching
        if touching is not None:
            touching.refuse_jam(*self.motion.split(self.state))
        rate = self.motion.rate(self.time, self.state)
        if not np.isfinite(rate).all():
            raise SimulationError(
                "the accelerations are not finite; the mass matrix is singular here, or a number "
                "is too large"
            )
        kind = ContactError if touching is not None and len(touching.resting) else SimulationError
        raise kind(
            "no step is short enough for the tolerances; they are too tight, the efforts jump "
            "without end, or the motion grows without bound"
        )


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
    """A function of the library of adaptive steps with its program and arrays."""
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
    return functools.partial(getattr(dop853(), name), kernel.scalar.address, *addresses)


def _between(start: float, end: float, y: Array, weights: Array, times: Array) -> Array:
    x = (times - start) / (end - start)
    powers = np.empty((len(weights), len(x)))
    powers[0::2], powers[1::2] = x, 1 - x
    np.cumprod(powers, axis=0, out=powers)
    result: Array = y[:, None] + weights.T @ powers
    return result
