"""What a page shows of one design of a mechanism: a motion of its crank, and its charts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...model.model import Array
from ...recording.table import Table, csv_lines
from ...view.colors import color_of
from ...view.page.charts import Line
from .. import Analysis, CrankMotion, Mechanism, reach

POINTS = 360
"""Instants of a turn; one more closes it."""

CLEARANCE = 0.02
"""Share of a swing that is left free at toggles: torques grow without bound there."""

QUANTITIES = ("positions", "speeds", "accelerations", "forces in joints")
UNITS = {"positions": "", "speeds": "/s", "accelerations": "/s²"}


@dataclass(frozen=True)
class Drive:
    """How the inputs move: speeds (rad/s) and where they start (rad), one of each an input."""

    speeds: tuple[float, ...]
    starts: tuple[float, ...]


class Run:
    """A design in motion.

    Attributes
    ----------
    analysis : of `mechanism` in `motion`.
    swings : (lower, upper) rad, where toggles let the crank not turn fully; else None.
    x, across : what charts are over, and its name: the crank's angle, or time where it swings.

    Raises
    ------
    InputError
        It cannot be assembled on the way, in words with the limiting angle.
    """

    def __init__(self, mechanism: Mechanism, drive: Drive) -> None:
        self.mechanism = mechanism
        self.swings: tuple[float, float] | None = None
        motion = _turn(drive)
        if len(mechanism.inputs) == 1:
            lower, upper = reach(mechanism)
            if math.isfinite(lower):
                self.swings = lower, upper
                motion = _swing(lower, upper, drive.speeds[0])
        self.analysis = Analysis(mechanism, motion)
        self.torque = self.analysis.torque  # refuses here what cannot be assembled
        if self.swings is None:
            self.x, self.across = np.degrees(motion.q[:, 0]), f"{mechanism.inputs[0]} angle (deg)"
        else:
            self.x, self.across = motion.time, "time (s)"

    @property
    def motion(self) -> CrankMotion:
        """The motion of its inputs."""
        return self.analysis.motion

    def torque_lines(self) -> list[Line]:
        """Driving torque of each input (N m), and what it is where nothing weighs."""
        lines = []
        weightless = self.analysis.torque_without_gravity
        for k, name in enumerate(self.mechanism.inputs):
            color = color_of(k)
            lines.append(Line(name, self.torque[:, k], color, width=2.5))
            lines.append(
                Line(f"{name}, without gravity", weightless[:, k], color, "dot", 1.5, k == 0)
            )
        return lines

    def joint_lines(self, quantity: str) -> tuple[list[Line], list[Line]]:
        """A quantity of all joints: of those that turn (rad or N), and of slides (m)."""
        if quantity == "forces in joints":
            forces = self.analysis.reactions.items()
            return [
                Line(name, np.hypot(*force[:, :2].T), color_of(k))
                for k, (name, force) in enumerate(forces)
            ], []
        values = self.analysis.joints[QUANTITIES.index(quantity)]
        turning: list[Line] = []
        sliding: list[Line] = []
        for k, part in enumerate(self.mechanism.layout().parts):
            (sliding if part.slides else turning).append(Line(part.name, values[:, k], color_of(k)))
        return turning, sliding

    def csv(self) -> str:
        """Time, torques and the motion of all joints as a CSV file."""
        names = self.mechanism.joint_names
        table: Table = {"time": {"": self.motion.time}}
        quantities = ("position", "velocity", "acceleration")
        for quantity, values in zip(quantities, self.analysis.joints, strict=True):
            table[quantity] = dict(zip(names, values.T, strict=True))
        table["effort"] = {
            f"{name}_joint": self.torque[:, k] for k, name in enumerate(self.mechanism.inputs)
        }
        return "".join(csv_lines(table))


def joint_titles(quantity: str) -> tuple[str, str]:
    """Titles of the charts of `Run.joint_lines`."""
    if quantity == "forces in joints":
        return "force (N)", ""
    return f"{quantity} (rad{UNITS[quantity]})", f"{quantity} (m{UNITS[quantity]})"


def _turn(drive: Drive) -> CrankMotion:
    """All at constant speed, until the first has turned fully."""
    period = 2 * math.pi / max(abs(drive.speeds[0]), 1e-9)
    time = np.linspace(0.0, period, POINTS + 1)
    speeds = np.array(drive.speeds)
    q = np.array(drive.starts) + speeds * time[:, None]
    v = np.tile(speeds, (len(time), 1))
    return CrankMotion(time, q, v, np.zeros_like(v))


def _swing(lower: float, upper: float, speed: float) -> CrankMotion:
    """There and back as a cosine whose largest speed is `speed`."""
    half, middle = (0.5 - CLEARANCE) * (upper - lower), 0.5 * (lower + upper)
    w = max(abs(speed), 1e-9) / half
    time = np.linspace(0.0, 2 * math.pi / w, POINTS + 1)
    c, s = np.cos(w * time), np.sin(w * time)

    def column(values: Array) -> Array:
        return values[:, None]

    return CrankMotion(
        time, column(middle - half * c), column(half * w * s), column(half * w * w * c)
    )
