"""Recordings of real robots: time, positions, velocities and efforts found among any columns.

Columns are known by words in their names (position, pos, q; velocity, vel, qd; effort, torque,
tau, ...) and by the joint, its name or its number counted from 0 or 1. Whatever is concluded and
not written (units, clocks, velocities that are missing) is said in remarks.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from ..arguments import OF_BASE
from ..array import Array
from ..errors import InputError, suggestion
from ..model.actuators import HydraulicCylinder
from ..robot import Robot
from ..units import position_unit
from .columns import Column, NamedColumns, clock, grouped, named_columns, parsed, read_columns

KEPT_RATE, JITTER = 20.0, 0.05
"""Hz up to which differentiated positions are kept; share of a step from which clocks jitter."""

RATE_ERROR = 0.2
"""Share by which recorded velocities may differ from the positions' rates, in the mean."""


@dataclass
class Recording:
    """A measured motion.

    time : (N,) s, rising. q, v, effort : (N, nq), (N, nv), (N, efforts).
    remarks : what was concluded, in words. unknown_gains : labels of efforts in unknown units.
    """

    time: Array
    q: Array
    v: Array
    effort: Array
    remarks: list[str] = field(default_factory=list)
    unknown_gains: tuple[str, ...] = ()

    @property
    def step(self) -> float:
        """s, the median of its steps."""
        return float(np.median(np.diff(self.time)))


@dataclass(frozen=True)
class Sensors:
    """Where a recording's numbers were measured.

    rate : Hz, of a file without a time; 0: there is one. motors : positions, velocities and efforts
    are those of motors, in the order of their joints; `<transmission>`s lead to joints.
    gains : by joint the effort (N m or N) of 1 in its column, for currents; NaN: unknown.
    zeros : by joint its position (rad or m) where its column reads 0.
    columns : by quantity its columns, of `read_named_columns`, where their names do not say it.
    """

    rate: float = 0.0
    motors: bool = False
    gains: Mapping[str, float] = field(default_factory=dict)
    zeros: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, NamedColumns] = field(default_factory=dict)


def read_recording(
    robot: Robot, path: str | os.PathLike[str], sensors: Sensors | None = None
) -> Recording:
    """Read the motion of a robot from a file (see `read_table`).

    path : a file or bag; position=FILE,effort=FILE,... where each quantity has its own.

    Raises
    ------
    InputError
        The time, a position or an effort of a joint is missing, constant while the joint moves, or
        not a number; or there are currents in the place of efforts.
    """
    source, remarks, sensors = str(path), list[str](), sensors or Sensors()
    table = read_columns(source)
    motors = tuple(one for one in robot.effort_labels if not one.startswith(OF_BASE))
    labels = (*robot.position_labels, *robot.velocity_labels, *motors)
    by_quantity = {
        "position": robot.position_labels, "velocity": robot.velocity_labels, "effort": motors,
    }  # fmt: skip
    if sensors.columns:
        table = named_columns(table, sensors.columns, by_quantity | {"current": motors}, source)
    columns = [parsed(name, tuple(dict.fromkeys(labels))) for name in table]
    currents = [one for one in columns if one.quantity == "current"]
    measured = [one for one in columns if one.quantity == "effort" and not one.is_wanted]
    if currents and not measured and sensors.gains:
        by_quantity["effort"] = ()
    found = {
        what: grouped(columns, what, wanted, remarks) for what, wanted in by_quantity.items()
    }
    if currents and not measured:
        if sensors.gains:
            found["effort"] = grouped(columns, "current", motors, remarks)
        elif found["effort"] is not None:
            remarks.append("motor currents were measured: --gain JOINT=unknown for every joint "
                           "takes them instead of commanded efforts")  # fmt: skip
    if found["effort"] is None:
        found["effort"] = _from_pressures(robot, table, columns, motors, remarks)
    if found["effort"] is None and currents:
        raise InputError(
            f"{source}: has motor currents and no efforts; multiply each by the torque constant "
            "and gear ratio of its drive (gains, --gain), or name the columns effort/<joint>; "
            "--gain JOINT=unknown finds the constant"
        )
    for what, labels in (("position", robot.position_labels), ("effort", motors)):
        if found[what] is None:
            _refuse_missing(columns, what, labels, source)
    time = clock(table, columns, source, sensors.rate, remarks)
    blocks = {
        what: np.column_stack([table[name] for name in names])
        for what, names in found.items() if names is not None
    }  # fmt: skip
    time, blocks = _cleaned(time, blocks, source, remarks)
    _to_joints(robot, blocks, motors, sensors, source)
    _to_si(robot, blocks, found, remarks)
    if "effort" in blocks:
        whole = np.zeros((len(time), len(robot.effort_labels)))
        whole[:, len(robot.effort_labels) - len(motors) :] = blocks["effort"]
    _require_alive(motors, blocks, source)
    kept = _settle_velocity(robot, time, blocks, remarks)
    q, v = blocks["position"][kept], blocks["velocity"][kept]
    unknown = tuple(one for one, gain in sensors.gains.items() if math.isnan(gain))
    return Recording(time[kept], q, v, whole[kept], remarks, unknown)


