"""Velocities and accelerations of a recorded motion."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..model.model import Array

FEWEST = 5
"""Points that a smoothing spline asks for."""


def differentiated(time: Array, numbers: Array, source: str) -> tuple[Array, Array]:
    """The first and second derivatives (N, n) of noisy numbers (N, n) at the times (N,).

    They are those of a smoothing spline for each column, whose stiffness generalized
    cross-validation chooses (Wahba 1990).

    Raises
    ------
    InputError
        Times that do not increase, fewer than 5 of them, or a SciPy before 1.10.
    """
    if len(time) < FEWEST:
        raise InputError(f"{source}: {len(time)} states cannot be differentiated; {FEWEST} can")
    still = np.flatnonzero(np.diff(time) <= 0)
    if still.size:
        raise InputError(
            f"{source}: the time does not increase after row {still[0] + 1}, {time[still[0]]:g} s"
        )
    try:
        from scipy.interpolate import make_smoothing_spline
    except ImportError:
        raise InputError("--differentiate asks for SciPy 1.10 or later") from None
    splines = [make_smoothing_spline(time, column) for column in numbers.T]
    first, second = (
        np.array([one.derivative(order)(time) for one in splines]).T for order in (1, 2)
    )
    return first, second
