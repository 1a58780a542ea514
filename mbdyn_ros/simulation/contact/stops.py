"""The position limits of a robot's joints as stops, from a state on."""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...errors import SimulationWarning, warn
from ...robot import Robot
from .environment import Environment

ON_THE_LIMIT = 1e-9
"""rad or m by which a joint that starts on its limit may be beyond it."""


def with_stops(robot: Robot, q: Array, environment: Environment | None) -> Environment | None:
    """The environment; where it says nothing of stops, with those at all limits that q keeps.

    A joint that starts beyond its limits has no stops, and is warned of. None where there is
    nothing to hit.

    Warns
    -----
    SimulationWarning
        By joint, position and limits.
    """
    if environment is not None and environment.joint_limits is not None:
        return environment
    held, beyond = [], []
    places = dict(zip(robot.system.coordinates.joint_labels, robot.joint_state(q)[0], strict=True))
    for joint in robot.model.joints:
        low, high = joint.limits.lower, joint.limits.upper
        if joint.nq != 1 or joint.mimic is not None or not np.isfinite([low, high]).any():
            continue
        place = float(places[joint.name])
        if low - ON_THE_LIMIT <= place <= high + ON_THE_LIMIT:
            held.append(joint.name)
        else:
            beyond.append(f"{joint.name} at {place:.6g}, limits {low:g} to {high:g}")
    if beyond:
        warn(
            f"{robot.model.source}: the motion starts beyond limits, which then do not act as "
            f"stops: {'; '.join(beyond)}",
            SimulationWarning,
        )
    return (environment or Environment([])).with_stops(held) if held else environment
