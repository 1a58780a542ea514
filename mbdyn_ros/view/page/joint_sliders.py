"""Sliders for the independent coordinates of a robot."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ...simulation.stepped.fixed_step import neutral_position
from ...units import position_unit

if TYPE_CHECKING:
    import viser

FREE = {"rad": math.pi, "m": 1.0}
"""Half the range of a slider whose joint has no limits."""

QUATERNION = ("qx", "qy", "qz", "qw")
TURNS = ("roll", "pitch", "yaw")
STEPS = 1000
"""Steps of a slider over its range."""


class JointSliders:
    """One slider for each coordinate of q; three (roll, pitch, yaw) for a quaternion.

    Attributes
    ----------
    home : q where the sliders start.
    single : coordinates that have a slider of their own, and their ranges (rad or m).
    """

    def __init__(
        self, gui: viser.GuiApi, robot: Robot, changed: Callable[[Any], None]
    ) -> None:
        self._robot = robot
        self.home = neutral_position(robot)
        self.single: dict[str, tuple[float, float]] = {}
        self._sliders: dict[str, Any] = {}
        for k, label in enumerate(robot.position_labels):
            name, _, part = label.rpartition("/")
            if part in QUATERNION:
                if part == QUATERNION[0]:
                    for turn in TURNS:
                        self._add(gui, f"{name}/{turn}", "rad", (-math.pi, math.pi), 0.0, changed)
                continue
            unit = position_unit(robot.model, label)
            reach = self._range(label, unit, float(self.home[k]))
            self.single[label] = reach
            self._add(gui, label, unit, reach, float(self.home[k]), changed)

    @property
    def q(self) -> Array:
        """Position (nq,) that the sliders show."""
        q = self.home.copy()
        for k, label in enumerate(self._robot.position_labels):
            name, _, part = label.rpartition("/")
            if part == QUATERNION[0]:
                q[k : k + 4] = self._quaternion(name)
            elif part not in QUATERNION:
                q[k] = self._sliders[label].value
        return q

    def set(self, q: Array) -> None:
        """Let the sliders show a position; those of quaternions stay."""
        for k, label in enumerate(self._robot.position_labels):
            if label in self.single:
                low, high = self.single[label]
                value = float(min(max(q[k], low), high))
                if abs(self._sliders[label].value - value) > (high - low) / STEPS:
                    self._sliders[label].value = value

    def reset(self) -> None:
        """Back to the start."""
        self.set(self.home)
        for label, slider in self._sliders.items():
            if label not in self.single:
                slider.value = 0.0

    def _range(self, label: str, unit: str, home: float) -> tuple[float, float]:
        model = self._robot.model
        low, high = -FREE[unit], FREE[unit]
        if label in self._robot.joint_names:
            limits = model.joint(label).limits
            low = limits.lower if math.isfinite(limits.lower) else low
            high = limits.upper if math.isfinite(limits.upper) else high
        return min(low, home), max(high, home)

    def _quaternion(self, name: str) -> Array:
        from scipy.spatial.transform import Rotation

        angles = [self._sliders[f"{name}/{turn}"].value for turn in TURNS]
        return np.array(Rotation.from_euler("xyz", angles).as_quat())

    def _add(
        self,
        gui: viser.GuiApi,
        label: str,
        unit: str,
        reach: tuple[float, float],
        start: float,
        changed: Callable[[Any], None],
    ) -> None:
        low, high = reach
        slider = gui.add_slider(
            label, low, high, (high - low) / STEPS or 1e-3, start,
            marks=((low, f"{low:.3g}"), (high, f"{high:.3g}")), hint=f"{label}, {unit}",
        )  # fmt: skip
        slider.on_update(changed)
        self._sliders[label] = slider
