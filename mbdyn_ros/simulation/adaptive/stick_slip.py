"""Dry (Coulomb) friction from instant to instant: joints stick or slide, exactly.

A joint with friction slides at s = J v; it feels -F sign(s), or sticks at s = 0 with any friction
r in [-F, F] that holds it (J and F: see `coulomb`). In each mode the equations are smooth; the
integrator stops where a mode ends: a sliding joint comes to rest, or the load on what sticks can
no longer be held. There the modes of all joints at rest follow from

    a = A r + b,   |r_i| <= F_i,   a_i = 0 where |r_i| < F_i,   a_i r_i <= 0 where |r_i| = F_i

with A = J M^-1 J^T of the joints at rest: the problem of `contact.impulses` without contacts. In a
loop more joints may rub than are free; then r is not unique, but the motion is (Gauss's principle).
"""

from __future__ import annotations

import numpy as np

from ...compiler.kernel import Bound, Kernel
from ...equations.dry_friction import tree_friction
from ...equations.programs import (
    coriolis_vector,
    forward_dynamics,
    holding_vector,
    mass_matrix,
    motion_rate,
)
from ...equations.system import System
from ...model.model import Array
from ...robot import Robot
from ..contact.impulses import Blocks, Contact, contact_impulses, solver
from ..coulomb import DEPENDENT_ROWS, Coulomb, fastest_damping
from ..effort import Drive
from ..trajectory import Transition

FARTHEST_STAGE = 10.0
"""Motion of a loop's joint (rad or m) that no stage of a step may make: where a trial goes wild, no
walk need go after it."""


def friction_coefficients(system: System) -> tuple[Array, Array]:
    """Damping (N m s/rad or N s/m) and dry friction (N m or N), (nv,) each, as v feels them.

    A joint that follows another one by v_tree = G v adds G^2 d to its damping and |G| f to its
    dry friction. In closed loops G changes with the position; these are the numbers at home.
    """
    if not system.has_friction:
        return np.zeros(system.coordinates.nv), np.zeros(system.coordinates.nv)
    damping, dry = tree_friction(system.tree)
    share = system.embedding_at_home
    return (share**2).T @ damping, np.abs(share).T @ dry


class Smooth:
    """Accelerations and friction losses; nothing ever switches.

    This is the interface of every kind of dynamics that the integrator drives.
    """

    switching = False
    """Whether the integrator has to watch `violated`."""

    holding: Array
    """Efforts that hold joints at rest, as of the last `acceleration`; none here."""

    drifts = False
    """Whether joints at rest have to be kept there by `hold`."""

    load: Array
    """Forces (nv,) of walls on the coordinates, which joints at rest have to hold."""

    kernel: Kernel | None = None
    """Rates of the whole motion, if they are those of one program."""

    def __init__(self, robot: Robot) -> None:
        self.holding = np.zeros(0)
        self.load = np.zeros(robot.nv)
        self._robot = robot
        self.kernel = robot.calls.kernel(motion_rate)
        self.kernel.farthest = FARTHEST_STAGE
        self._forward = Bound(self.kernel)
        self._a = self._forward.rate[robot.nq : robot.nq + robot.nv]
        self._damping, _ = friction_coefficients(robot.system)
        damped = bool(self._damping.any())
        self._friction_vector = robot.bind("friction_vector") if damped else None

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Choose the mode of motion at the start."""
        return []

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,); the array is overwritten by the next call."""
        forward = self._forward
        forward.q[:] = q
        forward.v[:] = v
        forward.effort[:] = effort
        forward()
        return self._a

    def contacts_held(self, q: Array, v: Array, effort: Array) -> tuple[Contact, ...]:
        """Contacts that rest, with their forces."""
        return ()

    def response(self, q: Array, matrix: Array, forces: Array) -> Array:
        """Accelerations (nv, k) caused by forces (nv, k); `matrix` (nv, nv) is that of mass."""
        return np.asarray(np.linalg.solve(matrix, forces), dtype=np.float64)

    def hold(self, q: Array, v: Array) -> None:
        """Take from v, in place, what joints at rest have gathered by rounding."""

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows a motion that is possible now."""
        if self._friction_vector is None:
            return 0.0
        return fastest_damping(self._robot.mass_matrix(q), np.diag(self._damping))

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W."""
        friction = self._friction_vector
        if friction is None:
            return 0.0
        friction.q[:] = q
        friction.v[:] = v
        friction()
        return float(friction.effort @ v)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether the state lies beyond the end of the present mode."""
        return False

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Go on from a violation in another mode; `v` may be corrected in place."""
        return []


