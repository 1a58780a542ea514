"""One design of a mechanism on a page: a motion of its crank, and its charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...recording.table import csv_lines
from ...view.colors import color_of
from ...view.page.charts import Line
from ...view.page.stroke import CLEARANCE, Stroke
from .. import Analysis, CrankMotion, Mechanism, reach
from ..crank_motion import joint_table

QUANTITIES = ("positions", "speeds", "accelerations", "forces in joints")
UNITS = {"positions": "", "speeds": "/s", "accelerations": "/s²"}


@dataclass(frozen=True)
class Drive:
    """The motion of the inputs: speeds (rad/s) and where they start (rad), one of each an input."""

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
        joints = self.mechanism.joint_names
        table = joint_table(self.motion.time, joints, self.analysis.joints)
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
    return _motion(
        [
            Stroke(start, start + speed * period, period, turns=True)
            for speed, start in zip(drive.speeds, drive.starts, strict=True)
        ]
    )


def _swing(lower: float, upper: float, speed: float) -> CrankMotion:
    """There and back as a cosine whose largest speed is `speed`."""
    margin = CLEARANCE * (upper - lower)
    low, high = lower + margin, upper - margin
    return _motion([Stroke(low, high, math.pi * (high - low) / max(abs(speed), 1e-9))])


def _motion(strokes: Sequence[Stroke]) -> CrankMotion:
    """The motion of inputs that all take the same time."""
    time = strokes[0].times
    q, v, a = np.stack([one.at(time) for one in strokes], axis=-1)
    return CrankMotion(time, q, v, a)
