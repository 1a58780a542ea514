"""The wanted motion in a `JointTrajectory`."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ...errors import InputError
from ...inverse_kinematics import position_limits
from ...model.model import Array
from ...robot import Robot
from .conversions import seconds
from .layout import DEPENDENT_AGREEMENT, Layout
from .reference import Reference
from .trajectory_efforts import read_points


def read_reference(robot: Robot, message: JointTrajectory) -> Reference:
    """The motion that a message describes; InputError names point, joint and number."""
    layout = Layout(robot, message.joint_names)
    q, v, a = read_points(layout, message)
    times = np.array([seconds(point.time_from_start) for point in message.points])
    given = {
        "velocities": [len(point.velocities) > 0 for point in message.points],
        "accelerations": [len(point.accelerations) > 0 for point in message.points],
    }
    for what, flags in given.items():
        if any(flags) and not all(flags):
            raise InputError(
                f"point {flags.index(False)} has no {what}, but others have: give them at "
                "every point, or at none"
            )
    return Reference(
        times,
        q,
        v if all(given["velocities"]) else None,
        a if all(given["accelerations"]) else None,
    )


LIMIT_SAMPLES = 16
"""Places between two points at which a reference is held to the limits."""


def require_within_limits(
    robot: Robot, reference: Reference, present: Array | None = None
) -> None:
    """Refuse a motion that leaves the position limits, in its points or between them.

    A joint that is beyond one at its `present` position may come back from there.
    """
    low, high = position_limits(robot)
    if present is not None:
        low, high = np.minimum(low, present), np.maximum(high, present)
    if not (np.isfinite(low).any() or np.isfinite(high).any()):
        return
    times = np.array(reference.times)
    between = times[:-1, None] + np.diff(times)[:, None] * np.arange(LIMIT_SAMPLES) / LIMIT_SAMPLES
    for moment in [*between.ravel().tolist(), times[-1]]:
        q, _, _ = reference.at(moment)
        outside = np.maximum(low - q, q - high) > DEPENDENT_AGREEMENT
        for k in np.flatnonzero(outside).tolist():
            raise InputError(
                f"position of {robot.position_labels[k]} is {q[k]:.6g} at {moment:.4g} s, outside "
                f"its limits {low[k]:g} to {high[k]:g}"
            )
