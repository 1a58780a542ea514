"""Ground through heights on a grid: cubic splines, whose numbers are a table that programs read."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...arguments import single_vector
from ...array import Array, NoNumbers, as_numbers
from ...equations.algebra.spatial import SX
from ...equations.contact.signed_distance import Differentiated
from ...equations.contact.steepness import Steepness
from ...errors import InputError
from ...program.lookup import lookup
from .surfaces import FRICTION, RESTITUTION, XYZ, Surface, number_within

MOST_HEIGHTS = 1 << 16
"""Heights of a field: compilers read more than that for seconds."""


def height_field(
    heights: Sequence[Sequence[float]] | Array,
    spacing: float,
    corner: Sequence[float] = (0.0, 0.0, 0.0),
    restitution: float = RESTITUTION,
    friction: float = FRICTION,
    name: str = "ground",
) -> Surface:
    """Ground through heights on a grid, as smooth as cubic splines are: twice differentiable.

    Parameters
    ----------
    heights : (n, m) m, above `corner`; row i, column j is at corner + spacing (i, j). At least
        4 of each. Beyond its edges the ground goes on level across them.
    spacing : m between neighbours.
    corner : (3,) m in the world.

    Raises
    ------
    InputError
        They are not a grid of finite numbers, or too many.

    Examples
    --------
    >>> import numpy as np
    >>> ramp = height_field(0.1 * np.arange(5.0)[:, None] * np.ones((5, 4)), spacing=0.5)
    >>> ramp.value([1.0, 0.7, 0.25]).round(12)
    array([0.05])
    """
    try:
        grid = as_numbers(heights)
    except NoNumbers:
        grid = np.zeros(0)
    what = f"surface {name!r}: heights"
    if grid.ndim != 2 or min(grid.shape, default=0) < 4 or not np.isfinite(grid).all():
        raise InputError(f"{what} must be rows of equally many finite numbers, at least 4 by 4")
    if grid.size > MOST_HEIGHTS:
        raise InputError(
            f"{what}: {grid.size} are too many, at most {MOST_HEIGHTS}: use a coarser grid, or a "
            "smaller piece of the ground"
        )
    step = number_within(f"surface {name!r}: spacing", spacing, np.inf, "of metres above 0")
    if step == 0:
        raise InputError(f"surface {name!r}: spacing is 0; give metres between the heights")
    origin = single_vector(f"surface {name!r}: corner", corner, XYZ)
    rows, columns = grid.shape
    weights = _interpolation(_interpolation(grid).T).T
    weight, steepness = lookup(weights.ravel()), _steepness(weights, step)

    def g(x: SX) -> Differentiated:
        (i, across), (j, along) = (
            _splines((x[k] - origin[k]) / step, count) for k, count in ((0, rows), (1, columns))
        )
        first, width = i * weights.shape[1] + j, weights.shape[1]
        nearby = [weight(first + float(width * (k % 4) + k // 4)) for k in range(16)]
        h = across.T @ ca.reshape(ca.vertcat(*nearby), 4, 4) @ along  # by derivatives of x and y
        bend = ca.blockcat([[h[2, 0], h[1, 1]], [h[1, 1], h[0, 2]]]) / step**2
        return Differentiated(
            x[2] - origin[2] - h[0, 0],
            ca.vertcat(-h[1, 0] / step, -h[0, 1] / step, 1),
            -ca.diagcat(bend, SX(1, 1)),
            steepness,
        )

    return Surface(g, restitution, friction, name)


def _steepness(weights: Array, step: float) -> Steepness:
    """Bounds of z - h within the edges: a derivative of splines is no more than the differences of
    the weights, since the splines of lower degree add up to 1."""

    def most(i: int, j: int) -> float:
        size = np.abs(np.diff(np.diff(weights, i, axis=0), j, axis=1)).max(initial=0.0)
        return float(size) / step ** (i + j)

    rises = np.diff(weights, 2, axis=0), np.diff(weights, 2, axis=1)
    turns = np.abs(np.diff(np.diff(weights, axis=0), axis=1))
    cells = tuple(n - 3 for n in weights.shape)
    own, other = (_most_of_cells(one, cells) for one in rises)
    both = _most_of_cells(turns, cells)
    bend = (own + other) / 2 + np.hypot((own - other) / 2, both)  # the larger eigenvalue, at most
    return Steepness(
        1.0,
        float(max(bend.max(), 0.0)) / step**2,
        (most(1, 0), most(0, 1), 1.0),
        (max(most(2, 0), most(1, 1)), max(most(0, 2), most(1, 1)), 0.0),
        (max(most(3, 0), most(2, 1), most(1, 2)), max(most(0, 3), most(2, 1), most(1, 2)), 0.0),
        3,
    )


def _most_of_cells(numbers: Array, cells: tuple[int, ...]) -> Array:
    """The greatest of the numbers that count in each cell, side by side in both directions."""
    shape = tuple(size - count + 1 for size, count in zip(numbers.shape, cells, strict=True))
    most: Array = np.lib.stride_tricks.sliding_window_view(numbers, shape).max(axis=(2, 3))
    return most


def _interpolation(values: Array) -> Array:
    """Weights (n + 2, m) of cubic B-splines through values (n, m), straight at both ends."""
    weights, pivots = values.copy(), [4.0]  # eliminated downwards, with 1, 4 and 1 in every row
    weights[1:-1] *= 6
    weights[1] -= values[0]
    weights[-2] -= values[-1]
    for k in range(2, len(values) - 1):
        weights[k] -= weights[k - 1] / pivots[-1]
        pivots.append(4.0 - 1 / pivots[-1])
    weights[-2] /= pivots[-1]
    for k in reversed(range(1, len(values) - 2)):
        weights[k] = (weights[k] - weights[k + 1]) / pivots[k - 1]
    ends = 2 * weights[0] - weights[1], 2 * weights[-1] - weights[-2]
    return np.vstack([ends[0], weights, ends[1]])


def _splines(place: SX, count: int) -> tuple[SX, SX]:
    """The cell of a place between 0 and count - 1, held outside, and the cubic B-splines that are
    not zero in it, with their first and second derivatives by the place (4, 3)."""
    t = SX.sym("t")
    held = ca.fmin(ca.fmax(t, 0.0), count - 1.0)
    cell = ca.fmin(ca.floor(held), count - 2.0)
    u = held - cell
    inner = [4 / 6 - s * s * (2 - s) / 2 for s in (u, 1 - u)]
    values = ca.vertcat((1 - u) ** 3 / 6, *inner, u**3 / 6)
    slopes = ca.jacobian(values, t)
    splines = ca.horzcat(values, slopes, ca.jacobian(slopes, t))
    cell, splines = ca.substitute([cell, splines], [t], [place])
    return cell, splines
