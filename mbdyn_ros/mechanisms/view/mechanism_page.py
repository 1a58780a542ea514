"""The page of a mechanism: it turns, its numbers have sliders, and its charts follow at once."""

from __future__ import annotations

import io
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...array import Array
from ...errors import InputError
from ...names import in_markdown
from ...view.figure import empty_figure, legend_beside, tidy
from ...view.page.charts import Curve, EqualChart, PageChart
from ...view.page.motion import PagePlayback
from ...view.page.page import Page, renew
from ...view.scene.camera import FRONT
from .. import CrankMotion, Mechanism
from ..crank_motion import from_table
from ..forward import TorqueLaw, law_from_table
from ..registry import DRAWING_ENDS, MECHANISMS, kind_of
from ..sketch import Sketch
from .design_sliders import DesignSliders, DriveSliders
from .drawing_board import DrawingBoard, attempted
from .equations_panel import EquationsPanel
from .forces import POLYGONS, Forces, Polygon
from .free_body import FreeBody
from .kept_runs import KeptRun, KeptRuns
from .pin_drag import PinDrag, nearest_instant, reshaped
from .run import CONSTANT, QUANTITIES, DesignRun, first_drive, joint_titles
from .shown_mechanism import FADED, NAMES, ShownMechanism, bounds

NONE = "none"
"""No diagram."""

SPEED = 10.0
"""Of the cranks at the start, rad/s, unless another is asked for."""

PLAY_SPEEDS = (("1", 1.0), ("1/2", 0.5), ("1/5", 0.2), ("1/10", 0.1), ("1/20", 0.05))
"""Shares of real time to play at."""


