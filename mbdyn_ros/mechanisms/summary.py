"""The abilities of a mechanism in numbers: range, dead centres, transmission, time ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .analysis import transmission_angles
from .dead_centers import dead_centers
from .design import TURN_SAMPLES
from .four_bar import FourBar
from .mechanism import Mechanism
from .toggles import reach


def summarize(mechanism: Mechanism) -> dict[str, Any]:
    """Plain data, angles in rad.

    range : of the input; None where it turns fully. ranges : the same of each of several inputs,
    the others at home. dead_centers : where the output comes to rest.
    time_ratio : of the slow stroke of the output to the quick one, at constant speed.
    transmission_angles : [least, largest] of all dyads within the range.
    """
    result: dict[str, Any] = {"inputs": list(mechanism.inputs), "output": mechanism.output}
    if isinstance(mechanism, FourBar):
        result["grashof_class"] = mechanism.grashof_class
    count = len(mechanism.inputs)
    if count > 1:
        ranges = {name: reach(mechanism, which=name) for name in mechanism.inputs}
        result["ranges"] = {
            name: list(one) if math.isfinite(one[0]) else None for name, one in ranges.items()
        }
    if count == 1:
        lower, upper = mechanism.range
        full = not math.isfinite(lower)
        centers = dead_centers(mechanism)
        result["range"] = None if full else [lower, upper]
        result["dead_centers"] = centers.tolist()
        result["time_ratio"] = None
        if full and len(centers) == 2:
            stroke = float(centers[1] - centers[0])
            result["time_ratio"] = max(stroke, 2 * math.pi - stroke) / min(
                stroke, 2 * math.pi - stroke
            )
        ends = (-math.pi, math.pi) if full else (lower, upper)
        q = np.linspace(*ends, TURN_SAMPLES + 1)[:, None]
    else:
        q = mechanism.all_around(72)
        q = q[mechanism.margin(q) >= 0]
    angles = transmission_angles(mechanism, q)
    result["transmission_angles"] = [float(angles.min()), float(angles.max())]
    return result
