"""Impacts of one robot with its walls: what hits at an instant, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...errors import ContactError
from ...model.model import Array
from ...robot import Robot
from .contacts import Contacts
from .impulses import impact_impulses, solver
from .precision import Precision
from .records import Impact, angle_between
from .rows import Assembly, Flags, Indices, Rows
from .starts import require_smooth

ALONG = np.array([1.0, 0.0, 0.0])
"""The normal, in the axes of normal and tangents."""

MAX_HITS = 1000
"""Impacts at one instant that are too many."""


class Collisions:
    """Finds and solves the impacts at one instant.

    Parameters
    ----------
    free : accelerations (nv,) without contacts, of q, v and the efforts.
    patience : s; bounces that would all be over so soon end in rest.

    Attributes
    ----------
    impacts : all so far.
    """

    def __init__(
        self,
        robot: Robot,
        contacts: Contacts,
        free: Callable[[Array, Array, Array], Array],
        precision: Precision,
        patience: float,
    ) -> None:
        solver()  # is compiled before the motion begins
        self.contacts, self._free = contacts, free
        self.precision, self.patience = precision, patience
        self._mass = robot.bind("mass_matrix")
        self._energy = robot.bind("energy")
        self._given_part = robot.system.given_part
        self.impacts: list[Impact] = []
        self._loss = 0.0

    def take_loss(self) -> float:
        """Energy (J) lost in impacts since the last call."""
        loss, self._loss = self._loss, 0.0
        return loss

    def collide(self, t: float, q: Array, v: Array, effort: Array, resting: Indices) -> None:
        """All impacts at this instant, one after the other where one causes the next.

        `v` is changed in place. `resting` are contacts that touch, whatever their distance.
        """
        window = self.contacts.environment.tie_window
        for _ in range(MAX_HITS):
            g, rate, slope = (one.copy() for one in self.contacts.distances(q, v))
            touching = np.abs(g) <= self.precision.touching * slope
            touching[resting] = True
            slow = self.precision.resting_speed * slope
            approaching = rate < -slow
            hits = approaching & (touching | (g + window * rate <= 0))
            if not hits.any():
                return
            rests = touching & (np.abs(rate) <= slow)
            self._hit(t, q, v, effort, np.flatnonzero(hits | rests), hits)
        raise ContactError(
            f"more than {MAX_HITS} impacts at one instant: the contacts hand the motion on to "
            "each other without end; lower their restitution"
        )

    def _hit(
        self, t: float, q: Array, v: Array, effort: Array, which: Indices, hits: Flags
    ) -> None:
        """Solve one impact of the contacts `which`; the velocity is changed in place."""
        rows = self.contacts.rows(q, v, which)
        for row in np.flatnonzero(hits[which]).tolist():
            require_smooth(self.contacts, int(which[row]), rows.places[row], rows.normals[row])
        assembly = rows.assembly
        response = np.linalg.solve(self.mass_matrix(q), assembly.rows.T)
        matrix, before = assembly.rows @ response, assembly.rows @ v
        blocks, normal = assembly.blocks, assembly.blocks.normal
        e = np.where(hits[which], self.contacts.restitution[which], 0.0)
        impulses, used = impact_impulses(matrix, before, e, blocks)
        dying = self._dies_out(q, v + response @ impulses, effort, rows, e)
        if dying.any():
            e = np.where(dying, 0.0, e)
            impulses, used = impact_impulses(matrix, before, e, blocks)
        new = v + response @ impulses
        taking = hits[which] | (impulses[normal] > 1e-12 * impulses[normal].max())
        self._keep(t, q, v, new, which, rows, assembly, impulses, used, taking)
        self._loss -= 0.5 * float(impulses @ (2 * before + matrix @ impulses))
        self._loss += float(impulses @ (assembly.rows @ self._given_part(v)))
        v[:] = new

    def mass_matrix(self, q: Array) -> Array:
        """Mass matrix (nv, nv); the next call overwrites it."""
        self._mass.q[:] = q
        self._mass()
        return self._mass.matrix

    def _dies_out(self, q: Array, v: Array, effort: Array, rows: Rows, e: Array) -> Flags:
        """Whether all bounces that follow (k,) are over within `patience`.

        A bounce with v under the acceleration -a takes 2 v / a, the next one e times as long.
        """
        after = rows.W @ v
        a = rows.W @ self._free(q, v, effort) + rows.drift
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 2 * after / (-a * (1 - e))
        dying: Flags = (e > 0) & (e < 1) & (a < 0) & (left < self.patience)
        return dying

    def _keep(
        self, t: float, q: Array, v: Array, new: Array, which: Indices, rows: Rows,
        assembly: Assembly, impulses: Array, e: Array, taking: Flags,
    ) -> None:  # fmt: skip
        """Record an impact: those that hit, and those that answered."""
        sideways, angles = np.zeros((len(which), 3)), np.full(len(which), np.nan)
        for row in np.flatnonzero(which < self.contacts.geometry.touching).tolist():
            angles[row] = angle_between(rows.J[row] @ v, ALONG)
            first = assembly.blocks.tangent[row]
            if first >= 0:
                sideways[row] = impulses[first : first + 2] @ rows.frames[row, 1:]
        kinetic = 0.5 * float(impulses @ (assembly.rows @ (v + new)))
        chosen = which[taking].tolist()
        self.impacts.append(
            Impact(
                time=float(t),
                points=tuple(self.contacts.point(k) for k in chosen),
                surfaces=tuple(self.contacts.surface(k) for k in chosen),
                places=rows.places[taking],
                normals=rows.normals[taking],
                impulses=impulses[assembly.blocks.normal][taking],
                tangential_impulses=sideways[taking],
                normal_velocity_before=(rows.W @ v)[taking],
                normal_velocity_after=(rows.W @ new)[taking],
                angle_of_attack=angles[taking],
                energy_before=self._total(q, v),
                energy_after=self._total(q, new),
                q=q.copy(),
                v_before=v.copy(),
                v_after=new,
                restitution=e[taking],
                loss=-kinetic,
            )
        )

    def _total(self, q: Array, v: Array) -> float:
        self._energy.q[:], self._energy.v[:] = q, v
        self._energy()
        return float(self._energy.result.sum())
