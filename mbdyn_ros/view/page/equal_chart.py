"""A chart of figures in a plane, both axes of one scale, by Plotly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...model.model import Array
from ...names import in_html
from .charts import GRID, INK, Curve

if TYPE_CHECKING:
    import viser


@dataclass(frozen=True)
class Figure:
    """A figure as Plotly's JSON; plotly's own takes milliseconds to check what we know is right."""

    text: str

    def to_json(self) -> str:
        """The JSON that viser asks a figure for."""
        return self.text


class EqualChart:
    """Lines in a plane, there while it has any; redrawn as a whole where it changed.

    The browser gets it hidden, and shown once it is drawn: Plotly fails at a chart that is taken
    away while its first picture is being laid out.

    Parameters
    ----------
    aspect : height over width.
    """

    def __init__(self, gui: viser.GuiApi, aspect: float = 0.8) -> None:
        self._drawn: Any = _figure("", "", [])
        self._handle = gui.add_plotly(self._drawn, aspect=aspect, visible=False)

    def show(self, title: str, unit: str, lines: Sequence[Curve]) -> None:
        """Draw lines, each over its own x; `title` is what they are, `unit` that of both axes."""
        if lines:
            figure: Any = _figure(title, unit, lines)
            if figure != self._drawn:
                self._drawn = self._handle.figure = figure
        self._handle.visible = bool(lines)


def _figure(title: str, unit: str, lines: Sequence[Curve]) -> Figure:
    data = [
        {
            "type": "scatter", "mode": "lines", "name": in_html(line.name),
            "x": _numbers(line.x), "y": _numbers(line.y),
            "line": {"color": line.color, "width": line.width}, "hovertemplate": "%{y:.4g}",
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
                   "font": {"size": 9.5}, "maxheight": 1.0},
        "xaxis": {"title": {"text": unit, **words}, **axis},
        "yaxis": {"title": {"text": title, **words}, "scaleanchor": "x", **axis},
        "showlegend": True,
    }  # fmt: skip
    config = {"displaylogo": False, "responsive": False}
    return Figure(json.dumps({"data": data, "layout": layout, "config": config}))


def _numbers(values: Array | None) -> list[float]:
    return [] if values is None else values.tolist()
