"""A figure of a fitted coupler curve over the path that was wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.figure import tidy
from ..fit import CurveFit
from .plots import PART_COLORS, figure_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_fit(fit: CurveFit) -> Figure:
    """The whole curve, the points wanted, and the mechanism at the first of them."""
    figure = figure_of(1, 1, (7.0, 5.0))
    axes = figure.subplots()
    axes.plot(*fit.curve().T, color="C3", linewidth=1.5, label="curve", zorder=2)
    axes.plot(*fit.wanted.T, "o", color="0.2", markersize=4, label="path", zorder=4)
    pose = fit.mechanism.pose(fit.q[:1, None])
    move = np.exp(1j * fit.turn)
    for k, part in enumerate(pose.layout.parts):
        pins = [complex(pin[0]) for pin in pose.outline(part.name)]
        if part.name == fit.part:
            pins.append(complex(pose.point(part.name, fit.at)[0]))
        points = complex(*fit.place) + move * np.array(pins)
        axes.plot(
            points.real, points.imag, "-o", color=PART_COLORS[k % len(PART_COLORS)], linewidth=2,
            markersize=4, label=part.name.replace("_", " "), zorder=3,
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_title(f"{fit.mechanism.title}: {1e3 * fit.gap_rms:.3g} mm from the path (rms)")
    tidy(axes)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return figure
