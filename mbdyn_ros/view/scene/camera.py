"""Where a scene is seen from at first, its light, and the grid behind or below what is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...model.model import Array
from .visuals import quaternion

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

NARROW = 0.75
"""Width over height of a scene between panels, up to which all of it is seen."""

SHEET = 0.5
"""Share of a narrow window that the controls cover."""


class Camera:
    """The camera of a page, on a subject in the box from `low` to `high` (3,), m.

    host : the server, whose browsers are each moved by themselves; or one browser alone.
    """

    def __init__(
        self, host: viser.ViserServer | viser.ClientHandle, low: Array, high: Array, view: View
    ) -> None:
        self._host: Any = host
        self._view, self._low, self._high = view, low, high
        self._shared = hasattr(host, "get_clients")
        middle, size = _middle_and_size(low, high)
        self._position, self._look_at = middle + size * np.array(view.direction), middle
        camera: Any = self._host.initial_camera if self._shared else self._host.camera
        camera.fov = math.radians(view.fov)
        camera.position, camera.look_at = self._position, self._look_at
        self._surround()
        if self._shared:
            self._host.on_client_connect(self._fit_narrow)
        else:
            self._fit_narrow(self._host)

    def _surround(self) -> None:
        """Light, grid and how far is seen."""
        view, space = self._view, self._host.scene
        middle, size = _middle_and_size(self._low, self._high)
        for camera in self._cameras():
            camera.near, camera.far = 0.01 * size, 50 * size
        space.add_light_directional(
            "/lamp", intensity=view.lamp, position=middle + size * np.array([-1.0, -4.0, 2.0])
        )
        at = middle.copy()
        if view.grid == "xy":
            at[2] = self._low[2]
        else:
            at[1] = self._high[1] + WALL * size
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
        self._position = middle + (self._position - self._look_at) * (size / before)
        self._look_at = middle
        for camera in self._cameras():
            direction = (np.array(camera.position) - camera.look_at) * (size / before)
            with self._host.atomic():
                camera.position = middle + direction
                camera.look_at = middle  # viser takes it along with the position
        self._surround()

    def _cameras(self) -> list[Any]:
        """Those of the host's browsers, and of browsers to come."""
        if not self._shared:
            return [self._host.camera]
        clients = self._host.get_clients().values()
        return [self._host.initial_camera, *(one.camera for one in clients)]

    def _fit_narrow(self, client: viser.ClientHandle) -> None:
        """Let all be seen in a window that is higher than wide, or has little room."""
        camera = client.camera
        if camera.aspect < 1:  # a telephone
            aim, eye = narrow_view(
                self._look_at, self._position, math.radians(self._view.fov), camera.aspect
            )
            with client.atomic():
                camera.position, camera.look_at = eye, aim
            return
        fitted = [NARROW]

        def between_panels(now: viser.CameraHandle) -> None:
            """Stand back whenever panels next to the scene, docked one by one, leave less of it."""
            if now.aspect < fitted[-1]:
                fitted.append(now.aspect)
                away = (self._position - self._look_at) * (NARROW / now.aspect)
                with client.atomic():
                    now.position, now.look_at = self._look_at + away, self._look_at

        camera.on_update(between_panels)


def narrow_view(look_at: Array, position: Array, fov: float, aspect: float) -> tuple[Array, Array]:
    """Where to look from where so that a window higher than wide shows all, above the controls.

    Examples
    --------
    >>> aim, eye = narrow_view(np.zeros(3), np.array([0.0, -2.0, 0.0]), 2 * math.atan(0.5), 0.5)
    >>> aim.round(12).tolist(), eye.round(12).tolist()
    ([0.0, 0.0, -1.0], [0.0, -4.0, -1.0])
    """
    offset = (position - look_at) / aspect
    drop = np.array([0.0, 0.0, SHEET * float(np.linalg.norm(offset)) * math.tan(fov / 2)])
    return look_at - drop, look_at + offset - drop


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
