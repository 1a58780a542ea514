"""The look of all figures of matplotlib, their colours, and how they are written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..extras import require
from ..recording.write import check_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text


PLOTS = (".png", ".svg", ".pdf")
"""Ends of the names of files that figures are written to."""

LIMIT_IN_VIEW = 2.0
"""Times its peak up to which the limit of a line is drawn too; farther away it would flatten it."""

INK, FAINT_INK = "#20242a", "#9aa0a8"
"""Colours of sums and marks, and of the background of the data."""


def check_picture(path: str, kinds: tuple[str, ...] = PLOTS) -> None:
    """Refuse, before the work is done, a picture that could not be drawn or written after it.

    Raises
    ------
    InputError
        As `check_target`.
    MissingPackageError
        matplotlib is not installed.
    """
    check_target(path, kinds)
    require("plot")


def figure_of(rows: int, columns: int = 1, size: tuple[float, float] = (6.4, 2.9)) -> Figure:
    """An empty figure of panels; `size` of a panel, inches.

    Lines take their colours from `colors.color_of`, distinct to the colour-blind.
    """
    width, height = size
    return empty_figure(width * columns, height * rows)


def empty_figure(width: float, height: float, dpi: int = 110) -> Figure:
    """An empty figure of a size in inches, apart from matplotlib's global state.

    Raises
    ------
    MissingPackageError
        matplotlib is not installed.
    """
    require("plot")
    from matplotlib.figure import Figure  # its import takes long

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def tidy(axes: Axes) -> None:
    """A faint grid, and no frame above and to the right."""
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def legend_beside(axes: Axes, **options: Any) -> Legend:
    """Write the names of lines to the right of their axes, never on the data."""
    return axes.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
        **({"fontsize": "small"} | options),
    )  # fmt: skip


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


COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6a4fb3", "#5f6670")
"""The colours of Okabe and Ito (2008), and two more."""

Rgb = tuple[float, float, float]
Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""


def color_of(k: int) -> str:
    """The colour of the k-th of some things."""
    return COLORS[k % len(COLORS)]


def rgb(color: str) -> Rgb:
    """A colour as three numbers from 0 to 1.

    Examples
    --------
    >>> rgb("#ff0080")
    (1.0, 0.0, 0.5019607843137255)
    """
    red, green, blue = (int(color[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue
