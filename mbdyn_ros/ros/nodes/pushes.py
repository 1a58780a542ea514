"""Forces on links that a node is sent, each for a while."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped

from ...arguments import WRENCH_LABELS, require_link
from ...errors import InputError
from ...model.model import Array
from ...robot import Robot
from ...simulation.external import ExternalWrenches
from ..messages.named_numbers import require_reasonable


class Pushes:
    """The wrenches that act on the links of a robot now, by the last message for each link."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._sent: dict[str, tuple[float, Array]] = {}
        self._outside = ExternalWrenches(robot, lambda time: self.acting)

    def take(self, message: WrenchStamped, until: float) -> None:
        """Let a wrench act up to a time (s).

        Raises
        ------
        InputError
            No such link, or a number that is not finite or is absurdly large.
        """
        link = message.header.frame_id
        if not link:
            raise InputError("the wrench names no link: write it into header.frame_id")
        require_link(self._robot.system.tree, link, self._robot.model.source)
        force, torque = message.wrench.force, message.wrench.torque
        wrench = np.array([force.x, force.y, force.z, torque.x, torque.y, torque.z])
        require_reasonable(f"the wrench on {link}", wrench, WRENCH_LABELS)
        self._sent[link] = until, wrench

    def clear(self) -> None:
        """Nothing pushes any more."""
        self._sent.clear()

    def efforts(self, now: float, q: Array) -> Array | None:
        """Efforts (n,) of the actuated joints that do the same; None where nothing pushes."""
        if not self._sent:
            return None
        self._sent = {link: one for link, one in self._sent.items() if now < one[0]}
        return self._outside.efforts(now, q) if self._sent else None

    @property
    def acting(self) -> dict[str, Array]:
        """The wrenches (6,) by link, since `efforts` was last asked for."""
        return {link: wrench for link, (_, wrench) in self._sent.items()}
