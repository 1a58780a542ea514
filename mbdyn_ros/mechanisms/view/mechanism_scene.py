"""A planar mechanism in a 3-D scene: upright, seen from the front, its parts in layers.

What a length changes is the shapes' corners and the pins' places; what time changes is where the
parts are. Nothing is ever taken out of the scene and put back.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...view.colors import color_of, rgb
from ...view.scene.part_mesh import FACES, block_outline, rounded_outline, solid, toothed_outline
from .. import Block, Mechanism
from ..layout import GROUND, Part, wheel_radii
from ..link import Bar, Wheel
from ..pose import RIM, Pose

if TYPE_CHECKING:
    import viser

ROOT = "/mechanism"
PLANE_UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
"""Puts the plane's y axis on the world's z axis."""

BAR_SHARE = 0.028
"""Half the width of a bar, of the mechanism's size."""

DARK, RAIL, GREY, MASS, PATH = (43, 47, 54), (150, 156, 164), (120, 126, 134), (196, 30, 58), (
    196, 30, 58)  # fmt: skip
LEFT_OUT, SHRUNK = 0.12, 0.5
"""How far a design may leave the picture, and how small it may be in it, of what was in it."""

FADED = 0.25
"""Opacity of a design that is no longer what the sliders show."""


class MechanismScene:
    """The nodes of one mechanism; designs of the same kind are shown one after the other."""

    def __init__(self, server: viser.ViserServer, mechanism: Mechanism) -> None:
        self._scene = server.scene
        self._scene.add_frame(ROOT, show_axes=False, wxyz=PLANE_UPRIGHT)
        self._pose: Pose | None = None
        self._angles: dict[str, Array] = {}
        layout = mechanism.layout()
        empty = np.zeros((2 * (len(FACES) // 4) + 2, 3))
        self._frames: dict[str, Any] = {}
        self._bodies: dict[str, Any] = {}
        self._masses: dict[str, Any] = {}
        self._rails: dict[str, Any] = {}
        for k, part in enumerate(layout.parts):
            name, color = f"{ROOT}/{part.name}", rgb(color_of(k))
            self._frames[part.name] = self._scene.add_frame(name, show_axes=False)
            self._bodies[part.name] = self._scene.add_mesh_simple(
                f"{name}/body", empty, FACES, color=color, flat_shading=True, side="double"
            )
            self._masses[part.name] = self._scene.add_icosphere(f"{name}/mass", 1.0, color=MASS)
            if part.slides:
                owner = ROOT if part.parent == GROUND else f"{ROOT}/{part.parent}"
                self._rails[part.name] = self._scene.add_box(
                    f"{owner}/rail_of_{part.name}", color=RAIL
                )
        self._pins = {
            name: self._scene.add_cylinder(f"{ROOT}/{owner}/pin_{name}", 1.0, 1.0, color=DARK)
            for name, owner, _ in _pins(mechanism)
        }
        self._stands = {
            part.name: self._scene.add_mesh_simple(
                f"{ROOT}/stand_of_{part.name}", empty, FACES, color=GREY, side="double"
            )
            for part in layout.parts
            if part.parent == GROUND and not part.slides
        }
        self._path = self._scene.add_line_segments(
            f"{ROOT}/path", np.zeros((1, 2, 3), np.float32), colors=PATH, thickness=2.0,
            thickness_units="screen",
        )
        self._ring = self._scene.add_line_segments(
            f"{ROOT}/ring", np.zeros((1, 2, 3), np.float32), colors=GREY, thickness=5.0,
            thickness_units="screen", visible=False,
        )

    def shape(self, mechanism: Mechanism, pose: Pose) -> None:
        """Show another design; `pose` is its whole motion."""
        layout = mechanism.layout()
        self._pose = pose
        self._angles = {name: np.angle(one) for name, one in pose.directions.items()}
        size = extent(pose)
        wide = BAR_SHARE * size
        deep, radii = 0.8 * wide, wheel_radii(layout)
        for k, part in enumerate(layout.parts):
            outline = _outline(part, wide, radii.get(part.name, wide))
            self._bodies[part.name].vertices = solid(outline, k * deep, (k + 0.9) * deep).astype(
                np.float32
            )
            mass, (along, across) = float(part.piece.mass), part.piece.middle
            self._masses[part.name].radius = wide * min(max(0.7 * mass ** (1 / 3), 0.25), 1.6)
            self._masses[part.name].position = (along, across, (k + 0.9) * deep)
        for name, _, at in _pins(mechanism):
            pin = self._pins[name]
            pin.radius, pin.height = 0.4 * wide, (len(layout.parts) + 0.6) * deep
            pin.position = (*at, len(layout.parts) / 2 * deep)
        for part in layout.parts:
            if part.name in self._rails:
                self._lay_rail(part, pose, wide, deep)
            if part.name in self._stands:
                x, y = part.at
                foot = [(x, y), (x - 1.6 * wide, y - 2.4 * wide), (x + 1.6 * wide, y - 2.4 * wide)]
                self._stands[part.name].vertices = solid(
                    rounded_outline(foot, 0.5 * wide), -0.9 * deep, -0.1 * deep
                ).astype(np.float32)
        self._path.points = _segments(_traced(mechanism, pose), -0.2 * deep)
        for ring in _rings(pose):
            self._ring.points = _segments(ring, len(layout.parts) * deep)
            self._ring.visible = True

    def move(self, k: int) -> None:
        """Show instant `k` of the motion."""
        if self._pose is None:
            return
        for name, frame in self._frames.items():
            place, half = self._pose.origins[name][k], self._angles[name][k] / 2
            frame.position = (place.real, place.imag, 0.0)
            frame.wxyz = (math.cos(half), 0.0, 0.0, math.sin(half))

    def fade(self, faded: bool) -> None:
        """Show the parts faded, or as usual."""
        for body in self._bodies.values():
            if (body.opacity is None) == faded:
                body.opacity = FADED if faded else None

    def _lay_rail(self, part: Part, pose: Pose, wide: float, deep: float) -> None:
        """Lay a rail as long as the part slides; a lever is a rail of its own."""
        rail, slides = self._rails[part.name], pose.slides[part.name]
        low, high = float(slides.min()) - 2 * wide, float(slides.max()) + 2 * wide
        length, middle = high - low, (low + high) / 2
        x, y = part.at
        thin = 0.5 * wide
        size = (thin, length, 0.4 * deep) if part.across else (length, thin, 0.4 * deep)
        rail.dimensions = size
        shift = (0.0, middle) if part.across else (middle, 0.0)
        rail.position = (x + shift[0], y + shift[1], -0.4 * deep)


def extent(pose: Pose) -> float:
    """The size of a mechanism over its motion, m."""
    low, high = bounds(pose)
    return float(np.linalg.norm(high - low))


def bounds(pose: Pose) -> tuple[Array, Array]:
    """Corners (2,) of what all its pins sweep, m."""
    swept = [pin for part in pose.layout.parts for pin in pose.outline(part.name)]
    points = np.concatenate([*swept, *_rings(pose), np.zeros(1)])
    both = np.stack([points.real, points.imag])
    return both.min(axis=1), both.max(axis=1)


class FrontCamera:
    """A camera that sees the plane from the front, a little from the right and above.

    It goes along where a design leaves the picture; how it is turned is left to whoever looks.
    """

    def __init__(self, server: viser.ViserServer, pose: Pose) -> None:
        self._server = server
        self._low, self._high = bounds(pose)
        (x, y), size = (self._low + self._high) / 2, extent(pose)
        camera = server.initial_camera
        camera.fov = math.radians(40)
        camera.look_at = (x, 0.0, y)
        camera.position = (x + 0.3 * size, -1.8 * size, y + 0.15 * size)
        camera.near, camera.far = 0.01 * size, 100 * size
        server.scene.add_light_directional(
            "/front", intensity=1.2, position=(x - size, -4 * size, y + 2 * size)
        )
        cell = 10 ** math.floor(math.log10(size))
        server.scene.add_grid(
            "/wall", 6 * size, 6 * size, plane="xz", position=(x, 0.1 * size, y),
            cell_size=cell / 4, section_size=cell, cell_color=(232, 234, 237),
            section_color=(205, 209, 215), infinite_grid=True, fade_distance=8 * size,
        )  # fmt: skip

    def follow(self, pose: Pose) -> None:
        """Show all that a design sweeps, where it does not lie in the picture or is small in it."""
        low, high = bounds(pose)
        before, size = float(np.linalg.norm(self._high - self._low)), extent(pose)
        slack = LEFT_OUT * before
        inside = (low >= self._low - slack).all() and (high <= self._high + slack).all()
        if inside and size > SHRUNK * before:
            return
        self._low, self._high = low, high
        x, y = (low + high) / 2
        for client in self._server.get_clients().values():
            camera = client.camera
            way = (camera.position - camera.look_at) * (size / before)
            with client.atomic():
                aim = np.array([x, 0.0, y])
                camera.position = aim + way
                camera.look_at = aim  # viser takes it along with the position


def _pins(mechanism: Mechanism) -> list[tuple[str, str, tuple[float, float]]]:
    """Name, part and place of every pin: of turning parts, and those that close loops."""
    layout = mechanism.layout()
    pins = [(part.joint, part.name, (0.0, 0.0)) for part in layout.parts if not part.slides]
    return pins + [(pin.name, pin.first, pin.at_first) for pin in layout.pins]


def _outline(part: Part, wide: float, radius: float) -> Array:
    piece = part.piece
    if isinstance(piece, Wheel):
        return toothed_outline(radius, 0.5 * min(wide, radius / 3))
    if isinstance(piece, Block):
        return block_outline(4 * wide, 2.6 * wide)
    return rounded_outline(piece.pins, wide)


def _rings(pose: Pose) -> list[Array]:
    """Pitch circles of the wheel that stands still, where there is one, as points of the plane."""
    radius = wheel_radii(pose.layout).get(GROUND)
    carriers = [one.carrier for one in pose.layout.meshes if GROUND in (one.driver, one.driven)]
    if radius is None or not carriers:
        return []
    return [pose.origins[carriers[0]][0] + radius * np.exp(1j * RIM)]


def _segments(points: Array, height: float) -> Any:
    """A line through points of the plane, complex, as its segments (n, 2, 3)."""
    line = np.column_stack([points.real, points.imag, np.full(len(points), height)])
    return np.stack([line[:-1], line[1:]], axis=1).astype(np.float32)


def _traced(mechanism: Mechanism, pose: Pose) -> Any:
    """The path that is drawn: of the end of an output that floats, as a leg's foot; else of the
    coupler's third pin or middle, else of the last bar's end."""
    bars = [part for part in mechanism.layout().parts if isinstance(part.piece, Bar)]
    if not bars:
        return pose.origins[mechanism.output]
    floating = [part for part in bars if part.parent != GROUND]
    if any(part.name == mechanism.output for part in floating):
        return pose.outline(mechanism.output)[-1]
    pins = pose.outline((floating or bars[-1:])[0].name)
    return pins[2] if len(pins) > 2 else (pins[0] + pins[1]) / 2 if floating else pins[1]
