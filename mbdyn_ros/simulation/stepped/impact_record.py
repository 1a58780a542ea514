"""Impacts of compiled steps as records that say everything; see `record_impact` in C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ..contact.contacts import Contacts, tangent_plane
from ..contact.impacts import Impact, angle_between


def impact_of(
    record: Array, contacts: Contacts, robot: Robot, total: Callable[[Array, Array], float]
) -> Impact:
    """The impact that a row of numbers tells.

    Parameters
    ----------
    total : kinetic and potential energy (J) together of q and v.
    """
    nq, nv, m = robot.nq, robot.nv, len(contacts)
    cuts = np.cumsum([2, nq, nv, nv, 3 * m, m])
    (time, loss), q, before, after, impulses, e, took = np.split(record, cuts)
    which = np.flatnonzero(took)
    rows = contacts.rows(q, before, which)
    f = impulses.reshape(m, 3)[which]
    touched = [contacts.touch(k) for k in which.tolist()]
    normals = np.array([normal for _, normal in touched])
    sideways, angles = np.zeros((len(which), 3)), np.full(len(which), np.nan)
    for i, (k, normal) in enumerate(zip(which.tolist(), normals, strict=True)):
        if np.isfinite(normal).all():
            sideways[i] = f[i, 1:] @ tangent_plane(normal)
            angles[i] = angle_between(contacts.jacobian(k) @ before, normal)
    return Impact(
        time=float(time),
        points=tuple(contacts.point(k) for k in which.tolist()),
        surfaces=tuple(contacts.surface(k) for k in which.tolist()),
        places=np.array([place for place, _ in touched]),
        normals=normals,
        impulses=f[:, 0].copy(),
        tangential_impulses=sideways,
        normal_velocity_before=rows.W @ before,
        normal_velocity_after=rows.W @ after,
        angle_of_attack=angles,
        energy_before=total(q, before),
        energy_after=total(q, after),
        q=q,
        v_before=before,
        v_after=after,
        restitution=e[which],
        loss=float(loss),
    )
