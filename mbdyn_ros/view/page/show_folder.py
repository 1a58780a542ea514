"""The checkboxes of a robot's page: masses, frames, collision shapes, forces."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...model.model import Array
from ...robot import Robot
from ..scene.joint_arrows import show_joint_forces
from ..scene.shown_robot import ShownRobot

if TYPE_CHECKING:
    from .page import Page


class ShowFolder:
    """Checkboxes, and what they show.

    Parameters
    ----------
    shown : what is seen at the start, of masses, center, frames, collision and forces.
    """

    def __init__(
        self, page: Page, robot: Robot, subject: ShownRobot, shown: Collection[str]
    ) -> None:
        self._robot, self._subject = robot, subject
        gui = page.server.gui
        with gui.add_folder("Show"):
            self._masses = gui.add_checkbox("Masses", "masses" in shown)
            self._middle = gui.add_checkbox("Centre of mass", "center" in shown)
            self._frames = gui.add_checkbox("Frames", "frames" in shown)
            self._shapes = gui.add_checkbox(
                "Collision", "collision" in shown, visible=subject.has_collisions
            )
            self._forces = gui.add_checkbox("Forces", "forces" in shown)
            self._words = gui.add_markdown("")
        for box in (self._masses, self._middle, self._frames, self._shapes, self._forces):
            box.on_update(page.changed)

    def follow(self, q: Array, v: Array, a: Array) -> None:
        """Show what is checked, at a state."""
        subject, scene = self._subject, self._subject.scene
        scene.show_axes(self._frames.value, subject.size)
        scene.show("masses", self._masses.value)
        scene.show("collision", self._shapes.value)
        scene.show("forces", self._forces.value)
        middle = self._robot.center_of_mass(q) if self._middle.value else None
        subject.show_center(middle)
        words = [] if middle is None else [f"Centre of mass: {_point(middle)} m"]
        if self._forces.value:
            most = show_joint_forces(subject, self._robot, q, v, a)
            words.append(f"Forces of joints on the links they carry; the largest is {most:.4g} N")
        text = "\n\n".join(words)
        if self._words.content != text:
            self._words.content = text


def _point(point: Array) -> str:
    return ", ".join(f"{round(float(one), 4) + 0.0:.4f}" for one in point)
