"""The equations of motion in the form an integrator wants: y' = f(t, y)."""

from __future__ import annotations

import functools
import math

import numpy as np

from ...errors import ContactError, SimulationError
from ...model.model import Array
from ...prepare.coordinates import PositionRate
from ...robot import Robot
from ..actuation import Actuation
from ..contact.contacts import Contacts
from ..contact.environment import Environment
from ..contact.impulses import Impact
from ..effort import Drive, EffortFunction
from ..stepped.solid_slots import AHEAD, CrowdedError, SolidSlots
from ..stepped.step_in_c import StepInC, is_compiled
from ..trajectory import Transition
from .stick_slip import Smooth, StickSlip, friction_coefficients
from .touching import Touching


class Nearby:
    """The end of a part of a motion before something touches that events do not know.

    Those are convex shapes of links, walls with laws of their own, and balls that may touch one
    wall at several places at once: equal steps go on there.
    """

    def __init__(self, robot: Robot, environment: Environment) -> None:
        self._contacts = contacts = Contacts(robot, environment, only_watch=True)
        special = np.zeros((0, 1)) if contacts.special is None else contacts.special
        self._special = np.flatnonzero(special.any(axis=1))
        self._fall = float(np.linalg.norm(robot.gravity))
        self._slots: SolidSlots | None = None
        if contacts.geometry.slots:
            self._slots = SolidSlots(contacts, StepInC.among(robot, contacts))

    def refuse(self, q: Array, v: Array, span: float) -> None:
        """Refuse a step of this length (s) from a state in which these may touch.

        Raises
        ------
        ContactError
            They may; the message names links or walls.
        """
        near: list[str] = []
        if self._slots is not None:
            try:
                near = self._slots.near(q, v, AHEAD * span)
            except CrowdedError:
                near = ["many links"]
        if near:
            raise ContactError(f"{', '.join(near)}: they are near each other")
        gap, rate, slope = self._contacts.distances(q, v)
        ahead = AHEAD * span * (np.maximum(-rate, 0.0) + slope * self._fall * span)
        for k in self._special[(gap <= ahead)[self._special]].tolist():
            raise ContactError(f"{self._contacts.name(k)}, which yields, moves or resists turning")
        for k in self._contacts.further[(gap <= ahead)[self._contacts.further]].tolist():
            raise ContactError(f"{self._contacts.name(k)} touches it at several places")


