"""Motion among walls: free flight, impacts, and contacts that rest until they separate.

Between events the points that rest on walls are held there: with rows S for what is at rest and
directions C of the forces that hold it, M a = F + C^T f, S a + drift = 0. A point that sticks
has three rows; one that slides has its normal, and friction against its velocity. At an event
the impact (`contact.events`) changes the velocity, and the same laws on accelerations
say which contacts rest, stick, slide or separate from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from ...array import Array
from ...compiler.kernel import Kernel
from ...errors import ContactError, SimulationError
from ...robot import Robot
from ..contact.contacts import (
    LEANING_SPEED,
    Assembly,
    Contacts,
    Flags,
    Indices,
    Rows,
    tangent_planes,
)
from ..contact.events import Collisions, ContactSearch, refuse_inside
from ..contact.impulses import UNSETTLED, Contact, contact_impulses
from ..contact.precision import ADAPTIVE_STEPS
from ..trajectory import Transition
from .stick_slip import Smooth

FORCE_NOISE = 1e-10
"""Share of the forces, or accelerations, that may be rounding error."""


class Mode(Enum):
    """Modes of a contact."""

    RESTS = "rests"  # without friction
    STICKS = "sticks"
    SLIDES = "slides"
    SEPARATES = "separates"


@dataclass(frozen=True, eq=False)
class Resting:
    """Contacts that are held now.

    contacts : (k,) their numbers. modes : of each, one of the first three.
    directions : (k, 2) unit vectors along the wall in which they slide, else zero or the last.
    """

    contacts: Indices
    modes: Sequence[Mode]
    directions: Array

    @staticmethod
    def none() -> Resting:
        """Free flight."""
        return Resting(np.zeros(0, dtype=np.intp), (), np.zeros((0, 2)))

    def __len__(self) -> int:
        return len(self.contacts)

    @cached_property
    def sticks(self) -> Flags:
        """(k,) which of them stick."""
        return np.array([mode is Mode.STICKS for mode in self.modes], dtype=bool)

    @cached_property
    def slides(self) -> Flags:
        """(k,) which of them slide."""
        return np.array([mode is Mode.SLIDES for mode in self.modes], dtype=bool)

    def by_contact(self) -> dict[int, Mode]:
        """The modes by the numbers of the contacts."""
        return dict(zip(self.contacts.tolist(), self.modes, strict=True))

    def only(self, kept: Flags) -> Resting:
        """The contacts of these that are `kept` (k,)."""
        modes = [mode for mode, keep in zip(self.modes, kept.tolist(), strict=True) if keep]
        return Resting(self.contacts[kept], modes, self.directions[kept])

    def choices(
        self, assembly: Assembly, matrix: Array, free: Array, force: Array
    ) -> list[Resting]:
        """Modes that forces by Coulomb's law allow the contacts, the likeliest first.

        Parameters
        ----------
        matrix, free : A (m, m) and b (m,) of the accelerations A f + b of the rows.
        force : f (m,).
        """
        blocks, directions = assembly.blocks, self.directions.copy()
        whole, most = matrix @ force + free, float(np.abs(free).max())
        normal, left = force[blocks.normal], whole[blocks.normal]
        modes, possible = list(self.modes), list(self.modes)
        for i, t in enumerate(blocks.tangent.tolist()):
            if t < 0:
                continue
            rub = float(np.linalg.norm(force[t : t + 2]))
            inside = rub < blocks.friction[i] * normal[i] * (1 - FORCE_NOISE)
            still = float(np.abs(whole[t : t + 2]).max()) <= 10 * UNSETTLED * most
            modes[i] = Mode.STICKS if inside else Mode.SLIDES
            possible[i] = Mode.STICKS if inside or still else Mode.SLIDES
            if not inside and rub > 0:
                directions[i] = -force[t : t + 2] / rub
        pushes = normal > FORCE_NOISE * normal.max(initial=0.0)
        rests = pushes | (left <= FORCE_NOISE * most)
        likely = Resting(self.contacts, modes, directions)
        result = [likely.only(rests)]
        if possible != modes and redundant(matrix):  # forces can be shared in many ways
            result.insert(0, Resting(self.contacts, possible, directions).only(rests))
        if not pushes[rests].all():
            result.append(likely.only(pushes))
        return result


def obeys(force: Array, assembly: Assembly) -> bool:
    """Whether forces (m,), or none, push, and stay inside the cones of friction."""
    blocks = assembly.blocks
    noise = FORCE_NOISE * max(1e-6, float(np.abs(force).max(initial=0.0)))
    normal = force[blocks.normal]
    if (normal < -noise).any():
        return False
    for n, t, mu in zip(normal, blocks.tangent, blocks.friction, strict=True):
        if t >= 0 and np.linalg.norm(force[t : t + 2]) > mu * n * (1 + FORCE_NOISE) + noise:
            return False
    return True


def redundant(matrix: Array) -> bool:
    """Whether rows depend on each other."""
    size = float(np.abs(matrix).max())
    return int(np.linalg.matrix_rank(matrix, tol=1e-10 * size)) < len(matrix)


def least(matrix: Array, right: Array) -> Array:
    """The least solution x of A x = b, by least squares where it has none."""
    if len(right) == 1:
        pivot = matrix[0]
        return np.asarray(right / pivot if pivot[0] else 0.0 * right, dtype=np.float64)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0], dtype=np.float64)


JAMMED = 1e-2
"""Share of the normal acceleration by a push of the wall that friction leaves, where it jams."""


class Touching:
    """Accelerations of a robot among walls; the interface is that of `Smooth`.

    Attributes
    ----------
    search : finds the next contact on a step.
    impacts : all so far.
    """

    def __init__(self, robot: Robot, free: Smooth, contacts: Contacts, tolerance: float) -> None:
        self._free, self.contacts = free, contacts
        nq = robot.nq
        end = nq + robot.nv
        self.search = ContactSearch(contacts, lambda y: (y[..., :nq], y[..., nq:end]), tolerance)
        near = max(ADAPTIVE_STEPS.touching, 10 * self.search.graze)
        self._precision = replace(ADAPTIVE_STEPS, touching=near, inside=near)
        self._collisions = Collisions(
            robot, contacts, self._without_contact, self._precision,
            contacts.environment.tie_window,
        )  # fmt: skip
        self.impacts = self._collisions.impacts
        self._held = Resting.none()
        self._given_part = robot.system.given_part
        self._rows: tuple[Resting, Rows] | None = None

    @property
    def resting(self) -> Indices:
        """Contacts (k,) that are held now."""
        return self._held.contacts

    @property
    def switching(self) -> bool:
        """Whether the present mode may end other than by an impact."""
        return self._free.switching or len(self._held) > 0

    @property
    def rubs(self) -> bool:
        """Whether joints have dry friction."""
        return self._free.switching

    @property
    def kernel(self) -> Kernel | None:
        """Rates of the whole motion in free flight, if they are those of one program."""
        return None if len(self._held) else self._free.kernel

    @property
    def holding(self) -> Array:
        """Efforts that hold joints at rest."""
        return self._free.holding

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows a motion that is possible now."""
        return self._free.damping_rate(q)

    @property
    def drifts(self) -> bool:
        """Whether joints at rest have to be kept there by `hold`."""
        return self._free.drifts

    def hold(self, q: Array, v: Array) -> None:
        """Take from v, in place, what joints at rest have gathered by rounding."""
        self._free.hold(q, v)

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W; that of walls as of the last `acceleration`."""
        loss = self._free.loss(q, v)
        own = v - self._given_part(v)
        return loss - float(self._free.load @ own) if len(self._held) else loss

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,) with the resting contacts held."""
        if not len(self._held):
            return self._free.acceleration(q, v, effort)
        return self._holding(q, v, effort)[0]

    def _holding(self, q: Array, v: Array, effort: Array) -> tuple[Array, Array, Assembly]:
        """Accelerations (nv,), the forces (m,) that hold the contacts, and their rows."""
        a = self._without_contact(q, v, effort)
        rows = self._laws(q, v)
        assembly = rows.assembly
        if not self._free.switching:
            found = rows.forces(self._collisions.mass_matrix(q), a)
            if found is not None:
                a, force, self._free.load = found
                return a, force, assembly
        response = self._response(q, assembly.columns)
        force = least(assembly.rows @ response, -(assembly.rows @ a + assembly.drift))
        self._free.load = assembly.columns.T @ force
        return a + response @ force, force, assembly

    def contacts_held(self, q: Array, v: Array, effort: Array) -> tuple[Contact, ...]:
        """Contacts that rest, with the forces that hold them."""
        if not len(self._held):
            return ()
        _, force, assembly = self._holding(q, v, effort)
        rows, held, found = self._laws(q, v), self._held, []
        for i, k in enumerate(self.resting.tolist()):
            place, normal = rows.places[i].copy(), rows.normals[i].copy()
            along, at = force[assembly.blocks.normal[i]], assembly.blocks.tangent[i]
            rub = force[at : at + 2] if at >= 0 else np.zeros(2)
            if held.slides[i]:
                rub = -rows.friction[i] * along * held.directions[i]
            pushed = np.array([along, 0.0, 0.0])
            if not np.isnan(normal).any():
                pushed = along * normal + rub @ tangent_planes(normal[None])[0]
            names = self.contacts.point(k), self.contacts.surface(k)
            sticks, links = bool(held.sticks[i]), tuple(self.contacts.links(k))
            found.append(Contact(*names, place, normal, pushed, sticks, links))
        return tuple(found)

    def _without_contact(self, q: Array, v: Array, effort: Array) -> Array:
        self._free.load = np.zeros(len(v))
        return self._free.acceleration(q, v, effort).copy()

    def _laws(self, q: Array, v: Array) -> Rows:
        """Rows of the present mode; the next call overwrites them."""
        held = self._held
        if self._rows is not None and self._rows[0] is held:
            return self.contacts.fill(self._rows[1], q, v)
        modes = held.sticks, held.slides, held.directions
        self._rows = held, self.contacts.rows(q, v, held.contacts, *modes)
        return self._rows[1]

    def _response(self, q: Array, columns: Array) -> Array:
        """Accelerations (nv, k) caused by unit forces (k, nv), with stuck joints stuck."""
        return self._free.response(q, self._collisions.mass_matrix(q), columns.T)

    def refuse_jam(self, q: Array, v: Array) -> None:
        """Refuse sliding contacts that have no motion; see `jam`.

        Raises
        ------
        SimulationError
            There is one; the message names point and wall.
        """
        if not len(self._held):
            return
        jammed = jams(self._laws(q, v).assembly, lambda C: self._response(q, C))
        which = self.resting[jammed & ~self._held.sticks]
        refuse_jams([self.contacts.name(k) for k in which.tolist()])

    # ---- modes ----------------------------------------------------------------------------

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Refuse points inside walls; hit, rest or leave what touches."""
        refuse_inside(self.contacts, q, v, self._collisions.precision.inside)
        self._held = Resting.none()
        found = self._free.start(t, q, v, effort)
        return found + self.switch(t, q, v, effort)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether a joint or a resting contact leaves its mode."""
        if not len(self._held):
            return self._free.violated(q, v, effort)
        _, force, assembly = self._holding(q, v, effort)
        if self._free.switching:
            if self._free.violated(q, v, effort):
                return True
            _, force, assembly = self._holding(q, v, effort)
        ahead = (self._laws(q, v).along * self._held.directions).sum(axis=1)
        if (ahead[self._held.slides] < 0).any():
            return True
        return self._disobeys(q, v, effort, force, assembly)

    def _could_obey(self, q: Array, v: Array, effort: Array, assembly: Assembly) -> bool:
        """Whether other forces, which redundant contacts have, would hold the same motion."""
        a = self._without_contact(q, v, effort)
        matrix = assembly.rows @ self._response(q, assembly.columns)
        if not redundant(matrix):
            return False
        free = assembly.rows @ a + assembly.drift
        left = matrix @ contact_impulses(matrix, free, assembly.blocks) + free
        return bool(np.abs(left).max() <= 10 * UNSETTLED * np.abs(free).max())

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Impacts at this instant, then rest or separation; `v` is changed in place."""
        before, count = self._held.by_contact(), len(self.impacts)
        self._collisions.collide(t, q, v, effort, self.resting)
        self._free.load = np.zeros(len(v))
        enter = self._free.switch if len(self.impacts) == count else self._free.start
        found = enter(t, q, v, effort)
        self._settle(q, v, effort)
        for _ in range(20):  # joints with dry friction feel the walls
            if not self._free.switching or not len(self._held):
                break
            self._holding(q, v, effort)
            more = self._free.switch(t, q, v, effort)
            if not more:
                break
            found += more
            self._settle(q, v, effort)
        after = self._held.by_contact()
        for k in sorted(before.keys() | after.keys()):
            mode = after.get(k, Mode.SEPARATES)
            if mode is not before.get(k):
                found.append(Transition(float(t), self.contacts.name(k), mode.value))
        return found

    def correction(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Corrections (nv,) of the place and of v that keep resting contacts at rest."""
        g, _, slope = self.contacts.distances(q, v)
        gap = (g / slope)[self.resting]
        laws = self._laws(q, v)
        rows, normal = laws.assembly.rows, laws.assembly.blocks.normal
        response = self._response(q, rows)
        matrix = rows @ response
        moved = response[:, normal] @ least(matrix[np.ix_(normal, normal)], -gap)
        slowed = response @ least(matrix, -(rows @ v))
        for i in np.flatnonzero(self._held.slides).tolist():
            speed = float(np.linalg.norm(laws.along[i]))
            if speed > 10 * LEANING_SPEED:
                self._held.directions[i] = laws.along[i] / speed
        return moved, slowed

    def take_loss(self) -> float:
        """Energy (J) lost in impacts since the last call."""
        return self._collisions.take_loss()

    def _settle(self, q: Array, v: Array, effort: Array) -> None:
        """Choose the contacts that rest from now on, and how."""
        g, rate, slope = self.contacts.distances(q, v)
        near = np.abs(g) <= self._precision.touching * slope
        near[self.resting] = True
        which = np.flatnonzero(near & (np.abs(rate) <= 2 * self._precision.resting_speed * slope))
        before, self._held = self._held, Resting.none()
        self._free.load = np.zeros(len(v))
        if not len(which):
            return
        moving = self._stopped(q, v, which, before)
        rows = self.contacts.rows(q, v, which, moving.sticks, None, moving.directions)
        assembly = rows.assembly
        a = self._without_contact(q, v, effort)
        matrix = assembly.rows @ self._response(q, assembly.columns)
        free = assembly.rows @ a + assembly.drift
        try:
            force = contact_impulses(matrix, free, assembly.blocks)
        except SimulationError:
            self._held = moving
            self.refuse_jam(q, v)
            raise
        *others, last = moving.choices(assembly, matrix, free, force)
        for choice in others:
            self._held = choice
            if not self._breaks(q, v, effort):
                return
        self._held = last

    def _stopped(self, q: Array, v: Array, which: Indices, before: Resting) -> Resting:
        """How contacts (k,) move along their walls; what has come to rest is stopped, in `v`."""
        modes, stopped = [Mode.RESTS] * len(which), np.zeros(len(which), dtype=bool)
        directions, rows = np.zeros((len(which), 2)), self.contacts.rows(q, v, which)
        last = dict(zip(before.contacts.tolist(), before.directions, strict=True))
        for i in np.flatnonzero(rows.friction > 0).tolist():
            along = rows.along[i]
            speed = float(np.linalg.norm(along))
            old = last.get(int(which[i]), directions[i])
            leans = speed <= LEANING_SPEED and bool(old.any())
            turned = leans and along @ old <= 0
            if speed > self._precision.resting_speed and not turned:
                modes[i] = Mode.SLIDES
                directions[i] = old if leans else along / speed
            else:
                modes[i], stopped[i] = Mode.STICKS, speed > 0
        if stopped.any():
            still = self.contacts.rows(q, v, which, stopped).assembly.rows
            response = self._response(q, still)
            v += response @ least(still @ response, -(still @ v))
        return Resting(which, modes, directions)

    def _breaks(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether the resting contacts would have to pull, or to rub too much."""
        _, force, assembly = self._holding(q, v, effort)
        return self._disobeys(q, v, effort, force, assembly)

    def _disobeys(
        self, q: Array, v: Array, effort: Array, force: Array, assembly: Assembly
    ) -> bool:
        return not obeys(force, assembly) and not self._could_obey(q, v, effort, assembly)


def jams(assembly: Assembly, response: Callable[[Array], Array]) -> Flags:
    """Which contacts (k,) pull themselves in by friction as hard as the wall pushes them out.

    The normal acceleration by such a contact's own force, friction included, is next to nothing
    or negative (Painleve's paradox).

    Parameters
    ----------
    response : accelerations (nv, m) by unit forces along rows (m, nv).
    """
    normal = assembly.blocks.normal
    walls = assembly.rows[normal]
    by_force = assembly.rows @ response(assembly.columns)
    by_push = np.einsum("ki,ik->k", walls, response(walls))
    found: Flags = np.diag(by_force)[normal] <= JAMMED * by_push
    return found


def refuse_jams(names: Sequence[str]) -> None:
    """Raise `SimulationError` where there are names of contacts that jam."""
    if names:
        raise ContactError(
            f"friction jams {', '.join(names)}: it pulls the point into the wall as hard as "
            "the wall pushes it out, so that rigid bodies have no motion that obeys Coulomb's "
            "law (Painleve's paradox); lower the friction of the wall"
        )
