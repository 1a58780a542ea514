"""Forces in the joints of a mechanism: arrows in its scene, and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.model import Array
from ..cut_open import Connection, connections
from .mechanism_scene import ROOT, extent
from .run import Run

LARGEST_ARROW, HEAD = 0.3, 0.18
"""The arrow of the largest force, as a share of the mechanism's size; a head, of its arrow."""

BARB = math.radians(155)
"""Angle of a barb of an arrow's head."""

COLOR = (120, 40, 140)


@dataclass(frozen=True, eq=False)
class _Arrows:
    """Forces (joints, N) as complex numbers, where they act, m for 1 N, and the height above."""

    joints: tuple[Connection, ...]
    places: Array
    forces: Array
    scale: float
    front: float

    @staticmethod
    def of(run: Run) -> _Arrows:
        joints, pose = connections(run.mechanism.layout()), run.analysis.pose
        places = np.array([pose.point(one.second, one.at_second) for one in joints])
        reactions = [run.analysis.reactions[one.name] for one in joints]
        forces = np.array([one[:, 0] + 1j * one[:, 1] for one in reactions])
        finite = np.abs(forces[np.isfinite(forces)])
        most, size = float(finite.max()) if finite.size else 0.0, extent(pose)
        return _Arrows(joints, places, forces, LARGEST_ARROW * size / most if most else 0.0,
                       0.1 * size)  # fmt: skip


class ForceArrows:
    """Arrows of the forces in all joints and pins, drawn where they act."""

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
        force = np.nan_to_num(arrows.forces[:, row])
        start, way = arrows.places[:, row], force * arrows.scale
        end = start + way
        barbs = [end + HEAD * way * np.exp(1j * turn) for turn in (BARB, -BARB)]
        lines = [_segments(start, end), *(_segments(end, barb) for barb in barbs)]
        points = np.concatenate(lines)
        points[..., 2] = arrows.front
        self._lines.points = points.astype(np.float32)

    def sentences(self, row: int) -> str:
        """Which part pushes which, as Markdown: one line a joint."""
        return "\n".join(self._said(row))

    def _said(self, row: int) -> Iterator[str]:
        arrows = self._arrows
        for joint, force in zip(arrows.joints, arrows.forces[:, row], strict=True):
            if not np.isfinite(force):
                yield f"- `{joint.name}`: undetermined here"
                continue
            angle = math.degrees(math.atan2(force.imag, force.real))
            yield (
                f"- `{joint.name}`: the {joint.first} pushes the {joint.second} with "
                f"{abs(force):.3g} N at {angle:.0f}°"
            )


def _segments(start: Array, end: Array) -> Array:
    """Lines (n, 2, 3) between points of the plane."""
    both = np.stack([start, end], axis=1)
    return np.stack([both.real, both.imag, np.zeros(both.shape)], axis=-1)
