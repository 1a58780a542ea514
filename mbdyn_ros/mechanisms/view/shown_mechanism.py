"""A planar mechanism in a scene: upright, seen from the front, its parts in layers.

Bars, plates and blocks are flat solids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...model.model import Array
from ...model.model import Pose as Place
from ...model.pose import rotation_onto
from ...model.shapes import Box, Cylinder, Sphere
from ...view.figure import color_of, rgb
from ...view.scene.scene import Item, Label, Lines, Scene, Skin
from .. import Block, Mechanism
from ..layout import GROUND, MechanismLayout, Part, wheel_radii
from ..link import Bar, Points, Wheel
from ..pose import RIM, MechanismPose

UPRIGHT = Place(rotation_onto(np.array([0.0, -1.0, 0.0])))
"""Puts the plane's y axis on the world's z axis."""

BAR_SHARE = 0.028
"""Half the width of a bar, of the mechanism's size."""

MISFIT = 1.4
"""Ratio by which bars may be too wide or narrow for a mechanism that has grown or shrunk: were they
to follow it, every length would change every pin."""

DARK, RAIL, GREY, RED = (
    (*rgb(one), 1.0) for one in ("#2b2f36", "#969ca4", "#787e86", "#c41e3a")
)  # fmt: skip
NAMES = "names"
"""The group of the names of links and joints."""

JOINT_NAME = 0.75
"""Size of joints' names, of links'."""

AROUND = "bottom-left", "top-right", "bottom-right", "top-left"
"""How the names of joints at one place stand around it."""

SWEPT = 24
"""Points of an outline that are followed, about."""

FADED = 0.25
"""Opacity of a design that is no longer what the sliders show."""


class ShownMechanism:
    """The bodies and items of one mechanism; designs of its kind are shown one after the other."""

    def __init__(self, scene: Scene, mechanism: Mechanism, pose: MechanismPose) -> None:
        self._scene, self._wide = scene, 0.0
        scene.hang(GROUND, pose=UPRIGHT)
        for part in mechanism.layout().parts:
            scene.hang(part.name, GROUND)
        self.shape(mechanism, pose)

    def shape(self, mechanism: Mechanism, pose: MechanismPose, opacity: float = 1.0) -> None:
        """Show another design; `pose` is its whole motion."""
        self._pose, wide = pose, BAR_SHARE * extent(pose)
        if not wide / MISFIT < self._wide < wide * MISFIT:
            self._wide = wide
        self._scene.draw(_items(mechanism, pose, self._wide, opacity))

    def move(self, k: int) -> None:
        """Show instant `k` of the motion."""
        for part in self._pose.layout.parts:
            place = self._pose.origins[part.name][k]
            half = np.angle(self._pose.directions[part.name][k]) / 2
            turn = np.array([math.cos(half), 0.0, 0.0, math.sin(half)])
            self._scene.move(part.name, np.array([place.real, place.imag, 0.0]), turn)


def extent(pose: MechanismPose) -> float:
    """The size of a mechanism over its motion, m."""
    low, high = bounds(pose)
    return float(np.linalg.norm(high - low))


