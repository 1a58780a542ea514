"""Robots with closed loops, drawn closed with every joint at zero: for benchmarks and tests.

`ROBOTS["stewart"]()` is the URDF+ text of one. The planar ones lie in the x-z plane, where a point
is a complex number x + i z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbdyn_ros.array import Array

ACROSS = (0.0, 1.0, 0.0)
"""The axis of hinges in the x-z plane."""

UP = (0.0, 0.0, 1.0)

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def point(z: complex) -> Array:
    """A point of the x-z plane."""
    return np.array([z.real, 0.0, z.imag])


@dataclass
class Drawing:
    """A robot under construction; at zero all frames have the axes of the world.

    places : where each link's frame is at zero.
    """

    name: str
    places: dict[str, Array] = field(default_factory=lambda: {"base": np.zeros(3)})
    parts: list[str] = field(default_factory=lambda: ['<link name="base"/>'])

    def link(
        self,
        name: str,
        parent: str,
        at: Array,
        axis: Sequence[float] | Array = ACROSS,
        *,
        kind: str = "continuous",
        driven: bool = False,
        mass: float = 1.0,
        end: Array | None = None,
    ) -> str:
        """A link on a joint `name`_joint at a point; it reaches to the point `end`."""
        way = np.full(3, 0.02) if end is None else np.asarray(end) - at
        middle, size = way / 2, float(way @ way)
        about = mass * (size * np.eye(3) - np.outer(way, way)) / 12 + 1e-3 * mass * np.eye(3)
        inertia = "".join(
            f' {entry}="{float(number)!r}"'
            for entry, number in zip(MOMENTS, about[np.triu_indices(3)], strict=True)
        )
        limit = '<limit lower="-5" upper="5" effort="1e5" velocity="10"/>'
        self.parts.append(
            f'<link name="{name}"><inertial><origin xyz="{_text(middle)}"/><mass value="{mass}"/>'
            f'<inertia{inertia}/></inertial></link><joint name="{name}_joint" type="{kind}" '
            f'independent="{str(driven).lower()}"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="{_text(at - self.places[parent])}"/><axis xyz="{_text(axis)}"/>'
            f"{limit if kind == 'prismatic' else ''}</joint>"
        )
        self.places[name] = np.asarray(at, dtype=float)
        return name

    def close(self, name: str, first: str, second: str, at: Array, kind: str = "revolute") -> None:
        """A closing joint at a point, across the x-z plane where it has an axis."""
        ends = "".join(
            f'<{end} link="{link}"><origin xyz="{_text(at - self.places[link])}"/></{end}>'
            for end, link in (("predecessor", first), ("successor", second))
        )
        axis = f'<axis xyz="{_text(ACROSS)}"/>'
        self.parts.append(f'<loop name="{name}" type="{kind}">{ends}{axis}</loop>')

    def text(self) -> str:
        """URDF+."""
        return "".join([f'<robot name="{self.name}">', *self.parts, "</robot>"])

    # -- groups of links ---------------------------------------------------------------------------

    def bar(
        self, name: str, parent: str, start: complex, end: complex, driven: bool = False
    ) -> str:
        """A bar on a hinge in the plane."""
        return self.link(name, parent, point(start), end=point(end), driven=driven)

    def slide(
        self, name: str, parent: str, at: Array, way: Sequence[float] | Array, **options: Any
    ) -> str:
        """A link on a driven slide."""
        return self.link(name, parent, at, way, kind="prismatic", driven=True, **options)

    def cylinder(self, name: str, ground: str, carried: str, start: complex, end: complex) -> None:
        """A driven cylinder from a point of one link to a point of another."""
        middle, way = point((start + end) / 2), point((end - start) / abs(end - start))
        barrel = self.link(f"{name}_barrel", ground, point(start), mass=20.0, end=middle)
        rod = self.slide(f"{name}_rod", barrel, middle, way, mass=10.0, end=point(end))
        self.close(f"{name}_eye", rod, carried, point(end))

    def ball(self, name: str, parent: str, at: Array, end: Array) -> str:
        """A link on three crossing hinges."""
        x = self.link(f"{name}_x", parent, at, (1, 0, 0), mass=0.05)
        y = self.link(f"{name}_y", x, at, (0, 1, 0), mass=0.05)
        return self.link(name, y, at, UP, mass=5.0, end=end)


def _text(vector: Sequence[float] | Array) -> str:
    return " ".join(repr(float(value)) for value in vector)


def five_bar() -> str:
    """Two motors move a point in the plane; a quill on it lifts and spins."""
    m, tip = Drawing("five_bar"), 0.28 + 0.55j
    m.bar("left", "base", 0j, -0.1 + 0.25j, driven=True)
    m.bar("left_rod", "left", -0.1 + 0.25j, tip)
    m.bar("right", "base", 0.4, 0.52 + 0.24j, driven=True)
    m.bar("right_rod", "right", 0.52 + 0.24j, tip)
    m.close("tip", "left_rod", "right_rod", point(tip))
    lift = m.slide("lift", "left_rod", point(tip), ACROSS)
    m.link("spin", lift, point(tip), ACROSS, driven=True)
    return m.text()


def palletiser() -> str:
    """Slew, an arm with a parallelogram drive, and two parallelograms that keep the hand level."""
    m = Drawing("palletiser")
    shoulder, elbow, wrist = 0.3 + 0.8j, 0.5 + 2.0j, 1.7 + 1.7j
    back, low, up = -0.35 + 0.1j, -0.3 - 0.1j, 0.1 + 0.3j  # arms of the drive and of the plate
    m.link("slew", "base", np.zeros(3), UP, driven=True, mass=100.0, end=point(shoulder))
    m.bar("arm", "slew", shoulder, elbow, driven=True)
    m.bar("drive", "slew", shoulder, shoulder + back, driven=True)
    m.bar("drive_rod", "drive", shoulder + back, elbow + back)
    m.bar("forearm", "arm", elbow, wrist)
    m.close("drive_pin", "drive_rod", "forearm", point(elbow + back))
    m.bar("level_rod", "slew", shoulder + low, elbow + low)
    m.bar("plate", "arm", elbow, elbow + up)
    m.close("plate_pin", "level_rod", "plate", point(elbow + low))
    m.bar("hand_rod", "plate", elbow + up, wrist + up)
    m.bar("hand", "forearm", wrist, wrist + 0.2)
    m.close("hand_pin", "hand_rod", "hand", point(wrist + up))
    m.link("tool", "hand", point(wrist + 0.2), UP, driven=True, end=point(wrist + 0.2 - 0.3j))
    return m.text()


def excavator() -> str:
    """Slew, boom, stick and bucket on cylinders; the bucket's drives a six-bar."""
    m = Drawing("excavator")
    m.link("slew", "base", np.zeros(3), UP, driven=True, mass=900.0, end=point(0.2 + 0.9j))
    m.bar("boom", "slew", 0.2 + 0.9j, 3.0 + 1.8j)
    m.cylinder("lift", "slew", "boom", 0.6 + 0.5j, 1.5 + 2.0j)
    m.bar("stick", "boom", 3.0 + 1.8j, 3.6 + 0.4j)
    m.cylinder("reach", "boom", "stick", 1.7 + 2.2j, 2.9 + 2.3j)
    m.bar("bucket", "stick", 3.6 + 0.4j, 3.2 - 0.3j)
    m.bar("rocker", "stick", 3.47 + 0.66j, 3.8 + 0.85j)
    m.bar("link", "rocker", 3.8 + 0.85j, 3.9 + 0.5j)
    m.close("link_pin", "link", "bucket", point(3.9 + 0.5j))
    m.cylinder("curl", "stick", "rocker", 3.2 + 1.9j, 3.8 + 0.85j)
    return m.text()


