"""Messages to arrays and back; contacts and impacts as messages."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point as PointMessage
from geometry_msgs.msg import Vector3, WrenchStamped
from sensor_msgs.msg import JointState

from ...errors import InputError
from ...model.model import Array
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
from ...simulation.contact.impulses import Contact, Impact
from ...simulation.contact.points import Point
from ..node.interfaces import msg
from .named_numbers import require_reasonable


def external_wrenches(messages: Sequence[WrenchStamped]) -> dict[str, list[float]] | None:
    """Wrenches by link; those on one link add up. None for none."""
    wrenches: dict[str, list[float]] = {}
    for k, message in enumerate(messages):
        link = message.header.frame_id.lstrip("/")
        if not link:
            raise InputError(f"external wrench {k} names no link in header.frame_id")
        force, torque = message.wrench.force, message.wrench.torque
        numbers = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
        for axis, number in zip(("fx", "fy", "fz", "tx", "ty", "tz"), numbers, strict=True):
            require_reasonable(axis, [number], [f"the wrench on {link}"])
        total = wrenches.setdefault(link, [0.0] * 6)
        wrenches[link] = [one + other for one, other in zip(total, numbers, strict=True)]
    return wrenches or None


def joint_state_message(robot: Robot, q: Array, v: Array, effort: Array) -> JointState:
    """The state of all `scalar_motions`, dependent ones too; efforts 0 where not actuated."""
    names, rows_q, rows_v = scalar_motions(robot.system.coordinates.joint_blocks)
    position, velocity, _ = robot.joint_state(q, v)
    assert velocity is not None
    message = JointState(name=names)
    message.header.frame_id = robot.model.root
    message.position = doubles(position[rows_q])
    message.velocity = doubles(velocity[rows_v])
    efforts = dict(zip(robot.effort_labels, effort.tolist(), strict=True))
    message.effort = doubles([efforts.get(name, 0.0) for name in names])
    return message


def doubles(values: Array | Sequence[float]) -> array[float]:
    """Numbers as message fields take them fastest."""
    return array("d", np.asarray(values, dtype=np.float64).tobytes())


def seconds(duration: Duration | Time) -> float:
    """A duration or a time in seconds."""
    return float(duration.sec) + 1e-9 * float(duration.nanosec)


def sec_and_nanosec(nanoseconds: int) -> tuple[int, int]:
    """A time as messages have it."""
    return divmod(nanoseconds, 1_000_000_000)


def fill_time(message: Time, nanoseconds: int) -> None:
    """Write a time into a message."""
    message.sec, message.nanosec = sec_and_nanosec(nanoseconds)


NOWHERE = Point("", (np.nan, np.nan, np.nan))
"""The point of two links, and of the stop of a joint."""


def held_contact(contact: Contact, points: Sequence[Point]) -> Any:
    """A Contact message of one that was held in the last step.

    points : of the environment.
    """
    message = _contact(contact.point, contact.surface, points)
    _place(message, contact.place, contact.normal)
    message.force = contact.normal_force
    _fill(message.friction, contact.friction)
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
