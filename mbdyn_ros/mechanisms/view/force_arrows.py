"""Forces in the joints and meshes of a mechanism: arrows in its scene, and sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.model import Array
from ...view.scene.joint_arrows import COLOR
from ..cut_open import Connection, connections
from ..layout import Mesh
from ..pose import Points
from .mechanism_scene import ROOT, extent
from .run import Run

LARGEST_ARROW, ARROW_HEAD = 0.3, 0.18
"""The longest arrow, as a share of the mechanism's size; a head, of its arrow."""

ORDINARY = 2.0
"""Arrows grow up to so many times the largest force of an ordinary instant: peaks would leave
nothing to see of all others."""

BARB = math.radians(155)
"""Angle of a barb of an arrow's head."""


@dataclass(frozen=True, eq=False)
class _Pushed:
    """The force of one part on another, and where: `force` (instants,) as complex numbers, N;
    `moment` of wheels on one axle, which share nothing else, N m."""

    name: str
    first: str
    second: str
    place: Points
    force: Points
    moment: Array | None = None

    @staticmethod
    def of(run: Run, one: Connection | Mesh) -> _Pushed:
        pose, found = run.analysis.pose, run.analysis.reactions[one.name]
        force = found[:, 0] + 1j * found[:, 1]
        if isinstance(one, Connection):
            place = pose.point(one.second, one.at_second)
            return _Pushed(one.name, one.first, one.second, place, force)
        moment = found[:, 2] if found[:, 2].any() else None  # else the teeth push
        place = pose.pitch_point(one)
        return _Pushed(one.name, one.driver, one.driven, place, force, moment)

    def said(self, row: int) -> str:
        """In words, at an instant."""
        force = complex(self.force[row])
        if not np.isfinite(force):
            return "undetermined here"
        if self.moment is not None:
            return f"the {self.first} turns the {self.second} with {self.moment[row]:.3g} N m"
        angle = math.degrees(math.atan2(force.imag, force.real))
        return (
            f"the {self.first} pushes the {self.second} with {abs(force):.3g} N at {angle:.0f}°"
        )


@dataclass(frozen=True, eq=False)
class _Arrows:
    """All forces of a run. full : the force of the longest arrow, N; cut : whether there are larger
    ones. longest : m. front : the height above the parts, m."""

    pushed: tuple[_Pushed, ...]
    full: float
    cut: bool
    longest: float
    front: float

    @staticmethod
    def of(run: Run) -> _Arrows:
        layout = run.mechanism.layout()
        between: tuple[Connection | Mesh, ...] = (*connections(layout), *layout.meshes)
        pushed = tuple(_Pushed.of(run, one) for one in between)
        sizes = np.abs([one.force for one in pushed])
        largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0, initial=0.0)
        most, full = float(largest.max()), ORDINARY * float(np.median(largest))
        size = extent(run.analysis.pose)
        cut = 0 < full < most
        return _Arrows(pushed, full if cut else most, cut, LARGEST_ARROW * size, 0.1 * size)

    def ways(self, row: int) -> Points:
        """The arrows at an instant, m."""
        force = np.nan_to_num([one.force[row] for one in self.pushed])
        return force * self.longest / np.maximum(np.abs(force), self.full or 1.0)


class ForceArrows:
    """Arrows of the forces in all joints, pins and meshes, drawn where they act."""

    def __init__(self, scene: Any, run: Run) -> None:
        self._lines = scene.add_line_segments(
            f"{ROOT}/forces", np.zeros((1, 2, 3), np.float32), colors=COLOR, thickness=3.0,
            thickness_units="screen", visible=False,
        )  # fmt: skip
        self.show(run)

    def show(self, run: Run) -> None:
        """Take another run; its forces are found when they are first seen."""
        self._run = run
        self._drawn: _Arrows | None = None

    @property
    def _arrows(self) -> _Arrows:
        if self._drawn is None:
            self._drawn = _Arrows.of(self._run)
        return self._drawn

    @property
    def visible(self) -> bool:
        """Whether they are seen."""
        return bool(self._lines.visible)

    @visible.setter
    def visible(self, value: bool) -> None:
        if self._lines.visible != value:
            self._lines.visible = value

    def move(self, row: int) -> None:
        """Show the forces at an instant."""
        arrows = self._arrows
        start = np.array([one.place[row] for one in arrows.pushed])
        way = arrows.ways(row)
        end = start + way
        barbs = [end + ARROW_HEAD * way * np.exp(1j * turn) for turn in (BARB, -BARB)]
        lines = [_segments(start, end), *(_segments(end, barb) for barb in barbs)]
        points = np.concatenate(lines)
        points[..., 2] = arrows.front
        self._lines.points = points.astype(np.float32)

    def sentences(self, row: int) -> str:
        """Which part pushes which, as Markdown: one line a joint."""
        arrows = self._arrows
        lines = [f"- `{one.name}`: {one.said(row)}" for one in arrows.pushed]
        if arrows.cut:
            lines.append(f"- arrows are no longer than that of {arrows.full:.3g} N")
        return "\n".join(lines)


def _segments(start: Points, end: Points) -> Array:
    """Lines (n, 2, 3) between points of the plane."""
    both = np.stack([start, end], axis=1)
    return np.stack([both.real, both.imag, np.zeros(both.shape)], axis=-1)
