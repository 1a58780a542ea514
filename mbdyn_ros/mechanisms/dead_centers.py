"""Dead centres: where the output of a mechanism comes to rest."""

from __future__ import annotations

import numpy as np

from ..equations.programs import joint_velocity
from ..model.model import Array
from .design import TURN_SAMPLES
from .mechanism import Mechanism
from .programs import bound, place


def dead_centers(mechanism: Mechanism) -> Array:
    """Angles (k,) of the input, rising within a turn, at which the output comes to rest.

    There the mechanical advantage is infinite; in a four-bar crank and coupler are in line.
    """
    from scipy.optimize import brentq  # its import takes long

    lower, upper = mechanism.range
    if not np.isfinite(lower):
        lower, upper = -np.pi, np.pi
    rates = bound(mechanism, joint_velocity)
    rates.v[:] = 1.0
    row = mechanism.joint_names.index(f"{mechanism.output}_joint")

    def rate(angle: float) -> float:
        place(rates, mechanism, np.array([angle]))
        rates()
        return float(rates.result[row])

    inside = 1e-9 * (upper - lower)
    angles = np.linspace(lower + inside, upper - inside, TURN_SAMPLES + 1)
    values = np.array([rate(angle) for angle in angles.tolist()])
    centers = [
        brentq(rate, angles[k], angles[k + 1], xtol=1e-14, rtol=1e-14)
        for k in np.flatnonzero(values[:-1] * values[1:] < 0)
    ]
    centers += angles[:-1][values[:-1] == 0].tolist()
    return np.sort(np.array(centers))
