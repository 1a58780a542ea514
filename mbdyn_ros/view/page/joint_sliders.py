"""Sliders for the independent coordinates of a robot."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...robot import Robot
from ...units import position_unit
from .slider_panel import SliderPanel

if TYPE_CHECKING:
    import viser

FREE = {"rad": math.pi, "m": 1.0}
"""Half the range of a slider whose joint has no limits."""

TURN_NAMES = ("roll", "pitch", "yaw")


class JointSliders(SliderPanel):
    """One slider for each coordinate of q; three (roll, pitch, yaw) for a quaternion.

    Attributes
    ----------
    home : q where the sliders start.
    single : coordinates that have a slider of their own, and their ranges (rad or m).
    """

    def __init__(
        self, gui: viser.GuiApi, robot: Robot, changed: Callable[[Any], None]
    ) -> None:
        super().__init__(gui, changed)
        self._robot = robot
        self.home = robot.home_position
        self.single: dict[str, tuple[float, float]] = {}
        self._quaternions = robot.system.coordinates.quaternions
        self.add_search(len(robot.position_labels))
        for k, label in enumerate(robot.position_labels):
            if k in self._quaternions:
                for turn in self._turns(k):
                    self.add(turn, -math.pi, math.pi, 0.0, unit="rad")
            elif not any(start < k < start + 4 for start in self._quaternions):
                unit, start = position_unit(robot.model, label), float(self.home[k])
                self.single[label] = self._range(label, FREE[unit], start)
                self.add(label, *self.single[label], start, unit=unit)

    @property
    def q(self) -> Array:
        """Position (nq,) that the sliders show."""
        q = self.home.copy()
        for k, label in enumerate(self._robot.position_labels):
            if k in self._quaternions:
                q[k : k + 4] = self._quaternion(k)
            elif label in self.single:
                q[k] = self[label]
        return q

    def start_at(self, q: Array) -> None:
        """Show a position (nq,) to the last digit."""
        self.home = q.copy()
        for name, value in self._values(q).items():
            slider = self._sliders[name]
            slider.value = float(min(max(value, slider.min), slider.max))

    def show_position(self, q: Array) -> None:
        """Let the sliders show a position (nq,)."""
        self.show(self._values(q))

    def _values(self, q: Array) -> dict[str, float]:
        """The numbers of the sliders at a position, by name."""
        from scipy.spatial.transform import Rotation

        every = zip(self._robot.position_labels, q.tolist(), strict=True)
        values = {label: value for label, value in every if label in self.single}
        for k in self._quaternions:
            angles = Rotation.from_quat(q[k : k + 4]).as_euler("xyz").tolist()
            values.update(zip(self._turns(k), angles, strict=True))
        return values

    def _range(self, label: str, free: float, home: float) -> tuple[float, float]:
        low, high = -free, free
        if label in self._robot.joint_names:
            limits = self._robot.model.joint(label).limits
            low = limits.lower if math.isfinite(limits.lower) else low
            high = limits.upper if math.isfinite(limits.upper) else high
        return min(low, home), max(high, home)

    def _turns(self, start: int) -> list[str]:
        """The sliders of the quaternion that begins there in q."""
        name = self._robot.position_labels[start].rpartition("/")[0]
        return [f"{name}/{turn}" for turn in TURN_NAMES]

    def _quaternion(self, start: int) -> Array:
        from scipy.spatial.transform import Rotation

        angles = [self[turn] for turn in self._turns(start)]
        return np.array(Rotation.from_euler("xyz", angles).as_quat())
