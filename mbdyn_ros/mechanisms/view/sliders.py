"""Sliders for the numbers of a mechanism and the speed of its cranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import Mechanism
from .run import Drive

if TYPE_CHECKING:
    import viser

SLOWEST, FASTEST = 0.5, 100.0
"""Speeds of a crank, rad/s."""

DERIVED = ("width", "center_along", "center_across", "inertia")
"""Ends of settings without a slider: as the design has them, or by the shape of the link."""

STEPS = 400
"""Of a slider over its range."""


class MechanismSliders:
    """What can be set of a design, from where it starts."""

    def __init__(
        self, gui: viser.GuiApi, mechanism: Mechanism, changed: Callable[[Any], None], speed: float
    ) -> None:
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
        self._sliders: dict[str, Any] = {}
        self._choices: dict[str, Any] = {}
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
                self._add(gui, name.removesuffix("_length"), name, low, high, value)
        with gui.add_folder("Masses, kg"):
            for name in masses:
                value = self._given[name]
                self._add(gui, name.replace("_mass", " mass"), name, 0.1 * value, 5 * value, value)
        slowest = {"speed": SLOWEST} | {f"{one} speed": -FASTEST for one in mechanism.inputs[1:]}
        with gui.add_folder("Drive"):
            self._speeds = [
                gui.add_slider(
                    label, low, FASTEST, 0.1, speed, marks=_ends(low, FASTEST), hint="rad/s"
                )
                for label, low in slowest.items()
            ]  # fmt: skip
            self._starts = [
                gui.add_slider(f"{name} lead", -180.0, 180.0, 1.0, 0.0, marks=_ends(-180, 180),
                               hint=f"deg ahead of {mechanism.inputs[0]} at the start")
                for name in mechanism.inputs[1:]
            ]  # fmt: skip
            self._gravity = gui.add_checkbox("gravity", self._given.get("gravity", 0.0) != 0)
            for name in self._given:
                if name.endswith("branch"):
                    self._choices[name] = gui.add_dropdown(
                        name, ("1", "-1"), initial_value=f"{self._given[name]:g}"
                    )
            gui.add_button("Reset").on_click(lambda event: self._reset(event, changed))
        every = [*self._sliders.values(), *self._speeds, *self._starts, *self._choices.values()]
        for handle in (*every, self._gravity):
            handle.on_update(changed)
        self._first = {id(handle): handle.value for handle in (*every, self._gravity)}
        self._all = (*every, self._gravity)

    @property
    def settings(self) -> dict[str, float]:
        """What the sliders say, where it is not as at the start."""
        values = {name: float(slider.value) for name, slider in self._sliders.items()}
        values |= {name: float(choice.value) for name, choice in self._choices.items()}
        changed = {name: value for name, value in values.items() if not self._same(name, value)}
        if bool(self._gravity.value) != (self._given["gravity"] != 0):
            changed["gravity"] = 9.81 if self._gravity.value else 0.0
        return changed

    @property
    def drive(self) -> Drive:
        """How the cranks turn."""
        starts = (0.0, *(math.radians(one.value) for one in self._starts))
        return Drive(tuple(float(one.value) for one in self._speeds), starts)

    def _same(self, name: str, value: float) -> bool:
        return abs(value - self._given[name]) <= 1e-9 * max(1.0, abs(value))

    def _add(
        self, gui: viser.GuiApi, label: str, name: str, low: float, high: float, value: float
    ) -> None:
        self._sliders[name] = gui.add_slider(
            label, low, high, _step(high - low), value, marks=_ends(low, high), hint=name
        )

    def _reset(self, event: Any, changed: Callable[[Any], None]) -> None:
        for handle in self._all:
            handle.value = self._first[id(handle)]
        changed(event)


def _ends(low: float, high: float) -> tuple[tuple[float, str], ...]:
    return (low, f"{low:.3g}"), (high, f"{high:.3g}")


def _step(reach: float) -> float:
    """A power of ten, twice or five times it, that makes about `STEPS` of a range."""
    raw = reach / STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= raw * 0.999)
