"""The position limits of a robot's independent joints, and a word where a motion leaves them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SimulationWarning
from ..model.model import Array

if TYPE_CHECKING:
    from .robot import Robot


def position_limits(robot: Robot) -> tuple[Array, Array]:
    """Lowest and highest positions (nq,) of the independent joints; infinite where none."""
    low = np.full(robot.nq, -math.inf)
    high = np.full(robot.nq, math.inf)
    for name, block in robot.system.coordinates.blocks.items():
        if block.kind.nv == 1 and not block.kind.is_endless:
            limits = robot.model.joint(name).limits
            low[block.q], high[block.q] = limits.lower, limits.upper
    return low, high


def say_left_limits(self: Robot, q: Array) -> None:
    """Warn where motions without stops end at q (..., nq) beyond limits, once a robot."""
    if self._limits_said:
        return
    low, high = position_limits(self)
    ends = q.reshape(-1, self.nq)
    beyond = (ends < low) | (ends > high)
    if not beyond.any():
        return
    self._limits_said = True
    row, k = np.argwhere(beyond)[0]
    warnings.warn(
        f"{self.model.source}: {int(beyond.any(axis=1).sum())} of {len(ends)} motions end beyond "
        f"position limits ({self.position_labels[k]} at {ends[row, k]:.6g}, limits {low[k]:g} to "
        f"{high[k]:g}): a rollout knows no stops; simulate keeps them. This is said once",
        SimulationWarning,
        stacklevel=4,
    )