class MechanismPage:
    """A mechanism on a page.

    Parameters
    ----------
    page : an empty page. speed : of the cranks at the start, rad/s.
    motion : the law of motion at the start, one of `run.LAWS`, or a motion from a file.
    torque : of a free motion at the start, N m or a law, and the longest step (s); None: none.

    Attributes
    ----------
    run_shown : the design and motion on the page; what is downloaded.

    Raises
    ------
    InputError
        The mechanism cannot be assembled all along the motion of its cranks.
    """

    def __init__(
        self, page: Page, mechanism: Mechanism, speed: float = SPEED,
        motion: str | CrankMotion = CONSTANT, torque: tuple[TorqueLaw | Array, float] | None = None,
    ) -> None:  # fmt: skip
        self.page = page
        gui = page.gui
        with gui.add_folder("Play"):
            self._playback = PagePlayback(page)
            self._instant: Any = gui.add_slider(
                "instant", 0.0, 100.0, 0.1, 0.0, marks=((0.0, "0"), (100.0, "100 %"))
            )  # fmt: skip
            self._slow = gui.add_dropdown(
                "real time ×", [name for name, _ in PLAY_SPEEDS], initial_value="1/10"
            )
            self._names = gui.add_checkbox("names", True)
        self.sliders = DesignSliders(gui, mechanism, page.changed, speed, motion)
        if torque is not None:
            self.sliders.driving.take_torque(*torque)
        self.run_shown = DesignRun(mechanism, self.sliders.drive)
        FilesPanel(page, mechanism, self.sliders.driving, self._open, self._sketch)
        self._kept = KeptRuns(page, lambda: self.run_shown, lambda: self.sliders.settings)
        with gui.add_folder("Download"):
            gui.add_button("CSV").on_click(self._download_csv)
            gui.add_button("PNG").on_click(self._download_png)
            if not mechanism.layout().cams:  # which URDF+ cannot describe
                gui.add_button("URDF+").on_click(self._download_urdf)
        EquationsPanel(page, lambda: (self.run_shown, self._row), _send)
        with page.charts("Torque and motion") as panel:
            self._torque = PageChart(gui, "driving torque (N m)", "", aspect=0.72)
            self._quantity = gui.add_dropdown("show", QUANTITIES, initial_value=QUANTITIES[0])
            self._turning = PageChart(gui, "", "", aspect=0.7)
            self._sliding = PageChart(gui, "", "", aspect=0.5)
            self._bodies = {f"free body of the {one}": one for one in mechanism.layout().order}
            diagrams = (NONE, *POLYGONS, *self._bodies)
            self._which = gui.add_dropdown("diagram", diagrams, initial_value=NONE)
            self._diagram = EqualChart(gui, panel, self._which)
            self._laws = gui.add_html("")
        with gui.add_folder("Forces", expand_by_default=False):
            self._pushing = gui.add_checkbox(
                "show", False, hint="In joints, of the part that carries on the one carried"
            )
            self._sentences = gui.add_markdown("")
        for control in (self._instant, self._names, self._quantity, self._which, self._pushing):
            control.on_update(page.changed)
        pose = self.run_shown.analysis.pose
        self._shown = ShownMechanism(page.scene, mechanism, pose)
        self._pins = PinDrag(page)
        self._pins.listen(mechanism)
        self._forces = Forces(self.run_shown)
        self._images = Polygon(self.run_shown)
        page.look(*bounds(pose), FRONT)
        self._body: tuple[DesignRun, str, FreeBody] | None = None
        self._state: object = None

    def _open(self, mechanism: Mechanism) -> None:
        """Show another mechanism instead of this one, where it can be assembled."""
        DesignRun(mechanism, first_drive(mechanism, SPEED, CONSTANT))
        self.page.gui.set_panel_label(mechanism.name)
        self.page.refill(lambda page: MechanismPage(page, mechanism).draw)

    def _sketch(self, of_this: bool) -> None:
        """Let a linkage be drawn instead of this one, whose points it may begin with."""
        run = self.run_shown
        sketch = Sketch.of(run.mechanism, run.analysis.pose, self._row) if of_this else Sketch()
        back = partial(self._open, run.mechanism)
        self.page.refill(lambda page: DrawingBoard(page, sketch, self._open, back).draw)

    def draw(self, passed: float, woken: bool) -> None:
        """One picture: after `passed` seconds of play, or because something was changed."""
        if passed:
            period = float(self.run_shown.motion.time[-1])
            self._playback.advance(passed * dict(PLAY_SPEEDS)[self._slow.value], period)
        elif woken:
            self._playback.share = float(self._instant.value) / 100
        if woken:
            self._follow_mouse()
            self._follow_sliders()
        with self.page.host.atomic():
            self._shown.move(self._row)
            if self._pushing.value:
                self.page.scene.draw(self._forces.items(self._row))
        if passed and self._playback.due():
            self._instant.value = round(100 * self._playback.share, 1)
            self._mark()

    def _follow_mouse(self) -> None:
        """Let lengths and the instant be those with which a pin is where the mouse has dragged
        it."""
        if (dragged := self._pins.taken()) is None:
            return
        try:
            lengths, q = reshaped(self.run_shown, self._row, self.sliders.lengths, *dragged)
        except InputError:
            return  # the mouse is where no such linkage reaches: it waits at the last place
        self.sliders.take_lengths(lengths)
        self._playback.share = nearest_instant(self.run_shown, q) / (len(self.run_shown.motion) - 1)
        self._instant.value = round(100 * self._playback.share, 1)

    def _follow_sliders(self) -> None:
        settings, drive = self.sliders.settings, self.sliders.drive
        self.page.scene.show("forces", self._pushing.value)
        self.page.scene.show(NAMES, self._names.value)
        state = (settings, drive, self._quantity.value, self._which.value, self._kept.runs)
        if state == self._state:
            self._mark()
            return
        self._state = state
        try:
            run = DesignRun(self.sliders.start.replaced(**settings), drive)
        except InputError as error:
            self.page.say(
                f"**Impossible.** {in_markdown(error)}.",
                "The last possible linkage is shown, faded.",
            )
            shown = self.run_shown
            self._shown.shape(shown.mechanism, shown.analysis.pose, FADED)
            return
        self.run_shown = run
        self._forces = Forces(run)
        self._images = Polygon(run)
        with self.page.host.atomic():
            self.sliders.follow(run.mechanism)
            self._shown.shape(run.mechanism, run.analysis.pose)
            self._draw_charts(run)
        self.page.look(*bounds(run.analysis.pose), FRONT)
        if run.stopped:
            self.page.say(f"**It ends early.** {in_markdown(run.stopped)}.")
        elif run.swings is None:
            self.page.say(*(f"{one[0].upper()}{one[1:]}." for one in run.analysis.lift_offs))
        else:
            low, high = (math.degrees(one) for one in run.swings)
            self.page.say(
                f"The {run.mechanism.inputs[0]} cannot turn fully: a toggle stops it at "
                f"{low:.1f} and {high:.1f} deg. It swings between."
            )

    def _draw_charts(self, run: DesignRun) -> None:
        panels = charts_of(run, str(self._quantity.value), tuple(self._kept.over(run.across)))
        charts = (self._torque, self._turning, self._sliding)
        for chart, (title, lines) in zip(charts, panels, strict=True):
            chart.name_axes(title, run.across)
            chart.show(run.x, lines, self._now)
        self._draw_instant()

    def _draw_instant(self) -> None:
        """Draw what belongs to the present alone."""
        name = str(self._which.value)
        unit = POLYGONS.get(name, "")
        lines: list[Curve] = []
        if name in POLYGONS:
            kept = (one.polygon(name, self._playback.share) for one in self._kept.runs)
            lines = [*itertools.chain(*kept), *self._images.lines(name, self._row)]
        laws = ""
        if name in self._bodies:
            body = self._free_body(self._bodies[name])
            self._diagram.show("m", "m", *body.lines(self._row))
            laws = body.equations(self._row)
        else:
            self._diagram.show(f"{name} ({unit})", unit, lines)
        words = self._forces.sentences(self._row) if self._pushing.value else ""
        renew(self._sentences, content=words)
        renew(self._laws, content=laws)

    def _free_body(self, part: str) -> FreeBody:
        """Of the run that is shown; the last one asked for is kept."""
        if self._body is None or self._body[:2] != (self.run_shown, part):
            self._body = self.run_shown, part, FreeBody(self.run_shown.analysis, part)
        return self._body[2]

    @property
    def _row(self) -> int:
        """The place of the present among the instants of the run."""
        return round(self._playback.share * (len(self.run_shown.motion) - 1))

    @property
    def _now(self) -> float:
        """The present on the axis of the charts."""
        return float(self.run_shown.x[self._row])

    def _mark(self) -> None:
        for chart in (self._torque, self._turning, self._sliding):
            chart.mark(self._now)
        self._draw_instant()

    def _download_csv(self, event: Any) -> None:
        run = self.run_shown
        _send(event, f"{run.mechanism.name}.csv", run.csv().encode())

    def _download_urdf(self, event: Any) -> None:
        mechanism = self.run_shown.mechanism
        _send(event, f"{mechanism.name}.urdf", mechanism.urdf().encode())

    def _download_png(self, event: Any) -> None:
        if event.client is None:
            return
        scene = event.client.get_render(800, 900, transport_format="jpeg")
        quantity = str(self._quantity.value)
        name = f"{self.run_shown.mechanism.name}.png"
        kept = tuple(self._kept.over(self.run_shown.across))
        _send(event, name, picture(self.run_shown, quantity, kept, scene))


