"""Sliders for the numbers of a mechanism, and controls for how its cranks are driven."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...array import Array
from ...view.page.slider_panel import SliderPanel
from .. import CrankMotion, Mechanism
from ..design import ABOVE_ZERO, NOT_NEGATIVE, length_names, unit_of
from ..forward import TorqueLaw
from .run import (
    CONSTANT,
    CONSTANT_TORQUE,
    CYCLOID,
    FASTEST,
    FREE,
    GIVEN,
    LAWS,
    MOTOR,
    SLOWEST,
    TORQUE_LAWS,
    TRAPEZOID,
    CrankDrive,
)

if TYPE_CHECKING:
    import viser


DERIVED = ("width", "limit")
"""Ends of settings without a slider."""

SHAPED = ("center_along", "center_across", "inertia")
"""Ends of settings that follow the shape of a link until their slider is moved."""


class DesignSliders(SliderPanel):
    """The sliders of a design, which start at its numbers.

    Attributes
    ----------
    start : the design at the start. lengths, gears : the settings that are lengths; ratios and
        angles.
    """

    def __init__(
        self, gui: viser.GuiApi, mechanism: Mechanism, changed: Callable[[Any], None], speed: float,
        motion: str | CrankMotion = CONSTANT,
    ) -> None:  # fmt: skip
        super().__init__(gui, changed)
        self.start = mechanism
        self._following: dict[str, float] = {}
        self._together = threading.RLock()  # a reset comes in a thread of its own
        self._given = {
            name: float(value)
            for name, value in mechanism.settings.items()
            if not name.endswith(DERIVED)
        }
        self.lengths = lengths = [
            name for name in self._given if unit_of(name) == "m" and not name.endswith(SHAPED)
        ]
        self.gears = gears = [name for name in self._given if unit_of(name) in ("1", "rad")]
        masses = [name for name in self._given if name.endswith("mass")]
        springs = [name for name in self._given if unit_of(name).startswith("N")]
        self._largest = max((abs(self._given[name]) for name in lengths), default=1.0)
        for title, names, old, new in (
            ("Lengths, m", lengths, "_length", ""), ("Gears, angles", gears, "_", " "),
            ("Springs", springs, "_", " "), ("Masses, kg", masses, "_mass", " mass"),
        ):  # fmt: skip
            if names:
                with gui.add_folder(title):
                    for name in names:
                        value, label = self._given[name], name.replace(old, new)
                        self.add(name, *self._span(name, value), value, label=label)
        with gui.add_folder("Centres of mass, m; inertias, kg m²", expand_by_default=False):
            gui.add_markdown("They follow the shape of a link until they are moved.")
            for name in self._given:
                if name.endswith(SHAPED):
                    value, label = self._given[name], name.replace("_center", "").replace("_", " ")
                    self.add(name, *self._span(name, value), value, label=label, moving=True)
            self._follow_shapes()
        with gui.add_folder("Drive"):
            self.driving = DriveSliders(self, mechanism, speed, motion)
            weighs = self._given.get("gravity", 0.0) != 0
            self.watch("gravity", gui.add_checkbox("gravity", weighs))
            for name in self._given:
                if name.endswith("branch"):
                    which = name.removesuffix("branch").replace("_", " ").strip()
                    label = f"branch of the {which}" if which else "assembly branch"
                    self.add_choice(name, ("1", "-1"), f"{self._given[name]:g}", label)
            self.add_reset("Reset")

    @property
    def settings(self) -> dict[str, float]:
        """The settings that are not as at the start, and those moved that followed a shape."""
        with self._together:
            values = {name: float(self[name]) for name in self._given if name != "gravity"}
            self._following = {
                name: followed
                for name, followed in self._following.items()
                if math.isclose(values[name], followed)  # else moved by hand: it stays there
            }
            changed = {
                name: value
                for name, value in values.items()
                if name not in self._following
                and (name.endswith(SHAPED) or not math.isclose(value, self._given[name]))
            }
        if bool(self["gravity"]) != (self._given["gravity"] != 0):
            changed["gravity"] = 9.81 if self["gravity"] else 0.0
        return changed

    def follow(self, mechanism: Mechanism) -> None:
        """Let the sliders that follow the shapes of links show what a design has of them."""
        settings = mechanism.settings
        with self._together:
            for name, followed in self._following.items():
                value = float(settings[name])
                if math.isclose(self[name], followed) and not math.isclose(value, followed):
                    self._following[name] = value
                    self.move(name, value, *self._span(name, value))

    def take_lengths(self, lengths: Mapping[str, float]) -> None:
        """Put the sliders of lengths to numbers, m, within their ranges."""
        with self._together:
            for name, value in lengths.items():
                slider = self.control(name)
                slider.value = min(max(value, slider.min), slider.max)

    def reset(self) -> None:
        """Back to the start, where centres of mass and inertias follow the shape again."""
        with self._together:
            super().reset()
            self._follow_shapes()

    @property
    def drive(self) -> CrankDrive:
        """The motion of the cranks."""
        return self.driving.drive

    def _follow_shapes(self) -> None:
        self._following = {name: one for name, one in self._given.items() if name.endswith(SHAPED)}

    def _span(self, name: str, value: float) -> tuple[float, float]:
        """The range of a slider about a value."""
        unit, largest = unit_of(name), self._largest
        if name.endswith("inertia"):
            return 0.0, 5 * value or 0.01 * self._given[f"{name.removesuffix('inertia')}mass"]
        if name.endswith(SHAPED):
            return value - largest, value + largest
        if unit == "kg":
            return 0.1 * value, 5 * value
        if unit in ("1", "rad"):
            low, high = sorted((0.4 * value, 2.5 * value)) if value else (-math.pi, math.pi)
            return low, high
        if name.endswith(NOT_NEGATIVE):
            return 0.0, 4 * value or (0.5 * largest if unit == "m" else 100.0)
        if name == "ground" or name.endswith(ABOVE_ZERO):
            return 0.2 * value, 2.5 * value
        return min(-largest, value), max(largest, value)  # on either side


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
        self._given_torque: tuple[TorqueLaw, float] | None = None
        panel.add_choice("torque law", TORQUE_LAWS, TORQUE_LAWS[0])
        panel.add("no-load speed", 1.0, FASTEST, CrankDrive.no_load_speed, unit="rad/s")
        panel.add("acceleration", 1.0, QUICKEST, 100.0, unit="rad/s²")
        panel.add("duration", 0.1, LONGEST_PLAYED, 2.0, unit="s")
        self._shown: Mapping[str, tuple[str, ...]] = {
            CONSTANT: (*self._speeds, *self._starts[1:]),
            TRAPEZOID: (*self._speeds, *self._starts[1:], "acceleration"),
            CYCLOID: (*self._speeds[1:], *self._starts[1:], "duration"),
            FREE: (*self._first_speeds, *self._starts, "torque law", *self._torques,
                   "no-load speed", "duration"),
            GIVEN: (),
        }  # fmt: skip
        self._show()

    def take_motion(self, motion: CrankMotion) -> None:
        """Show a motion from a file."""
        self._given = motion
        self._panel.offer("motion", GIVEN)

    def take_torque(self, torque: TorqueLaw | Array, longest_step: float) -> None:
        """Let a torque drive a free motion: a law from a file, or constants, N m."""
        if callable(torque):
            self._given_torque = torque, longest_step
            self._panel.offer("torque law", GIVEN)
        else:
            for name, one in zip(self._torques, torque.tolist(), strict=True):
                self._panel.move(name, one, -2 * abs(one), 2 * abs(one))
        self._panel.offer("motion", FREE)

    def _show(self, _: Any = None) -> None:
        """Let the sliders of the law be seen, and no others."""
        law = str(self._panel["torque law"])
        unused = {
            CONSTANT_TORQUE: ("no-load speed",), MOTOR: (),
            GIVEN: (*self._torques, "no-load speed"),
        }[law]  # fmt: skip
        shown = self._shown[str(self._panel["motion"])]
        for names in self._shown.values():
            for name in names:
                self._panel.set_visible(name, name in shown and name not in unused)

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
            str(self._panel["torque law"]),
            float(self._panel["no-load speed"]),
            self._given_torque,
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
