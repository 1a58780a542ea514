"""A mechanism and its charts as one picture, for reports and lessons."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from ...view.figure import empty_figure, legend_beside, tidy
from ...view.page.charts import Curve
from .run import DesignRun, joint_titles

DASHES = {"solid": "-", "dot": ":", "dash": "--", "longdash": (0, (8, 3))}


def picture(run: DesignRun, quantity: str, kept: Sequence[Curve], scene: Any) -> bytes:
    """A PNG: the scene (h, w, 3) as it is seen, the torque, and a quantity of the joints."""
    panels = [
        (title, lines)
        for title, lines in (
            ("driving torque (N m)", [*kept, *run.torque_lines()]),
            *zip(joint_titles(quantity), run.joint_lines(quantity), strict=True),
        )
        if lines
    ]
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
            axes.plot(x, line.y, color=line.color, linestyle=DASHES[line.dash],
                      linewidth=0.8 * line.width, label=line.name if line.listed else None)
        axes.set_ylabel(title)
        tidy(axes)
        legend_beside(axes)
        axes.set_xlabel(run.across)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()
