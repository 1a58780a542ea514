"""Sliders for the numbers of a mechanism and the speed of its cranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...view.page.slider_panel import SliderPanel
from .. import Mechanism
from .run import Drive

if TYPE_CHECKING:
    import viser

SLOWEST, FASTEST = 0.5, 100.0
"""Speeds of a crank, rad/s."""

DERIVED = ("width", "center_along", "center_across", "inertia")
"""Ends of settings without a slider: as the design has them, or by the shape of the link."""

DESIGN_STEPS = 400
"""Steps of a slider over its range."""


class DesignSliders(SliderPanel):
    """The sliders of a design, which start at its numbers."""

    def __init__(
        self, gui: viser.GuiApi, mechanism: Mechanism, changed: Callable[[Any], None], speed: float
    ) -> None:
        super().__init__(gui, changed)
        if not SLOWEST <= speed <= FASTEST:
            raise mechanism.refusal(
                f"speed is {speed:g} rad/s; a page starts at {SLOWEST:g} to {FASTEST:g} rad/s"
            )
        self.start = mechanism
        self._given = {
            name: float(value)
            for name, value in mechanism.settings.items()
            if not name.endswith(DERIVED)
        }
        lengths = [
            name
            for name in self._given
            if not name.endswith(("mass", "branch")) and name != "gravity"
        ]
        masses = [name for name in self._given if name.endswith("mass")]
        largest = max(abs(self._given[name]) for name in lengths)
        with gui.add_folder("Lengths, m"):
            for name in lengths:
                value = self._given[name]
                low, high = 0.2 * value, 2.5 * value
                if not name.endswith("length") and name != "ground":  # may be on either side
                    low, high = min(-largest, value), max(largest, value)
                self._add_number(name, name.removesuffix("_length"), low, high)
        with gui.add_folder("Masses, kg"):
            for name in masses:
                value = self._given[name]
                self._add_number(name, name.replace("_mass", " mass"), 0.1 * value, 5 * value)
        first, *others = mechanism.inputs
        with gui.add_folder("Drive"):
            self._speeds = ["speed", *(f"{name} speed" for name in others)]
            for name in self._speeds:
                low = SLOWEST if name == "speed" else -FASTEST
                self.add(name, low, FASTEST, speed, "rad/s", step=0.1)
            self._leads = [f"{name} lead" for name in others]
            for name in self._leads:
                hint = f"deg ahead of {first} at the start"
                self.add(name, -180.0, 180.0, 0.0, hint, step=1.0)
            weighs = self._given.get("gravity", 0.0) != 0
            self.watch("gravity", gui.add_checkbox("gravity", weighs))
            for name in self._given:
                if name.endswith("branch"):
                    start = f"{self._given[name]:g}"
                    choice = gui.add_dropdown(name, ("1", "-1"), initial_value=start)
                    self.watch(name, choice)
            self.add_reset("Reset")

    @property
    def settings(self) -> dict[str, float]:
        """The settings that are not as at the start."""
        values = {name: float(self[name]) for name in self._given if name != "gravity"}
        changed = {name: value for name, value in values.items() if not self._same(name, value)}
        if bool(self["gravity"]) != (self._given["gravity"] != 0):
            changed["gravity"] = 9.81 if self["gravity"] else 0.0
        return changed

    @property
    def drive(self) -> Drive:
        """The motion of the cranks."""
        starts = (0.0, *(math.radians(self[name]) for name in self._leads))
        return Drive(tuple(float(self[name]) for name in self._speeds), starts)

    def _same(self, name: str, value: float) -> bool:
        return abs(value - self._given[name]) <= 1e-9 * max(1.0, abs(value))

    def _add_number(self, name: str, label: str, low: float, high: float) -> None:
        step = _step(high - low)
        self.add(name, low, high, self._given[name], name, label=label, step=step)


def _step(reach: float) -> float:
    """A power of ten, twice or five times it, that makes about `DESIGN_STEPS` of a range."""
    raw = reach / DESIGN_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= raw * 0.999)
