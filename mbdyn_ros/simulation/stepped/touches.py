"""Contacts of compiled steps in words and vectors: where they touch, forces, and impacts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ..contact.contacts import Contacts, tangent_planes
from ..contact.impulses import Contact, Impact, angle_between
from ..contact.points import LinkFrames
from .solid_slots import SolidSlots
from .step_in_c import SLOT_SIZE, StepInC


@dataclass(frozen=True, eq=False)
class ImpactNote:
    """An impact in numbers: what of its row is needed to describe it.

    time : s. loss : J. q, before, after : position (nq,), and velocities (nv,) at both sides of it.
    which : contacts that took part. impulses : theirs (n, 3) along normals and two tangents, N s.
    restitution : of each (n,). planes : of the slots.
    """

    time: float
    loss: float
    q: Array
    before: Array
    after: Array
    which: list[int]
    impulses: Array
    restitution: Array
    planes: Array


class Touches:
    """Places, normals and velocities of what touches, at a position.

    Attributes
    ----------
    contacts : their names, and the laws.
    solids : convex shapes that may touch; None without.
    """

    def __init__(self, contacts: Contacts, step: StepInC, robot: Robot) -> None:
        self.contacts, self._step = contacts, step
        self._frames = LinkFrames.of_robot(robot).of
        self._body, self._partner = step.body, step.partner
        self.solids = SolidSlots(contacts, step) if contacts.geometry.slots else None

    def at(self, q: Array, planes: Array) -> None:
        """Take the numbers of a position (nq,), and the planes of the slots there."""
        rows = self._step.rows
        assert rows is not None
        rows.q[:] = q
        rows()
        self._column = rows.result
        if self.solids is not None:
            self.solids.place(self._column, planes)

    def touch(self, k: int) -> tuple[Array, Array]:
        """Place (m) and normal (3,) of a contact in the world; NaN for the stop of a joint."""
        if self._step.layout.normal[k] < 0:
            return np.full(3, np.nan), np.full(3, np.nan)
        at = self._step.layout.normal[k]
        normal = self._column[at : at + 3].copy()
        if self._partner[k] != -1:
            return self._column[at + 3 : at + 6].copy(), normal
        transform = self._column[self._body[k] :][:12].reshape(3, 4)
        x, y, z, radius = self._step.points[k].tolist()
        place: Array = transform @ [x, y, z, 1.0] - radius * normal
        return place, normal

    def held(
        self, q: Array, force: Array, turning: Array, mode: Array, planes: Array
    ) -> Iterator[Contact]:
        """The contacts that were held in a step to q: see the same names of a motion."""
        self.at(q, planes)
        for k in np.flatnonzero(mode).tolist():
            place, normal = self.touch(k)
            pushed = self.force(k, force[3 * k : 3 * k + 3])
            names = self.contacts.point(k), self.contacts.surface(k)
            links = tuple(self.contacts.links(k))
            moment = np.zeros(3)
            if self.contacts.special is not None:
                moment = self.force(k, turning[3 * k : 3 * k + 3])
            yield Contact(*names, place, normal, pushed, bool(mode[k] == 1.0), links, moment)

    def wrenches(self, q: Array, force: Array, planes: Array) -> dict[str, Array]:
        """Actions on links of contacts with these forces: [force, torque] (6,) as from outside."""
        self.at(q, planes)
        total: dict[str, Array] = {}
        count = len(self.contacts)
        for k in np.flatnonzero(force[: 3 * count].reshape(count, 3).any(axis=1)).tolist():
            place, _ = self.touch(k)
            pushed = self.force(k, force[3 * k : 3 * k + 3])
            sides = (self._body[k], pushed), (self._partner[k], -pushed)
            for link, (start, acting) in zip(self.contacts.links(k), sides, strict=False):
                transform = self._column[start:][:12].reshape(3, 4)
                pose = self._frames[link][1]
                turn = transform[:, :3] @ pose.rotation
                arm = place - transform[:, :3] @ pose.translation - transform[:, 3]
                wrench = np.concatenate([acting @ turn, np.cross(arm, acting) @ turn])
                total[link] = total.get(link, 0.0) + wrench
        return total

    def velocity(self, k: int, place: Array, v: Array) -> Array:
        """Velocities (3, n) of what touches there, against the other link, in the world, of v
        (nv, n); (1, n) of a stop."""
        layout, nv = self._step.layout, len(v)
        if layout.normal[k] < 0:
            along: Array = self._column[self._body[k] :][:nv] @ v
            return along[None]
        speed = layout.velocity(self._column, self._body[k], place, v)
        if self._partner[k] >= 0:
            speed = speed - layout.velocity(self._column, self._partner[k], place, v)
        return speed

    def force(self, k: int, along: Array) -> Array:
        """A force (3,) in the world from those along the normal and two tangents."""
        _, normal = self.touch(k)
        if np.isnan(normal).any():
            return along.copy()
        result: Array = along[0] * normal + along[1:] @ tangent_planes(normal[None])[0]
        return result

    def note(self, record: Array) -> ImpactNote:
        """The numbers of an impact in a row of numbers; see `record_impact` in C."""
        m, nv = len(self.contacts), self._step.walls.nv
        nq = self._step.walls.nq
        cuts = [*accumulate([0, 2, nq, nv, nv, 3 * m, m, m]), len(record)]
        (time, loss), q, before, after, impulses, e, took, planes = (
            record[start:end] for start, end in pairwise(cuts)
        )
        which = np.flatnonzero(took)
        f = impulses.reshape(m, 3)[which]
        return ImpactNote(
            float(time), float(loss), q.copy(), before.copy(), after.copy(),
            which.tolist(), f, e[which], planes.reshape(-1, SLOT_SIZE).copy(),
        )  # fmt: skip

    def impact(self, note: ImpactNote, energy: Callable[[Array, Array], Array]) -> Impact:
        """An impact in words and vectors.

        Parameters
        ----------
        energy : kinetic and potential energy (2,), J, of q and v.
        """
        q, before, after = note.q, note.before, note.after
        which, f = note.which, note.impulses
        self.at(q, note.planes)
        size, both = (len(which), 3), np.array([before, after]).T
        places, normals, sideways = np.empty(size), np.empty(size), np.zeros(size)
        speeds, angles = np.empty((len(which), 2)), np.full(len(which), np.nan)
        for i, k in enumerate(which):
            places[i], normals[i] = self.touch(k)
            speed = self.velocity(k, places[i], both)
            if len(speed) == 1:
                speeds[i] = speed[0]
                continue
            speeds[i] = normals[i] @ speed
            angles[i] = angle_between(speed[:, 0], normals[i])
            sideways[i] = f[i, 1:] @ tangent_planes(normals[i : i + 1])[0]
        return Impact(
            time=note.time,
            points=tuple(self.contacts.point(k) for k in which),
            surfaces=tuple(self.contacts.surface(k) for k in which),
            places=places,
            normals=normals,
            impulses=f[:, 0].copy(),
            tangential_impulses=sideways,
            normal_velocity_before=speeds[:, 0].copy(),
            normal_velocity_after=speeds[:, 1].copy(),
            angle_of_attack=angles,
            energy_before=float(energy(q, before).sum()),
            energy_after=float(energy(q, after).sum()),
            q=q,
            v_before=before,
            v_after=after,
            restitution=note.restitution,
            loss=note.loss,
        )
