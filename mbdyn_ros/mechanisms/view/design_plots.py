"""Figures of better designs: counterweights, a Pareto front, a fitted coupler curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...view.colors import color_of
from ...view.figure import FAINT_INK, INK, figure_of, legend_beside, tidy
from .. import Analysis
from ..fit import CurveFit
from ..pareto import GOALS, Front
from ..precision_positions import FunctionFit
from ..settings import unit_of
from .plots import abscissa_of, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_balance(before: Analysis, after: Analysis) -> Figure:
    """Shaking force, shaking moment and driving torque without counterweights, and with them."""
    figure = figure_of(3, 1, (7.5, 2.5))
    x, label = abscissa_of(before)
    titles = "shaking force (N)", "shaking moment (N m)", "driving torque (N m)"
    for k, (axes, title) in enumerate(zip(figure.subplots(3, 1), titles, strict=True)):
        for one, name, color in (
            (before, "without counterweights", color_of(0)), (after, "with them", color_of(1)),
        ):  # fmt: skip
            force = np.hypot(one.shaking[:, 0], one.shaking[:, 1])
            values = (force, one.shaking[:, 2], one.torque)[k]
            axes.plot(x, values, color=color, label=name)
        finish(axes, label, title, legend=k == 0)
    figure.suptitle(before.mechanism.title)
    return figure


def plot_front(front: Front) -> Figure:
    """The front over all designs that were tried, those far off left out; and its settings."""
    rows = len(front.settings)
    figure = figure_of(1, 2, (6.0, max(4.2, 1.5 * rows)))
    grid = figure.add_gridspec(rows, 2)
    axes = figure.add_subplot(grid[:, 0])
    first, second = (front.values[goal] for goal in front.goals)
    axes.plot(*front.tried.T, ".", color=FAINT_INK, markersize=2, label="designs tried", zorder=1)
    axes.plot(first, second, "o-", color=color_of(1), markersize=4, linewidth=1, label="front",
              zorder=2)  # fmt: skip
    for values, set_limits in ((first, axes.set_xlim), (second, axes.set_ylim)):
        low, high = float(values.min()), float(values.max())
        room = max(high - low, 0.02 * abs(high))
        set_limits(low - 0.15 * room, high + 0.6 * room)
    axes.set_xlabel(GOALS[front.goals[0]])
    axes.set_ylabel(GOALS[front.goals[1]])
    tidy(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.09), ncols=2, frameon=False,
                fontsize="small")  # fmt: skip
    for k, (name, values) in enumerate(front.settings.items()):
        beside = figure.add_subplot(grid[k, 1])
        beside.plot(first, values, ".-", color=color_of(0), linewidth=1, markersize=4)
        title = f"{name.replace('_', ' ')} ({unit_of(name)})"
        beside.set_title(title, loc="left", fontsize="small")
        beside.set_xlabel(GOALS[front.goals[0]], fontsize="small")
        tidy(beside)
    figure.suptitle(front.mechanism.title)
    return figure


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


def plot_function(fit: FunctionFit) -> Figure:
    """The rocker's angle over the crank's, and the pairs wanted."""
    figure = figure_of(1, 1, (7.0, 4.5))
    axes = figure.subplots()
    room = 0.25 * np.ptp(fit.q)
    q = np.linspace(fit.q.min() - room, fit.q.max() + room, 361)
    with np.errstate(invalid="ignore", divide="ignore"):
        rocker = np.angle(fit.mechanism.solved(q[:, None]).directions["rocker"]) - fit.rocker_zero
    near = np.interp(q, fit.q[np.argsort(fit.q)], fit.rocker[np.argsort(fit.q)])
    rocker = near + np.angle(np.exp(1j * (rocker - near)))
    q, wanted = q - fit.crank_zero, fit.q - fit.crank_zero
    axes.plot(np.degrees(q), np.degrees(rocker), color=color_of(0), linewidth=1.5, label="four-bar")
    axes.plot(
        np.degrees(wanted), np.degrees(fit.rocker), "o", color=INK, markersize=5, label="pairs"
    )
    axes.set_xlabel("crank (deg)")
    axes.set_ylabel("rocker (deg)")
    lengths = ", ".join(f"{name} {value:.3g}" for name, value in fit.mechanism.lengths.items())
    axes.set_title(f"{fit.mechanism.title}: {lengths} (m)", fontsize="medium")
    tidy(axes)
    legend_beside(axes)
    return figure
