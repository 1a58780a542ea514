"""A panel of sliders: numbers by name, each with a range and a start."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

SLIDER_STEPS = 1000
"""Steps of a slider over its range, about."""

SEARCHED_FROM = 5
"""Sliders up to which nobody needs to search."""


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
        control = self._sliders[name]
        if control.visible != visible:
            control.visible = visible

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
