"""Messages to arrays and back."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from ...errors import InputError
from ...model.model import Array
from ...prepare.coordinates import scalar_motions
from ...robot import Robot
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
