"""The frames in which the shapes and points of links stand, whatever origins vary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...model.pose import Pose
from ...prepare.tree import origins
from ...robot import Robot


@dataclass(frozen=True)
class LinkFrames:
    """Of every link the number of the frame in which it is fixed, and its pose there.

    A body's frame has the body's number. Where origins vary, a link may move in the frame of its
    body: its frame is then that of the link nearest to the base to which fixed joints tie it that
    do not vary. These links, in `links`, are counted on from the bodies, as `ContactGeometry` does.
    """

    of: Mapping[str, tuple[int, Pose]]
    links: tuple[str, ...]

    @staticmethod
    def of_robot(robot: Robot) -> LinkFrames:
        """The frames of a robot's links."""
        tree, found = robot.calls.traced.tree, dict[str, tuple[int, Pose]]()
        if all(isinstance(pose, Pose) for _, pose in tree.frames.values()):
            return LinkFrames(tree.frames, ())
        described = origins(robot.model)
        joints = {one.child: name for name, one in described.items() if one.child}
        links: list[str] = []
        for link, (body, pose) in tree.frames.items():  # parents first
            if isinstance(pose, Pose):
                found[link] = body, pose
                continue
            joint = joints.get(link, "")
            parent = described[joint].link if joint else ""
            is_tied = parent in found and tree.frames[parent][0] == body
            if is_tied and joint not in robot.variable_origins:
                frame, before = found[parent]
                found[link] = frame, before @ described[joint].pose
                continue
            found[link] = len(tree.bodies) + len(links), Pose(np.eye(3), np.zeros(3))
            links.append(link)
        return LinkFrames(found, tuple(links))
