"""Where joints are on their parent links, and the frames of loops on theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.model import Array, Model, Pose
from ..model.read.placement import rotation_from_rpy
from ..model.write.elements import roll_pitch_yaw

COMPONENTS = ("x", "y", "z", "roll", "pitch", "yaw")
"""Names of an origin's six numbers; see `Origin.six`."""

ENDS = ("predecessor", "successor")
"""The two frames of a loop."""


@dataclass(frozen=True, eq=False)
class Origin:
    """A frame on a link: where a joint leaves its parent, or one of the two frames of a loop.

    pose : in the axes of `link`. axes : (3, 3) as the description has them; its angles are counted
    from these, so that a pitch of a quarter turn is not a singularity. child : the link that a
    joint carries; empty where a loop is closed.
    """

    link: str
    pose: Pose
    axes: Array
    child: str = ""

    @property
    def six(self) -> Array:
        """Position (m), and roll, pitch and yaw (rad) from the described axes, (6,)."""
        turned = self.axes.T @ self.pose.rotation
        return np.array([*self.pose.translation, *roll_pitch_yaw(turned)])

    def at(self, six: Array) -> Pose:
        """The pose at other six numbers."""
        if not six[3:].any():
            return Pose(self.axes, six[:3])
        return Pose(self.axes @ np.array(rotation_from_rpy(*six[3:])), six[:3])

    def angles_from(self, rpy: Array) -> Array:
        """Roll, pitch and yaw (3,) or (N, 3) from the described axes, of those of <origin>."""
        rows = [self.axes.T @ np.array(rotation_from_rpy(*one)) for one in np.atleast_2d(rpy)]
        return np.array([roll_pitch_yaw(one) for one in rows]).reshape(rpy.shape)


def origins(model: Model) -> dict[str, Origin]:
    """The origins of all joints by name, and of loop frames as `loop/predecessor`."""
    found = {
        joint.name: Origin(joint.parent, joint.origin, joint.origin.rotation, joint.child)
        for joint in model.joints
    }
    for loop in model.loops:
        links = loop.predecessor, loop.successor
        frames = loop.predecessor_frame, loop.successor_frame
        for end, link, frame in zip(ENDS, links, frames, strict=True):
            found[f"{loop.name}/{end}"] = Origin(link, frame, frame.rotation)
    return found
