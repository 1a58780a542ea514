"""A panel of sliders: numbers by name, each with a range and a start; lengths of origins too."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...equations.variable import LENGTH_OR_ANGLE
from ...model.model import Array
from ...robot import Robot
from .page import renew

if TYPE_CHECKING:
    import viser


SLIDER_STEPS = 1000
"""Steps of a slider over its range, about."""

SEARCHED_FROM = 5
"""Largest number of sliders without a search field."""


class SliderPanel:
    """The controls of a page, and how to reset them.

    Parameters
    ----------
    changed : called with viser's event when any of it changes.
    """

    def __init__(self, gui: viser.GuiApi, changed: Callable[[Any], None]) -> None:
        self._gui, self._changed = gui, changed
        self._sliders: dict[str, Any] = {}
        self._starts: dict[str, Any] = {}
        self._search: Any = None

    def __getitem__(self, name: str) -> Any:
        """The value of a control: of a slider a number."""
        return self._sliders[name].value

    def control(self, name: str) -> Any:
        """Handle of viser of a control."""
        return self._sliders[name]

    def add(
        self, name: str, low: float, high: float, start: float, *, unit: str = "", label: str = "",
        moving: bool = False,
    ) -> None:  # fmt: skip
        """A slider from `low` to `high`; its ends are written at it, with the unit.

        moving : whether `move` may change its range; the browser writes its ends then.
        """
        step = even_step(high - low)
        ends = (low, f"{low:.3g}"), (high, f"{high:.3g} {unit}".strip())
        slider = self._gui.add_slider(
            label or name, low, high, step, start, marks=None if moving else ends
        )
        slider.precision = decimals(step)
        self.watch(name, slider)

    def add_choice(self, name: str, options: Sequence[str], start: str, label: str = "") -> None:
        """A list to choose one of."""
        choice = self._gui.add_dropdown(label or name, tuple(options), initial_value=start)
        self.watch(name, choice)

    def offer(self, name: str, option: str) -> None:
        """Choose an option of a list, which may be new to it."""
        choice = self._sliders[name]
        if option not in choice.options:
            choice.options = (*choice.options, option)
        choice.value = option

    def add_search(self, count: int) -> None:
        """A field that leaves the sliders whose names hold what is typed, before many sliders."""
        if count > SEARCHED_FROM:
            self._search = self._gui.add_text("Search", "")
            self._search.on_update(self._filter)
            self._search.on_update(self._changed)

    def wanted(self, name: str) -> bool:
        """Whether a name holds all the words that are searched for."""
        words = [] if self._search is None else str(self._search.value).lower().split()
        return all(word in name.lower() for word in words)

    def set_visible(self, name: str, visible: bool) -> None:
        """Show or hide a control."""
        renew(self._sliders[name], visible=visible)

    def watch(self, name: str, control: Any) -> None:
        """Take another control of viser into the panel, such as a checkbox."""
        control.on_update(self._changed)
        self._sliders[name], self._starts[name] = control, control.value

    def show(self, values: Mapping[str, float]) -> None:
        """Let sliders show numbers, within their ranges; one that is a step off at most stays."""
        for name, wanted in values.items():
            slider = self._sliders[name]
            value = float(min(max(wanted, slider.min), slider.max))
            if abs(slider.value - value) > slider.step:
                slider.value = value

    def move(self, name: str, value: float, low: float, high: float) -> None:
        """Put a slider to a value, with the range `low` to `high` where it is beyond its own."""
        slider = self._sliders[name]
        if not slider.min <= value <= slider.max:
            slider.min, slider.max, slider.step = low, high, even_step(high - low)
            slider.precision = decimals(slider.step)
        slider.value = value

    def reset(self) -> None:
        """Back to the start."""
        for name, start in self._starts.items():
            self._sliders[name].value = start

    def add_reset(self, label: str) -> None:
        """A button that brings all controls back to the start."""

        def back(event: Any) -> None:
            self.reset()
            self._changed(event)

        self._gui.add_button(label).on_click(back)

    def _filter(self, _event: object) -> None:
        for name in self._sliders:
            self.set_visible(name, self.wanted(name))


def even_step(reach: float) -> float:
    """A power of ten, twice or five times it, that makes about `SLIDER_STEPS` of a range.

    Examples
    --------
    >>> even_step(6.2832), even_step(0.46)
    (0.01, 0.0005)
    """
    if reach <= 0:
        return 1e-3
    raw = reach / SLIDER_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= raw * 0.999)


def decimals(step: float) -> int:
    """Digits after the point that distinguish steps, and one more for values set by hand.

    Examples
    --------
    >>> decimals(0.01)
    3
    """
    return max(0, 1 - math.floor(math.log10(step)))


LENGTHENED, TURNED = 0.5, 0.5
"""Half the range of a slider: of a length as a share of it, of an angle (rad)."""

LEAST_SHARE_OF_LONGEST = 0.1
"""Share of the robot's longest length that a shorter one counts as, for its range."""


class LengthSliders(SliderPanel):
    """One slider for each number of an origin that is variable.

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
