"""The plot of external efforts, the force that they come from, and contacts."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..array import Array
from .colors import color_of
from .figure import FAINT_INK, as_they_stand, figure_of, legend_beside, save_figure, tidy


def save_external_plot(
    path: str | os.PathLike[str],
    title: str,
    time: Array,
    labels: Sequence[str],
    units: Sequence[str],
    external: Array,
    thresholds: Array,
    link: str,
    force_time: Array,
    force: Array,
    contacts: Sequence[tuple[float, float]],
) -> None:
    """Plot external efforts (N, n), a panel for each unit, and the force at a link.

    force : (M, 3) at `force_time` (M,). thresholds : (n,), drawn dashed about zero.
    contacts : begin and end (s), shaded.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    kinds = list(dict.fromkeys(units))
    figure = figure_of(len(kinds) + 1, size=(9.0, 3.0))
    panels = [(kind, [k for k, one in enumerate(units) if one == kind]) for kind in kinds]
    for row, (kind, columns) in enumerate(panels):
        axes = figure.add_subplot(len(kinds) + 1, 1, row + 1)
        for k in columns:
            axes.plot(time, external[:, k], color=color_of(k), linewidth=1.2, label=labels[k])
            for threshold in (-thresholds[k], thresholds[k]):
                axes.axhline(threshold, color=color_of(k), linewidth=0.6, linestyle=(0, (5, 4)))
        axes.set_ylabel(f"external effort ({kind})")
    axes = figure.add_subplot(len(kinds) + 1, 1, len(kinds) + 1)
    for k, name in enumerate("xyz"):
        axes.plot(force_time, force[:, k], color=color_of(k), linewidth=1.2, label=f"force {name}")
    axes.plot(force_time, np.linalg.norm(force, axis=1), color="black", linewidth=0.9, label="size")
    axes.set_ylabel(f"force at {link} (N)")
    axes.set_xlabel("time (s)")
    for axes in figure.axes:
        for begin, end in contacts:
            axes.axvspan(begin, end, color=FAINT_INK, alpha=0.3, linewidth=0)
        axes.margins(x=0)
        tidy(axes)
        as_they_stand(*legend_beside(axes).get_texts(), axes.yaxis.label)
    as_they_stand(figure.suptitle(title))
    save_figure(figure, path)
