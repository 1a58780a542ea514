"""Contacts as messages: those that are held, and those of an impact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point as PointMessage
from geometry_msgs.msg import Vector3

from ...model.model import Array
from ...simulation.contact.held_contact import Contact
from ...simulation.contact.impacts import Impact
from ...simulation.contact.points import Point
from ..node.interfaces import msg

NOWHERE = Point("", (np.nan, np.nan, np.nan))
"""The point of two links, and of the stop of a joint."""


def held_contact(contact: Contact, points: Sequence[Point]) -> Any:
    """A Contact message of one that was held in the last step.

    points : of the environment.
    """
    message = _contact(contact.point, contact.surface, points)
    _place(message, contact.place, contact.normal)
    if np.isnan(contact.normal).any():
        message.force = float(contact.force[0])
    else:
        message.force = float(contact.force @ contact.normal)
        _fill(message.friction, contact.force - message.force * contact.normal)
    message.sticks = contact.sticks
    message.normal_velocity_before = message.normal_velocity_after = np.nan
    message.angle_of_attack = np.nan
    return message


def impact_contacts(impact: Impact, points: Sequence[Point]) -> list[Any]:
    """The Contact messages of an impact, with its impulses."""
    messages = []
    for k, (point, surface) in enumerate(zip(impact.points, impact.surfaces, strict=True)):
        message = _contact(point, surface, points)
        _place(message, impact.places[k], impact.normals[k])
        message.force = float(impact.impulses[k])
        _fill(message.friction, impact.tangential_impulses[k])
        message.normal_velocity_before = float(impact.normal_velocity_before[k])
        message.normal_velocity_after = float(impact.normal_velocity_after[k])
        message.angle_of_attack = float(impact.angle_of_attack[k])
        messages.append(message)
    return messages


def _contact(point: int, surface: str, points: Sequence[Point]) -> Any:
    at = points[point] if point >= 0 else NOWHERE
    message = msg.Contact(link=at.link, surface=surface)
    _fill(message.point, np.array(at.xyz))
    return message


def _place(message: Any, place: Array, normal: Array) -> None:
    _fill(message.position, place)
    _fill(message.normal, normal)


def _fill(message: PointMessage | Vector3, numbers: Array) -> None:
    message.x, message.y, message.z = numbers.tolist()
