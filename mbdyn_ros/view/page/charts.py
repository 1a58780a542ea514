"""Charts beside the scene: lines over a common axis, by uPlot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array

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
            self._set("series", ({"label": self._across}, *map(_style, self._lines), MARK))
            self._set("axes", self._axes(prefix))
            self._set("scales", self._scales(peak))
            self.mark(now)
        self._set("visible", bool(lines))

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

    def _set(self, name: str, value: Any) -> None:
        """Send what is new alone."""
        if getattr(self._handle, name) != value:
            setattr(self._handle, name, value)


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
