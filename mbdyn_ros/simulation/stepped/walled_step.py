"""Fixed-step motion among walls: what a simulator runs at a given rate.

A step in flight is one of `FixedStep` and a look at the distances. Where one of them falls below
zero within it, the step is taken again up to that instant, the impact is solved there as in
`simulate`, and the rest of the step follows. Contacts that rest are held by impulses over the
step, so that no wall is entered and Coulomb's law holds at its end; dry friction of joints is
part of the same problem. This has order 1 in forces that slide, and costs one solution of the
contacts instead of four. Bounces that would all be over within a step end in rest.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np

from ...arguments import Wrenches
from ...equations.contact.complementarity import complementary_impulses
from ...errors import ContactError, SimulationError
from ...integration.root import land
from ...model.model import Array
from ...robot import Robot
from ..contact.collisions import Collisions
from ..contact.contacts import Contacts
from ..contact.environment import Environment
from ..contact.impacts import Impact
from ..contact.precision import FIXED_STEPS
from ..contact.refusals import refuse_inside, refuse_no_value
from ..contact.rows import Assembly, Indices
from ..force_torque import NO_WRENCHES
from .fixed_step import FixedStep
from .push import Push, PushSolver, blocks_of
from .step_crossing import first_crossing
from .tree_state import diverged

PULL = 1e-9
"""Share of the greatest push that counts as none."""

MOST_PASSES = 3
"""Most solutions of the contacts in one step."""

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
            self.robot, self.contacts, self._accelerated, FIXED_STEPS, step
        )
        self._solver = PushSolver()
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
            refuse_inside(self.contacts, self.q, self.v, FIXED_STEPS.inside)
        except SimulationError:
            self._restore(before)
            raise
        self._solver.forget()
        self._slips.clear()

    def advance(self) -> None:
        """Take one step.

        Raises
        ------
        SimulationError
            The state is no longer finite, a wall has no value or where it is touched no gradient,
            or impacts follow each other without end.
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

    def force_torque(self, joint: str, wrenches: Wrenches = NO_WRENCHES) -> Array:
        """Refused: only compiled steps know all that walls did in them."""
        raise SimulationError(
            f"a sensor in joint {joint!r} of a robot among walls takes compiled steps, and no C "
            "compiler was found: install one"
        )

    def _part(self, length: float) -> float:
        """Move on by a length of time, or up to the next impact and through it; returns how far."""
        g, rate, slope = (one.copy() for one in self.contacts.distances(self.q, self.v))
        touching = g <= FIXED_STEPS.touching * slope
        if (touching & (rate < -FIXED_STEPS.resting_speed * slope)).any():
            self._collide()
            g, rate, slope = (one.copy() for one in self.contacts.distances(self.q, self.v))
            touching = g <= FIXED_STEPS.touching * slope
        resting = touching & (np.abs(rate) <= 2 * FIXED_STEPS.resting_speed * slope)
        held = np.flatnonzero(resting)
        before = self._state()
        self._go(length, held)
        last, last_rate, slope = self.contacts.distances(self.q, self.v)
        if np.isnan(last).any():
            refuse_no_value(self.contacts, self.q)
        depth = FIXED_STEPS.graze * np.maximum(slope, 1e-12)
        crossing = first_crossing((g, rate), (last, last_rate), length, ~resting, depth)
        if crossing is None:
            return length
        time, k = crossing

        def step_to(time: float) -> tuple[float, float, float]:
            self._restore(before)
            if time > 0:
                self._go(time, held)
            g, rate, slope = self.contacts.distances(self.q, self.v)
            return g[k], rate[k], FIXED_STEPS.closed * slope[k]

        time = land(step_to, time, (0.0, length))
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
            raise diverged(self.robot, self.q, self.v, self.time, self._step)

    def _hold(self, held: Indices, start: Array, slow: Array) -> None:
        """Add the impulses of contacts that rest to a step from `start`, with the velocity `slow`.

        They act evenly over the step: half of their change of velocity moves the robot. Where the
        walls or the levers turn much in a step, they are found again at its end.
        """
        free, fast, moved = self.q.copy(), self.v.copy(), np.zeros(len(slow))
        for _ in range(MOST_PASSES):
            push = self._pushed(held, fast)
            moved += self._closing(push, held, 0.5 * self._step * (push.velocity - fast) - moved)
            self.v[:] = push.velocity
            self.q[:] = free
            self._move(1.0, moved)
            _, rate, slope = self.contacts.distances(self.q, self.v)
            slow_enough = np.abs(rate) <= FIXED_STEPS.resting_speed * slope
            if slow_enough[held[push.pushing]].all():
                break
        self._stop_joints(push, start)
        self._lose(push.impulses[: len(push.assembly.rows)], push.assembly, slow, held)
        self._position_rate.normalize(self.q)
        if self._walks:
            self._tree.take_home_along(self.q)

    def _pushed(self, held: Indices, fast: Array) -> Push:
        """The impulses that hold contacts, and rub in joints, in a step that ends with `fast`."""
        rows = self.contacts.rows(self.q, self.v, held)
        assembly = rows.assemble(rows.friction > 0, np.zeros((len(held), 2)))
        S, walls = np.vstack([assembly.rows, self._rubbing_rows()]), len(assembly.rows)
        response: Array = np.linalg.solve(self._mass_at(self.q), S.T).astype(np.float64, copy=False)
        without = fast - response[:, walls:] @ self._rubbed
        blocks = replace(assembly.blocks, bound=self._step * self._dry)
        matrix = S @ response
        f = self._solver.impulses(
            0.5 * (matrix + matrix.T), S @ without, blocks, held, self._step, self._rubbed
        )
        velocity: Array = without + response @ f
        return Push(assembly, S, response, f, velocity)

    def _closing(self, push: Push, held: Indices, further: Array) -> Array:
        """The way `further` (nv,), with what closes contacts that push or would go inside.

        Where that would pull at one of them, as redundant contacts cannot all close, those that do
        not push in the end stand apart instead.
        """
        g, _, slope = self.contacts.distances(self.q, self.v)
        normal = push.assembly.blocks.normal
        gap = g[held] / slope[held] + push.rows[normal] @ further
        closed = push.pushing | (gap < 0)
        if not closed.any():
            return further
        along = push.response[:, normal]
        levers, pressed = push.rows[normal] @ along, 0.5 * self._step * push.impulses[normal]
        more = np.zeros(len(held))
        only = np.ix_(closed, closed)
        more[closed] = np.linalg.lstsq(levers[only], -gap[closed], rcond=1e-12)[0]
        if (pressed + more < -PULL * pressed.max(initial=0.0)).any():
            with contextlib.suppress(ContactError):  # between walls that leave no room
                more = complementary_impulses(levers, gap - levers @ pressed) - pressed
        shift: Array = along @ more
        return further + shift

    def _stop_joints(self, push: Push, start: Array) -> None:
        """Let joints that their dry friction holds stand still exactly."""
        walls, coordinate = len(push.assembly.rows), self._rubbing_coordinates
        self._impulse[:] = rubbed = push.impulses[walls:]
        still = np.abs(push.rows[walls:] @ self.v) < FIXED_STEPS.resting_speed
        sticks = (np.abs(rubbed) < self._step * self._dry) & still
        self.v[coordinate[sticks & (coordinate >= 0)]] = 0.0
        for k in coordinate[sticks & (self._slides == 0)].tolist():
            if k in self._places:
                self.q[self._places[k]] = start[self._places[k]]

    def _lose(self, f: Array, assembly: Assembly, slow: Array, held: Indices) -> None:
        """Count the work of the impulses on the mean of the velocities at both ends."""
        before, after = assembly.rows @ slow, assembly.rows @ self.v
        blocks, slips = assembly.blocks, self._slips
        self._slips = {}
        for k, places in blocks_of(held, blocks):
            before[places] = slips.get(k, before[places])
            self._slips[k] = after[places]
        self.lost -= 0.5 * float(f @ (before + after))
