"""Pins of a mechanism that the mouse drags in the scene: lengths follow the pins."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...array import Array
from ...view.page.page import Page
from .. import Mechanism
from ..link import Points
from .drawing_board import pointed_at
from .run import DesignRun

DRAGGED_WEIGHT = 30.0
"""Weight of the pin that is dragged; of the others, which should stay, 1."""

LENGTH_STEP = 1e-6
"""Change of a length by which slopes are found, of the largest length."""

DRAG_ROUNDS, DRAG_SETTLED = 3, 1e-4
"""Steps of Gauss and Newton at most, and the last one's size, of the largest length: the next would
be too small to see."""


class PinDrag:
    """The pins of a mechanism in its scene, and the last place that one was dragged to."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._dragged: tuple[str, complex] | None = None

    def listen(self, mechanism: Mechanism) -> None:
        """Hear of drags of all pins, which are drawn."""
        for joint in mechanism.layout().connections:
            if not joint.slides:
                pin: Any = self._page.scene.handle(joint.second, f"pin_{joint.name}")
                pin.on_drag("left")(functools.partial(self._drag, joint.name))

    def taken(self) -> tuple[str, complex] | None:
        """The pin and its new place x + i y, m, since it was last asked; None without a drag."""
        dragged, self._dragged = self._dragged, None
        return dragged

    def _drag(self, name: str, event: Any) -> None:
        self._dragged = name, pointed_at(event)
        self._page.changed(event)


def pin_places(mechanism: Mechanism, q: Array) -> dict[str, Points]:
    """Places x + i y (N,), m, of the pins by joint, with the inputs at q (N, n), rad; NaN where it
    cannot be assembled."""
    pose = mechanism.solved(q)
    return {
        one.name: pose.point(one.second, one.at_second)
        for one in mechanism.layout().connections if not one.slides
    }  # fmt: skip


def reshaped(
    run: DesignRun, row: int, names: Sequence[str], pin: str, place: complex
) -> tuple[dict[str, float], Array]:
    """Lengths (m) of these names, and positions of the inputs (n,), rad, with which a pin is at a
    place x + i y, m.

    The other pins stay where they are at instant `row`, as far as the lengths let them: least
    squares, in which the mechanism may also move along its motion.

    Raises
    ------
    InputError
        No mechanism has such lengths, or it cannot be assembled there.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FourBar
    >>> from mbdyn_ros.mechanisms.view.run import CrankDrive
    >>> run = DesignRun(FourBar(), CrankDrive((10.0,), (0.0,)))
    >>> names = ["crank_length", "coupler_length", "rocker_length"]
    >>> lengths, q = reshaped(run, 90, names, "coupler_joint", 0.009 + 0.12j)
    >>> round(lengths["crank_length"], 6), q.round(6).tolist()
    (0.120337, [1.495936])
    """
    mechanism, motion = run.mechanism, run.motion
    start = {name: one[0] for name, one in pin_places(mechanism, motion.q[row][None]).items()}
    wanted = np.array(list((start | {pin: place}).values()))
    weight = np.array([DRAGGED_WEIGHT if name == pin else 1.0 for name in start])
    lengths = [name for name in names if name not in mechanism.twins]
    size = max((abs(float(mechanism.settings[name])) for name in lengths), default=1.0)
    way = motion.v[row] / (np.linalg.norm(motion.v[row]) or 1.0)
    steps = LENGTH_STEP * np.append(np.full(len(lengths), size), 1.0)
    x = np.array([*(float(mechanism.settings[name]) for name in lengths), 0.0])
    for _ in range(DRAG_ROUNDS):
        tried = x + np.vstack([np.zeros(len(x)), np.diag(steps)])
        changed = mechanism.designs(**dict(zip(lengths, tried.T, strict=False)))
        places = np.array(list(pin_places(changed, motion.q[row] + tried[:, -1:] * way).values()))
        gaps = weight[:, None] * (places - wanted[:, None])
        rows = np.concatenate([gaps.real, gaps.imag])
        if not np.isfinite(rows).all():
            raise mechanism.refusal(f"it cannot be assembled with {pin} there")
        slopes = (rows[:, 1:] - rows[:, :1]) / steps
        step = np.linalg.lstsq(slopes, rows[:, 0], rcond=1e-6)[0]
        x = x - step
        if np.abs(step).max() < DRAG_SETTLED * size:
            break
    return dict(zip(lengths, x.tolist(), strict=False)), motion.q[row] + x[-1] * way


def nearest_instant(run: DesignRun, q: Array) -> int:
    """The instant of a motion at which its inputs are nearest to q (n,), rad, whatever the turn."""
    return int(np.argmin(np.abs(np.exp(1j * run.motion.q) - np.exp(1j * q)).sum(axis=1)))
