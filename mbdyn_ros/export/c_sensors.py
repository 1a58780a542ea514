"""The sensors of a robot in C: inertial measurement units and force-torque sensors."""

from __future__ import annotations

from collections.abc import Sequence

from ..names import in_c_string
from .c_library import CLibrary


def sensor_text(library: CLibrary, kind: str, sensors: Sequence[tuple[str, str]]) -> str:
    """The functions of the sensors of a kind, and their list."""
    if not sensors:
        return ""
    motion, count = SENSORS[kind], library.nv if kind == "force_torque" else 3
    functions = [
        SENSOR.format(kind=kind, k=k, function=function, motion=motion, count=count,
                      nq=library.nq, nv=library.nv, **library.around(function))
        for k, (_, function) in enumerate(sensors)
    ]  # fmt: skip
    rows = ", ".join(f"{{{in_c_string(at)}, {kind}_{k}}}" for k, (at, _) in enumerate(sensors))
    return "\n".join([*functions, f"static const mbdyn_ros_sensor {kind}_list[] = {{{rows}}};"])


SENSORS = {"imu": "rate", "force_torque": "a"}
"""The input of a sensor's reading beside q and v."""

SENSOR = """static int {kind}_{k}(void *memory, const double *q, const double *v,
    const double *{motion}, const double *parameters, double *reading) {{
  const int failed = {function}({loops}q, v, {motion}, {parameters}reading);
  (void)memory;
  if (!failed) return MBDYN_ROS_OK;
  return reason(memory, failed,
                not_finite(q, {nq}) || not_finite(v, {nv}) || not_finite({motion}, {count}), q,
                parameters);
}}
"""
