"""Motion among walls: free flight, impacts, and contacts that rest until they separate.

Between events the points that rest on walls are held there: with the rows W of their normals,
M a = F + W^T f, W a + drift = 0. At an event the impact (`dynamics.impact`) changes the velocity,
and a complementarity of the same form on accelerations says which contacts rest from then on:
W a + drift >= 0, f >= 0, one of them zero.
"""

from __future__ import annotations

import numpy as np

from ..dynamics.impact import complementary_impulses
from ..model.errors import SimulationError
from ..model.model import Array
from ..robot import Robot
from .contacts import Contacts, Flags, Indices, Rows
from .events import ContactSearch
from .impacts import Impact, angle_between
from .smooth import Smooth
from .trajectory import Transition

TOUCHING = 1e-9
"""Distance (m or rad) of what touches."""

RESTING_SPEED = 1e-9
"""Normal velocity (m/s or rad/s) of what touches and rests."""

MAX_HITS = 1000
"""Impacts within a tie window that are too many."""


class Touching:
    """Accelerations of a robot among walls; the interface is that of `Smooth`.

    Attributes
    ----------
    search : finds the next contact on a step.
    resting : contacts (k,) that are held now.
    impacts : all so far.
    """

    def __init__(self, robot: Robot, free: Smooth, contacts: Contacts) -> None:
        self._free, self.contacts = free, contacts
        self._mass = robot.bind("mass_matrix")
        self._energy = robot.bind("energy")
        nq = robot.nq
        end = nq + robot.nv
        self.search = ContactSearch(contacts, lambda y: (y[..., :nq], y[..., nq:end]))
        self.resting: Indices = np.zeros(0, dtype=np.intp)
        self.impacts: list[Impact] = []
        self._pull = np.zeros(0)
        self._loss = 0.0

    @property
    def switching(self) -> bool:
        """Whether the present mode may end other than by an impact."""
        return self._free.switching or len(self.resting) > 0

    @property
    def holding(self) -> Array:
        """Efforts that hold joints at rest."""
        return self._free.holding

    def damping_rate(self, q: Array) -> float:
        """Greatest rate (1/s) at which damping slows a motion that is possible now."""
        return self._free.damping_rate(q)

    def loss(self, q: Array, v: Array) -> float:
        """Power that friction takes, W."""
        return self._free.loss(q, v)

    def acceleration(self, q: Array, v: Array, effort: Array) -> Array:
        """Accelerations (nv,) with the resting contacts held."""
        a = self._free.acceleration(q, v, effort)
        if not len(self.resting):
            return a
        rows = self.contacts.rows(q, v, self.resting)
        response = self._response(q, rows.W)
        self._pull = _least(rows.W @ response, -(rows.W @ a + rows.drift))
        held: Array = a + response @ self._pull
        return held

    def _response(self, q: Array, W: Array) -> Array:
        """M^-1 W^T (nv, k)."""
        self._mass.q[:] = q
        self._mass()
        return np.asarray(np.linalg.solve(self._mass.matrix, W.T), dtype=np.float64)

    # ---- modes ----------------------------------------------------------------------------

    def start(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Refuse points inside walls; hit, rest or leave what touches."""
        g, _, slope = self.contacts.distances(q, v)
        bad = ~np.isfinite(g) | (g < -TOUCHING * np.where(slope > 0, slope, 1.0))
        for k in np.flatnonzero(bad).tolist():
            depth = -g[k] / slope[k] if slope[k] > 0 else np.nan
            what = "stands" if k >= self.contacts.geometry.pairs else "starts inside the wall"
            raise SimulationError(
                f"{self.contacts.name(k)} {what}: g is {g[k]:.6g}, about {depth:.3g} m (or rad) "
                "too far; start in free space"
            )
        found = self._free.start(t, q, v, effort)
        return found + self.switch(t, q, v, effort)

    def correction(self, q: Array, v: Array) -> tuple[Array, Array]:
        """What has to be added (nv,) to the place, and to v, so that resting contacts do rest."""
        g, _, slope = self.contacts.distances(q, v)
        gap = (g / slope)[self.resting]
        rows = self.contacts.rows(q, v, self.resting)
        response = self._response(q, rows.W)
        matrix = rows.W @ response
        return (
            response @ _least(matrix, -gap),
            response @ _least(matrix, -(rows.W @ v)),
        )

    def take_loss(self) -> float:
        """Energy (J) lost in impacts since the last call."""
        loss, self._loss = self._loss, 0.0
        return loss

    def violated(self, q: Array, v: Array, effort: Array) -> bool:
        """Whether a resting contact would have to pull."""
        if self._free.switching and self._free.violated(q, v, effort):
            return True
        if not len(self.resting):
            return False
        self.acceleration(q, v, effort)
        return bool((self._pull < -1e-12 * max(1.0, np.abs(self._pull).max())).any())

    def switch(self, t: float, q: Array, v: Array, effort: Array) -> list[Transition]:
        """Impacts at this instant, then rest or separation; `v` is changed in place."""
        before, count = set(self.resting.tolist()), len(self.impacts)
        self._collide(t, q, v, effort)
        enter = self._free.switch if len(self.impacts) == count else self._free.start
        found = enter(t, q, v, effort)
        self._settle(q, v, effort)
        after = set(self.resting.tolist())
        names = self.contacts.name
        found += [Transition(t, names(k), "rests") for k in sorted(after - before)]
        found += [Transition(t, names(k), "separates") for k in sorted(before - after)]
        return found

    def _collide(self, t: float, q: Array, v: Array, effort: Array) -> None:
        """All impacts at this instant, one after the other where one causes the next."""
        window = self.contacts.environment.tie_window
        for _ in range(MAX_HITS):
            g, rate, slope = (one.copy() for one in self.contacts.distances(q, v))
            touching = np.abs(g) <= TOUCHING * slope
            touching[self.resting] = True
            approaching = rate < -RESTING_SPEED * slope
            hits = approaching & (touching | (g + window * rate <= 0))
            if not hits.any():
                return
            rests = touching & (np.abs(rate) <= RESTING_SPEED * slope)
            self._hit(t, q, v, effort, np.flatnonzero(hits | rests), hits)
        raise SimulationError(
            f"more than {MAX_HITS} impacts at one instant: the contacts hand the motion on to "
            "each other without end; lower their restitution"
        )

    def _hit(
        self, t: float, q: Array, v: Array, effort: Array, which: Indices, hits: Flags
    ) -> None:
        """Solve one impact of the contacts `which`; the velocity is changed in place."""
        rows = self.contacts.rows(q, v, which)
        for k in which[hits[which]].tolist():
            self.contacts.require_smooth(k)
        response = self._response(q, rows.W)
        matrix, before = rows.W @ response, rows.W @ v
        e = np.where(hits[which], self.contacts.restitution[which], 0.0)
        impulses = complementary_impulses(matrix, (1 + e) * before)
        dying = self._dies_out(q, v + response @ impulses, effort, rows, e)
        if dying.any():
            e = np.where(dying, 0.0, e)
            impulses = complementary_impulses(matrix, (1 + e) * before)
        new = v + response @ impulses
        self._keep(t, q, v, new, which, rows, before, impulses, e)
        self._loss += self.impacts[-1].loss
        v[:] = new

    def _dies_out(self, q: Array, v: Array, effort: Array, rows: Rows, e: Array) -> Flags:
        """Whether all bounces that follow (k,) are over within the tie window.

        A bounce with v under the acceleration -a takes 2 v / a, the next one e times as long.
        """
        after = rows.W @ v
        a = rows.W @ self._free.acceleration(q, v, effort) + rows.drift
        with np.errstate(divide="ignore", invalid="ignore"):
            left = 2 * after / (-a * (1 - e))
        window = self.contacts.environment.tie_window
        dying: Flags = (e > 0) & (e < 1) & (a < 0) & (left < window)
        return dying

    def _keep(
        self, t: float, q: Array, v: Array, new: Array, which: Indices, rows: Rows, before: Array,
        impulses: Array, e: Array,
    ) -> None:  # fmt: skip
        """Record an impact."""
        layout, faces = self.contacts.layout, max(1, len(self.contacts.environment.sides))
        size = (len(which), 3)
        places, normals = np.full(size, np.nan), np.full(size, np.nan)
        angles = np.full(len(which), np.nan)
        for row, k in enumerate(which.tolist()):
            if k < self.contacts.geometry.pairs:
                p, f = divmod(k, faces)
                places[row], normals[row] = layout.place[p], layout.normal[p, f]
                angles[row] = angle_between(layout.jacobian[p] @ v, normals[row])
        self.impacts.append(
            Impact(
                time=t,
                points=tuple(self.contacts.point(k) for k in which.tolist()),
                surfaces=tuple(self.contacts.surface(k) for k in which.tolist()),
                places=places,
                normals=normals,
                impulses=impulses,
                tangential_impulses=np.zeros(size),
                normal_velocity_before=before,
                normal_velocity_after=rows.W @ new,
                angle_of_attack=angles,
                energy_before=self._total(q, v),
                energy_after=self._total(q, new),
                q=q.copy(),
                v_before=v.copy(),
                v_after=new,
                restitution=e,
                loss=-0.5 * float(impulses @ (before + rows.W @ new)),
            )
        )

    def _total(self, q: Array, v: Array) -> float:
        self._energy.q[:], self._energy.v[:] = q, v
        self._energy()
        return float(self._energy.result.sum())

    def _settle(self, q: Array, v: Array, effort: Array) -> None:
        """Choose the contacts that rest from now on."""
        g, rate, slope = self.contacts.distances(q, v)
        near = np.abs(g) <= TOUCHING * slope
        near[self.resting] = True
        candidates = np.flatnonzero(near & (np.abs(rate) <= 2 * RESTING_SPEED * slope))
        self.resting = np.zeros(0, dtype=np.intp)
        if not len(candidates):
            return
        rows = self.contacts.rows(q, v, candidates)
        a = self._free.acceleration(q, v, effort)
        matrix = rows.W @ self._response(q, rows.W)
        free = rows.W @ a + rows.drift
        pull = complementary_impulses(matrix, free)
        left = matrix @ pull + free
        noise = 1e-10 * (np.abs(free).max() + 1e-10)
        self.resting = candidates[left <= noise]


def _least(matrix: Array, right: Array) -> Array:
    """The least solution of A x = b, A positive semidefinite."""
    if len(right) == 1:
        return np.asarray(right / matrix[0], dtype=np.float64)
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0], dtype=np.float64)
