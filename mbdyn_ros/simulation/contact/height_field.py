"""Ground through heights on a grid: cubic splines, whose numbers are a table that programs read."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...arguments import single_vector
from ...array import Array, NoNumbers, as_numbers
from ...equations.algebra.spatial import SX
from ...equations.contact.signed_distance import Differentiated
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
    weight = lookup(weights.ravel())

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
        )

    return Surface(g, restitution, friction, name)


def _interpolation(values: Array) -> Array:
    """Weights (n + 2, m) of cubic B-splines through values (n, m), straight at both ends."""
    from scipy.linalg import solve_banded  # its import takes long

    count = len(values)
    inside = values[1:-1].copy()
    inside[0] -= values[0] / 6
    inside[-1] -= values[-1] / 6
    bands = np.repeat([[1 / 6], [4 / 6], [1 / 6]], count - 2, axis=1)
    weights = np.vstack([values[:1], solve_banded((1, 1), bands, inside), values[-1:]])
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
