"""Why a motion has no efforts, in the words of the robot."""

from __future__ import annotations

import numpy as np

from ...array import Array
from ...errors import InputError, MbdynError
from ...robot import Robot


def require_answers(
    robot: Robot, q: Array, v: Array, a: Array, efforts: Array, where: str = ""
) -> None:
    """Refuse states (N, n) whose efforts (N, n) are not finite, as at dead points of actuators.

    where : begins the words; "{}" in it is the number of the state.

    Raises
    ------
    InputError
        What `inverse_dynamics` says of the first of them.
    """
    for k in np.flatnonzero(~np.isfinite(efforts).all(axis=1))[:1].tolist():
        try:
            robot.inverse_dynamics(q[k], v[k], a[k])
        except MbdynError as error:
            raise InputError(f"{where.format(k)}{error}") from None
