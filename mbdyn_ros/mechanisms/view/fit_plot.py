"""A figure of a fitted coupler curve over the path that was wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.colors import color_of
from ...view.figure import INK, figure_of, legend_beside, tidy
from ..fit import CurveFit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_fit(fit: CurveFit) -> Figure:
    """The whole curve, the points wanted, and the mechanism at the first of them."""
    figure = figure_of(1, 1, (7.0, 5.0))
    axes = figure.subplots()
    pose = fit.mechanism.pose(fit.q[:1, None])
    color = color_of(len(pose.layout.parts))
    axes.plot(*fit.curve().T, color=color, linewidth=1.5, label="curve", zorder=2)
    axes.plot(*fit.wanted.T, "o", color=INK, markersize=4, label="path", zorder=4)
    move = np.exp(1j * fit.turn)
    for k, part in enumerate(pose.layout.parts):
        pins = [complex(pin[0]) for pin in pose.outline(part.name)]
        if part.name == fit.part:
            pins += [complex(pose.point(part.name, fit.at)[0]), pins[0]]
        points = complex(*fit.place) + move * np.array(pins)
        axes.plot(
            points.real, points.imag, "-o", color=color_of(k), linewidth=2,
            markersize=4, label=part.name.replace("_", " "), zorder=3,
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    axes.set_title(f"{fit.mechanism.title}: {1e3 * fit.gap_rms:.3g} mm from the path (rms)")
    tidy(axes)
    legend_beside(axes)
    return figure
