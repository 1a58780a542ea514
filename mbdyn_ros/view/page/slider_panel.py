"""A panel of sliders: numbers by name, each with a range and a start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

SLIDER_STEPS = 1000
"""Steps of a slider over its range, unless its step is given."""


class SliderPanel:
    """The controls of a page, and the way back to their start.

    Parameters
    ----------
    changed : called with viser's event when any of it changes.
    """

    def __init__(self, gui: viser.GuiApi, changed: Callable[[Any], None]) -> None:
        self._gui, self._changed = gui, changed
        self._sliders: dict[str, Any] = {}
        self._starts: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The value of a control: of a slider a number."""
        return self._sliders[name].value

    def add(
        self,
        name: str,
        low: float,
        high: float,
        start: float,
        hint: str,
        *,
        label: str = "",
        step: float | None = None,
    ) -> None:
        """A slider from `low` to `high`; its ends are written at it."""
        self.watch(name, self._gui.add_slider(
            label or name, low, high, step or (high - low) / SLIDER_STEPS or 1e-3, start,
            marks=((low, f"{low:.3g}"), (high, f"{high:.3g}")), hint=hint,
        ))  # fmt: skip

    def add_choice(self, name: str, options: Sequence[str], start: str) -> None:
        """A list to choose one of."""
        self.watch(name, self._gui.add_dropdown(name, tuple(options), initial_value=start))

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