class FilesPanel:
    """The folder in which kinds and files are chosen; what is refused is said in a notification.

    Parameters
    ----------
    driving : takes motions and torques. show : shows another mechanism on the page.
    draw : lets a linkage be drawn, from nothing or, where its argument is true, from this one.
    """

    def __init__(
        self, page: Page, mechanism: Mechanism, driving: DriveSliders,
        show: Callable[[Mechanism], None], draw: Callable[[bool], None],
    ) -> None:  # fmt: skip
        self._page = page
        inputs = mechanism.inputs
        columns = ", ".join(f"QUANTITY/{name}" for name in inputs)
        kinds = tuple(dict.fromkeys((mechanism.name, *MECHANISMS)))
        with page.gui.add_folder("Files", expand_by_default=False):
            kind: Any = page.gui.add_dropdown("mechanism", kinds, initial_value=mechanism.name)
            kind.on_update(partial(attempted, page, lambda: show(kind_of(str(kind.value))())))
            for label, start in (("Draw a linkage", False), ("Drag the points of this one", True)):
                act = partial(attempted, page, partial(draw, start))
                page.gui.add_button(label).on_click(act)
            self._add(
                "Open a drawing", ",".join(DRAWING_ENDS), "YAML: points, links, ground, inputs",
                lambda path: show(kind_of(str(path))()),
            )  # fmt: skip
            self._add(
                "Motion", ".csv,.json", f"time, {columns.replace('QUANTITY', 'position')}",
                lambda path: driving.take_motion(from_table(path, inputs)),
            )  # fmt: skip
            self._add(
                "Torque", ".csv,.json", f"time, {columns.replace('QUANTITY', 'effort')}",
                lambda path: driving.take_torque(*law_from_table(path, inputs)),
            )  # fmt: skip

    def _add(self, label: str, ends: str, hint: str, take: Callable[[Path], None]) -> None:
        """A button that takes a file."""
        button: Any = self._page.gui.add_upload_button(label, mime_type=ends, hint=hint)

        def taken(event: Any) -> None:
            with tempfile.TemporaryDirectory(prefix="mbdyn_ros-") as folder:
                path = Path(folder) / Path(button.value.name).name
                path.write_bytes(button.value.content)
                attempted(self._page, partial(take, path), event, f"{folder}/")

        button.on_upload(taken)


