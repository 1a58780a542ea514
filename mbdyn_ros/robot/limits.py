"""Limits as arrays, properties of `Robot`, and a word where a motion leaves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..array import Array
from ..errors import SimulationWarning, warn
from ..model.blocks import Block
from ..model.model import Limits

if TYPE_CHECKING:
    from .robot import Robot


def position_limits(self: Robot) -> Array:
    """Lower and upper limits of q (2, nq), rad or m; infinite where there are none.

    Those of joints of one coordinate.
    """
    result = np.tile([[-np.inf], [np.inf]], self.nq)
    for name, block in self.system.coordinates.blocks.items():
        if name in self.joint_names and block.kind.nq == 1 and not block.kind.is_endless:
            limits = self.model.joint(name).limits
            result[:, block.q] = [[limits.lower], [limits.upper]]
    return result


def velocity_limits(self: Robot) -> Array:
    """Largest speeds (nv,), rad/s or m/s; infinite where there are none."""
    coordinates = self.system.coordinates
    return _of_each(self, coordinates.blocks, self.nv, lambda limits: limits.velocity)


def effort_limits(self: Robot) -> Array:
    """Largest efforts, as `actuated_joints`, N m or N; infinite where there are none."""
    blocks, size = self.system.coordinates.effort_blocks, len(self.effort_labels)
    return _of_each(self, blocks, size, lambda limits: limits.effort)


def say_left_limits(self: Robot, q: Array) -> None:
    """Warn that motions without stops end at q (..., nq) beyond limits; once a robot."""
    self._limits_said = True
    low, high = self.position_limits
    ends = q.reshape(-1, self.nq)
    beyond = (ends < low) | (ends > high)
    row, k = np.argwhere(beyond)[0]
    warn(
        f"{self.model.source}: {int(beyond.any(axis=1).sum())} of {len(ends)} motions end beyond "
        f"position limits ({self.position_labels[k]} at {ends[row, k]:.6g}, limits {low[k]:g} to "
        f"{high[k]:g}): a rollout knows no stops; simulate keeps them. This is said once",
        SimulationWarning,
    )


def _of_each(
    robot: Robot, blocks: Mapping[str, Block], size: int, number: Callable[[Limits], float]
) -> Array:
    result = np.full(size, np.inf)
    for name, block in blocks.items():
        if name in robot.joint_names and block.kind.nv == 1:
            result[block.v] = number(robot.model.joint(name).limits)
    return result
