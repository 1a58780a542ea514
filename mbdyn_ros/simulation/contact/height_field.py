"""Ground given by heights on a grid."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...arguments import single_vector
from ...array import Array, NoNumbers, as_numbers
from ...equations.algebra.spatial import SX, constant
from ...errors import InputError
from .surfaces import FRICTION, RESTITUTION, Surface, number_within

MOST_HEIGHTS = 1024
"""Heights of a field: each is a product for every point of the robot."""


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
    heights : (n, m) m, above `corner`; row i, column j stands at corner + spacing (i, j). At least
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
            f"{what}: {grid.size} are too many, {MOST_HEIGHTS} serve: take a coarser grid, or a "
            "smaller piece of the ground"
        )
    step = number_within(f"surface {name!r}: spacing", spacing, np.inf, "of metres above 0")
    if step == 0:
        raise InputError(f"surface {name!r}: spacing is 0; give metres between the heights")
    origin = single_vector(f"surface {name!r}: corner", corner, ("x", "y", "z"))
    rows, columns = grid.shape
    weights = _interpolation(rows) @ grid @ _interpolation(columns).T

    def g(x: SX) -> SX:
        across, along = (
            _splines((x[k] - origin[k]) / step, count) for k, count in ((0, rows), (1, columns))
        )
        return x[2] - origin[2] - ca.dot(across, constant(weights) @ along)

    return Surface(g, restitution, friction, name)


def _interpolation(count: int) -> Array:
    """Weights (count + 2, count) of cubic B-splines through values, straight at both ends."""
    system = np.zeros((count + 2, count + 2))
    for k in range(count):
        system[k, k : k + 3] = 1 / 6, 4 / 6, 1 / 6
    system[count, :3] = system[count + 1, -3:] = 1, -2, 1
    return np.asarray(np.linalg.solve(system, np.eye(count + 2, count)), dtype=np.float64)


def _splines(t: SX, count: int) -> SX:
    """The cubic B-splines (count + 2, 1) at a place between 0 and count - 1; held outside."""
    inside = ca.fmin(ca.fmax(t, 0.0), count - 1.0)
    parts = []
    for k in range(-1, count + 1):
        away = ca.fabs(inside - k)
        parts.append((ca.fmax(2 - away, 0) ** 3 - 4 * ca.fmax(1 - away, 0) ** 3) / 6)
    return ca.vertcat(*parts)
