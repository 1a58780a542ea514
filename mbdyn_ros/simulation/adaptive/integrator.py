"""Adaptive integration from mode to mode, with the step formulas of SciPy.

Where efforts are constant and nothing rests, rubs or sticks, the steps of a method may be
compiled (`compiled_formula`). Where damping stops a motion in microseconds, as that of some
robots' fingers does, explicit steps would have to be as short: an implicit method takes them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...compiler.kernel import CompiledKernel
from ...errors import ContactError, SimulationError
from ...integration import methods
from ...integration.methods import AdaptiveMethod, first_true, land
from ...model.model import Array
from ..contact.impulses import Impact
from ..contact.precision import ADAPTIVE_STEPS
from ..effort import Constant
from ..trajectory import Event, Transition
from .compiled_formula import CompiledFormula
from .motion import Motion

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

ALLOWED = 1e-3
"""Share of the energy that moved which may be unexplained at the default tolerances."""

UNJUDGED = 1e-9
"""Energy (J), and share of the energy at the start, under which nothing is judged."""


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


class EnergyBalance:
    """Stops a simulation whose energy no longer balances.

    An integrator can be blind to a wrong turn: where a closed loop passes a singular
    configuration, say, small steps look good one by one. The balance is not.
    """

    def __init__(self, motion: Motion, y: Array, rtol: float) -> None:
        self._motion, self._walks = motion, motion.walks
        kinetic, self._potential = motion.energy(y)
        work, loss = motion.work(y).tolist()
        self._start = kinetic + self._potential - work + loss
        self._noise = UNJUDGED * (1 + kinetic + abs(self._potential))
        self._allowed = max(ALLOWED, 1e4 * rtol)
        self._moved = 0.0

    def check(self, y: Array) -> None:
        """Compare the energy at y with the work done so far.

        Raises
        ------
        SimulationError
            Much is unexplained.
        """
        kinetic, potential = self._motion.energy(y)
        work, loss = self._motion.work(y).tolist()
        self._moved = max(self._moved, kinetic, abs(potential - self._potential), abs(work), loss)
        if self._walks and not math.isfinite(kinetic):
            return  # beyond what a loop can follow; the watch on the charts says so
        gap = abs(kinetic + potential - self._start - work + loss)
        if not gap <= self._allowed * self._moved + self._noise:
            raise SimulationError(
                f"the energy does not balance: no work explains {gap:.3g} J of the "
                f"{self._moved:.3g} J that moved. The motion passes a singular configuration, or "
                "the tolerances are too loose"
            )


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
