"""Charts beside the scene: lines over a common axis, by Plotly."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.model import Array
from ...names import in_html

if TYPE_CHECKING:
    import viser

LEGEND, ENTRY, LETTER = 270, 43, 5.5
"""Widths of a chart's legend, of an entry without its words, and of a letter, in pixels."""

ROW = 0.055
"""The height of a row of the legend, as a share of a chart's width."""

INK, FAINT, GRID = "#2b2f36", "#8a9099", "#e6e8eb"


@dataclass(frozen=True, eq=False)
class Line:
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


@dataclass(frozen=True)
class Figure:
    """A figure as Plotly's JSON; plotly's own takes milliseconds to check what we know is right."""

    text: str

    def to_json(self) -> str:
        """The JSON that viser asks a figure for."""
        return self.text


class Chart:
    """A chart on a page, there while it has lines.

    It is redrawn as a whole where it changed, in a few milliseconds. The browser gets it hidden,
    and shown once it is drawn: Plotly fails at a chart that is taken away while its first picture
    is being laid out.

    Parameters
    ----------
    title, across : what its lines are, with the unit; what they are over.
    aspect : height over width. equal : whether both axes have one scale.
    """

    def __init__(
        self, gui: viser.GuiApi, title: str, across: str, aspect: float = 0.58,
        equal: bool = False,
    ) -> None:  # fmt: skip
        self._x = np.zeros(0)
        self._lines: tuple[Line, ...] = ()
        self._layout: dict[str, Any] = {
            "margin": {"l": 52, "r": 12, "t": 34, "b": 40},
            "font": {"size": 11, "color": INK},
            "paper_bgcolor": "white",
            "plot_bgcolor": "white",
            "hovermode": "x",
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom",
                       "font": {"size": 9.5}, "bgcolor": "rgba(0,0,0,0)", "maxheight": 1.0},
            "xaxis": {"title": {"text": across, "standoff": 4}, **_AXIS},
            "yaxis": {"title": {"text": title, "standoff": 4}, "zeroline": True,
                      "zerolinecolor": "#b9bec5", **_AXIS},
            "showlegend": True,
        }  # fmt: skip
        if equal:
            self._layout["yaxis"]["scaleanchor"] = "x"
        self._drawn: Any = self._figure(None)
        self._aspect = aspect
        self._handle = gui.add_plotly(self._drawn, aspect=aspect, visible=False)

    def show(self, x: Array, lines: Sequence[Line], now: float | None = None) -> None:
        """Draw lines over x (n,); `now` is where a thin upright line marks the present."""
        self._x, self._lines = x, tuple(lines)
        if lines:
            self._make_room()
            self.mark(now)
        self._handle.visible = bool(lines)

    def _make_room(self) -> None:
        """Let the chart grow by the rows of its legend: they take nothing of the data."""
        names = [line.name for line in self._lines if line.listed]
        entry = ENTRY + LETTER * max(map(len, names), default=0)
        rows = math.ceil(len(names) / max(1, LEGEND // entry))
        aspect = self._aspect + ROW * max(0, rows - 1)
        if self._handle.aspect != aspect:
            self._handle.aspect = aspect

    def name_axes(self, title: str, across: str) -> None:
        """Rename its axes, for what is shown next."""
        self._layout["yaxis"]["title"]["text"] = title
        self._layout["xaxis"]["title"]["text"] = across
        self._layout["xaxis"]["dtick"] = 90 if "(deg)" in across else None

    def mark(self, now: float | None) -> None:
        """Move the mark of the present."""
        if not self._lines:
            return
        figure: Any = self._figure(now)
        if figure != self._drawn:
            self._drawn = self._handle.figure = figure

    def _figure(self, now: float | None) -> Figure:
        data = [
            {
                "type": "scatter", "mode": "lines", "name": in_html(line.name),
                "x": _encoded(self._x if line.x is None else line.x), "y": _encoded(line.y),
                "line": {"color": line.color, "dash": line.dash, "width": line.width,
                         "simplify": False},
                "hovertemplate": "%{y:.4g}", "showlegend": line.listed,
            }
            for line in self._lines
        ]  # fmt: skip
        shapes = []
        if now is not None:
            shapes.append({"type": "line", "x0": now, "x1": now, "yref": "paper", "y0": 0, "y1": 1,
                           "line": {"color": FAINT, "width": 1}})  # fmt: skip
        layout = {**self._layout, "shapes": shapes}
        config = {"displaylogo": False, "responsive": False}
        return Figure(json.dumps({"data": data, "layout": layout, "config": config}))


def _encoded(values: Array) -> dict[str, str]:
    """Numbers as Plotly's typed array."""
    return {"dtype": "f4", "bdata": base64.b64encode(values.astype("<f4").tobytes()).decode()}


_AXIS = {"gridcolor": GRID, "linecolor": GRID, "ticks": "outside", "tickcolor": GRID,
         "ticklabeloverflow": "allow", "tickangle": 0}  # fmt: skip
"""Labels that may stand out, and are not turned, need not be measured: a quarter of the time."""
