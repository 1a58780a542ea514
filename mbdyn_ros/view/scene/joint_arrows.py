"""Forces in the joints of a robot, as arrows in its scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...robot import Robot
from .robot_scene import RobotScene, placed

if TYPE_CHECKING:
    import viser

ARROW_SHARE = 0.3
"""The arrow of the largest force, as a share of the robot's size."""

THICK = 0.009
"""Radius of an arrow's shaft, as a share of the robot's size."""

COLOR = (120, 40, 140)


class JointArrows:
    """Arrows where a joint pushes the link that it carries, loops included."""

    def __init__(self, server: viser.ViserServer, robot: Robot, scene: RobotScene) -> None:
        self._robot, self._size = robot, scene.size
        self._arrows: dict[str, Any] = {}
        for joint in robot.model.joints:
            if joint.nv:
                self._add(server, joint.name, f"{scene.node(joint.child)}/force")
        for k, loop in enumerate(robot.model.loops):
            at = f"{scene.node(loop.predecessor)}/loop_{k}"
            server.scene.add_frame(at, show_axes=False, **placed(loop.predecessor_frame))
            self._add(server, loop.name, f"{at}/force")

    def _add(self, server: viser.ViserServer, name: str, node: str) -> None:
        thick = THICK * self._size
        self._arrows[name] = server.scene.add_arrows(
            node, np.zeros((1, 2, 3), np.float32), COLOR, shaft_radius=thick,
            head_radius=2.2 * thick, head_length=6 * thick, visible=False,
        )  # fmt: skip

    def hide(self) -> None:
        """Take them from the picture."""
        for arrow in self._arrows.values():
            arrow.visible = False

    def show(self, q: Array, v: Array, a: Array) -> float:
        """Draw the forces of a state; return the largest, N."""
        wrenches = self._robot.joint_wrenches(q, v, a)
        forces = {name: wrenches[name][:3] for name in self._arrows if name in wrenches}
        sizes = {name: float(np.linalg.norm(one)) for name, one in forces.items()}
        most = max(sizes.values(), default=0.0)
        for name, force in forces.items():
            arrow = self._arrows[name]
            arrow.visible = sizes[name] > 1e-3 * most
            if arrow.visible:
                way = force * (ARROW_SHARE * self._size / most)
                arrow.points = np.stack([np.zeros(3), way])[None].astype(np.float32)
        return most
