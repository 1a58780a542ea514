"""The controls of a page that say how the cranks of a mechanism are driven."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...view.page.slider_panel import SliderPanel
from .. import CrankMotion, Mechanism
from ..settings import length_names
from .drive import CONSTANT, CYCLOID, FREE, GIVEN, LAWS, TRAPEZOID, CrankDrive

SLOWEST, FASTEST = 0.5, 100.0
"""Speeds of a crank, rad/s."""

QUICKEST = 5000.0
"""Acceleration of a trapezoid at most, rad/s^2."""

LONGEST_PLAYED = 10.0
"""Duration at most of a cycloid and of a free motion, s."""

STRONGEST = 1.0
"""Torques at most, in weights of all parts at arms of the largest length."""


class DriveSliders:
    """A choice of the law of motion, and the sliders that belong to it; others are hidden.

    Parameters
    ----------
    panel : takes the sliders, in the folder that is open.
    speed : of the cranks at the start, rad/s.
    motion : the law that is shown first, one of `LAWS`, or a motion from a file.
    """

    def __init__(
        self, panel: SliderPanel, mechanism: Mechanism, speed: float, motion: str | CrankMotion
    ) -> None:
        if not SLOWEST <= speed <= FASTEST:
            raise mechanism.refusal(
                f"speed is {speed:g} rad/s; a page starts at {SLOWEST:g} to {FASTEST:g} rad/s"
            )
        self._panel, inputs = panel, mechanism.inputs
        self._given = None if isinstance(motion, str) else motion
        laws = LAWS if self._given is None else (*LAWS, GIVEN)
        panel.add_choice("motion", laws, motion if isinstance(motion, str) else GIVEN)
        self._speeds = _named(inputs, "speed")
        self._starts = _named(inputs, "start")
        self._first_speeds = _named(inputs, "initial speed")
        self._torques = _named(inputs, "torque")
        for name in self._speeds:
            low = SLOWEST if name == self._speeds[0] else -FASTEST
            panel.add(name, low, FASTEST, speed, unit="rad/s")
        for name in self._first_speeds:
            panel.add(name, -FASTEST, FASTEST, 0.0, unit="rad/s")
        home = [math.degrees(one) for one in mechanism.home]
        for k, name in enumerate(self._starts):
            start = home[k] if k == 0 else 0.0
            panel.add(name, -180.0, 180.0, start, unit="°")
        most = _strongest(mechanism)
        for name in self._torques:
            panel.add(name, -most, most, 0.0, unit="N m")
        panel.add("acceleration", 1.0, QUICKEST, 100.0, unit="rad/s²")
        panel.add("duration", 0.1, LONGEST_PLAYED, 2.0, unit="s")
        self._shown: Mapping[str, tuple[str, ...]] = {
            CONSTANT: (*self._speeds, *self._starts[1:]),
            TRAPEZOID: (*self._speeds, *self._starts[1:], "acceleration"),
            CYCLOID: (*self._speeds[1:], *self._starts[1:], "duration"),
            FREE: (*self._first_speeds, *self._starts, *self._torques, "duration"),
            GIVEN: (),
        }
        self._show()

    def _show(self, _: Any = None) -> None:
        """Let the sliders of the law be seen, and no others."""
        shown = self._shown[str(self._panel["motion"])]
        for names in self._shown.values():
            for name in names:
                self._panel.set_visible(name, name in shown)

    @property
    def drive(self) -> CrankDrive:
        """The motion of the cranks."""
        self._show()
        law = str(self._panel["motion"])
        speeds = self._first_speeds if law == FREE else self._speeds
        starts = [math.radians(self._panel[name]) for name in self._starts]
        if law != FREE:
            starts[0] = 0.0
        return CrankDrive(
            tuple(float(self._panel[name]) for name in speeds),
            tuple(starts),
            law,
            float(self._panel["acceleration"]),
            float(self._panel["duration"]),
            tuple(float(self._panel[name]) for name in self._torques),
            self._given,
        )


def _named(inputs: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Names of a slider of each input, the first without the name of its crank."""
    return what, *(f"{name} {what}" for name in inputs[1:])


def _strongest(mechanism: Mechanism) -> float:
    """The end of the sliders of torques, N m: a round number."""
    settings = mechanism.settings
    mass = sum(float(one) for name, one in settings.items() if name.endswith("mass"))
    longest = max((abs(float(settings[name])) for name in length_names(settings)), default=1.0)
    raw = STRONGEST * mass * 9.81 * longest
    power = 10.0 ** math.floor(math.log10(raw))
    return float(math.ceil(raw / power) * power)
