"""The page of one robot: sliders for its independent joints and its lengths, a motion, efforts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MbdynError
from ...model.joints.quaternion import rotation_rows
from ...model.model import Array
from ...names import in_markdown
from ...robot import Robot
from ...robot.described import described_model
from ...units import position_unit
from ..scene.arrows import joint_arrows
from ..scene.camera import ABOVE, framed
from ..scene.scene import Item
from ..scene.shown_robot import ShownRobot
from ..scene.visuals import PlacedShape
from .charts import MotionCharts
from .excursion import Excursion, excursion, joint_table
from .motion import PagePlayback, RobotMotion
from .page import Page, renew
from .slider_panel import LengthSliders, SliderPanel

if TYPE_CHECKING:
    import viser

    from .page import Page


RECORDED = "as recorded"
"""The choice of the recording, next to the joints."""

FRAMED_INSTANTS = 12
"""Of a motion that a camera frames."""


class RobotPage:
    """A robot on a page.

    Parameters
    ----------
    page : an empty page. visuals, folder : as of `ShownRobot`.
    q : (nq,) where it is first shown; at home unless given.
    recording : a motion to play. shown : as of `ShowFolder`; the masses of robots without
        visuals always.
    """

    def __init__(
        self, page: Page, robot: Robot, visuals: tuple[PlacedShape, ...], folder: Path | None,
        q: Array | None = None, recording: RobotMotion | None = None, shown: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.page, self.robot = page, robot
        self._motion: RobotMotion | None = None
        self.recording = recording
        gui = page.gui
        with gui.add_folder("Joints"):
            self.sliders = JointSliders(gui, robot, page.changed)
            if self.sliders.single:
                self.sliders.add_reset("Home")
        self._lengths: LengthSliders | None = None
        if robot.variable_origins:
            with gui.add_folder("Lengths"):
                self._lengths = LengthSliders(gui, robot, page.changed)
        if recording is not None:
            q = recording.q[0]
        if q is not None:
            self.sliders.start_at(q)
        position = robot.joint_state(self.sliders.q)[0]
        self._shown = ShownRobot(page.scene, robot.model, visuals, folder, position)
        page.look(self._shown.low, self._shown.high, ABOVE)
        if robot.floating_base:
            self._shown.move_base(self.sliders.q[:7])
        moved = [label for label in self.sliders.single if label in robot.velocity_labels]
        choices = [*([RECORDED] if recording is not None else []), *moved]
        self._movable = bool(choices)
        if self._movable:
            self._add_motion(choices)
        self._show_folder = ShowFolder(
            page, robot, self._shown, shown if visuals else (*shown, "masses")
        )
        with gui.add_folder("At this pose"):
            self._numbers = gui.add_markdown("")
            if len(robot.effort_labels) >= robot.nv:
                gui.add_markdown("Efforts hold it still; while it plays, they are of the motion.")

    def framed(self, aspect: float) -> tuple[Array, Array]:
        """Position and turn of the camera whose picture the robot fills where it is first shown."""
        return framed(self._corners(self.sliders.q), ABOVE, aspect)

    def framed_in_motion(self, recording: RobotMotion, aspect: float) -> tuple[Array, Array]:
        """The same of a picture that the robot fills in a motion."""
        places = []
        for share in np.linspace(0, 1, FRAMED_INSTANTS).tolist():
            self.show(recording, share)
            places.append(self._corners(recording.at(share)[0]))
        return framed(np.concatenate(places), ABOVE, aspect)

    def show(self, motion: RobotMotion, share: float) -> None:
        """Show the instant of a motion at which a share of it has passed."""
        self._show(*motion.at(share))

    def _corners(self, q: Array) -> Array:
        """Corners (N, 3) of all that is shown, m."""
        places = self._shown.corners(self.robot.joint_state(q)[0], self._show_folder.arrows)
        if not self.robot.floating_base:
            return places
        return q[:3] + places @ np.array(rotation_rows(*q[3:7])).T

    def draw(self, passed: float, woken: bool) -> None:
        """One picture: after `passed` seconds of play, or because something was changed."""
        try:
            if passed and self._motion is not None and not woken:
                self._play(self._motion, passed)
            else:
                self._follow_controls()
        except MbdynError as error:
            self._say([f"**Cannot be reached.** {in_markdown(error)}"])

    def _add_motion(self, choices: Sequence[str]) -> None:
        gui, page = self.page.gui, self.page
        with gui.add_folder("Motion"):
            start = RECORDED if RECORDED in choices else self._heaviest(choices)
            self._choice = gui.add_dropdown("Joint", choices, initial_value=start)
            marks = ((0.5, "0.5"), (10.0, "10 s"))
            self._period = gui.add_slider("Period", 0.5, 10.0, 0.1, 3.0, marks=marks)
            marks = ((0.0, "0"), (100.0, "100 %"))
            self._instant: Any = gui.add_slider(
                "Instant", 0.0, 100.0, 0.1, 0.0, marks=marks, visible=start == RECORDED
            )
            self._playback = PagePlayback(page)
        for control in (self._choice, self._period, self._instant):
            control.on_update(page.changed)
        self._charts = MotionCharts(page, self.robot)

    def _heaviest(self, choices: Sequence[str]) -> str:
        """The joint whose motion changes the static efforts the most."""
        robot = self.robot
        if len(robot.effort_labels) < robot.nv:
            return choices[0]
        states = np.tile(self.sliders.q, (2 * len(choices), 1))
        for k, label in enumerate(choices):
            column = robot.position_labels.index(label)
            states[2 * k : 2 * k + 2, column] = self.sliders.single[label]
        still = np.zeros((len(states), robot.nv))
        effort = robot.inverse_dynamics(states, still, still)
        change = np.abs(effort[1::2] - effort[::2]).max(axis=1, initial=0.0)
        return choices[int(np.argmax(np.nan_to_num(change)))]

    def _follow_controls(self) -> None:
        words: list[str] = []
        if self._lengths is not None and self._lengths.take():
            self._shown.reshape(described_model(self.robot))
        recorded = self._movable and self._choice.value == RECORDED
        if self._movable:
            renew(self._instant, visible=recorded)
            renew(self._period, visible=not recorded)
        if recorded and self.recording is not None:
            if self._motion is not self.recording:
                self._motion = self.recording
                self._charts.draw(self._motion, 0.0)
            self._playback.share = float(self._instant.value) / 100
            self._show_instant(self._motion)
        else:
            q = self.sliders.q
            self._show(q, *np.zeros((2, self.robot.nv)))
            self._list_joints(q, self._holding(q))
            if self._movable:
                words += self._begin(q)
        self._say(words)

    def _begin(self, q: Array) -> list[str]:
        """Make the motion of the chosen joint around a pose; words about it."""
        label = str(self._choice.value)
        self._motion = None
        motion = excursion(
            self.robot, q, label, self.sliders.single[label], float(self._period.value)
        )
        self._playback.share = motion.stroke.share_at(float(q[motion.column]))
        self._charts.draw(motion, self._playback.share * motion.period)
        self._motion = motion
        return self._about(motion)

    def _play(self, motion: RobotMotion, passed: float) -> None:
        self._playback.advance(passed, motion.period)
        if not self._playback.due():
            self._show(*motion.at(self._playback.share))
            return
        self._show_instant(motion)
        if motion is self.recording:
            self._instant.value = round(100 * self._playback.share, 1)

    def _show_instant(self, motion: RobotMotion) -> None:
        """Show where a motion stands, in numbers and charts too."""
        q, v, a = motion.at(self._playback.share)
        self._show(q, v, a)
        self._list_joints(q, motion.effort_at(self._playback.share))
        self.sliders.show_position(q)
        self._charts.mark(self._playback.share * motion.period)

    def _show(self, q: Array, v: Array, a: Array) -> None:
        position = self.robot.joint_state(q)[0]
        with self.page.host.atomic():
            self._shown.move(position)
            if self.robot.floating_base:
                self._shown.move_base(q[:7])
            self._show_folder.follow(q, v, a)

    def _holding(self, q: Array) -> Array | None:
        """Efforts (n,) that hold the robot still."""
        if len(self.robot.effort_labels) < self.robot.nv:
            return None
        still = np.zeros(self.robot.nv)
        return self.robot.inverse_dynamics(q, still, still)

    def _list_joints(self, q: Array, effort: Array | None) -> None:
        position = self.robot.joint_state(q)[0]
        text = joint_table(self.robot, position, effort, self.sliders.wanted)
        renew(self._numbers, content=text)

    def _about(self, motion: Excursion) -> list[str]:
        robot, words = self.robot, []
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
        self.page.say(*words, *map(in_markdown, self._shown.remarks))


class ShowFolder:
    """Checkboxes for masses, frames, collision shapes and forces.

    Parameters
    ----------
    shown : what is seen at the start, of masses, center, frames, collision and forces.

    Attributes
    ----------
    arrows : of forces that were drawn last.
    """

    def __init__(
        self, page: Page, robot: Robot, subject: ShownRobot, shown: Collection[str]
    ) -> None:
        self._robot, self._subject = robot, subject
        gui = page.gui
        with gui.add_folder("Show"):
            self._masses = gui.add_checkbox("Masses", "masses" in shown)
            self._middle = gui.add_checkbox("Centre of mass", "center" in shown)
            self._frames = gui.add_checkbox("Frames", "frames" in shown)
            self._shapes = gui.add_checkbox(
                "Collision", "collision" in shown, visible=subject.has_collisions
            )
            self._forces = gui.add_checkbox("Forces", "forces" in shown)
            self._words = gui.add_markdown("")
        self.arrows: list[Item] = []
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
            self.arrows, most = joint_arrows(self._robot, subject.size, q, v, a)
            scene.draw(self.arrows)
            words.append(f"Forces of joints on the links they carry; the largest is {most:.4g} N")
        renew(self._words, content="\n\n".join(words))


def _point(point: Array) -> str:
    return ", ".join(f"{round(float(one), 4) + 0.0:.4f}" for one in point)


FREE = {"rad": math.pi, "m": 1.0}
"""Half the range of a slider whose joint has no limits."""

TURN_NAMES = ("roll", "pitch", "yaw")


class JointSliders(SliderPanel):
    """One slider for each coordinate of q; three (roll, pitch, yaw) for a quaternion.

    Attributes
    ----------
    home : q where the sliders start.
    single : coordinates that have a slider of their own, and their ranges (rad or m).
    """

    def __init__(self, gui: viser.GuiApi, robot: Robot, changed: Callable[[Any], None]) -> None:
        super().__init__(gui, changed)
        self._robot = robot
        self.home = robot.home_position
        self.single: dict[str, tuple[float, float]] = {}
        self._quaternions = robot.system.coordinates.quaternions
        self.add_search(len(robot.position_labels))
        for k, label in enumerate(robot.position_labels):
            if k in self._quaternions:
                for turn in self._turns(k):
                    self.add(turn, -math.pi, math.pi, 0.0, unit="rad")
            elif not any(start < k < start + 4 for start in self._quaternions):
                unit, start = position_unit(robot.model, label), float(self.home[k])
                self.single[label] = self._range(label, FREE[unit], start)
                self.add(label, *self.single[label], start, unit=unit)

    @property
    def q(self) -> Array:
        """Position (nq,) that the sliders show."""
        q = self.home.copy()
        for k, label in enumerate(self._robot.position_labels):
            if k in self._quaternions:
                q[k : k + 4] = self._quaternion(k)
            elif label in self.single:
                q[k] = self[label]
        return q

    def start_at(self, q: Array) -> None:
        """Show a position (nq,) to the last digit."""
        self.home = q.copy()
        for name, value in self._values(q).items():
            slider = self._sliders[name]
            slider.value = float(min(max(value, slider.min), slider.max))

    def show_position(self, q: Array) -> None:
        """Let the sliders show a position (nq,)."""
        self.show(self._values(q))

    def _values(self, q: Array) -> dict[str, float]:
        """The numbers of the sliders at a position, by name."""
        from scipy.spatial.transform import Rotation

        every = zip(self._robot.position_labels, q.tolist(), strict=True)
        values = {label: value for label, value in every if label in self.single}
        for k in self._quaternions:
            angles = Rotation.from_quat(q[k : k + 4]).as_euler("xyz").tolist()
            values.update(zip(self._turns(k), angles, strict=True))
        return values

    def _range(self, label: str, free: float, home: float) -> tuple[float, float]:
        low, high = -free, free
        if label in self._robot.joint_names:
            limits = self._robot.model.joint(label).limits
            low = limits.lower if math.isfinite(limits.lower) else low
            high = limits.upper if math.isfinite(limits.upper) else high
        return min(low, home), max(high, home)

    def _turns(self, start: int) -> list[str]:
        """The sliders of the quaternion that begins there in q."""
        name = self._robot.position_labels[start].rpartition("/")[0]
        return [f"{name}/{turn}" for turn in TURN_NAMES]

    def _quaternion(self, start: int) -> Array:
        from scipy.spatial.transform import Rotation

        angles = [self[turn] for turn in self._turns(start)]
        return np.array(Rotation.from_euler("xyz", angles).as_quat())
