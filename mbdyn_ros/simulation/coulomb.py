"""Damping and dry friction of all joints, as the independent coordinates feel them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations.dry_friction import DryFrictionRows, tree_friction
from ..model.model import Array
from ..robot import Robot
from .charts import VelocityMap

VELOCITY_NOISE = 1e-12
"""Share of the velocities that may be rounding error where a row mixes several."""

DEPENDENT_ROWS = 1e-9
"""Share of the largest singular value under which rows depend on each other."""


def fastest_damping(matrix: Array, damping: Array) -> float:
    """Greatest eigenvalue (1/s) of M^-1 D, M and D (n, n): the rate at which damping slows."""
    if not damping.any():
        return 0.0
    rates = np.linalg.eigvals(np.linalg.solve(matrix, damping))
    return float(np.abs(rates).max())


class Coulomb:
    """Friction of a robot: D v, and the dry friction +-F along each of m rows J, sliding at J v.

    The rows are those of `equations/dry_friction.py`.

    labels : of the rows (m,).
    coordinate : (m,) which coordinate of v a row is, -1 where it mixes several.
    rows, limit, damping : J (m, nv), F (m,) N m or N, and D (nv, nv), as of the last `at`.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._system = robot, robot.system
        system = robot.calls.traced  # every joint whose friction may be set has its row
        coordinates = system.coordinates
        self._loss, self._dry = tree_friction(robot.system.tree)
        rubbing = DryFrictionRows.of(system)
        single = [k for k, _ in rubbing.single]
        self._members = [list(members) for _, members in rubbing.single]
        self._own = list(rubbing.own)
        names = dict(zip(coordinates.joint_rows[1], coordinates.joint_rate_labels, strict=True))
        self.labels = (
            *(robot.velocity_labels[k] for k in single), *(names[row] for row in self._own)
        )  # fmt: skip
        self.coordinate = np.array([*single, *(-1 for _ in self._own)], dtype=np.intp)
        self.rows = np.zeros((len(self.labels), robot.nv))
        self.rows[np.arange(len(single)), single] = 1.0
        self.limit = np.zeros(len(self.labels))
        self._map = self._acceleration = None
        self._share = robot.system.embedding_at_home
        self._use(self._share)
        if not all(linkage.linear for linkage in system.linkages):
            self._map = VelocityMap(robot)
            if self._own:
                self._acceleration = robot.bind("joint_acceleration")

    def at(self, q: Array) -> None:
        """Fill `rows`, `limit` and `damping` for a position, with the friction that holds now."""
        if self._robot.system is not self._system:
            self._system = self._robot.system
            self._loss, self._dry = tree_friction(self._system.tree)
            self._use(self._share)
        if self._map is not None:
            self._use(self._map.at(q))

    def directions(self, v: Array) -> Array:
        """In which direction (m,), +-1, the joints slide; 0: at rest."""
        speed = self.rows @ v
        noise = VELOCITY_NOISE * (np.abs(self.rows) @ np.abs(v))
        result: Array = np.sign(speed)
        result[(self.coordinate < 0) & (np.abs(speed) <= noise)] = 0.0
        return result

    def resistance(self, v: Array, slides: Array) -> Array:
        """Damping, and the friction of rows that slide (m,) +-1, as forces (nv,)."""
        result: Array = self.damping @ v + (self.limit * slides) @ self.rows
        return result

    def motions(self, held: NDArray[np.intp]) -> Array:
        """Velocities (nv, k), orthonormal, at which the rows `held` stand still."""
        still, count = self.coordinate[held], self.rows.shape[1]
        free = np.setdiff1d(np.arange(count), still[still >= 0])
        result: Array = np.eye(count)[:, free]
        mixed = self.rows[held[still < 0]][:, free]
        if mixed.size:
            _, sizes, directions = np.linalg.svd(mixed)
            rank = int((sizes > DEPENDENT_ROWS * max(sizes.max(), 1e-300)).sum())
            result = result @ directions[rank:].T
        return result

    def drift(self, q: Array, v: Array) -> Array:
        """Accelerations (m,) along the rows that velocities alone cause."""
        result = np.zeros(len(self.labels))
        if self._acceleration is not None:
            acceleration = self._acceleration
            acceleration.q[:], acceleration.v[:], acceleration.a[:] = q, v, 0.0
            acceleration()
            result[len(self._members) :] = acceleration.result[self._own]
        return result

    def _use(self, share: Array) -> None:
        """Take the joints' velocities (tree nv, nv) by unit velocities."""
        self.damping = share.T @ (self._loss[:, None] * share)
        for row, members in enumerate(self._members):
            k = self.coordinate[row]
            self.limit[row] = np.abs(share[members, k]) @ self._dry[members]
        count = len(self._members)
        self.rows[count:] = share[self._own]
        self.limit[count:] = self._dry[self._own]
