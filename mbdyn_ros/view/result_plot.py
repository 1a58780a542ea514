"""Plots of what was computed for many states: efforts, accelerations."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..model.model import Array
from .colors import color_of
from .figure import LIMIT_IN_VIEW, as_they_stand, figure_of, legend_beside, save_figure, tidy


def save_result_plot(
    path: str | os.PathLike[str],
    title: str,
    what: str,
    labels: Sequence[str],
    units: Sequence[str],
    values: Array,
    time: Array | None = None,
    limits: Array | None = None,
) -> None:
    """Plot one line a coordinate, a panel for each unit.

    Parameters
    ----------
    path : .png, .svg or .pdf. title : above all. what : the quantity.
    labels, units : of the coordinates.
    values : (N, n). time : (N,), s; else the states are counted.
    limits : (n,), drawn dashed where they are near a line.

    Raises
    ------
    InputError
        Fewer than two states, or the file cannot be written.
    """
    if len(np.atleast_2d(values)) < 2 or values.ndim < 2:
        raise InputError(f"{path}: one state makes no plot; give many, as with --trajectory")
    kinds = list(dict.fromkeys(units))
    across = np.arange(len(values)) if time is None else time
    figure = figure_of(len(kinds), size=(8.0, 3.2))
    for row, unit in enumerate(kinds):
        axes = figure.add_subplot(len(kinds), 1, row + 1)
        columns = [k for k, one in enumerate(units) if one == unit]
        for i, k in enumerate(columns):
            color = color_of(i)
            axes.plot(across, values[:, k], color=color, linewidth=1.4, label=labels[k])
            if limits is not None and limits[k] <= LIMIT_IN_VIEW * np.abs(values[:, k]).max():
                for limit in (-limits[k], limits[k]):
                    axes.axhline(limit, color=color, linewidth=0.9, linestyle=(0, (5, 3)))
        axes.set_ylabel(f"{what} ({unit})")
        axes.set_xlabel("state" if time is None else "time (s)")
        axes.margins(x=0)
        tidy(axes)
        as_they_stand(*legend_beside(axes).get_texts())
    as_they_stand(figure.suptitle(title))
    save_figure(figure, path)
