"""Contacts of compiled steps in words and vectors: where they touch, forces, and impacts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.model import Array
from ..contact.contacts import Contacts, tangent_planes
from ..contact.impacts import Impact, angle_between
from .step_in_c import StepInC


class Touches:
    """Places, normals and velocities of what touches, at a position.

    Attributes
    ----------
    contacts : their names, and the laws.
    """

    def __init__(self, contacts: Contacts, step: StepInC) -> None:
        self.contacts, self._step = contacts, step

    def at(self, q: Array) -> None:
        """Take the numbers of a position (nq,)."""
        rows = self._step.rows
        assert rows is not None
        rows.q[:] = q
        rows()
        self._column = rows.result

    def touch(self, k: int) -> tuple[Array, Array]:
        """Place (m) and normal (3,) of a contact in the world; NaN for the stop of a joint."""
        if self._step.layout.normal[k] < 0:
            return np.full(3, np.nan), np.full(3, np.nan)
        at = self._step.layout.normal[k]
        transform, normal = self._body(k)[:12].reshape(3, 4), self._column[at : at + 3].copy()
        x, y, z, radius = self._step.points[k].tolist()
        place: Array = transform @ [x, y, z, 1.0] - radius * normal
        return place, normal

    def velocity(self, k: int, v: Array) -> Array:
        """Velocity (3,) in the world of what touches; (1,) of a stop."""
        body, nv = self._body(k), len(v)
        if self._step.layout.normal[k] < 0:
            return np.array([body[:nv] @ v])
        linear, turning = (body[12 : 12 + 6 * nv].reshape(6, nv) @ v).reshape(2, 3)
        arm = self.touch(k)[0] - body[3:12:4]
        result: Array = linear + np.cross(turning, arm)
        return result

    def _body(self, k: int) -> Array:
        """The numbers of a contact's body."""
        return self._column[self._step.layout.body[k] :]

    def force(self, k: int, along: Array) -> Array:
        """A force (3,) in the world from those along the normal and two tangents."""
        _, normal = self.touch(k)
        if np.isnan(normal).any():
            return along.copy()
        result: Array = along[0] * normal + along[1:] @ tangent_planes(normal[None])[0]
        return result

    def impact(self, record: Array, total: Callable[[Array, Array], float], nv: int) -> Impact:
        """The impact that a row of numbers tells; see `record_impact` in C.

        Parameters
        ----------
        total : kinetic and potential energy (J) together of q and v.
        """
        m = len(self.contacts)
        nq = len(record) - 2 - 2 * nv - 5 * m
        cuts = np.cumsum([2, nq, nv, nv, 3 * m, m])
        (time, loss), q, before, after, impulses, e, took = np.split(record, cuts)
        which = np.flatnonzero(took).tolist()
        f = impulses.reshape(m, 3)[which]
        self.at(q)
        size = (len(which), 3)
        places, normals, sideways = np.empty(size), np.empty(size), np.zeros(size)
        speeds, angles = np.empty((len(which), 2)), np.full(len(which), np.nan)
        for i, k in enumerate(which):
            places[i], normals[i] = self.touch(k)
            old, new = self.velocity(k, before), self.velocity(k, after)
            if len(old) == 1:
                speeds[i] = old[0], new[0]
                continue
            speeds[i] = normals[i] @ old, normals[i] @ new
            angles[i] = angle_between(old, normals[i])
            sideways[i] = f[i, 1:] @ tangent_planes(normals[i : i + 1])[0]
        return Impact(
            time=float(time),
            points=tuple(self.contacts.point(k) for k in which),
            surfaces=tuple(self.contacts.surface(k) for k in which),
            places=places,
            normals=normals,
            impulses=f[:, 0].copy(),
            tangential_impulses=sideways,
            normal_velocity_before=speeds[:, 0].copy(),
            normal_velocity_after=speeds[:, 1].copy(),
            angle_of_attack=angles,
            energy_before=total(q, before),
            energy_after=total(q, after),
            q=q,
            v_before=before,
            v_after=after,
            restitution=e[which],
            loss=float(loss),
        )
