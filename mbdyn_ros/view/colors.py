"""Colours of parts and of their lines in charts: distinguishable by the colour-blind too."""

from __future__ import annotations

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
