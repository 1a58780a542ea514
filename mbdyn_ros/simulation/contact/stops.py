"""The position limits of a robot's joints as stops, from a state on."""

from __future__ import annotations

from typing import overload

import numpy as np

from ...array import Array
from ...errors import SimulationWarning, warn
from ...model.model import Joint
from ...robot import Robot
from .contacts import Flags
from .environment import Environment

ON_THE_LIMIT = 1e-9
"""rad or m by which a joint that starts on its limit may be beyond it."""


def limited_joints(robot: Robot) -> list[Joint]:
    """The joints whose limits may be stops."""
    return [
        joint
        for joint in robot.model.joints
        if joint.nq == 1
        and joint.mimic is None
        and np.isfinite([joint.limits.lower, joint.limits.upper]).any()
    ]


def with_all_stops(robot: Robot, environment: Environment) -> Environment:
    """The environment; where it says nothing of stops, with those at all limits."""
    if environment.joint_limits is not None:
        return environment
    return environment.with_stops([joint.name for joint in limited_joints(robot)])


def without_stops(environment: Environment | None) -> Environment:
    """The environment; where it says nothing of stops, with none."""
    given = environment or Environment([])
    return given.with_stops(()) if given.joint_limits is None else given


def beyond_limits(robot: Robot, q: Array) -> tuple[Array, Flags]:
    """Of positions (nq,) or (N, nq) the places (..., n) of the `limited_joints`, and which of them
    are beyond their limits."""
    joints, labels = limited_joints(robot), robot.system.coordinates.joint_labels
    places = robot.joint_state(q)[0][..., [labels.index(joint.name) for joint in joints]]
    low = np.array([joint.limits.lower for joint in joints]) - ON_THE_LIMIT
    high = np.array([joint.limits.upper for joint in joints]) + ON_THE_LIMIT
    return places, (places < low) | (places > high)


@overload
def with_stops(
    robot: Robot, q: Array, environment: Environment, room: bool = False
) -> Environment: ...


@overload
def with_stops(
    robot: Robot, q: Array, environment: Environment | None, room: bool = False
) -> Environment | None: ...


def with_stops(
    robot: Robot, q: Array, environment: Environment | None, room: bool = False
) -> Environment | None:
    """The environment; where it says nothing of stops, with those at all limits that q keeps.

    A joint that starts beyond its limits has no stops, and is warned of. None where there is
    nothing to hit.

    room : whether its programs have room for these stops too, so that they are the same wherever
        motions start.

    Warns
    -----
    SimulationWarning
        By joint, position and limits.
    """
    joints = limited_joints(robot)
    if not joints or (environment is not None and environment.joint_limits is not None):
        return environment
    places, out = beyond_limits(robot, q)
    if out.any():
        beyond = (
            f"{joint.name} at {place:.6g}, limits {joint.limits.lower:g} to {joint.limits.upper:g}"
            for joint, place, is_out in zip(joints, places, out, strict=True)
            if is_out
        )
        warn(
            f"{robot.model.source}: the motion starts beyond limits, which then do not act as "
            f"stops: {'; '.join(beyond)}",
            SimulationWarning,
        )
    held = [joint.name for joint, is_out in zip(joints, out, strict=True) if not is_out]
    limited = [joint.name for joint in joints] if room else ()
    return (environment or Environment([])).with_stops(held, limited)