class Motion:
    """Positions, velocities, work and impulses: y = [q, v, work of efforts, loss, impulses, x].

    The work is integrated along, so that the energy balance of a result is as exact as the
    result. The impulses of the efforts that hold joints at rest serve the step control alone:
    without them steps would grow over an effort that changes while nothing moves. x are states of
    actuators.

    walks : whether there are loops without closed form.
    nearby : notes what events do not see; None where there is nothing of the kind.
    """

    def __init__(
        self,
        robot: Robot,
        effort: EffortFunction,
        environment: Environment | None = None,
        tolerance: float = 0.0,
        actuation: Actuation | None = None,
    ) -> None:
        self.nq, self.nv = robot.nq, robot.nv
        self.walks = bool(robot.system.nz)
        self._robot, self._environment = robot, environment
        self.effort, self._actuation = effort, actuation
        _, dry = friction_coefficients(robot.system)
        self.drive = Drive(robot)
        free = StickSlip(robot, self.drive) if dry.any() else Smooth(robot)
        self.touching: Touching | None = None
        self.nearby: Nearby | None = None
        if environment is not None:
            contacts = Contacts(robot, environment.plain)
            self.touching = Touching(robot, free, contacts, tolerance)
            if contacts.geometry.slots or environment.plain is not environment:
                self.nearby = self._watch(robot, environment)
            elif len(contacts.further) and self.may_step:
                self.nearby = Nearby(robot, environment)
        self.dynamics: Smooth | Touching = self.touching or free
        self._energy = robot.bind("energy")
        self._held = robot.nq + robot.nv + 2 + len(self.dynamics.holding)
        self.size = self._held + (0 if actuation is None else len(actuation.states))
        self.position_rate = PositionRate(robot.system.coordinates)

    @functools.cached_property
    def may_step(self) -> bool:
        """Whether it can go on in equal steps among walls, where events do not go on."""
        walled = self._environment is not None and self._actuation is None
        return walled and is_compiled(self._robot)

    def _watch(self, robot: Robot, environment: Environment) -> Nearby:
        if not self.may_step:
            raise SimulationError(
                f"{robot.model.source}: boxes, cylinders and meshes of links touch each other, and "
                "walls yield, move or resist turning, in compiled steps without actuators: leave "
                "that out, or have a C compiler and give efforts"
            )
        return Nearby(robot, environment)

    def state(self, q: Array, v: Array) -> Array:
        """y at the start."""
        y = np.zeros(self.size)
        y[: self.nq], y[self.nq : self.nq + self.nv] = q, v
        if self._actuation is not None:
            y[self._held :] = self._actuation.states
        self.normalize(y)
        return y

    def work(self, y: Array) -> Array:
        """Work of the efforts and loss to friction (2,) or (N, 2), J."""
        end = self.nq + self.nv
        return y[..., end : end + 2]

    def energy(self, y: Array) -> tuple[float, float]:
        """Kinetic and potential energy, J."""
        self._energy.q[:], self._energy.v[:] = self.split(y)
        self._energy()
        kinetic, potential = self._energy.result.tolist()
        return kinetic, potential

    def actuator_states(self, y: Array) -> Array:
        """States of the actuators (k,) or (N, k), as they count them."""
        return y[..., self._held :]

    def actuator_record(self, y: Array) -> tuple[Array, tuple[str, ...]]:
        """States of the actuators (N, k) in SI units, of y (N, n), and their names."""
        if self._actuation is None:
            return np.zeros((len(y), 0)), ()
        return self.actuator_states(y) * self._actuation.scale, self._actuation.labels

    def effort_at(self, t: float, y: Array) -> Array:
        """Efforts (n,) at y."""
        if self._actuation is not None:
            self._actuation.states[:] = self.actuator_states(y)
        return self.effort(t, *self.split(y))

    def stiffest_rate(self, y: Array) -> float:
        """Greatest rate (1/s) at which something settles at y."""
        own = 0.0 if self._actuation is None else self._actuation.fastest
        return max(self.dynamics.damping_rate(self.split(y)[0]), own)

    def split(self, y: Array) -> tuple[Array, Array]:
        """Views of q and v in y."""
        return y[: self.nq], y[self.nq : self.nq + self.nv]

    def rate(self, t: float, y: Array) -> Array:
        """y' in the present mode."""
        nq, end = self.nq, self.nq + self.nv
        q, v = y[:nq], y[nq:end]
        effort = self.effort_at(t, y)
        result = np.empty(self.size)
        self.position_rate(q, v, result[:nq])
        result[nq:end] = self.dynamics.acceleration(q, v, effort)
        result[end] = self.drive.power(q, v, effort)
        result[end + 1] = self.dynamics.loss(q, v)
        result[end + 2 : self._held] = self.dynamics.holding
        if self._actuation is not None:
            result[self._held :] = self._actuation.rates
        return result

    def start(self, t: float, y: Array) -> list[Transition]:
        """Choose the mode at the start; `y` may be corrected in place."""
        q, v = self.split(y)
        found = self._counted(y, self.dynamics.start(t, q, v, self.effort_at(t, y)))
        if self.touching is not None and len(self.touching.resting):  # within `touching`: close it
            energy = sum(self.energy(y))
            self.correct(y)
            y[self.nq + self.nv + 1] += energy - sum(self.energy(y))
        return found

    def violated(self, t: float, y: Array) -> bool:
        """Whether y lies beyond the end of the present mode."""
        q, v = self.split(y)
        return self.dynamics.violated(q, v, self.effort_at(t, y))

    def switch(self, t: float, y: Array) -> list[Transition]:
        """Enter the mode that follows at y, which may be corrected in place."""
        q, v = self.split(y)
        return self._counted(y, self.dynamics.switch(t, q, v, self.effort_at(t, y)))

    def take_impacts(self) -> list[Impact]:
        """The impacts since the last call."""
        if self.touching is None:
            return []
        impacts = self.touching.impacts.copy()
        self.touching.impacts.clear()
        return impacts

    def _counted(self, y: Array, transitions: list[Transition]) -> list[Transition]:
        """Count what the last impacts have cost as a loss."""
        if self.touching is not None:
            y[self.nq + self.nv + 1] += self.touching.take_loss()
        return transitions

    def correct(self, y: Array) -> None:
        """Bring y back to what holds exactly, in place: unit quaternions, what rests."""
        if self.dynamics.drifts:
            self.dynamics.hold(*self.split(y))
        if self.touching is not None and len(self.touching.resting):
            q, v = self.split(y)
            moved, slowed = self.touching.correction(q, v)
            shift = np.empty(self.nq)
            self.position_rate(q, moved, shift)
            q += shift
            v += slowed
        self.normalize(y)

    @property
    def corrects(self) -> bool:
        """Whether `correct` has anything to do."""
        resting = self.touching is not None and len(self.touching.resting) > 0
        return resting or self.dynamics.drifts or bool(self.position_rate.turning)

    def normalize(self, y: Array) -> None:
        """Give the quaternions in y (n,) or (N, n) unit length, in place."""
        self.position_rate.normalize(y[..., : self.nq])


ALLOWED = 1e-3
"""Share of the energy that moved which may be unexplained at the default tolerances."""

UNJUDGED = 1e-9
"""Energy (J), and share of the energy at the start, under which nothing is judged."""


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
