"""A page on which a linkage is drawn: clicks make and choose points, the mouse drags them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...model.model import Pose as Place
from ...model.shapes import Sphere
from ...names import in_markdown
from ...view.page.page import Page
from ...view.scene.camera import FRONT
from ...view.scene.scene import Item, Label, Lines
from .. import Mechanism
from ..drawn import mechanism_kind
from ..layout import GROUND
from ..sketch import Sketch
from .shown_mechanism import DARK, GREY, RED, UPRIGHT

POINT_SHARE = 0.02
"""Radius of a point, of the size of what is drawn."""

EMPTY = (np.array([-0.1, 0.0, -0.1]), np.array([0.5, 0.0, 0.4]))
"""Corners of what is seen where nothing is drawn, m."""

HELP = (
    "Click: a new point; on a point: choose it. Drag a point: move it. Links join the points that "
    "are chosen, in order; the first bar on the ground drives."
)


class DrawingBoard:
    """A sketch on a page.

    Parameters
    ----------
    page : an empty page. sketch : changed in place.
    run : shows the mechanism that was drawn. leave : goes back to the one before.
    """

    def __init__(
        self, page: Page, sketch: Sketch, run: Callable[[Mechanism], None],
        leave: Callable[[], None],
    ) -> None:  # fmt: skip
        self.page, self.sketch, self._run, self._leave = page, sketch, run, leave
        self._chosen: list[str] = []
        self._drawn: set[str] = set()
        with page.gui.add_folder("Drawing"):
            page.gui.add_markdown(HELP)
            for label, act in (
                ("Link", self._link), ("Fix or free", self._fix), ("Slide along x", self._slide),
                ("Delete", self._delete), ("Run it", self._finish), ("Back", self._back),
            ):  # fmt: skip
                page.gui.add_button(label).on_click(partial(attempted, page, act))
        places = np.array([[at.real, 0.0, at.imag] for at in sketch.points.values()])
        low, high = (places.min(axis=0), places.max(axis=0)) if len(places) > 1 else EMPTY
        self._size = float(np.linalg.norm(high - low))
        page.look(low - 0.1 * self._size, high + 0.1 * self._size, FRONT)
        page.scene.hang(GROUND, pose=UPRIGHT)
        page.host.scene.on_click()(self._click)

    def draw(self, _passed: float, _woken: bool) -> None:
        """Show points and links as they are."""
        items = {item.name: item for item in self._items()}
        for name in self._drawn - set(items):
            self.page.scene.remove(GROUND, name)
        self.page.scene.draw(items.values())
        for name in set(items) - self._drawn:
            if name.startswith("point_"):
                point: Any = self.page.scene.handle(GROUND, name)
                point.on_drag("left")(partial(self._drag, name.removeprefix("point_")))
        self._drawn = set(items)

    def _items(self) -> Iterator[Item]:
        radius, sketch = POINT_SHARE * self._size, self.sketch
        for name, at in sketch.points.items():
            place = Place(translation=np.array([at.real, at.imag, 0.0]))
            color = RED if name in self._chosen else GREY if name in sketch.ground else DARK
            yield Item(f"point_{name}", GROUND, Sphere(radius), color, place)
            fixed = " fixed" if name in sketch.ground else ""
            beside = Place(translation=np.array([at.real + radius, at.imag + radius, 0.0]))
            yield Item(f"name_{name}", GROUND, Label(name + fixed, "bottom-left"), DARK, beside)
        for link in sketch.links:
            ends = np.array([sketch.points[one] for one in link.points])
            if link.slides_on is not None:
                way = 1j if link.along == "y" else 1
                ends = ends[0] + 4 * radius * np.array([-way, way])
            path = np.column_stack([ends.real, ends.imag, np.zeros(len(ends))])
            path = path if len(path) < 3 else np.vstack([path, path[:1]])
            lines = Lines(np.stack([path[:-1], path[1:]], axis=1), 4.0, in_pixels=True)
            yield Item(f"link_{link.name}", GROUND, lines, GREY)

    def _link(self) -> None:
        if len(self._chosen) < 2:
            raise InputError(f"{len(self._chosen)} points are chosen; a link needs 2 or more")
        self.sketch.add_link(self._chosen)
        self._chosen = []

    def _fix(self) -> None:
        for name in self._chosen:
            (self.sketch.ground.remove if name in self.sketch.ground
             else self.sketch.ground.append)(name)  # fmt: skip
        self._chosen = []

    def _slide(self) -> None:
        for name in self._chosen:
            self.sketch.add_link([name], slides=True)
        self._chosen = []

    def _delete(self) -> None:
        self.sketch.remove(self._chosen)
        self._chosen = []

    def _finish(self) -> None:
        self._run(mechanism_kind(self.sketch.drawing("drawn"))())
        self._end()

    def _back(self) -> None:
        self._leave()
        self._end()

    def _end(self) -> None:
        self.page.host.scene.remove_click_callback(self._click)

    def _click(self, event: Any) -> None:
        at = on_plane(np.array(event.ray_origin), np.array(event.ray_direction))
        near = {
            name: abs(place - at) for name, place in self.sketch.points.items()
            if abs(place - at) < 1.5 * POINT_SHARE * self._size
        }  # fmt: skip
        if not near:
            self.sketch.add_point(at)
        elif (name := min(near, key=lambda one: near[one])) in self._chosen:
            self._chosen.remove(name)
        else:
            self._chosen.append(name)
        self.page.changed(event)

    def _drag(self, name: str, event: Any) -> None:
        if name in self.sketch.points:
            self.sketch.points[name] = pointed_at(event)
            self.page.changed(event)


def attempted(page: Page, action: Callable[[], None], event: Any, folder: str = "") -> None:
    """Do what a browser asks for, and say what is refused, without the folder of a file that it
    sent."""
    if event.client is None:
        return
    try:
        action()
    except InputError as error:
        words = in_markdown(str(error).replace(folder, ""))
        event.client.add_notification("Refused", words, color="red")
    page.changed(event)


def pointed_at(event: Any) -> complex:
    """Where a drag has come to in the plane of mechanisms, x + i y, m: below the mouse."""
    eye = np.array(event.client.camera.position)
    return on_plane(eye, np.array(event.end_position) - eye)


def on_plane(eye: Any, direction: Any) -> complex:
    """Where a ray in the world meets the plane of mechanisms, x + i y.

    Examples
    --------
    >>> on_plane(np.array([0.1, -2.0, 0.3]), np.array([0.0, 2.0, 0.1]))
    (0.1+0.4j)
    """
    met = eye - direction * (eye[1] / direction[1])
    return complex(met[0], met[2])
