"""The abilities of a mechanism in numbers: range, dead centres, transmission, time ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..integration.methods import zero_between
from ..model.model import Array
from .analysis import output_rate, transmission_angles
from .design import TURN_SAMPLES
from .disk_cam import DiskCam
from .linkages import FourBar
from .mechanism import Mechanism
from .toggles import reach


def dead_centers(mechanism: Mechanism) -> Array:
    """Angles (k,) of the input, rising within a turn, at which the output comes to rest.

    There the mechanical advantage is infinite; in a four-bar crank and coupler are in line.
    """
    lower, upper = mechanism.stroke

    def rate(angle: float) -> float:
        return float(output_rate(mechanism, np.array([[angle]]))[0])

    inside = 1e-9 * (upper - lower)
    angles = np.linspace(lower + inside, upper - inside, TURN_SAMPLES + 1)
    values = output_rate(mechanism, angles[:, None])
    centers = [
        zero_between(rate, *angles[k : k + 2].tolist())
        for k in np.flatnonzero(values[:-1] * values[1:] < 0)
    ]
    centers += angles[:-1][values[:-1] == 0].tolist()
    return np.sort(np.array(centers))


def summarize_cam(cam: DiskCam) -> dict[str, Any]:
    """Plain data of a cam, angles in rad; `at` are angles of the cam.

    pressure_angle_rise, pressure_angle_return : {"value", "at"}, the largest there.
    curvature_radius : {"value", "at"}, m, the least where it is convex: of the pitch curve, or of
    the profile of a flat face. face : [from, to] m, what the contact sweeps on a flat face.
    acceleration_jumps : [{"at", "by"}], of the law.
    """
    q = cam.angles
    pressure, radius = np.abs(cam.pressure_angle(q)), cam.curvature_radius(q)
    rate = cam.side * cam.motion(q)[1]

    def extreme(values: Array, k: Any) -> dict[str, float]:
        return {"value": float(values[k]), "at": float(q[k])}

    result: dict[str, Any] = {
        "curvature_radius": extreme(radius, np.argmin(np.where(radius > 0, radius, np.inf))),
        "acceleration_jumps": [{"at": angle, "by": jump} for angle, jump in cam.law.jumps],
    }
    if cam.flat:
        result["face"] = [float(cam.on_face(q).min()), float(cam.on_face(q).max())]
        return result
    for key, sign in (("pressure_angle_rise", 1), ("pressure_angle_return", -1)):
        result[key] = extreme(pressure, np.argmax(np.where(sign * rate > 0, pressure, -1.0)))
    return result


def summarize(mechanism: Mechanism) -> dict[str, Any]:
    """Plain data, angles in rad.

    range : of the input; None where it turns fully. ranges : the same of each of several inputs,
    the others at home. dead_centers : where the output comes to rest.
    time_ratio : of the slow stroke of the output to the quick one, at constant speed.
    transmission_angles : [least, largest] of all dyads within the range.
    cams : what `summarize_cam` says, by contact; they have no dead_centers, as they dwell.
    """
    result: dict[str, Any] = {"inputs": list(mechanism.inputs), "output": mechanism.output}
    if isinstance(mechanism, FourBar):
        result["grashof_class"] = mechanism.grashof_class
    count, cams = len(mechanism.inputs), mechanism.layout().cams
    if cams:
        result["cams"] = {one.name: summarize_cam(one) for one in cams}
    if count > 1:
        ranges = {name: reach(mechanism, which=name) for name in mechanism.inputs}
        result["ranges"] = {
            name: list(one) if math.isfinite(one[0]) else None for name, one in ranges.items()
        }
    else:
        lower, upper = mechanism.range
        full = not math.isfinite(lower)
        result["range"] = None if full else [lower, upper]
        if not cams:
            centers = dead_centers(mechanism)
            result["dead_centers"] = centers.tolist()
            result["time_ratio"] = None
            if full and len(centers) == 2:
                stroke = float(centers[1] - centers[0])
                strokes = stroke, 2 * math.pi - stroke
                result["time_ratio"] = max(strokes) / min(strokes)
    q = mechanism.all_over(TURN_SAMPLES + 1, 72)
    angles = transmission_angles(mechanism, q)
    result["transmission_angles"] = [float(angles.min()), float(angles.max())]
    return result
