"""The effort limits of a URDF: efforts beyond them are clamped, and it is remembered which."""

from __future__ import annotations

import math

import numpy as np

from ...model.model import Array
from ...robot import Robot
from .named_numbers import effort_blocks


class EffortLimits:
    """Clamps efforts (n,) to `<limit effort>` of each joint.

    Attributes
    ----------
    bound : (n,) greatest effort; infinite where the description has none.
    enforced : whether `clamp` does anything.
    without_effort : joints whose limit is zero, which cannot be driven.
    """

    def __init__(self, robot: Robot, enforced: bool = True) -> None:
        self.enforced = enforced
        self._labels = robot.effort_labels
        self.bound = np.full(len(self._labels), math.inf)
        for name, place in effort_blocks(robot).items():
            if name in robot.actuated_joints:
                self.bound[place] = robot.model.joint(name).limits.effort
        self.without_effort = [
            label for label, bound in zip(self._labels, self.bound, strict=True) if bound == 0
        ]
        self._low, self._scratch = -self.bound, np.zeros(len(self.bound))
        self._wanted = np.zeros(len(self.bound))

    @property
    def held_to(self) -> Array:
        """Greatest efforts (n,) that are enforced."""
        return self.bound if self.enforced else np.full(len(self.bound), math.inf)

    def clamp(self, effort: Array) -> None:
        """Clamp in place."""
        if not self.enforced:
            return
        np.abs(effort, out=self._scratch)
        np.maximum(self._scratch, self._wanted, out=self._wanted)
        np.minimum(effort, self.bound, out=effort)
        np.maximum(effort, self._low, out=effort)

    def report(self) -> list[str]:
        """The efforts clamped since the last report: joint, wanted and allowed effort."""
        wanted, bounds = self._wanted.tolist(), self.bound.tolist()
        self._wanted[:] = 0.0
        return [
            f"{label} ({most:.4g} wanted, {bound:g} allowed)"
            for label, most, bound in zip(self._labels, wanted, bounds, strict=True)
            if most > bound
        ]
