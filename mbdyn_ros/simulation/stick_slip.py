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
from .smooth import Smooth, fastest, friction_coefficients
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

    def __init__(self, robot: Robot) -> None:
        with ThreadPoolExecutor() as pool:  # they may have to be compiled
            forward = pool.submit(robot.bind, "forward_dynamics", friction=False)
            inverse = pool.submit(robot.bind, "inverse_dynamics", friction=False)
            matrix = pool.submit(robot.bind, "mass_matrix")
        self._forward, self._inverse = forward.result(), inverse.result()
        self._matrix = matrix.result()
        self._labels = robot.velocity_labels
        self.damping, self.dry = friction_coefficients(robot._system)
        self._damped = True
        self.holding = np.zeros(robot.nv)
        self._rubbing = self.dry > 0
        self._set_mode(np.zeros(robot.nv))

    def _set_mode(self, mode: Array) -> None:
        self.mode = mode
        stuck = self._rubbing & (mode == 0)
        self._free, self._held = np.flatnonzero(~stuck), np.flatnonzero(stuck)
        self._sliding = np.flatnonzero(mode)
        self._friction = self.dry * mode
        self.holding[:] = 0.0

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Joints at rest stick or break away as their loads say."""
        self._set_mode(np.where(self._rubbing, np.sign(v), 0.0))
        self._set_mode(self._settle(q, v, effort))
        return self._transitions(t, self._rubbing)

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,) in the present mode."""
        net = self._net(v, effort)
        if not len(self._held):
            return super().acceleration(q, v, net)
        a, self.holding[self._held] = self._constrained(q, v, net)
        return a

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows the joints that do not stick."""
        self._matrix.q[:] = q
        self._matrix()
        free = self._free
        return fastest(self._matrix.matrix[np.ix_(free, free)], self.damping[free])

    def loss(self, v: Array) -> float:
        """Power that friction takes, W."""
        return super().loss(v) + float(self._friction @ v)

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether a sliding joint has turned back, or a sticking one is overloaded."""
        if (v[self._sliding] * self.mode[self._sliding] < 0).any():
            return True
        if not len(self._held):
            return False
        net = self._net(v, effort)
        _, needed = self._constrained(q, v, net)
        limit = self.dry + self._margin(self._inverse.effort, net)
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

    def _net(self, v: Array, effort: Array) -> Array:
        """Efforts (nv,) less damping and the friction of what slides."""
        return effort - self.damping * v - self._friction

    def _terms(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Mass matrix, and bias efforts without friction."""
        self._matrix.q[:] = self._inverse.q[:] = q
        self._inverse.v[:] = v
        self._matrix()
        self._inverse()
        return self._matrix.matrix, self._inverse.effort

    def _constrained(self, q: Array, v: Array, net: Array) -> tuple[Array, Array]:
        """Accelerations (nv,) with the held joints at rest, and the efforts that hold them."""
        matrix, bias = self._terms(q, v)
        free, held = self._free, self._held
        load = net - bias
        a = np.zeros(len(load))
        if len(free):
            a[free] = np.linalg.solve(matrix[np.ix_(free, free)], load[free])
        return a, matrix[held] @ a - load[held]

    def _margin(self, bias: Array, net: Array) -> Array:
        """How far (nv,) a load must exceed F to count."""
        loads = np.abs(bias).max(initial=0.0) + np.abs(net).max(initial=0.0)
        return HYSTERESIS * self.dry + ROUNDING * loads

    def _settle(self, q: Array, v: Array, effort: Array) -> Array:
        """The modes (nv,) that follow when those that stick now are free to break away."""
        mode, rest = self.mode.copy(), self._held
        if not len(rest):
            return mode
        net = self._net(v, effort)
        matrix, bias = self._terms(q, v)
        units = np.eye(len(net))[:, rest]
        right = np.column_stack([net - bias, units])
        solved = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)[rest]
        margin = self._margin(bias, net)[rest] / 2
        mode[rest] = complementarity(solved[:, 1:], solved[:, 0], self.dry[rest], margin)
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