LOAD_NOISE = 1e-12
"""Share of the loads on a joint that may be rounding error."""

HYSTERESIS = 1e-10
"""A joint breaks away at F (1 + HYSTERESIS), so that what broke away surely moves."""

NAMES = {0: "sticks", 1: "slides +", -1: "slides -"}


class StickSlip(Smooth):
    """Accelerations of a robot with dry friction.

    mode : (m,), the direction (+-1) in which a row of `Coulomb` slides, 0 where it sticks.
    """

    switching = True

    def __init__(self, robot: Robot, drive: Drive) -> None:
        kernels = robot.calls.load(
            (forward_dynamics, None, False, False),
            *[(program,) for program in (mass_matrix, coriolis_vector, holding_vector)],
        )
        self._forward, self._matrix, self._coriolis, self._holding = map(Bound, kernels)
        solver()  # is compiled before the motion begins
        self._a = self._forward.a
        self._drive = drive
        self._coulomb = Coulomb(robot)
        count = len(self._coulomb.labels)
        self.holding, self.load = np.zeros(count), np.zeros(robot.nv)
        self._set_mode(np.zeros(count))

    def _set_mode(self, mode: Array) -> None:
        self.mode = mode
        self._held = np.flatnonzero(mode == 0)
        self._stuck = self._held[self._coulomb.coordinate[self._held] < 0]
        still = self._coulomb.coordinate[self._held]
        self._free = np.setdiff1d(np.arange(len(self.load)), still[still >= 0])
        self.drifts = bool(len(self._stuck))
        self.holding[:] = 0.0

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Joints at rest stick or break away as their loads say."""
        self._coulomb.at(q)
        self._set_mode(self._coulomb.directions(v))
        self._set_mode(self._settle(q, v, effort))
        return self._transitions(t, np.ones(len(self.mode), dtype=bool))

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,) in the present mode."""
        self._coulomb.at(q)
        if not len(self._held) and self._drive.direct:
            return super().acceleration(q, v, effort - self._resistance(v))
        a, self.holding[self._held] = self._constrained(q, v, effort)
        return a

    def response(self, q: Array, matrix: Array, forces: Array) -> Array:
        """Accelerations (nv, k) caused by forces (nv, k) while what sticks stands still."""
        self._coulomb.at(q)
        result = np.zeros(forces.shape)
        basis = self._coulomb.motions(self._held)
        if basis.shape[1]:
            result = basis @ np.linalg.solve(basis.T @ matrix @ basis, basis.T @ forces)
        return result

    def hold(self, q: Array, v: Array) -> None:
        """Take from v, in place, what joints at rest have gathered by rounding."""
        self._coulomb.at(q)
        self._stop(v)

    def _stop(self, v: Array) -> None:
        """Take the motion of joints that stick from v, in place."""
        basis = self._coulomb.motions(self._held)
        v[:] = basis @ (basis.T @ v)

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows the joints that do not stick."""
        self._matrix.q[:] = q
        self._matrix()
        self._coulomb.at(q)
        basis = self._coulomb.motions(self._held)
        return fastest_damping(
            basis.T @ self._matrix.matrix @ basis, basis.T @ self._coulomb.damping @ basis
        )

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W."""
        self._coulomb.at(q)
        return float(self._resistance(v) @ v)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether a sliding joint has turned back, or what sticks can no longer be held."""
        self._coulomb.at(q)
        if ((self._coulomb.rows @ v) * self.mode < 0).any():
            return True
        if not len(self._held):
            return False
        a, needed = self._constrained(q, v, effort)
        limit = self._coulomb.limit[self._held] + self._margin(self._load(q, v, effort))[self._held]
        if (np.abs(needed) <= limit).all():
            return False
        rows = self._coulomb.rows[self._held]
        if np.linalg.matrix_rank(rows, DEPENDENT_ROWS) == len(rows):
            return True
        wanted = self._matrix.matrix @ a - self._load(q, v, effort)
        return not _within(rows, wanted, limit, LOAD_NOISE * np.abs(wanted).max())

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Stop the joints that turned back, then let what is at rest stick or slide."""
        self._coulomb.at(q)
        before = self.mode
        for _ in range(len(before)):  # what stops may stop others, in a loop
            stopped = (self.mode != 0) & (self._coulomb.directions(v) * self.mode <= 0)
            if not stopped.any():
                break
            self._set_mode(np.where(stopped, 0.0, self.mode))
            self._stop(v)
        self._set_mode(self._settle(q, v, effort))
        return self._transitions(t, self.mode != before)

    def _transitions(self, t: float, which: np.ndarray) -> list[Transition]:
        labels, modes = self._coulomb.labels, self.mode.astype(int).tolist()
        chosen = np.flatnonzero(which).tolist()
        return [Transition(float(t), labels[k], NAMES[modes[k]]) for k in chosen]

    def _resistance(self, v: Array) -> Array:
        """Damping and the friction of what slides (nv,)."""
        return self._coulomb.resistance(v, self.mode)

    def _load(self, q: Array, v: Array, effort: Array) -> Array:
        """Forces (nv,) on the coordinates, without the friction of joints that stick."""
        self._holding.q[:] = self._coriolis.q[:] = q
        self._coriolis.v[:] = v
        self._holding()
        self._coriolis()
        bias = self._holding.effort + self._coriolis.effort
        return self._drive.generalized(q, effort) - bias - self._resistance(v) + self.load

    def _constrained(self, q: Array, v: Array, effort: Array) -> tuple[Array, Array]:
        """Accelerations (nv,) with what sticks at rest, and the least friction that holds it."""
        self._matrix.q[:] = q
        self._matrix()
        matrix, load = self._matrix.matrix, self._load(q, v, effort)
        a = np.zeros(len(load))
        if len(self._stuck):
            rows, free = self._coulomb.rows[self._stuck][:, self._free], self._free
            drift = self._coulomb.drift(q, v)[self._stuck]
            a[free] = np.linalg.lstsq(rows, -drift, rcond=DEPENDENT_ROWS)[0]
        a += self.response(q, matrix, (load - matrix @ a)[:, None])[:, 0]
        wanted = matrix @ a - load
        if not len(self._stuck):
            return a, wanted[self._coulomb.coordinate[self._held]]
        columns = self._coulomb.rows[self._held].T * self._coulomb.limit[self._held]
        share = np.linalg.lstsq(columns, wanted, rcond=DEPENDENT_ROWS)[0]
        return a, share * self._coulomb.limit[self._held]

    def _margin(self, load: Array) -> Array:
        """How far (m,) a load must exceed F to count."""
        loads = np.abs(self._holding.effort) + np.abs(self._coriolis.effort) + np.abs(load)
        return HYSTERESIS * self._coulomb.limit + LOAD_NOISE * loads.max(initial=0.0)

    def _settle(self, q: Array, v: Array, effort: Array) -> Array:
        """The modes (m,) that follow when those that stick now are free to break away."""
        mode, rest = self.mode.copy(), self._held
        if not len(rest):
            return mode
        load = self._load(q, v, effort)
        self._matrix.q[:] = q
        self._matrix()
        rows = self._coulomb.rows[rest]
        solved = np.linalg.solve(self._matrix.matrix, np.column_stack([load, rows.T]))
        right = rows @ solved
        free = right[:, 0] + self._coulomb.drift(q, v)[rest]
        limit, margin = self._coulomb.limit[rest], self._margin(load)[rest] / 2
        bound = limit + margin
        r = contact_impulses(right[:, 1:], free, Blocks.dry(bound))
        a = free + right[:, 1:] @ r
        if np.linalg.matrix_rank(rows, DEPENDENT_ROWS) == len(rest):
            slides = np.abs(r) > limit + 0.5 * margin
        else:
            least = max(1e-6 * float(np.abs(a).max()), LOAD_NOISE * float(np.abs(free).max()))
            slides = np.abs(a) > least
        mode[rest] = np.where(slides, -np.sign(r), 0.0)
        return mode


def _within(rows: Array, wanted: Array, limit: Array, noise: float) -> bool:
    """Whether frictions within +-limit (m,) along rows (m, nv) give the efforts `wanted` (nv,)."""
    found = contact_impulses(rows @ rows.T, -rows @ wanted, Blocks.dry(limit))
    return bool(np.abs(rows.T @ found - wanted).max() <= noise)
