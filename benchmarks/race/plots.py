"""The plots of the race."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.ticker import FuncFormatter

from mbdyn_ros.view.figure import color_of, empty_figure, legend_beside, save_figure, tidy

from .bars import TITLES
from .ours import Bound, Plain
from .run import Result


def plot_ratios(rows: Sequence[Result], libraries: Sequence[str], path: Path) -> None:
    """How many times as long as our bound call the others take, of every robot and program."""
    robots = list(dict.fromkeys(row.robot for row in rows))
    programs = [program for program in TITLES if any(row.program == program for row in rows)]
    figure = empty_figure(12, 1.2 + 0.35 * len(robots))
    panels = figure.subplots(1, len(programs), sharey=True, sharex=True, squeeze=False)[0]
    shown = [name for name in libraries if name not in (Bound.name, Plain.name)]
    for axis, program in zip(panels, programs, strict=True):
        for k, name in enumerate(shown, start=2):
            known = [row for row in rows if row.program == program and name in row.times]
            ratios = [1 / row.ratio(name) for row in known]
            places = [robots.index(row.robot) for row in known]
            axis.plot(ratios, places, "o", ms=6, alpha=0.85, color=color_of(k), label=name)
        axis.axvline(1.0, color=color_of(0), lw=1.5)
        axis.set_title(TITLES[program].replace(" of ", " of\n"), fontsize="medium")
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_xlabel("times ours (-)")
        tidy(axis)
    panels[0].set_yticks(range(len(robots)), robots)
    panels[0].set_ylim(len(robots) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    legend_beside(panels[-1], handles=handles, labels=labels)
    figure.suptitle("time of a call of the others / time of ours (line)", fontsize="medium")
    save_figure(figure, path)


def plot_growth(growth: Mapping[str, Sequence[Result]], path: Path) -> None:
    """Time against the number of joints, double logarithmic."""
    figure = empty_figure(11, 4)
    axes = figure.subplots(1, 2, sharey=True)
    for axis, (program, rows) in zip(axes, growth.items(), strict=True):
        for k, name in enumerate(rows[-1].times):
            known = [row for row in rows if name in row.times]
            times = [row.times[name].minimum for row in known]
            axis.loglog([row.nv for row in known], times, "o-", ms=4, color=color_of(k), label=name)
        axis.set_title(TITLES[program])
        axis.set_xlabel("joints of the chain")
        axis.set_ylabel("time a call (µs)")
        axis.tick_params(labelleft=True)
        tidy(axis)
    legend_beside(axes[-1])
    save_figure(figure, path)
