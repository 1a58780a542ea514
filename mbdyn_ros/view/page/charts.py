"""Charts next to the scene: lines over a common axis, figures in a plane, a motion over time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...names import in_html
from ...robot import Robot
from ...units import effort_unit, position_unit
from ..figure import LIMIT_IN_VIEW, color_of
from .motion import RobotMotion
from .page import Page, renew

if TYPE_CHECKING:
    import viser


INK, FAINT, GRID = "#2b2f36", "#8a9099", "#e6e8eb"

FONT = "11px sans-serif"

DASHES = {"solid": (), "dot": (2, 3), "dash": (7, 4), "longdash": (12, 4)}
"""Lengths of strokes and gaps, pixels. The legend shows them by classes of these names."""

UNLISTED = "unlisted"
"""The class of lines that the legend leaves out."""

MARK = {"stroke": FAINT, "width": 1, "points": {"show": False}, "class": UNLISTED, "scale": "mark"}
"""The upright line at the present: the last of a chart's, over a scale of its own."""

SCALES: dict[str, Any] = {"x": {"time": False}, "mark": {"range": (0, 1)}}

MARGIN_Y = 0.1
"""Room above and below lines, as a share of what they span."""

PREFIXES = ((1e-4, 1e6, "µ"), (0.1, 1e3, "m"), (1e4, 1.0, ""), (math.inf, 1e-3, "k"))
"""Peaks below which a unit gets a factor and its prefix: uPlot writes three decimals."""

TURNS = (90, 180, 360, 720, 1440, 2880, 5760)
"""Between the numbers of an axis of angles, deg."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a chart: `y` (n,) in the chart's unit; NaN leaves a gap.

    `listed`: whether the legend has it. `x`: over the chart's own unless given.
    """

    name: str
    y: Array
    color: str
    dash: str = "solid"
    width: float = 2.0
    listed: bool = True
    x: Array | None = None


class PageChart:
    """A chart on a page, there while it has lines.

    A change sends its numbers alone, and names, colours and axes where these changed too. Its
    legend, below it, says what all lines are where the mouse is.

    Parameters
    ----------
    title, across : what its lines are, with the unit; what they are over.
    aspect : height over width, without the legend.
    """

    def __init__(self, gui: viser.GuiApi, title: str, across: str, aspect: float = 0.58) -> None:
        self._x = np.zeros(2)
        self._lines: tuple[Curve, ...] = ()
        self._across, self._title, self._factor = across, title, 1.0
        self._handle: Any = gui.add_uplot(
            (self._x, self._x), ({}, {}), scales=SCALES, axes=self._axes(""),
            aspect=1 / aspect, padding=(8, 14, 0, 0), visible=False,
        )  # fmt: skip

    def name_axes(self, title: str, across: str) -> None:
        """Rename its axes, for what is shown next."""
        self._title, self._across = title, across

    def show(self, x: Array, lines: Sequence[Curve], now: float | None = None) -> None:
        """Draw lines over x (n,); `now` is where a thin upright line marks the present."""
        self._lines = tuple(part for line in lines for part in _parts(line, x))
        if lines:
            own = [line.x for line in lines if line.x is not None]
            self._x = np.unique(np.concatenate([x, *own]))
            peak = max(float(np.abs(_rounded(line.y)).max(initial=0)) for line in self._lines)
            _, self._factor, prefix = next(row for row in PREFIXES if (peak or 1.0) < row[0])
            series = ({"label": self._across}, *map(_style, self._lines), MARK)
            renew(self._handle, series=series, axes=self._axes(prefix), scales=self._scales(peak))
            self.mark(now)
        renew(self._handle, visible=bool(lines))

    def mark(self, now: float | None) -> None:
        """Move the mark of the present."""
        if not self._lines:
            return
        present = [self._x[0] if now is None else now] * 2
        at = np.searchsorted(self._x, present)
        x = np.insert(self._x, at, present)
        mark = np.full(len(x), np.nan)
        if now is not None:
            mark[at[0] : at[0] + 2] = 0, 1
        self._handle.data = (x, *(self._factor * _over(x, line) for line in self._lines), mark)

    def _scales(self, peak: float) -> dict[str, Any]:
        """All of x, which uPlot would keep from the numbers before; uPlot finds the range of y,
        unless all is 0, or a line begins later than the chart: with no number."""
        scales = dict(SCALES)
        if self._x[-1] > self._x[0]:
            scales["x"] = SCALES["x"] | {"range": (float(self._x[0]), float(self._x[-1]))}
        if not peak:
            return scales | {"y": {"range": (-1.0, 1.0)}}
        drawn = [line for line in self._lines if line.x is not None and len(line.x)]
        if not drawn or all(np.isfinite(_over(self._x[:1], line)[0]) for line in self._lines):
            return scales
        low = self._factor * min(float(line.y.min()) for line in drawn)
        high = self._factor * max(float(line.y.max()) for line in drawn)
        room = MARGIN_Y * (high - low) or 1.0
        return scales | {"y": {"range": (low - room, high + room)}}

    def _axes(self, prefix: str) -> Any:
        thin = {"stroke": GRID, "width": 1}
        look = {"font": FONT, "labelFont": FONT, "labelSize": 18, "stroke": INK, "grid": thin,
                "ticks": thin}  # fmt: skip
        across: dict[str, Any] = {**look, "label": self._across, "size": 30}
        if "(deg)" in self._across:
            across["incrs"] = TURNS
        title = self._title.replace("(", f"({prefix}", 1)
        return across, {**look, "label": title, "size": 50}


