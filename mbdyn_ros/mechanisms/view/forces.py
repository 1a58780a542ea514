"""Forces and motions of a mechanism on its page: arrows in its scene, and sentences."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...model.model import Array
from ...view.figure import color_of
from ...view.page.charts import Curve
from ...view.scene.arrows import ARROW_SHARE, FORCE_COLOR, THICK
from ...view.scene.scene import Arrows, Item
from ..analysis import Analysis
from ..disk_cam import DiskCam
from ..layout import GROUND, GearMesh, PartConnection, turned
from ..link import Block, Points, Wheel
from .run import DesignRun
from .shown_mechanism import extent

IN_FRONT = 0.1
"""Height of arrows above the parts, as a share of the mechanism's size."""

ORDINARY = 2.0
"""Arrows grow up to this multiple of the largest force of an ordinary instant: peaks would leave
nothing to see of all others."""


@dataclass(frozen=True, eq=False)
class Push:
    """The force (N,) of one part on another, N, and the moment (N,), N m, at a place (N,), m."""

    joint: PartConnection | GearMesh | DiskCam
    place: Points
    force: Points
    moment: Array

    def sentence(self, row: int) -> str:
        """In words, at an instant."""
        force = complex(self.force[row])
        if not np.isfinite(force):
            return "undetermined here"
        first, second = self.joint.parts
        if isinstance(self.joint, GearMesh) and self.moment.any():  # else the teeth push
            return f"the {first} turns the {second} with {self.moment[row]:.3g} N m"
        angle = math.degrees(math.atan2(force.imag, force.real))
        return f"the {first} pushes the {second} with {abs(force):.3g} N at {angle:.0f}°"


def pushes(analysis: Analysis) -> Iterator[Push]:
    """Those in all joints, pins, meshes and cams."""
    for one in analysis.mechanism.layout().force_carriers:
        x, y, moment = analysis.reactions[one.name].T
        yield Push(one, _contact_place(analysis, one), x + 1j * y, moment)


def _contact_place(analysis: Analysis, one: PartConnection | GearMesh | DiskCam) -> Points:
    """Where (N,) two parts push each other, m."""
    if isinstance(one, PartConnection):
        return analysis.pose.point(one.second, one.at_second)
    if isinstance(one, DiskCam):
        angle = analysis.cam_angle(one)
        place: Points = complex(*one.axle) + one.profile(angle) * np.exp(1j * angle)
        return place
    return analysis.pose.pitch_point(one)


class Forces:
    """The forces of one run, in all joints, pins and meshes; found when they are first asked for.

    The arrow of `_full` newtons is the longest.
    """

    def __init__(self, run: DesignRun) -> None:
        self._run = run

    @functools.cached_property
    def _pushed(self) -> tuple[Push, ...]:
        return tuple(pushes(self._run.analysis))

    @functools.cached_property
    def _largest(self) -> Array:
        """Of all forces, at every instant, N."""
        sizes = np.abs([one.force for one in self._pushed])
        return np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0, initial=0.0)

    @functools.cached_property
    def _size(self) -> float:
        return extent(self._run.analysis.pose)

    @functools.cached_property
    def _full(self) -> float:
        most, full = float(self._largest.max()), ORDINARY * float(np.median(self._largest))
        return full if 0 < full < most else most

    def items(self, row: int) -> Iterator[Item]:
        """Arrows at an instant, where the forces act."""
        size = self._size
        for one in self._pushed:
            start, force = one.place[row], np.nan_to_num(one.force[row])
            end = start + force * ARROW_SHARE * size / max(abs(force), self._full or 1.0)
            points = np.array([[[at.real, at.imag, IN_FRONT * size] for at in (start, end)]])
            arrow = Arrows(points, THICK * size)
            yield Item(f"force_in_{one.joint.name}", GROUND, arrow, FORCE_COLOR, group="forces")

    def sentences(self, row: int) -> str:
        """Which part pushes which at an instant, as Markdown: one line a joint."""
        lines = [f"- `{one.joint.name}`: {one.sentence(row)}" for one in self._pushed]
        if self._full < self._largest.max():
            lines.append(f"- arrows are no longer than that of {self._full:.3g} N")
        return "\n".join(lines)


class PlaneMotion:
    """How the parts of a mechanism move in a prescribed motion; points are x + i y.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar, constant_speed
    >>> moves = PlaneMotion(Analysis(FourBar(), constant_speed(10.0)))
    >>> abs(moves.velocity("crank", (0.1, 0.0))).round(12).tolist()[:2]
    [1.0, 1.0]
    """

    def __init__(self, analysis: Analysis) -> None:
        pose, joints = analysis.pose, np.array(analysis.joints)
        layout, still = pose.layout, np.zeros(joints.shape[:2], dtype=complex)
        spins, self._alpha = (turned(layout, one, rate=True) for one in joints[1:])
        self._placed: dict[str, Points] = {GROUND: still}
        self._turned: dict[str, Points] = {}
        for name, u in pose.directions.items():
            w = spins[name]
            self._turned[name] = np.stack([u, 1j * w * u, (1j * self._alpha[name] - w * w) * u])
        for k, part in enumerate(layout.parts):
            place = self._placed[part.parent] + self._turned[part.parent] * complex(*part.at)
            if part.slides:
                x, dx, ddx = joints[..., k]
                u, du, ddu = self._turned[part.name]
                place = place + [x * u, dx * u + x * du, ddx * u + 2 * dx * du + x * ddu]
            self._placed[part.name] = place

    def velocity(self, part: str, at: tuple[float, float]) -> Points:
        """Of a point of a part (N,), m/s; the point along and across it, m."""
        return self._point(part, at)[1]

    def acceleration(self, part: str, at: tuple[float, float]) -> Points:
        """Of a point of a part (N,), m/s^2."""
        return self._point(part, at)[2]

    def spin(self, part: str) -> Array:
        """Angular acceleration of a part (N,), rad/s^2."""
        return self._alpha[part]

    def _point(self, part: str, at: tuple[float, float]) -> Points:
        """A point of a part (3, N): its place and the derivatives of that."""
        return self._placed[part] + self._turned[part] * complex(*at)


POLYGONS = {"velocity polygon": "m/s", "acceleration polygon": "m/s²"}
"""Polygons that are shown, and their units."""


class Polygon:
    """The polygons of one run: every part is a line between what its pins do, from the pole."""

    def __init__(self, run: DesignRun) -> None:
        self._run = run

    @functools.cached_property
    def _images(self) -> dict[str, list[tuple[str, np.ndarray]]]:
        """By polygon: every part and what its pins do; found when one is first looked at."""
        moves = PlaneMotion(self._run.analysis)
        images: dict[str, list[tuple[str, np.ndarray]]] = {}
        for name, find in zip(POLYGONS, (moves.velocity, moves.acceleration), strict=True):
            images[name] = []
            for part in self._run.mechanism.layout().parts:
                ends = [find(part.name, at) for at in part.piece.pins]
                if isinstance(part.piece, (Block, Wheel)):
                    ends = [np.zeros_like(ends[0]), *ends]
                elif len(ends) > 2:
                    ends.append(ends[0])
                images[name].append((part.name, np.array(ends)))
        return images

    def lines(self, name: str, row: int) -> list[Curve]:
        """One line a part, over x, at an instant; all begin or end at the pole where it stands."""
        return [
            Curve(part, ends[:, row].imag, color_of(k), width=2.5, x=ends[:, row].real)
            for k, (part, ends) in enumerate(self._images[name])
        ]
