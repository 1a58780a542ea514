"""The scene of a page: bodies that hang on each other, and shapes on them.

A subject (a robot, a mechanism, the markers of a ROS system) says what is drawn as `Item`s; how it
is drawn is known here alone. What is drawn again under its name is changed in place, and the
browser gets what is new alone; the browser composes the motions of bodies.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array, Pose
from ...model.shapes import Box, Cylinder, Sphere, Vector
from ..figure import Color
from .visuals import quaternion

if TYPE_CHECKING:
    import viser

AXES = 0.12
"""Length of a frame's axes, as a share of the subject's size."""

HEAD_RADIUS, HEAD_LENGTH, LEAST_LENGTH = 2.2, 5.0, 12.0
"""Of an arrow's head: in radii of its shaft; fewest of them in an arrow's length."""

WORLD = ""
"""The body that everything else hangs on."""

ORIGIN = Pose()
"""The pose of what lies in the origin of its body."""


@dataclass(frozen=True, eq=False)
class Skin:
    """Triangles `faces` (m, 3) between corners `vertices` (n, 3), m."""

    vertices: Array
    faces: Any


@dataclass(frozen=True, eq=False)
class Painted:
    """A mesh with colours of its own, as the bytes of a GLB file; `low` and `high` enclose it."""

    glb: bytes
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows (n, 2, 3), m, from the first points to the second; `radius` of shafts at most, m."""

    points: Array
    radius: float


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines (n, 2, 3), m; `thickness` in m, or in pixels."""

    points: Array
    thickness: float
    in_pixels: bool = False


@dataclass(frozen=True)
class Label:
    """Words at a place, which face whoever looks; `anchor`: where of them the place is, as viser
    says it; `size`: of their letters, of its own size."""

    text: str
    anchor: str = "center-center"
    size: float = 1.0


Shape = Box | Cylinder | Sphere | Skin | Painted | Arrows | Lines | Label


@dataclass(frozen=True, eq=False)
class Item:
    """A shape on a body.

    Attributes
    ----------
    name : its own among the items of the body.
    pose : of the shape in the body. scale : of the shape along its axes.
    group : the items that `Scene.show` shows and hides together with it.
    """

    name: str
    body: str
    shape: Shape
    color: Color
    pose: Pose = ORIGIN
    scale: Vector = (1.0, 1.0, 1.0)
    group: str = ""


class Scene:
    """The bodies and items of one page."""

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._bodies: dict[str, Any] = {}
        self._items: dict[str, tuple[Item, str, dict[str, Any], Any]] = {}
        self._hidden: set[str] = set()

    def hang(self, body: str, on: str = WORLD, pose: Pose = ORIGIN) -> None:
        """Add a body, at a pose on another."""
        path = f"{self.path(on)}/{len(self._bodies)}_{_word(body)}"
        self._bodies[body] = self._scene.add_frame(path, show_axes=False, **placed(pose))

    def path(self, body: str) -> str:
        """Name of the node of a body."""
        return WORLD if body == WORLD else str(self._bodies[body].name)

    def move(self, body: str, position: Array, wxyz: Array) -> None:
        """Place a body on the one that it hangs on: (3,) m, and a quaternion (4,)."""
        _place(self._bodies[body], position, wxyz)

    def draw(self, items: Iterable[Item]) -> None:
        """Draw items, or change them where they are drawn already."""
        for item in items:
            path = _path(self.path(item.body), item.name)
            kind, look = _look(item)
            look["visible"] = item.group not in self._hidden
            before, drawn, last, node = self._items.get(path, (item, "", {}, None))
            if drawn != kind:
                node = getattr(self._scene, f"add_{kind}")(path, **look, **placed(item.pose))
            else:
                if before.pose is not item.pose:
                    _place(node, **placed(item.pose))
                for name, value in look.items():
                    if not _same(last[name], value):
                        setattr(node, name, value)
            self._items[path] = item, kind, look, node

    def handle(self, body: str, name: str) -> Any:
        """Handle of viser of an item that is drawn, to hear of clicks and drags."""
        return self._items[_path(self.path(body), name)][-1]

    def show(self, group: str, visible: bool) -> None:
        """Show or hide the items of a group, those to come too."""
        if visible == (group not in self._hidden):
            return
        (self._hidden.discard if visible else self._hidden.add)(group)
        for item, _, look, node in self._items.values():
            if item.group == group:
                node.visible = look["visible"] = visible

    def show_axes(self, visible: bool, size: float) -> None:
        """Show or hide the axes of bodies, of a subject of that size: x red, y green, z blue."""
        for node in self._bodies.values():
            if node.show_axes != visible:
                node.axes_length = AXES * size
                node.axes_radius, node.origin_radius = 0.04 * AXES * size, 0.07 * AXES * size
                node.show_axes = visible

    def remove(self, body: str, name: str) -> None:
        """Take an item away."""
        self._items.pop(_path(self.path(body), name))[-1].remove()

    def clear(self) -> None:
        """Take everything away."""
        for *_, node in self._items.values():
            node.remove()
        for node in reversed(self._bodies.values()):
            node.remove()
        self._items.clear()
        self._bodies.clear()


def placed(pose: Pose) -> dict[str, Any]:
    """A pose as arguments of viser."""
    return {"position": pose.translation, "wxyz": quaternion(pose.rotation)}


def _place(node: Any, position: Array, wxyz: Array) -> None:
    if (node.position != position).any():  # viser takes ten times as long to find out
        node.position = position
    if (node.wxyz != wxyz).any():
        node.wxyz = wxyz


def _look(item: Item) -> tuple[str, dict[str, Any]]:
    """How viser calls a shape, and the properties by which it draws it; all but its pose."""
    shape, rgb = item.shape, tuple(round(255 * value) for value in item.color[:3])
    if isinstance(shape, Label):
        return "label", {
            "text": shape.text, "anchor": shape.anchor, "font_screen_scale": shape.size,
        }  # fmt: skip
    look: dict[str, Any] = {"scale": item.scale}
    if isinstance(shape, Painted):
        return "glb", look | {"glb_data": shape.glb}
    if isinstance(shape, (Arrows, Lines)):
        look |= {"points": shape.points.astype(np.float32), "colors": _bytes(rgb)}
        if isinstance(shape, Lines):
            unit = "screen" if shape.in_pixels else "world"
            return "line_segments", look | {"thickness": shape.thickness, "thickness_units": unit}
        longest = float(np.linalg.norm(np.diff(shape.points, axis=1), axis=2).max(initial=0.0))
        radius = min(shape.radius, longest / LEAST_LENGTH)
        return "arrows", look | {
            "shaft_radius": radius, "head_radius": HEAD_RADIUS * radius,
            "head_length": HEAD_LENGTH * radius,
        }  # fmt: skip
    look |= {"color": rgb, "opacity": None if item.color[3] >= 1 else item.color[3]}
    if isinstance(shape, Box):
        return "box", look | {"dimensions": shape.size}
    if isinstance(shape, Cylinder):
        return "cylinder", look | {"radius": shape.radius, "height": shape.length}
    if isinstance(shape, Sphere):
        return "icosphere", look | {"radius": shape.radius}
    return "mesh_simple", look | {
        "vertices": shape.vertices, "faces": shape.faces, "side": "double", "flat_shading": True,
    }  # fmt: skip


@functools.cache
def _bytes(rgb: tuple[int, ...]) -> Any:
    return np.array(rgb, np.uint8)


def _same(before: Any, now: Any) -> bool:
    """Whether two properties are surely the same; arrays are where they are one."""
    return before is now or (not isinstance(now, np.ndarray) and bool(before == now))


def _path(body: str, name: str) -> str:
    return f"{body}/{_word(name)}"


def _word(name: str) -> str:
    """A name as part of a node's name, without what viewers would read as a path in the tree."""
    return re.sub(r"[^\w.-]", "_", name)
