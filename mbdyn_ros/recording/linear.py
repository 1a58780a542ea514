"""The rows of a table as a function of time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.model import Array


def linear(time: Array, rows: Array) -> Callable[[float], Array]:
    """Rows (N, n) at rising times (N,), straight between; the first and last hold outside.

    Examples
    --------
    >>> row = linear(np.array([0.0, 1.0]), np.array([[0.0, 5.0], [2.0, 5.0]]))
    >>> row(0.25).tolist(), row(7.0).tolist()
    ([0.5, 5.0], [2.0, 5.0])
    """
    slopes = np.diff(rows, axis=0) / np.diff(time)[:, None]

    def row(t: float) -> Array:
        k = int(np.searchsorted(time, t, side="right")) - 1
        if k < 0 or k >= len(slopes):
            return rows[0 if k < 0 else -1]
        value: Array = rows[k] + (t - time[k]) * slopes[k]
        return value

    return row
