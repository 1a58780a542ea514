"""Dry (Coulomb) friction from instant to instant: joints stick or slide, exactly.

A joint slides with the friction -F sign(v), or sticks at v = 0 with any friction r in [-F, F]
that holds it. In each mode the equations are smooth; the integrator stops where a mode ends: a
sliding joint comes to rest, or the load on a sticking one exceeds F. There the modes of all
joints at rest follow from

    a = A r + b,   |r_i| <= F_i,   a_i = 0 where |r_i| < F_i,   a_i r_i <= 0 where |r_i| = F_i

with A = (M^-1) of the joints at rest: a linear complementarity problem with a positive definite
matrix, which has one solution (solved by principal pivoting with the least index, Murty 1974).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..model.errors import SimulationError
from ..model.model import Array
from ..robot import Robot
from .coulomb import Coulomb
from .drive import Drive
from .smooth import Smooth, fastest
from .trajectory import Transition

ROUNDING = 1e-12
"""Share of the loads on a joint that may be rounding error."""

HYSTERESIS = 1e-10
"""A joint breaks away at F (1 + HYSTERESIS), so that what broke away surely moves."""

NAMES = {0: "sticks", 1: "slides +", -1: "slides -"}


class StickSlip(Smooth):
    """Accelerations of a robot with dry friction.

    mode : (nv,), the direction (+-1) in which a joint slides, 0 where it sticks or has no dry
        friction.
    """

    switching = True

    def __init__(self, robot: Robot, drive: Drive) -> None:
        with ThreadPoolExecutor() as pool:  # they may have to be compiled
            forward = pool.submit(robot.bind, "forward_dynamics", friction=False)
            matrix = pool.submit(robot.bind, "mass_matrix")
            coriolis = pool.submit(robot.bind, "coriolis_vector")
            gravity = pool.submit(robot.bind, "gravity_vector")
        self._forward, self._matrix = forward.result(), matrix.result()
        self._coriolis, self._gravity = coriolis.result(), gravity.result()
        self._a = self._forward.a
        self._labels = robot.velocity_labels
        self._drive = drive
        self._coulomb = Coulomb(robot)
        self.holding, self.load = np.zeros(robot.nv), np.zeros(robot.nv)
        self._set_mode(np.zeros(robot.nv))

    def _set_mode(self, mode: Array) -> None:
        self.mode = mode
        stuck = self._coulomb.rubbing & (mode == 0)
        self._free, self._held = np.flatnonzero(~stuck), np.flatnonzero(stuck)
        self._sliding = np.flatnonzero(mode)
        self.movable = self._free if len(self._held) else None
        self.holding[:] = 0.0

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Joints at rest stick or break away as their loads say."""
        self._set_mode(np.where(self._coulomb.rubbing, np.sign(v), 0.0))
        self._set_mode(self._settle(q, v, effort))
        return self._transitions(t, self._coulomb.rubbing)

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,) in the present mode."""
        if not len(self._held) and self._drive.direct:
            return super().acceleration(q, v, effort - self._resistance(q, v))
        a, self.holding[self._held] = self._constrained(q, v, effort)
        return a

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows the joints that do not stick."""
        self._matrix.q[:] = q
        self._matrix()
        free = self._free
        return fastest(self._matrix.matrix[np.ix_(free, free)], self._coulomb.damping(q)[free])

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W."""
        return float(self._resistance(q, v) @ v)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether a sliding joint has turned back, or a sticking one is overloaded."""
        if (v[self._sliding] * self.mode[self._sliding] < 0).any():
            return True
        if not len(self._held):
            return False
        _, needed = self._constrained(q, v, effort)
        limit = self._coulomb.dry(q) + self._margin(q, self._load(q, v, effort))
        return bool((np.abs(needed) > limit[self._held]).any())

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Stop the joints that turned back, then let what is at rest stick or slide."""
        before = self.mode
        stopped = (before != 0) & (v * before <= 0)
        v[stopped] = 0.0
        self._set_mode(np.where(stopped, 0.0, before))
        self._set_mode(self._settle(q, v, effort))
        return self._transitions(t, self.mode != before)

    def _transitions(self, t: float, which: np.ndarray) -> list[Transition]:
        return [
            Transition(t, self._labels[k], NAMES[int(self.mode[k])]) for k in np.flatnonzero(which)
        ]

    def _resistance(self, q: Array, v: Array) -> Array:
        """Damping and the friction of what slides (nv,)."""
        return self._coulomb.damping(q) * v + self._coulomb.dry(q) * self.mode

    def _load(self, q: Array, v: Array, effort: Array) -> Array:
        """What accelerates the coordinates (nv,), but for the friction of what sticks."""
        self._gravity.q[:] = self._coriolis.q[:] = q
        self._coriolis.v[:] = v
        self._gravity()
        self._coriolis()
        bias = self._gravity.effort + self._coriolis.effort
        return self._drive.generalized(q, effort) - bias - self._resistance(q, v) + self.load

    def _constrained(self, q: Array, v: Array, effort: Array) -> tuple[Array, Array]:
        """Accelerations (nv,) with the held joints at rest, and the efforts that hold them."""
        self._matrix.q[:] = q
        self._matrix()
        matrix, load = self._matrix.matrix, self._load(q, v, effort)
        free, held = self._free, self._held
        a = np.zeros(len(load))
        if len(free):
            a[free] = np.linalg.solve(matrix[np.ix_(free, free)], load[free])
        return a, matrix[held] @ a - load[held]

    def _margin(self, q: Array, load: Array) -> Array:
        """How far (nv,) a load must exceed F to count."""
        loads = np.abs(self._gravity.effort) + np.abs(self._coriolis.effort) + np.abs(load)
        return HYSTERESIS * self._coulomb.dry(q) + ROUNDING * loads.max(initial=0.0)

    def _settle(self, q: Array, v: Array, effort: Array) -> Array:
        """The modes (nv,) that follow when those that stick now are free to break away."""
        mode, rest = self.mode.copy(), self._held
        if not len(rest):
            return mode
        load = self._load(q, v, effort)
        self._matrix.q[:] = q
        self._matrix()
        right = np.column_stack([load, np.eye(len(load))[:, rest]])
        solved = np.asarray(np.linalg.solve(self._matrix.matrix, right), dtype=np.float64)[rest]
        margin = self._margin(q, load)[rest] / 2
        dry = self._coulomb.dry(q)[rest]
        mode[rest] = complementarity(solved[:, 1:], solved[:, 0], dry, margin)
        return mode


def complementarity(matrix: Array, free: Array, limit: Array, margin: Array) -> Array:
    """Directions (n,) in which n joints at rest break away, 0 for those that stick.

    Parameters
    ----------
    matrix, free : A (n, n) and b (n,) of a = A r + b.
    limit : largest friction F (n,).
    margin : how far (n,) r may exceed F by rounding.
    """
    mode = np.zeros(len(free))
    for _ in range(2000):
        stuck = mode == 0
        r = -mode * limit
        right = -(free + matrix @ r)[stuck]
        r[stuck] = np.linalg.solve(matrix[np.ix_(stuck, stuck)], right)
        a = matrix @ r + free
        backward = ~stuck & (mode * a < -margin * np.diag(matrix))
        wrong = np.flatnonzero(backward | (stuck & (np.abs(r) > limit + margin)))
        if not len(wrong):
            return mode
        k = wrong[0]
        mode[k] = -np.sign(r[k]) if stuck[k] else 0.0
    raise SimulationError("dry friction: the modes of the joints at rest do not settle")
