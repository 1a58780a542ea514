"""Fixed-step motion among walls: what a simulator runs at a given rate.

A step in flight is one of `FixedStep` and a look at the distances. Where one of them falls below
zero within it, the step is taken again up to that instant, the impact is solved there as in
`simulate`, and the rest of the step follows. Contacts that rest are held by impulses over the
step, so that no wall is entered and Coulomb's law holds at its end; dry friction of joints is
part of the same problem. This has order 1 in forces that slide, and costs one solution of the
contacts instead of four. Bounces that would all be over within a step end in rest.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...equations.contact.impact import Blocks, contact_impulses
from ...errors import SimulationError
from ...model.model import Array
from ...robot import Robot
from ..contact.collisions import Collisions
from ..contact.contacts import Assembly, Contacts, Indices
from ..contact.environment import Environment
from ..contact.impacts import Impact
from .fixed_step import FixedStep
from .step_crossing import first_crossing

TOUCHING = 1e-6
"""Distance (m or rad) of what touches."""

INSIDE = 1e-5
"""Depth (m or rad) at which a point starts inside a wall."""

RESTING_SPEED = 1e-4
"""Normal velocity (m/s or rad/s) of what touches and rests."""

GRAZE = 1e-9
"""Depth (m or rad) under which a point grazes and does not hit."""

PASSES = 3
"""Most solutions of the contacts in one step."""

SETTLED = 1e-6
"""Share of the velocities by which contacts with friction may miss their laws."""

SOFT = 1e-6
"""Share by which contacts that are redundant yield, so that their impulses are determined."""

MOST_PARTS = 300
"""Parts of a step, between impacts, that are too many."""


class WalledStep(FixedStep):
    """The motion of a robot among walls, advanced in equal steps.

    Attributes
    ----------
    contacts : of the robot with its walls.
    lost : J that impacts and the friction of walls have taken.

    Examples
    --------
    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''<robot name="ball"><link name="world"/><link name="ball">
    ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
    ...   iyz="0"/></inertial></link><joint name="lift" type="prismatic"><axis xyz="0 0 1"/>
    ...   <parent link="world"/><child link="ball"/></joint></robot>''')
    >>> floor = mbdyn_ros.Surface.plane(restitution=0.5, name="floor")
    >>> motion = WalledStep(robot, 0.001, mbdyn_ros.Environment([floor]))
    >>> motion.set_state([0.2], [0.0])
    >>> for _ in range(1000):
    ...     motion.advance()
    >>> len(motion.take_impacts()), bool(abs(motion.q[0]) < 1e-9), round(motion.lost, 6)
    (10, True, 3.924)
    """

    def __init__(
        self, robot: Robot, step: float, environment: Environment, method: str = "auto"
    ) -> None:
        super().__init__(robot, step, method)
        self.contacts = Contacts(self.robot, environment)
        self._collisions = Collisions(
            self.robot, self.contacts, self._accelerated, TOUCHING, RESTING_SPEED, step, SETTLED
        )
        self._forces: dict[int, Array] = {}
        self._slips: dict[int, Array] = {}
        self.lost = 0.0

    def take_impacts(self) -> list[Impact]:
        """The impacts since the last call."""
        impacts = self._collisions.impacts.copy()
        self._collisions.impacts.clear()
        return impacts

    def set_state(self, q: Array, v: Array) -> None:
        """Put the robot somewhere else; refused where a point is inside a wall.

        Raises
        ------
        SimulationError
            A point is inside a wall, by name; the robot stays where it was.
        """
        before = self._state()
        super().set_state(q, v)
        try:
            self._collisions.refuse_inside(self.q, self.v, INSIDE)
        except SimulationError:
            self._restore(before)
            raise
        self._forces.clear()
        self._slips.clear()

    def advance(self) -> None:
        """Take one step.

        Raises
        ------
        SimulationError
            The state is no longer finite, a wall has no gradient where it is touched, or impacts
            follow each other without end.
        """
        whole, start = self._step, self.time
        self._collisions.patience = max(whole, self.contacts.environment.tie_window)
        left = whole
        try:
            for _ in range(MOST_PARTS):
                left -= self._part(left)
                if left <= 0:
                    break
            else:
                raise SimulationError(
                    f"more than {MOST_PARTS} impacts in the step at t = {start:.6g} s: lower the "
                    "restitution of the walls, or take shorter steps"
                )
        finally:
            self._step = whole
        self.time = start + whole

    def _part(self, length: float) -> float:
        """Move on by a length of time, or up to the next impact and through it; returns how far."""
        g, rate, slope = (one.copy() for one in self.contacts.distances(self.q, self.v))
        touching = g <= TOUCHING * slope
        if (touching & (rate < -RESTING_SPEED * slope)).any():
            self._collide()
            g, rate, slope = (one.copy() for one in self.contacts.distances(self.q, self.v))
            touching = g <= TOUCHING * slope
        resting = touching & (np.abs(rate) <= 2 * RESTING_SPEED * slope)
        held = np.flatnonzero(resting)
        before = self._state()
        self._go(length, held)
        last, last_rate, slope = self.contacts.distances(self.q, self.v)
        found = first_crossing(
            (g, rate), (last, last_rate), length, ~resting, GRAZE * np.maximum(slope, 1e-12)
        )
        if found is None:
            return length
        time, k = found
        for _ in range(3):
            self._restore(before)
            if time > 0:
                self._go(time, held)
            g, rate, slope = self.contacts.distances(self.q, self.v)
            if abs(g[k]) <= 1e-13 * slope[k] or not rate[k] < 0:
                break
            better = time - g[k] / rate[k]
            if not 0 < better < length:
                break
            time = better
        self._collide()
        return time

    def _state(self) -> tuple[Array, Array, float, Array, Array | None]:
        home = self.robot.calls.home.copy() if self._walks else None
        return self.q.copy(), self.v.copy(), self.time, self._impulse.copy(), home

    def _restore(self, state: tuple[Array, Array, float, Array, Array | None]) -> None:
        self.q[:], self.v[:], self.time, self._impulse[:], home = state
        if home is not None:
            self.robot.calls.home[:] = home

    def _collide(self) -> None:
        """All impacts at this instant."""
        self._slips.clear()
        none = np.zeros(0, dtype=np.intp)
        self._collisions.collide(self.time, self.q, self.v, self.effort, none)
        self.lost += self._collisions.take_loss()

    def _accelerated(self, q: Array, v: Array, effort: Array) -> Array:
        dynamics = self._dynamics
        dynamics.q[:], dynamics.v[:], dynamics.effort[:] = q, v, effort
        dynamics()
        return dynamics.a

    # ---- resting contacts -----------------------------------------------------------------

    def _go(self, length: float, held: Indices) -> None:
        """One step of this length with contacts held."""
        self._step = length
        if not len(held):
            self._slips.clear()
            super().advance()
            return
        start, slow = self.q.copy(), self.v.copy()
        super().advance()
        self._hold(held, start, slow)
        if not math.isfinite(self.v.dot(self.v) + self.q.dot(self.q)):
            self._explain()

    def _hold(self, held: Indices, start: Array, slow: Array) -> None:
        """Add the impulses of contacts that rest to a step from `start`, with the velocity `slow`.

        They act evenly over the step: half of their change of velocity moves the robot. Where the
        walls or the levers turn much in a step, they are found again at its end.
        """
        length, coordinate = self._step, self._rubbing_coordinates
        free, fast, moved = self.q.copy(), self.v.copy(), np.zeros(len(slow))
        bound = length * self._dry
        for _ in range(PASSES):
            rows = self.contacts.rows(self.q, self.v, held)
            g, _, slope = self.contacts.distances(self.q, self.v)
            assembly = rows.assemble(rows.friction > 0, np.zeros((len(held), 2)))
            S, walls = np.vstack([assembly.rows, self._rubbing_rows()]), len(assembly.rows)
            response = np.linalg.solve(self._mass_at(self.q), S.T)
            without = fast - response[:, walls:] @ self._rubbed
            blocks = replace(assembly.blocks, bound=bound)
            matrix = S @ response
            f = self._impulses(0.5 * (matrix + matrix.T), S @ without, blocks, held)
            self.v[:] = without + response @ f
            further = 0.5 * length * (self.v - fast) - moved
            normal = blocks.normal
            gap = g[held] / slope[held] + S[normal] @ further
            closed = (f[normal] > 0) | (gap < 0)
            if closed.any():
                along = response[:, normal[closed]]
                levers = S[normal[closed]] @ along
                further += along @ np.linalg.lstsq(levers, -gap[closed], rcond=1e-12)[0]
            moved += further
            self.q[:] = free
            self._move(1.0, moved)
            _, rate, slope = self.contacts.distances(self.q, self.v)
            if (np.abs(rate) <= RESTING_SPEED * slope)[held[f[normal] > 0]].all():
                break
        stuck = (np.abs(f[walls:]) < bound) & (np.abs(S[walls:] @ self.v) < RESTING_SPEED)
        self.v[coordinate[stuck & (coordinate >= 0)]] = 0.0
        for k in coordinate[stuck & (self._slides == 0)].tolist():
            if k in self._places:
                self.q[self._places[k]] = start[self._places[k]]
        self._impulse[:] = f[walls:]
        self._lose(f[:walls], assembly, slow, held)
        self._position_rate.normalize(self.q)
        if self._walks:
            self._take_home_along()

    def _lose(self, f: Array, assembly: Assembly, slow: Array, held: Indices) -> None:
        """Count the work of the impulses on the mean of the velocities at both ends."""
        before, after = assembly.rows @ slow, assembly.rows @ self.v
        blocks, slips = assembly.blocks, self._slips
        self._slips = {}
        for k, n, t in zip(
            held.tolist(), blocks.normal.tolist(), blocks.tangent.tolist(), strict=True
        ):
            places = [n] if t < 0 else [n, t, t + 1]
            before[places] = slips.get(k, before[places])
            self._slips[k] = after[places]
        self.lost -= 0.5 * float(f @ (before + after))

    def _impulses(self, matrix: Array, free: Array, blocks: Blocks, held: Indices) -> Array:
        """The impulses (m,): those of rest where that is possible."""
        f = np.asarray(np.linalg.lstsq(matrix, -free, rcond=1e-12)[0], dtype=np.float64)
        if not _obey(f, blocks) or np.abs(matrix @ f + free).max() > 1e-9 * np.abs(free).max():
            guess = np.zeros(len(free))
            for k, n, t in zip(
                held.tolist(), blocks.normal.tolist(), blocks.tangent.tolist(), strict=True
            ):
                force = self._step * self._forces.get(k, np.zeros(3))
                guess[n] = force[0]
                if t >= 0:
                    guess[t : t + 2] = force[1:]
            guess[len(free) - len(blocks.bound) :] = self._rubbed
            soft = matrix + np.diag(SOFT * matrix.diagonal())  # one solution, where many fit
            f = contact_impulses(soft, free, blocks, guess, SETTLED)
        self._forces.clear()
        for k, n, t in zip(
            held.tolist(), blocks.normal.tolist(), blocks.tangent.tolist(), strict=True
        ):
            self._forces[k] = np.array([f[n], *(f[t : t + 2] if t >= 0 else (0, 0))]) / self._step
        return f


def _obey(f: Array, blocks: Blocks) -> bool:
    """Whether impulses push, and stay within what friction can give."""
    normal, t = f[blocks.normal], blocks.tangent
    if (normal < 0).any() or (np.abs(f[len(f) - len(blocks.bound) :]) > blocks.bound).any():
        return False
    cone = t >= 0
    across = np.hypot(f[t[cone]], f[t[cone] + 1])
    return bool((across <= blocks.friction[cone] * normal[cone]).all())