CHAMBERS = set("a bore bottom cap piston head".split()), set("b rod annulus".split())
"""Words in the names of pressures of a cylinder's chambers: under the piston, around the rod."""


def _from_pressures(
    robot: Robot, table: dict[str, Array], columns: list[Column], motors: tuple[str, ...],
    remarks: list[str],
) -> list[str] | None:  # fmt: skip
    """Columns of efforts, of cylinders by the pressures in both chambers, if all are there."""
    cylinders = {
        one.joint: one for one in robot.model.actuators if isinstance(one, HydraulicCylinder)
    }
    names = []
    for joint in motors:
        own = [one for one in columns if one.joint == joint]
        sides = [[one.name for one in own if one.quantity == "pressure" and words & set(one.words)]
                 for words in CHAMBERS]  # fmt: skip
        efforts = [one.name for one in own if one.quantity == "effort"]
        if joint not in cylinders and len(efforts) == 1:
            names += efforts
            continue
        if joint not in cylinders or [len(side) for side in sides] != [1, 1]:
            return None
        bore, rod = (np.pi / 4 * x**2 for x in (cylinders[joint].bore, cylinders[joint].rod))
        (under,), (around,) = sides
        names.append(f"effort/{joint}")
        table[names[-1]] = table[under] * bore - table[around] * (bore - rod)
        remarks.append(f"the effort of {joint} is that of {under} on {bore * 1e4:.4g} cm^2 less "
                       f"{around} on {(bore - rod) * 1e4:.4g} cm^2, in Pa")  # fmt: skip
    return names


def _refuse_missing(
    columns: list[Column], what: str, labels: tuple[str, ...], source: str
) -> NoReturn:
    """Refuse a recording without a quantity of all joints, by the joints that it lacks."""
    here = {
        one.joint for one in columns
        if one.quantity == what or not one.words and isinstance(one.joint, str)
    }  # fmt: skip
    if numbers := {k for k in here if isinstance(k, int)}:
        here |= {one for k, one in enumerate(labels, 0 if 0 in numbers else 1) if k in numbers}
    missing = [one for one in labels if one not in here]
    remedy = (f"name the columns {what}/<joint>, or {what}1, {what}2, ..., or assign them with "
              "--columns FILE.yaml")  # fmt: skip
    if len(missing) < len(labels):
        remedy = ("record them, or lock them: mbdyn edit ROBOT --lock "
                  f"{','.join(missing)} -o FILE.urdf")  # fmt: skip
    if what == "effort" and any(one.quantity == "pressure" for one in columns):
        remedy += ("; pressures need both chambers as pressure_a/<joint> and pressure_b/<joint>, "
                   "Pa, and the cylinder's bore and rod (actuators)")  # fmt: skip
    raise InputError(
        f"{source}: has no {what} of all of {', '.join(labels)}; {', '.join(missing)} are missing: "
        f"{remedy}. It has {', '.join(one.name for one in columns)}"
    )


def _to_joints(
    robot: Robot, blocks: dict[str, Array], motors: tuple[str, ...], sensors: Sensors, source: str
) -> None:
    """Numbers of joints, where those of motors or in other units were measured."""
    labels = {"position": robot.position_labels, "velocity": robot.velocity_labels}
    for name in (*sensors.gains, *sensors.zeros):
        known = motors if name in sensors.gains else labels["position"]
        if name not in known:
            raise InputError(
                f"{source}: {name!r} has no such number{suggestion(name, known)}; there are "
                f"{', '.join(known)}"
            )
    gains = np.array([sensors.gains.get(one, 1.0) for one in motors])
    blocks["effort"] = blocks["effort"] * np.where(np.isnan(gains), 1.0, gains)
    if sensors.motors:
        gears = robot.model.transmissions
        if not gears:
            raise InputError(
                f"{robot.model.source}: has no <transmission> that leads from motors to joints; "
                "add them, or give numbers of joints"
            )
        for what, order in {**labels, "effort": motors}.items():
            for one in gears if what in blocks else ():
                if not set(one.joints) <= set(order):
                    raise InputError(f"{robot.model.source}: transmission {one.name!r} drives a "
                                     f"joint that has no {what} of its own")  # fmt: skip
                places = [order.index(joint) for joint in one.joints]
                rates = one.rates if what == "effort" else np.linalg.inv(one.rates).T
                blocks[what][:, places] = blocks[what][:, places] @ rates
    blocks["position"] += [sensors.zeros.get(one, 0.0) for one in labels["position"]]


