"""Sliders for the numbers of a robot's origins that are variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...equations.variable import LENGTH_OR_ANGLE
from ...model.model import Array
from ...robot import Robot
from .slider_panel import SliderPanel

if TYPE_CHECKING:
    import viser

LENGTHENED, TURNED = 0.5, 0.5
"""Half the range of a slider: of a length as a share of it, of an angle (rad)."""

LEAST_SHARE_OF_LONGEST = 0.1
"""Share of the robot's longest length that a shorter one counts as, for its range."""


class LengthSliders(SliderPanel):
    """One slider for each number of an origin that `load` was told is variable.

    Attributes
    ----------
    taken : (p,) all parameters of the robot that were taken last.
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, changed: Callable[[Any], None]) -> None:
        super().__init__(gui, changed)
        self._robot = robot
        self.taken = robot.parameter_values()
        origins = robot.system.origins.values()
        longest = max((float(np.abs(one.pose.translation).max()) for one in origins), default=0.0)
        self._rows: dict[str, int] = {}
        for k, label in enumerate(robot.parameter_labels()):
            origin, _, component = label.rpartition("/")
            if origin not in robot.variable_origins:
                continue
            self._rows[label], unit = k, LENGTH_OR_ANGLE[component]
            value = float(self.taken[k])
            size = max(abs(value), LEAST_SHARE_OF_LONGEST * (longest or 1.0))
            half = LENGTHENED * size if unit == "m" else TURNED
            self.add(label, value - half, value + half, value, unit=unit)
        self.add_reset("As described")

    def take(self) -> bool:
        """Give the robot the numbers that the sliders show; whether any is another.

        Raises
        ------
        InputError
            A loop cannot be closed with them; the robot stays as it was.
        """
        numbers: Array = self.taken.copy()
        for label, k in self._rows.items():
            numbers[k] = self[label]
        if np.array_equal(numbers, self.taken):
            return False
        self._robot.set_parameter_values(numbers)
        self.taken = numbers
        return True
