"""The look of all figures of matplotlib, and how they are written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text


PLOTS = (".png", ".svg", ".pdf")
"""Ends of the names of files that figures are written to."""


def tidy(axes: Axes) -> None:
    """A faint grid, and no frame above and to the right."""
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def as_they_stand(*texts: Text) -> None:
    """Take no dollar in these texts, names of a description, for the start of a formula."""
    for text in texts:
        text.set_parse_math(False)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, by the path's end.

    Raises
    ------
    InputError
        Another end, or the file cannot be written.
    """
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the plot cannot be written: {error}") from None
