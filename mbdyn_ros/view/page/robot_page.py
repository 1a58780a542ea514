"""The page of one robot: sliders for its independent joints, a motion, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import MbdynError
from ...model.model import Array
from ...names import in_markdown
from ...robot import Robot
from ...units import effort_unit, position_unit
from ..colors import color_of
from ..scene.robot_scene import RobotScene, frame_camera
from ..scene.visuals import Visual
from .charts import Chart, Line
from .excursion import Excursion, excursion
from .joint_sliders import JointSliders
from .page import Page
from .playback import Playback

MOST_LINES = 4
"""Lines of one chart; the largest are drawn."""

LEAST_PEAK = 1e-9
"""Peaks (rad, m, N m or N) that are not drawn."""

UNITS = ("N m", "N", "rad", "m")
PRINTED = {"N m": "effort (N m)", "N": "effort (N)", "rad": "angle (rad)", "m": "slide (m)"}


class RobotPage:
    """A robot on a page.

    Parameters
    ----------
    page : an empty page. visuals, folder : as of `RobotScene`.
    """

    def __init__(
        self, page: Page, robot: Robot, visuals: tuple[Visual, ...], folder: Path | None
    ) -> None:
        self.page, self.robot = page, robot
        gui = page.server.gui
        self._motion: Excursion | None = None
        with gui.add_folder("Joints"):
            self.sliders = JointSliders(gui, robot, page.changed)
            if self.sliders.single:
                self.sliders.add_reset("Home")
        position = robot.joint_state(self.sliders.q)[0]
        self.scene = RobotScene(page.server, robot.model, visuals, folder, position)
        frame_camera(page.server, self.scene.low, self.scene.high)
        if robot.floating_base:
            self.scene.move_base(self.sliders.q[:7])
        moved = [label for label in self.sliders.single if label in robot.velocity_labels]
        if moved:
            with gui.add_folder("Motion"):
                self._choice = gui.add_dropdown("Joint", moved, initial_value=moved[0])
                self._period = gui.add_slider("Period", 0.5, 10.0, 0.1, 3.0, hint="s")
                self._playback = Playback(page)
            self._choice.on_update(page.changed)
            self._period.on_update(page.changed)
            with page.charts("Motion and efforts"):
                self._charts = {
                    unit: Chart(gui, PRINTED[unit], "time (s)", aspect=0.62) for unit in UNITS
                }
                gui.add_markdown("Solid: inverse dynamics of the motion. Dotted: gravity alone.")
        with gui.add_folder("Show"):
            masses = gui.add_checkbox("Masses", not visuals)
            masses.on_update(lambda _: self.scene.show_masses(masses.value))
            if robot.dependent_joints:
                self._numbers = gui.add_markdown("")
        self._movable = bool(moved)

    def draw(self, passed: float, woken: bool) -> None:
        """One picture: after `passed` seconds of play, or because something was changed."""
        try:
            if passed and self._motion is not None and not woken:
                self._play(self._motion, passed)
            else:
                self._follow_sliders()
        except MbdynError as error:
            self._say([f"**Cannot be reached.** {in_markdown(error)}"])

    def _follow_sliders(self) -> None:
        q = self.sliders.q
        position = self.robot.joint_state(q)[0]
        self._show(q, position)
        self._list_dependent(position)
        words: list[str] = []
        if self._movable:
            label = str(self._choice.value)
            self._motion = None
            self._motion = excursion(
                self.robot, q, label, self.sliders.single[label], float(self._period.value)
            )
            self._playback.share = self._motion.stroke.share_at(float(q[self._motion.column]))
            words += self._draw_charts(self._motion)
        self._say(words)

    def _play(self, motion: Excursion, passed: float) -> None:
        self._playback.advance(passed, motion.stroke.period)
        q = motion.q_at(self._playback.share)
        position = self.robot.joint_state(q)[0]
        self._show(q, position)
        if self._playback.due():
            self._list_dependent(position)
            self.sliders.show_position(q)
            for chart in self._charts.values():
                chart.mark(self._playback.share * motion.stroke.period)

    def _show(self, q: Array, position: Array) -> None:
        with self.page.server.atomic():
            self.scene.move(position)
            if self.robot.floating_base:
                self.scene.move_base(q[:7])

    def _list_dependent(self, position: Array) -> None:
        """Write the positions of the dependent joints on the page."""
        if not self.robot.dependent_joints:
            return
        labels = self.robot.system.coordinates.joint_labels
        shown = np.round(position, 4) + 0.0  # no -0
        rows = [
            f"| {in_markdown(name)} | {shown[k]:.4f} {position_unit(self.robot.model, name)} |"
            for k, name in enumerate(labels)
            if name in self.robot.dependent_joints
        ]
        self._numbers.content = "\n".join(["| dependent joint | |", "|---|---:|", *rows])

    def _draw_charts(self, motion: Excursion) -> list[str]:
        robot = self.robot
        labels = robot.system.coordinates.joint_labels
        lines: dict[str, list[Line]] = {unit: [] for unit in UNITS}
        if motion.effort is not None and motion.gravity is not None:
            units = [effort_unit(robot.model, one) for one in robot.effort_labels]
            for unit in ("N m", "N"):
                chosen = _largest(motion.effort, [k for k, one in enumerate(units) if one == unit])
                for i, k in enumerate(chosen):
                    name, color = robot.effort_labels[k], color_of(i)
                    lines[unit] += [
                        Line(name, motion.effort[:, k], color),
                        Line(f"{name}, gravity", motion.gravity[:, k], color, "dot", 1.5, False),
                    ]
        moved = motion.position - motion.position[0]
        units = [position_unit(robot.model, one) for one in labels]
        for unit in ("rad", "m"):
            chosen = _largest(moved, [k for k, one in enumerate(units) if one == unit])
            lines[unit] = [
                Line(labels[k], motion.position[:, k], color_of(i)) for i, k in enumerate(chosen)
            ]
        for unit, chart in self._charts.items():
            chart.show(motion.time, lines[unit], self._playback.share * motion.stroke.period)
        words = []
        if motion.effort is None:
            words.append(
                f"No efforts: {robot.nv} coordinates move, but only {len(robot.effort_labels)} "
                "joints are actuated."
            )
        if motion.cut:
            unit = position_unit(robot.model, motion.label)
            low, high = motion.stroke.low, motion.stroke.high
            words.append(
                f"The loops let {in_markdown(motion.label)} move from {low:.4g} to {high:.4g} "
                f"{unit}; beyond, they cannot be closed."
            )
        return words

    def _say(self, words: Sequence[str]) -> None:
        self.page.say(*words, *map(in_markdown, self.scene.remarks))


def _largest(values: Array, columns: Sequence[int]) -> list[int]:
    """The columns with the largest peaks, at most `MOST_LINES`, in their order; no zeros."""
    peaks = {k: float(np.abs(values[:, k]).max()) for k in columns}
    chosen = sorted((k for k in columns if peaks[k] > LEAST_PEAK), key=lambda k: -peaks[k])
    return sorted(chosen[:MOST_LINES])