def _send(event: Any, name: str, content: bytes) -> None:
    if event.client is not None:
        event.client.send_file_download(name, content, save_immediately=True)


DASHES = {"solid": "-", "dot": ":", "dash": "--", "longdash": (0, (8, 3))}


def charts_of(
    run: DesignRun, quantity: str, kept: Sequence[KeptRun]
) -> Iterator[tuple[str, list[Curve]]]:
    """Titles and lines of the charts: torque, a quantity of what turns, and of what slides."""
    torques = (line for one in kept for line in one.torque_lines())
    yield "driving torque (N m)", [*torques, *run.torque_lines()]
    before = [one.run.joint_lines(quantity) for one in kept]
    for k, (title, lines) in enumerate(
        zip(joint_titles(quantity), run.joint_lines(quantity), strict=True)
    ):
        dashed = (one.dashed(both[k]) for one, both in zip(kept, before, strict=True))
        yield title, [*itertools.chain(*dashed), *lines]


def picture(run: DesignRun, quantity: str, kept: Sequence[KeptRun], scene: Any) -> bytes:
    """A PNG: the scene (h, w, 3) as it is seen, the torque, and a quantity of the joints."""
    panels = [(title, lines) for title, lines in charts_of(run, quantity, kept) if lines]
    figure = empty_figure(13, 6.5, dpi=120)
    grid = figure.add_gridspec(len(panels), 2, width_ratios=(1.0, 1.0))
    axes = figure.add_subplot(grid[:, 0])
    axes.imshow(scene)
    axes.set_axis_off()
    axes.set_title(run.mechanism.title)
    for row, (title, lines) in enumerate(panels):
        axes = figure.add_subplot(grid[row, 1])
        for line in lines:
            x = run.x if line.x is None else line.x
            axes.plot(
                x,
                line.y,
                color=line.color,
                linestyle=DASHES[line.dash],
                linewidth=0.8 * line.width,
                label=line.name if line.listed else None,
            )
        axes.set_ylabel(title)
        tidy(axes)
        legend_beside(axes)
        axes.set_xlabel(run.across)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()
