"""Whether measured joints agree: those of loops, mimics and couplings with the ones they follow."""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import JointState

from ...model.blocks import scalar_motions
from ...model.model import Array
from ...robot import Robot


class Agreement:
    """Compares measured dependent joints with where the independent ones put them."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        names, rows, _ = scalar_motions(robot.system.coordinates.joint_blocks)
        own = set(robot.velocity_labels)
        self._rows = {
            name: row for name, row in zip(names, rows, strict=True) if name not in own
        }
        blocks = robot.system.coordinates.joint_blocks
        self._turns = {
            name for name in self._rows
            if name in blocks and not blocks[name].kind.steps[0].motion.slides
        }
        self._names: tuple[str, ...] = ()
        self._pairs: list[tuple[str, int, int]] = []

    def complaint(self, message: JointState, q: Array, tolerance: float) -> str:
        """The dependent joint that is farthest beyond `tolerance` (rad or m), in words, or nothing.

        q : (n,) the measured positions of the independent joints.
        """
        if not self._rows:
            return ""
        names = tuple(message.name)
        if names != self._names:
            self._names = names
            self._pairs = [
                (name, k, self._rows[name]) for k, name in enumerate(names) if name in self._rows
            ]
        if not self._pairs:
            return ""
        implied, _, _ = self._robot.joint_state(q)
        worst, words = tolerance, ""
        for name, k, row in self._pairs:
            apart = message.position[k] - implied[row]
            if name in self._turns:
                apart = np.remainder(apart + np.pi, 2 * np.pi) - np.pi
            if not abs(apart) <= worst:
                worst = abs(apart)
                words = (
                    f"{name} is measured at {message.position[k]:.6g}, but the joints it follows "
                    f"put it at {implied[row]:.6g}: {worst:.4g} apart, more than "
                    f"agreement_tolerance ({tolerance:g})"
                )
        return words
