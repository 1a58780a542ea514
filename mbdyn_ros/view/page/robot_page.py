"""The page of one robot: sliders for its independent joints, a motion, and what it costs."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import MbdynError
from ...model.model import Array
from ...robot import Robot
from ...units import effort_unit, position_unit
from ..colors import color_of
from ..scene.robot_scene import RobotScene, frame_camera
from ..scene.visuals import Visual
from .charts import Chart, Line
from .joint_sliders import JointSliders
from .page import PANEL, Page, plain
from .sweep import Sweep, sweep

MOST_LINES = 4
"""Of one chart; those that are largest."""

ZERO = 1e-9
"""Peaks (rad, m, N m or N) that are not drawn."""

MARKS = 8.0
"""Times a second that charts and numbers follow what plays."""

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
        self._sweep: Sweep | None = None
        self._time = self._marked = 0.0
        self._words = gui.add_markdown("")
        self._joints = gui.add_folder("Joints")
        with self._joints:
            self.sliders = JointSliders(gui, robot, self._changed)
            if self.sliders.single:
                gui.add_button("Home").on_click(self._home)
        position = robot.joint_state(self.sliders.q)[0]
        self.scene = RobotScene(page.server, robot.model, visuals, folder, position)
        frame_camera(page.server, self.scene.low, self.scene.high)
        if robot.floating_base:
            self.scene.move_base(self.sliders.q[:7])
        swept = [label for label in self.sliders.single if label in robot.velocity_labels]
        if swept:
            with gui.add_folder("Motion"):
                self._choice = gui.add_dropdown("Joint", swept, initial_value=swept[0])
                self._period = gui.add_slider("Period", 0.5, 10.0, 0.1, 3.0, hint="s")
                self._play = gui.add_button("Play")
            self._choice.on_update(self._changed)
            self._period.on_update(self._changed)
            self._play.on_click(self._toggle)
            self._add_charts()
        with gui.add_folder("Show"):
            masses = gui.add_checkbox("Masses", not visuals)
            masses.on_update(lambda _: self.scene.show_masses(masses.value))
            if robot.dependent_joints:
                self._numbers = gui.add_markdown("")
        self._swept = bool(swept)

    def run(self) -> None:
        """Serve until `Page.end`."""
        self.page.run(self.draw)

    def draw(self, passed: float, woken: bool) -> None:
        """One picture: after `passed` seconds of play, or because something was changed."""
        try:
            if passed and self._sweep is not None and not woken:
                self._advance(passed)
            else:
                self._follow_sliders()
        except MbdynError as error:
            self._say([f"**Cannot be reached.** {plain(error)}"])

    def _add_charts(self) -> None:
        gui = self.page.server.gui
        panel = gui.add_panel()
        with panel.add_tab("Motion and efforts"):
            self._charts = {
                unit: Chart(gui, PRINTED[unit], "time (s)", aspect=0.62) for unit in UNITS
            }
            gui.add_markdown("Solid: inverse dynamics of the motion. Dotted: gravity alone.")
        panel.dock_left()
        panel.set_width(PANEL)

    def _follow_sliders(self) -> None:
        q = self.sliders.q
        position = self.robot.joint_state(q)[0]
        self._show(q, position)
        words: list[str] = []
        if self._swept:
            label = str(self._choice.value)
            self._sweep = None
            self._sweep = sweep(
                self.robot, q, label, self.sliders.single[label], float(self._period.value)
            )
            self._time = self._sweep.time_at(float(q[self._sweep.column]))
            words += self._draw_charts(self._sweep)
        self._say(words)

    def _advance(self, passed: float) -> None:
        assert self._sweep is not None
        period = float(self._sweep.time[-1])
        self._time = (self._time + passed) % period
        q = self._sweep.q_at(self._time)
        self._show(q, self.robot.joint_state(q)[0])
        if clock.monotonic() - self._marked > 1 / MARKS:
            self._marked = clock.monotonic()
            self.sliders.set(q)
            for chart in self._charts.values():
                if chart.visible:
                    chart.mark(self._time)

    def _show(self, q: Array, position: Array) -> None:
        with self.page.server.atomic():
            self.scene.move(position)
            if self.robot.floating_base:
                self.scene.move_base(q[:7])
        if self.robot.dependent_joints and clock.monotonic() - self._marked > 1 / MARKS:
            labels = self.robot.system.coordinates.joint_labels
            shown = np.round(position, 4) + 0.0  # no -0
            rows = [
                f"| {name} | {shown[k]:.4f} {position_unit(self.robot.model, name)} |"
                for k, name in enumerate(labels)
                if name in self.robot.dependent_joints
            ]
            self._numbers.content = "\n".join(["| dependent joint | |", "|---|---:|", *rows])

    def _draw_charts(self, motion: Sweep) -> list[str]:
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
            chart.visible = bool(lines[unit])
            if lines[unit]:
                chart.show(motion.time, lines[unit], self._time)
        words = []
        if motion.effort is None:
            words.append(
                f"No efforts: {robot.nv} coordinates move, but only {len(robot.effort_labels)} "
                "joints are actuated."
            )
        if motion.cut:
            unit = position_unit(robot.model, motion.label)
            words.append(
                f"The loops let {motion.label} move from {motion.low:.4g} to {motion.high:.4g} "
                f"{unit}; beyond, they cannot be closed."
            )
        return words

    def _say(self, words: Sequence[str]) -> None:
        content = "\n\n".join([*words, *map(plain, self.scene.remarks)])
        if self._words.content != content:
            self._words.content = content

    def _changed(self, event: object) -> None:
        if getattr(event, "client_id", None) is not None:  # not what we set ourselves
            self.page.wake()

    def _home(self, _: object) -> None:
        self.sliders.reset()
        self.page.wake()

    def _toggle(self, _: object) -> None:
        self.page.playing = not self.page.playing
        self._play.label = "Pause" if self.page.playing else "Play"
        self.page.wake()


def _largest(values: Array, columns: Sequence[int]) -> list[int]:
    """The columns with the largest peaks, at most `MOST_LINES`, in their order; no zeros."""
    peaks = {k: float(np.abs(values[:, k]).max()) for k in columns}
    chosen = sorted((k for k in columns if peaks[k] > ZERO), key=lambda k: -peaks[k])
    return sorted(chosen[:MOST_LINES])