def _cleaned(
    time: Array, blocks: dict[str, Array], source: str, remarks: list[str]
) -> tuple[Array, dict[str, Array]]:
    """Rows with all numbers and rising times, and a regular clock where stamps only jitter."""
    finite = np.isfinite(time)
    for rows in blocks.values():
        finite &= np.isfinite(rows).all(axis=1)
    latest = np.maximum.accumulate(np.where(finite, time, -math.inf))
    kept = finite & (time > np.concatenate([[-math.inf], latest[:-1]]))
    lost = int((~kept).sum())
    if kept.sum() < 10 or lost > len(time) / 2:
        raise InputError(
            f"{source}: only {int(kept.sum())} of {len(time)} rows have numbers in all columns and "
            "a time that rises"
        )
    if lost:
        remarks.append(f"{lost} of {len(time)} rows are left out: NaN or time not rising")
    time = time[kept]
    step, place = float(np.median(np.diff(time))), np.arange(len(time))
    regular = np.polyval(np.polyfit(place, time, 1), place)
    jitter = float(np.diff(time).std())
    if jitter > JITTER * step:
        if np.abs(time - regular).max() < 3 * step:
            remarks.append(
                f"stamps jitter by {jitter * 1e3:.2g} ms about a regular clock of "
                f"{1 / np.diff(regular)[0]:.5g} Hz, which is taken"
            )
            time = np.asarray(regular, dtype=np.float64)
        else:
            remarks.append(f"steps of time are irregular: {step:.3g} s in the median, "
                           f"{np.diff(time).max():.3g} s at most")  # fmt: skip
    return time, {what: rows[kept] for what, rows in blocks.items()}


LEAST_USE = 0.1
"""Share of its limits that a slide at least moves through where they reveal its unit."""


def _to_si(
    robot: Robot, blocks: dict[str, Array], names: dict[str, list[str] | None], remarks: list[str]
) -> None:
    """Degrees as rad and millimetres as m, where a name or the limits of positions say so."""
    units = np.array([position_unit(robot.model, one) for one in robot.position_labels])
    for unit, other, size, word, free in (
        ("rad", "degrees", math.radians(1.0), r"deg", 2 * math.tau),
        ("m", "millimetres", 1e-3, r"(?<![a-z])mm(?![a-z])", math.inf),
    ):
        here = units == unit
        given, (low, high) = blocks["position"][:, here], robot.position_limits[:, here]
        named = any(re.search(word, one.lower()) for one in names["position"] or ())
        most = 1.2 * np.where(np.isfinite(high), np.maximum(np.abs(low), np.abs(high)), free)
        beyond = here.any() and (np.abs(given) > most).mean() > 0.05
        if unit == "m" and beyond:  # and not other zeros: all are beyond, and use their limits
            used = np.ptp(size * given, axis=0) / np.maximum(high - low, 1e-300)
            beyond = bool((np.abs(given).max(axis=0) > most).all() and used.max() > LEAST_USE)
        if named or (beyond and (np.abs(size * given) <= most).all()):
            blocks["position"][:, here] = size * given
            why = "by their name" if named else (
                f"for in {unit} they pass the limits of their joints (--motors takes them for "
                "motors')"
            )  # fmt: skip
            remarks.append(f"positions are taken for {other}, {why}")


def _settle_velocity(
    robot: Robot, time: Array, blocks: dict[str, Array], remarks: list[str]
) -> slice:
    """Velocities that agree with the positions: as recorded, in other units, or differentiated.

    Returns the rows where they are good: those at both ends have neighbours on one side alone.
    """
    q = blocks["position"]
    steps = robot.difference(q[:-1], q[1:]) / np.diff(time)[:, None]
    rates = np.vstack([steps[:1], 0.5 * (steps[:-1] + steps[1:]), steps[-1:]])
    frequency, edge = (len(time) - 1) / (time[-1] - time[0]), 0
    if frequency > 3 * KEPT_RATE:
        edge = min(round(frequency / KEPT_RATE), len(rates) // 4)
        kernel = np.hanning(2 * edge + 3)  # symmetric, so that nothing is late
        kernel /= kernel.sum()
        rates = np.column_stack([np.convolve(one, kernel, mode="same") for one in rates.T])
        edge += 1
    given = blocks.get("velocity")
    if given is not None:
        moving = np.abs(rates) > 0.1 * np.abs(rates).max(initial=0.0)
        slope = float((given * rates)[moving].sum() / max((rates[moving] ** 2).sum(), 1e-300))
        for size, unit in ((1.0, ""), (math.degrees(1.0), "degrees a second")):
            if abs(slope / size - 1) < RATE_ERROR:
                blocks["velocity"] = given / size
                if unit:
                    remarks.append(f"velocities are taken for {unit}, as positions change")
                return slice(None)
        remarks.append(f"recorded velocities are {slope:.3g} times the positions' rates; "
                       "they are not used")  # fmt: skip
    blocks["velocity"] = rates
    remarks.append(
        "velocities are differentiated from positions, without phase lag"
        + (f", up to {KEPT_RATE:g} Hz; {edge} rows at each end are left out" if edge else "")
    )
    return slice(edge, len(time) - edge)


def _require_alive(motors: tuple[str, ...], blocks: dict[str, Array], source: str) -> None:
    """Refuse efforts that never change while their robot moves."""
    if not np.ptp(blocks["position"], axis=0).any():
        return
    for label, column in zip(motors, blocks["effort"].T, strict=True):
        if not np.ptp(column):
            raise InputError(
                f"{source}: the effort of {label} is {column[0]:g} in every row while the robot "
                "moves: nothing was measured there. Record it, or lock the joint (mbdyn edit)"
            )
