"""Springs and dampers that hold the joints of a simulation where they start."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..model.model import Array
from ..model.read.number import to_float
from ..robot import Robot
from ..simulation.effort import EffortFunction, effort_function


def held(robot: Robot, q0: Array, effort: Array | EffortFunction, text: str) -> EffortFunction:
    """Efforts with kp (q0 - q) - kd v added at every actuated joint of one freedom.

    Parameters
    ----------
    text : "kp,kd": N m/rad and N m s/rad, or N/m and N s/m.

    Raises
    ------
    InputError
        It is not two numbers, 0 or more, or there is no such joint.
    """
    gains = [to_float(one) for one in text.split(",")]
    given = [gain for gain in gains if gain is not None and 0 <= gain < np.inf]
    if len(gains) != 2 or len(given) != 2:
        raise InputError(
            f"--hold: {text!r} is not kp,kd: two numbers, 0 or more, such as 60,2 (N m/rad and "
            "N m s/rad)"
        )
    kp, kd = given
    at = [
        (robot.effort_labels.index(name), robot.position_labels.index(name),
         robot.velocity_labels.index(name))
        for name in robot.actuated_joints
        if name in robot.effort_labels and name in robot.position_labels
    ]  # fmt: skip
    if not at:
        raise InputError(
            f"--hold: {robot.model.source} has no actuated joint of one freedom among its "
            "independent ones; leave it out"
        )
    motors, places, speeds = (np.array(column) for column in zip(*at, strict=True))
    start, drive = q0[places], effort_function(robot, effort)

    def spring(t: float, q: Array, v: Array) -> Array:
        result = drive(t, q, v).copy()
        result[motors] += kp * (start - q[places]) - kd * v[speeds]
        return result

    return spring
