"""Where a scene is seen from at first, its light, and the grid behind or below what is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...model.model import Array
from .link_poses import quaternion

if TYPE_CHECKING:
    import viser

SMALLEST = 0.05
"""m, that a picture shows at least."""

LEFT_OUT, SHRUNK = 0.12, 0.5
"""How far a subject may leave the picture, and how small it may be in it, of what was in it."""

FAINT, FAINTER = (201, 206, 212), (229, 231, 235)
"""Colours of the lines of the grid."""


@dataclass(frozen=True)
class View:
    """From where: `direction` (3,) from the middle of the subject to the camera, in its sizes.

    fov : upright, degrees. grid : its plane, below the subject or behind it. lamp : the light
    from the front, on the left and above, in addition to ambient light.
    """

    direction: tuple[float, float, float]
    fov: float
    grid: Literal["xy", "xz"]
    lamp: float = 0.0


ABOVE = View((0.9, -1.4, 0.55), 45.0, "xy")
"""From the front, right and above; the grid is the floor."""

FRONT = View((0.3, -1.8, 0.15), 40.0, "xz", lamp=1.2)
"""An upright plane from the front; the grid is the wall behind it."""

FILLED = 0.94
"""Share of a picture's sides that its subject may take."""

CELL = 0.1
"""Side of a cell of the grid, about, of the size: a power of ten, twice or five times it."""

WALL = 0.1
"""Between a plane and the wall behind it, of the size."""


class Camera:
    """The camera of a page, on a subject in the box from `low` to `high` (3,), m."""

    def __init__(self, server: viser.ViserServer, low: Array, high: Array, view: View) -> None:
        self._server, self._low, self._high = server, low, high
        middle, size = _middle_and_size(low, high)
        camera: Any = server.initial_camera
        space: Any = server.scene
        camera.fov = math.radians(view.fov)
        camera.look_at, camera.position = middle, middle + size * np.array(view.direction)
        camera.near, camera.far = 0.01 * size, 50 * size
        space.add_light_directional(
            "/lamp", intensity=view.lamp, position=middle + size * np.array([-1.0, -4.0, 2.0])
        )
        at = middle.copy()
        if view.grid == "xy":
            at[2] = low[2]
        else:
            at[1] = high[1] + WALL * size
        power = 10.0 ** math.floor(math.log10(CELL * size))
        cell = next(k * power for k in (1, 2, 5, 10) if k * power >= CELL * size)
        space.add_grid(
            "/grid", 6 * size, 6 * size, plane=view.grid, position=at, cell_size=cell,
            section_size=5 * cell, cell_color=FAINTER, section_color=FAINT, infinite_grid=True,
            fade_distance=7 * size,
        )  # fmt: skip

    def follow(self, low: Array, high: Array) -> None:
        """Show a subject that changes, where it leaves the picture or is small in it.

        How the camera is turned is left to whoever looks.
        """
        _, before = _middle_and_size(self._low, self._high)
        middle, size = _middle_and_size(low, high)
        slack = LEFT_OUT * before
        inside = (low >= self._low - slack).all() and (high <= self._high + slack).all()
        if inside and size > SHRUNK * before:
            return
        self._low, self._high = low, high
        for client in self._server.get_clients().values():
            camera = client.camera
            direction = (camera.position - camera.look_at) * (size / before)
            with client.atomic():
                camera.position = middle + direction
                camera.look_at = middle  # viser takes it along with the position


def framed(corners: Array, view: View, aspect: float) -> tuple[Array, Array]:
    """Position and turn (w, x, y, z) of the camera whose picture a subject fills.

    In axes to the right, downwards and forwards, a corner p is in the picture of an eye e where
    |p_x - e_x| <= t_x (p_z - e_z), with the tangent t_x of half the angle of view, and so for y:
    the nearest eye follows from the largest of +-p_x - t_x p_z.

    Parameters
    ----------
    corners : (N, 3) of the subject, m. aspect : width over height of the picture.
    """
    forwards = -np.array(view.direction) / np.linalg.norm(view.direction)
    right = np.cross(forwards, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forwards, right), forwards])
    points = corners @ axes.T
    t = FILLED * math.tan(math.radians(view.fov) / 2) * np.array([aspect, 1.0])
    most = (points[:, :2] - t * points[:, 2:]).max(axis=0)
    least = (-points[:, :2] - t * points[:, 2:]).max(axis=0)
    _, size = _middle_and_size(points.min(axis=0), points.max(axis=0))
    back = min(-((most + least) / (2 * t)).max(), points[:, 2].min() - 0.1 * size)
    return np.array([*(most - least) / 2, back]) @ axes, quaternion(axes.T)


def _middle_and_size(low: Array, high: Array) -> tuple[Array, float]:
    return (low + high) / 2, max(float(np.linalg.norm(high - low)), SMALLEST)