def bounds(pose: MechanismPose) -> tuple[Array, Array]:
    """Corners (3,) of what all its pins sweep, in the world, m; of a rim some points are enough."""
    outlines = [pose.outline(part.name) for part in pose.layout.parts]
    swept = [pin for one in outlines for pin in one[:: 1 + len(one) // SWEPT]]
    points = np.concatenate([*swept, *_rings(pose), np.zeros(1)])
    places = np.stack([points.real, np.zeros(len(points)), points.imag])
    return places.min(axis=1), places.max(axis=1)


def _items(
    mechanism: Mechanism, pose: MechanismPose, wide: float, opacity: float
) -> Iterator[Item]:
    """`wide` is half the width of a bar, m."""
    layout = mechanism.layout()
    deep, top, radii = 0.8 * wide, len(layout.parts), wheel_radii(layout)
    above = (top + 1) * deep
    for k, part in enumerate(layout.parts):
        outline = _outline(layout, part, wide, radii.get(part.name, wide))
        body = Skin(solid(outline, k * deep, (k + 0.9) * deep), FACES)
        yield Item("body", part.name, body, (*rgb(color_of(k)), opacity))
        x, y = np.mean(part.piece.pins[:2], axis=0).tolist()
        middle = _at(x, y, above)
        yield Item("name", part.name, Label(part.name, "top-center"), DARK, middle, group=NAMES)
        mass, (along, across) = float(part.piece.mass), part.piece.middle
        ball = Sphere(wide * min(max(0.7 * mass ** (1 / 3), 0.25), 1.6))
        yield Item("mass", part.name, ball, RED, _at(along, across, (k + 0.9) * deep))
        if part.slides:
            yield _rail(part, pose, wide, deep)
        elif part.parent == GROUND:
            x, y = part.at
            foot = [(x, y), (x - 1.6 * wide, y - 2.4 * wide), (x + 1.6 * wide, y - 2.4 * wide)]
            stand = Skin(solid(rounded_outline(foot, 0.5 * wide), -0.9 * deep, -0.1 * deep), FACES)
            yield Item(f"stand_of_{part.name}", GROUND, stand, GREY)
    named = list[complex]()
    for joint in layout.connections:
        owner, at = joint.second, joint.at_second
        if not joint.slides:
            pin = Cylinder(0.4 * wide, (top + 0.6) * deep)
            yield Item(f"pin_{joint.name}", owner, pin, DARK, _at(*at, top / 2 * deep))
        place = complex(pose.point(owner, at)[0])
        before = sum(abs(one - place) < wide for one in named)
        named.append(place)
        label = Label(joint.name, AROUND[before % len(AROUND)], JOINT_NAME)
        yield Item(f"name_of_{joint.name}", owner, label, DARK, _at(*at, above), group=NAMES)
    for cam in layout.cams:
        if not cam.flat and cam.roller_radius:
            deepest = layout.order[cam.follower] + 0.5
            centre = _at(0.0 if cam.arm is None else cam.arm, 0.0, deepest * deep)
            roller = Cylinder(cam.roller_radius, 1.1 * deep)
            yield Item(f"roller_of_{cam.follower}", cam.follower, roller, RAIL, centre)
    path = _polyline(_traced(mechanism, pose), -0.2 * deep)
    yield Item("path", GROUND, Lines(path, 2.0, in_pixels=True), RED)
    for ring in _rings(pose):
        yield Item("ring", GROUND, Lines(_polyline(ring, top * deep), 5.0, in_pixels=True), GREY)


def _at(x: float, y: float, z: float) -> Place:
    return Place(translation=np.array([x, y, z], dtype=float))


def _rail(part: Part, pose: MechanismPose, wide: float, deep: float) -> Item:
    """A rail as long as the part slides; a lever is a rail of its own."""
    slides = pose.slides[part.name]
    low, high = float(slides.min()) - 2 * wide, float(slides.max()) + 2 * wide
    along, thin, middle = high - low, 0.5 * wide, (low + high) / 2
    size = (thin, along, 0.4 * deep) if part.across else (along, thin, 0.4 * deep)
    x, y = (0.0, middle) if part.across else (middle, 0.0)
    at = _at(part.at[0] + x, part.at[1] + y, -0.4 * deep)
    return Item(f"rail_of_{part.name}", part.parent, Box(size), RAIL, at)


def _outline(layout: MechanismLayout, part: Part, wide: float, radius: float) -> Array:
    piece = part.piece
    for cam in layout.cams:
        if part.name == cam.cam:
            edge = cam.profile(np.linspace(0.0, -2 * np.pi, CORNERS, endpoint=False))
            return np.stack([edge.real, edge.imag], axis=1)
        if part.name == cam.follower and cam.arm is None:
            if cam.flat:
                _, _, *ends, _ = cam.outline(part.name, RIM)
                return rounded_outline([(cam.side * wide, y) for _, y in ends], wide)
            return rounded_outline([(cam.side * wide / 2, 0.0), cam.outline(part.name, RIM)[0]],
                                   wide / 2)  # fmt: skip
    if isinstance(piece, Wheel):
        return toothed_outline(radius, 0.5 * min(wide, radius / 3))
    if isinstance(piece, Block):
        return block_outline(4 * wide, 2.6 * wide)
    return rounded_outline(piece.pins, wide)


def _rings(pose: MechanismPose) -> list[Points]:
    """Pitch circles of the wheel that stands still, where there is one, as points of the plane."""
    radius = wheel_radii(pose.layout).get(GROUND)
    carriers = [one.carrier for one in pose.layout.meshes if GROUND in (one.driver, one.driven)]
    if radius is None or not carriers:
        return []
    return [pose.origins[carriers[0]][0] + radius * np.exp(1j * RIM)]


def _polyline(points: Points, height: float) -> Array:
    """A line through points of the plane, complex, as its segments (n, 2, 3)."""
    line = np.column_stack([points.real, points.imag, np.full(len(points), height)])
    return np.stack([line[:-1], line[1:]], axis=1)


def _traced(mechanism: Mechanism, pose: MechanismPose) -> Points:
    """The path that is drawn: of the end of an output that floats, as a leg's foot; else of the
    coupler's third pin or middle, else of the last bar's end."""
    bars = [part for part in mechanism.layout().parts if isinstance(part.piece, Bar)]
    if not bars:
        return pose.origins[mechanism.output]
    floating = [part for part in bars if part.parent != GROUND]
    if any(part.name == mechanism.output for part in floating):
        return pose.outline(mechanism.output)[-1]
    pins = pose.outline((floating or bars[-1:])[0].name)
    if len(pins) > 2:
        return pins[2]
    return (pins[0] + pins[1]) / 2 if floating else pins[1]


CORNERS = 48
"""Corners of an outline; always as many, so that a length changes points alone."""

Faces = NDArray[np.int64]


def rounded_outline(pins: Sequence[tuple[float, float]], radius: float) -> Array:
    """The outline (CORNERS, 2) of all that is within `radius` of the hull of some points, m.

    Examples
    --------
    >>> rounded_outline([(0, 0), (0.3, 0)], 0.02).max(axis=0).round(6)
    array([0.32, 0.02])
    """
    angle = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.array(pins, dtype=np.float64)
    farthest = np.argmax(directions @ points.T, axis=1)
    return points[farthest] + radius * directions


def block_outline(length: float, width: float) -> Array:
    """A rectangle (CORNERS, 2) about the origin, its corners cut a little, m."""
    x, y = length / 2, width / 2
    cut = 0.15 * min(length, width)
    pins = [(sx * (x - cut), sy * (y - cut)) for sx in (-1, 1) for sy in (-1, 1)]
    return rounded_outline(pins, cut)


def toothed_outline(radius: float, tooth: float) -> Array:
    """A wheel (CORNERS, 2) about the origin: corners by turns inside and outside of `radius`, m."""
    angle = np.arange(CORNERS) * (2 * np.pi / CORNERS)
    far = radius + 0.5 * tooth * np.where(np.arange(CORNERS) % 4 < 2, 1.0, -1.0)
    return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)


def solid(outline: Array, low: float, high: float) -> Array:
    """Corners (2 n + 2, 3) of an outline (n, 2) as a solid from z = low to high; see `FACES`."""
    middle = outline.mean(axis=0)
    rings = [np.column_stack([outline, np.full(len(outline), z)]) for z in (low, high)]
    return np.concatenate([*rings, [[*middle, low], [*middle, high]]])


def _faces() -> Faces:
    here = np.arange(CORNERS)
    after, bottom, top = np.roll(here, -1), 2 * CORNERS, 2 * CORNERS + 1
    corners = (
        (here, after, after + CORNERS), (here, after + CORNERS, here + CORNERS),
        (after, here, bottom), (here + CORNERS, after + CORNERS, top),
    )  # fmt: skip
    return np.concatenate([np.column_stack(np.broadcast_arrays(*one)) for one in corners])


FACES = _faces()
"""Triangles (m, 3) of every `solid`, seen counter-clockwise from outside."""
