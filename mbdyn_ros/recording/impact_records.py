"""Impacts as plain data: records of names and numbers, for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..model.model import Array
from ..robot import Robot
from ..simulation.contact.environment import Environment
from ..simulation.contact.impacts import Impact


def impact_records(
    robot: Robot, environment: Environment, impacts: Iterable[Impact]
) -> list[dict[str, Any]]:
    """One record an impact, with one record for each of its contacts.

    SI units; what does not exist at the stop of a joint (link, point, place, normal, angle) is
    None.
    """
    points = environment.contact_points(robot)
    return [_record(one, points) for one in impacts]


def _record(impact: Impact, points: tuple[Any, ...]) -> dict[str, Any]:
    contacts = []
    for k, (p, surface) in enumerate(zip(impact.points, impact.surfaces, strict=True)):
        link, xyz = points[p] if p >= 0 else (None, None)
        contacts.append(
            {
                "link": link,
                "point": None if xyz is None else list(xyz),
                "surface": surface,
                "place": _numbers(impact.places[k]),
                "normal": _numbers(impact.normals[k]),
                "impulse": impact.impulses[k].item(),
                "tangential_impulse": _numbers(impact.tangential_impulses[k]),
                "normal_velocity_before": impact.normal_velocity_before[k].item(),
                "normal_velocity_after": impact.normal_velocity_after[k].item(),
                "angle_of_attack": _number(impact.angle_of_attack[k]),
                "restitution": impact.restitution[k].item(),
            }
        )
    return {
        "time": impact.time,
        "energy_before": impact.energy_before,
        "energy_after": impact.energy_after,
        "loss": impact.loss,
        "contacts": contacts,
    }


def _numbers(vector: Array) -> list[float] | None:
    return vector.tolist() if np.isfinite(vector).all() else None


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