def _parts(line: Curve, x: Array) -> list[Curve]:
    """A line in parts without gaps, each over an x of its own that grows; the first is listed."""
    over = x if line.x is None else line.x
    order = np.argsort(over, kind="stable")
    over, y = over[order], line.y[order]
    there = np.flatnonzero(np.isfinite(y))
    runs = np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)
    return [
        replace(line, x=over[run], y=y[run], listed=line.listed and k == 0)
        for k, run in enumerate(runs)
    ]


def _over(x: Array, line: Curve) -> Array:
    """The numbers of a part at x (m,); NaN beyond its ends."""
    if line.x is None or not len(line.x):
        return np.full(len(x), np.nan)
    return _rounded(np.interp(x, line.x, line.y, np.nan, np.nan))


def _rounded(numbers: Array) -> Array:
    """Numbers to a thousandth of the least unit: what is below is rounding, of no scale."""
    rounded: Array = np.round(numbers, 9)
    return rounded


def _style(line: Curve) -> dict[str, Any]:
    return {
        "label": line.name, "stroke": line.color, "width": line.width, "dash": DASHES[line.dash],
        "points": {"show": False}, "pxAlign": 0, "class": line.dash if line.listed else UNLISTED,
    }  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A figure as Plotly's JSON; plotly's own takes milliseconds to check what we know is right."""

    text: str

    def to_json(self) -> str:
        """The JSON that viser asks a figure for."""
        return self.text


class EqualChart:
    """Lines in a plane, there while it has any; redrawn as a whole where it changed.

    It comes with its first lines: Plotly is 5 MB that a browser reads for 2 s before it draws
    anything else. The browser gets it hidden, and shown once it is drawn: Plotly fails at a chart
    that is taken away while its first picture is being laid out.

    Parameters
    ----------
    place : the panel. after : the control that it follows there. aspect : height over width.
    """

    def __init__(
        self, gui: viser.GuiApi, place: viser.GuiTabHandle, after: Any, aspect: float = 0.8
    ) -> None:
        self._gui, self._place, self._aspect = gui, place, aspect
        self._order = after.order + 0.5  # viser counts controls by ones
        self._drawn: Figure | None = None
        self._handle: Any = None

    def show(
        self, title: str, unit: str, lines: Sequence[Curve], arrows: Sequence[Curve] = ()
    ) -> None:
        """Draw lines, each over its own x; `title` is what they are, `unit` that of both axes.

        arrows : lines of two points, with a head at the second.
        """
        if lines:
            figure: Any = _figure(title, unit, (*lines, *arrows), arrows)
            if self._handle is None:
                with self._place:
                    self._handle = self._gui.add_plotly(
                        figure, aspect=self._aspect, order=self._order, visible=False
                    )
            elif figure != self._drawn:
                self._handle.figure = figure
            self._drawn = figure
        if self._handle is not None:
            self._handle.visible = bool(lines)


def _figure(title: str, unit: str, lines: Sequence[Curve], arrows: Sequence[Curve] = ()) -> Figure:
    data = [
        {
            "type": "scatter", "mode": "lines", "name": in_html(line.name),
            "x": _numbers(line.x), "y": _numbers(line.y),
            "line": {"color": line.color, "width": line.width, "dash": line.dash},
            "hovertemplate": "%{y:.4g}",
        }
        for line in lines
    ]  # fmt: skip
    axis = {"gridcolor": GRID, "linecolor": GRID, "ticks": "outside", "tickcolor": GRID}
    words = {"standoff": 4, "font": {"size": 11}}
    layout = {
        "margin": {"l": 52, "r": 12, "t": 34, "b": 40},
        "font": {"size": 11, "color": INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom",
                   "font": {"size": 9.5}, "maxheight": 1.0, "entrywidth": 0.5,
                   "entrywidthmode": "fraction"},
        "xaxis": {"title": {"text": unit, **words}, **axis},
        "yaxis": {"title": {"text": title, **words}, "scaleanchor": "x", **axis},
        "showlegend": True,
    }  # fmt: skip
    layout["annotations"] = [
        {
            "x": x[1], "y": y[1], "ax": x[0], "ay": y[0], "axref": "x", "ayref": "y", "text": "",
            "arrowhead": 2, "arrowsize": 1.2, "arrowwidth": one.width, "arrowcolor": one.color,
        }
        for one in arrows for x, y in [(_numbers(one.x), _numbers(one.y))]
    ]  # fmt: skip
    config = {"displayModeBar": False, "responsive": False}
    return Figure(json.dumps({"data": data, "layout": layout, "config": config}))


def _numbers(values: Array | None) -> list[float]:
    return [] if values is None else values.tolist()


MOST_LINES = 4
"""Lines of one chart; the largest are drawn."""

LEAST_PEAK = 1e-9
"""Peaks (rad, m, N m or N) that are not drawn."""

UNITS = ("N m", "N", "rad", "m")
PRINTED = {"N m": "effort (N m)", "N": "effort (N)", "rad": "angle (rad)", "m": "slide (m)"}


class MotionCharts:
    """A chart for each unit, those with the largest lines."""

    def __init__(self, page: Page, robot: Robot) -> None:
        self._robot = robot
        gui = page.gui
        with page.charts("Motion and efforts"):
            self._charts = {
                unit: PageChart(gui, PRINTED[unit], "time (s)", aspect=0.62) for unit in UNITS
            }
            gui.add_markdown(
                "Solid: efforts of the motion. Dotted: gravity alone. Dashed: limits near them."
            )

    def mark(self, now: float) -> None:
        """Move the mark of the present."""
        for chart in self._charts.values():
            chart.mark(now)

    def draw(self, motion: RobotMotion, now: float) -> None:
        """Draw a motion; `now` is the present, s."""
        lines = {**self._efforts(motion), **self._positions(motion)}
        for unit, chart in self._charts.items():
            chart.show(motion.time, lines[unit], now)

    def _efforts(self, motion: RobotMotion) -> dict[str, list[Curve]]:
        robot = self._robot
        lines: dict[str, list[Curve]] = {"N m": [], "N": []}
        labels, limits = robot.effort_labels, robot.effort_limits
        units = [effort_unit(robot.model, one) for one in labels]
        effort = motion.effort
        for unit, drawn in lines.items():
            columns = [k for k, one in enumerate(units) if one == unit]
            for i, k in enumerate([] if effort is None else _largest(effort, columns)):
                assert effort is not None
                name, color, values = labels[k], color_of(i), effort[:, k]
                drawn.append(Curve(name, values, color))
                if motion.gravity is not None:
                    gravity = motion.gravity[:, k]
                    drawn.append(Curve(f"{name}, gravity", gravity, color, "dot", 1.5, False))
                drawn += _limit_lines(name, values, (-limits[k], limits[k]), color)
        return lines

    def _positions(self, motion: RobotMotion) -> dict[str, list[Curve]]:
        robot = self._robot
        labels = robot.system.coordinates.joint_labels
        bounds = _bounds(robot)
        moved = motion.position - motion.position[0]
        units = [position_unit(robot.model, one) for one in labels]
        lines: dict[str, list[Curve]] = {"rad": [], "m": []}
        for unit, drawn in lines.items():
            chosen = _largest(moved, [k for k, one in enumerate(units) if one == unit])
            for i, k in enumerate(chosen):
                values, color = motion.position[:, k], color_of(i)
                drawn.append(Curve(labels[k], values, color))
                drawn += _limit_lines(labels[k], values, bounds.get(labels[k], ()), color)
        return lines


def _bounds(robot: Robot) -> Mapping[str, tuple[float, float]]:
    """Position limits by joint, of joints of one coordinate that have an end."""
    joints = [joint for joint in robot.model.joints if joint.nq == 1 and not joint.kind.is_endless]
    return {joint.name: (joint.limits.lower, joint.limits.upper) for joint in joints}


def _limit_lines(name: str, values: Array, limits: Sequence[float], color: str) -> list[Curve]:
    """Those of some limits that are near a line."""
    peak = float(np.abs(values).max())
    return [
        Curve(f"{name}, limit", np.full_like(values, limit), color, "dash", 1.0, False)
        for limit in limits
        if np.isfinite(limit) and abs(limit) <= LIMIT_IN_VIEW * peak
    ]


def _largest(values: Array, columns: Sequence[int]) -> list[int]:
    """The columns with the largest peaks, at most `MOST_LINES`, in their order; no zeros."""
    peaks = {k: float(np.abs(values[:, k]).max()) for k in columns}
    chosen = sorted((k for k in columns if peaks[k] > LEAST_PEAK), key=lambda k: -peaks[k])
    return sorted(chosen[:MOST_LINES])
