"""The result of a simulation: the motion, its causes and its energy, sampled in time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import SimulationError
from ..model.model import Array
from ..names import plural
from .contact.impulses import Contact, Impact

CHANGE_POINT = "passes a change point"
"""The mode of a loop's transition."""


@dataclass(frozen=True)
class Transition:
    """A change of mode of a joint, a contact or a loop.

    A joint with dry friction "sticks", "slides +" or "slides -"; a contact, which has its point
    and surface for a name, "rests" or "separates"; a loop "passes a change point".
    """

    time: float
    joint: str
    mode: str


Event = Impact | Transition
"""Either kind of event of a simulation."""


@dataclass(frozen=True)
class Stretch:
    """A time in which a simulation went on in equal steps, and why not by events.

    start, end : s. why : in words.
    """

    start: float
    end: float
    why: str


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A simulated motion at N instants.

    Attributes
    ----------
    time : (N,), s, rising. An impact has two samples, with the states before and after it: the
        first one at the last number before its instant. (At given `times` only those.)
    q, v, a : (N, nq), (N, nv), (N, nv): positions, velocities and accelerations of the
        independent joints (rad or m), in the order of `position_labels`, `velocity_labels`.
        Where the acceleration jumps it is that after the jump.
    joint_position, joint_velocity : (N, n): of all joints, as `Robot.joint_state` gives them.
        Where the motion has passed a dead centre of the independent joints, q fits two
        configurations; these say which.
    effort : (N, n), N m or N, in the order of `effort_labels`: what drives the actuated joints;
        friction is not part of it.
    energy : (N, 2), J: kinetic and potential.
    work : (N, 2), J, since the start: done by the efforts, and lost to friction.
        Impacts take from it too: the second column holds all losses.
    contacts : N tuples: the contacts held at each instant, with their forces; of joint stops too.
    impacts : every impact with walls and joint stops, in order.
    transitions : when joints with dry friction came to rest or broke away, and contacts, and
        when loops passed change points.
    steps : number of steps the integrator took.
    actuator_states : (N, k) in the order of `actuator_labels`: pressures (Pa) in the chambers of
        cylinders, openings of valves (-1 to 1), currents (A); see `docs/actuators.md`.
    stretches : when the motion went on in equal steps, since events did not go on one by one.
        Accelerations are means over a step there.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    joint_position: Array
    joint_velocity: Array
    effort: Array
    energy: Array
    work: Array
    position_labels: tuple[str, ...]
    velocity_labels: tuple[str, ...]
    effort_labels: tuple[str, ...]
    contacts: tuple[tuple[Contact, ...], ...] = ()
    impacts: tuple[Impact, ...] = ()
    transitions: tuple[Transition, ...] = ()
    steps: int = 0
    stretches: tuple[Stretch, ...] = ()
    actuator_states: Array = field(default_factory=lambda: np.zeros((0, 0)))
    actuator_labels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        counts = {
            "impact": len(self.impacts), "transition": len(self.transitions), "step": self.steps
        }  # fmt: skip
        counted = ", ".join(f"{count} {plural(noun, count)}" for noun, count in counts.items())
        return (
            f"Trajectory({len(self)} samples{span} of {', '.join(self.position_labels)}; "
            f"{counted}, relative imbalance {self.relative_imbalance:.1e})"
        )

    def __len__(self) -> int:
        return len(self.time)

    @property
    def imbalance(self) -> Array:
        """Energy gained since the first sample that no work explains (N,), J: an error."""
        balance = self.energy.sum(axis=1) - self.work[:, 0] + self.work[:, 1]
        return balance - balance[:1]

    def imbalance_of(self, stretch: Stretch) -> float:
        """Energy (J) that equal steps gained and that no work explains."""
        ends = np.searchsorted(self.time, (stretch.start, stretch.end), side="right") - 1
        before, after = self.imbalance[np.maximum(ends, 0)]
        return float(after - before)

    @property
    def relative_imbalance(self) -> float:
        """Largest `imbalance` over the largest energy that moved: the drift.

        The measure is the largest kinetic energy, change of potential energy, work or loss.
        """
        if not len(self):
            return 0.0
        moved = [
            np.abs(self.energy[:, 0]).max(),
            np.abs(self.energy[:, 1] - self.energy[0, 1]).max(),
            np.abs(self.work).max(),
        ]
        gap = float(np.abs(self.imbalance).max())
        return gap / max(moved) if gap else 0.0


class StoppedSimulationError(SimulationError):
    """A simulation that could not go on; `trajectory` holds the motion up to there."""

    def __init__(self, message: str, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.trajectory = trajectory