def three_rrr() -> str:
    """A platform in the plane on three legs of two bars, driven at the shoulders."""
    m = Drawing("three_rrr")
    for k, turn in enumerate(np.exp(2j * np.pi * np.arange(3) / 3)):
        shoulder, elbow, pin = turn * 0.5, turn * (0.45 + 0.3j), turn * (0.12 - 0.05j)
        m.bar(f"crank{k}", "base", shoulder, elbow, driven=True)
        leg = m.bar(f"rod{k}", f"crank{k}", elbow, pin)
        if k == 0:
            m.bar("platform", leg, pin, -pin)
        else:
            m.close(f"pin{k}", leg, "platform", point(pin))
    return m.text()


def delta() -> str:
    """Three arms, and two rods on universal joints from each to the platform."""
    m = Drawing("delta")
    for k, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        along = np.array([-out[1], out[0], 0.0])
        shoulder, elbow, pin = 0.2 * out, 0.4 * out - [0, 0, 0.1], 0.05 * out - [0, 0, 0.6]
        arm = m.link(f"arm{k}", "base", shoulder, along, driven=True, end=elbow)
        for side in (-1, 1):
            name, shift = f"rod{k}{'ab'[side > 0]}", 0.04 * side * along
            swing = m.link(f"{name}_swing", arm, elbow + shift, along, mass=0.05)
            across = np.cross(along, pin - elbow)
            across /= np.linalg.norm(across)
            rod = m.link(name, swing, elbow + shift, across, mass=0.2, end=pin + shift)
            if name == "rod0a":
                m.ball("platform", rod, pin + shift, np.array([0, 0, -0.6]))
            else:
                m.close(f"{name}_ball", rod, "platform", pin + shift, "spherical")
    return m.text()


def stewart() -> str:
    """A platform on six cylinders between universal joints and balls."""
    m, middle = Drawing("stewart"), np.array([0.0, 0.0, 1.0])
    for k in range(6):
        side = 1 - 2 * (k % 2)
        foot, head = (k // 2) * 2 * np.pi / 3 + side * np.array([0.25, 0.85])
        start = np.array([np.cos(foot), np.sin(foot), 0.0])
        end = middle + 0.6 * np.array([np.cos(head), np.sin(head), 0.0])
        way = (end - start) / np.linalg.norm(end - start)
        swing = m.link(f"swing{k}", "base", start, (1, 0, 0), mass=0.1)
        half = (start + end) / 2
        barrel = m.link(f"barrel{k}", swing, start, mass=5.0, end=half)
        rod = m.slide(f"rod{k}", barrel, half, way, mass=2.0, end=end)
        if k == 0:
            m.ball("platform", rod, end, middle)
        else:
            m.close(f"ball{k}", rod, "platform", end, "spherical")
    return m.text()


def scissor(stages: int = 20) -> str:
    """A lift of crossing bars on a driven slide: as many loops as stages, in one cluster."""
    m, wide, high = Drawing("scissor"), 0.8, 0.8
    m.slide("slide", "base", point(wide), (1, 0, 0))
    left, right = "base", "slide"
    for k in range(stages):
        low, middle = k * high * 1j, wide / 2 + (k + 0.5) * high * 1j
        one = m.bar(f"rising{k}", left, low, low + wide + high * 1j)
        two = m.bar(f"falling{k}", one, middle, low + wide)
        m.close(f"pin{k}", right, two, point(low + wide))
        left, right = two, one
    return m.text()


ROBOTS: dict[str, Callable[[], str]] = {
    "five_bar": five_bar,
    "palletiser": palletiser,
    "excavator": excavator,
    "three_rrr": three_rrr,
    "delta": delta,
    "stewart": stewart,
    "scissor": scissor,
}
"""Every robot, by name."""
