"""The range of the inputs of a mechanism, which toggles end.

A mechanism must stay closed on the whole path between points, not only at them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..integration.methods import first_true
from ..model.model import Array
from .design import TURN_SAMPLES, Design

HOME_MARGIN = 0.01
"""Margin (squared sine of the transmission angle) that is far enough from a toggle for a home."""


def home(mechanism: Design) -> Array:
    """Angles (n,) of the inputs at which the loops are closed first: see `Mechanism.home`."""
    zero = np.zeros(len(mechanism.inputs))
    if mechanism.margin(zero) >= HOME_MARGIN:
        return zero
    grid = mechanism.all_around()
    best: Array = grid[np.argmax(mechanism.margin(grid))]
    return best


def reach(
    mechanism: Design, start: float | None = None, which: str | None = None
) -> tuple[float, float]:
    """Interval of an input's angle (rad) around `start`; infinite where it turns fully.

    Gears may let it turn fully in one direction alone: there the interval is one turn.

    start : an angle at which the mechanism closes; default its home.
    which : the input that turns, of several; the others stay at home.

    Raises
    ------
    InputError
        The mechanism has several inputs and `which` is none of them.

    Examples
    --------
    >>> from mbdyn_ros.mechanisms import FiveBar, Link
    >>> short = FiveBar(coupler=Link(0.15), second_coupler=Link(0.15))
    >>> lower, upper = reach(short, which="crank")
    >>> round(float(np.degrees(upper)), 3)
    91.637
    """
    names = mechanism.inputs
    if which is None and len(names) == 1:
        which = names[0]
    if which not in names:
        raise mechanism.refusal(
            f"how far an input turns depends on the others ({', '.join(names)}); give the one "
            "that turns as `which`, the others stay at home"
        )
    column = names.index(which)
    rest = home(mechanism)
    middle = float(rest[column]) if start is None else start

    def margin(angles: Array) -> Array:
        states = np.tile(rest, (*angles.shape, 1))
        states[..., column] = angles
        return mechanism.margin(states)

    ahead = _first_limit(margin, middle, 1.0)
    back = None
    if ahead is not None or mechanism.layout().meshes:  # else a turn back ends where it began
        back = _first_limit(margin, middle, -1.0)
    if ahead is None and back is None:
        return -np.inf, np.inf
    turn = 2 * math.pi
    return middle - turn if back is None else back, middle + turn if ahead is None else ahead


def _first_limit(margin: Callable[[Array], Array], start: float, sense: float) -> float | None:
    """The angle within a turn where the margin becomes negative; None where it never does."""
    step = sense * 2 * math.pi / TURN_SAMPLES
    outside = first_open(lambda t: margin(start + step * t), TURN_SAMPLES + 1)
    if outside is None:
        return None
    inside = max(math.ceil(outside) - 1.0, 0.0)
    limit = edge(margin, start + step * inside, start + step * outside)
    return math.nextafter(limit, start)


def _closes_at(mechanism: Design, q: Array) -> bool:
    """Whether it is known to close at q: it turns fully, and its range was asked for before."""
    known = vars(mechanism).get("range")
    return known is not None and np.isinf(known[0]) and bool(np.isfinite(q).all())


def require_reach(mechanism: Design, q: Array) -> None:
    """Raise `InputError`, with the limiting angle, where it cannot be assembled at q (N, n)."""
    if _closes_at(mechanism, q):
        return
    bad = np.flatnonzero(mechanism.margin(q) < -MARGIN_ROUNDING)
    if len(bad):
        raise _open(mechanism, q[bad[0]], "")


def require_closed_path(mechanism: Design, q: Array) -> None:
    """Raise `InputError` where it cannot be assembled all along the points q (N, n)."""
    if _closes_at(mechanism, q):
        return
    if len(q) < 2:
        require_reach(mechanism, q)
        return

    def margin(t: Array) -> Array:
        return mechanism.margin(along(q, t))

    outside, limit = first_open(margin, len(q)), ""
    if outside is None:
        return
    if len(mechanism.inputs) > 1 and outside > 0:
        outside = edge(margin, math.ceil(outside) - 1.0, outside)
        limit = "a toggle stops them there"
    raise _open(mechanism, along(q, np.array(outside)), limit)


def _open(mechanism: Design, q: Array, limit: str) -> InputError:
    """The error of a mechanism that cannot be assembled at q (n,)."""
    angles = " and ".join(f"{one:.6g}" for one in np.degrees(q))
    names = " and ".join(mechanism.inputs)
    text = f"it cannot be assembled with the {names} at {angles} deg"
    if len(mechanism.inputs) == 1:
        lower, upper = np.degrees(reach(mechanism))
        limit = f"a toggle stops the {names}, which goes from {lower:.6g} to {upper:.6g} deg"
    return mechanism.refusal(f"{text}: {limit}" if limit else text)


MARGIN_ROUNDING = 1e-14
"""A margin this little below zero is zero: a change point touches the limit and goes on."""

PARTS, NARROWINGS = 8, 13
"""Parts of what encloses a dip, of which two stay, and how often: a place to 1e-7 of a step, and so
the least margin to 1e-14 of its curvature."""

Places = NDArray[np.intp]


def along(q: Array, t: Array) -> Array:
    """Positions (..., n) at t (...), which counts the points of q (K, n); straight between them.

    Examples
    --------
    >>> along(np.array([[0.0], [1.0], [3.0]]), np.array([1.5, -1.0])).tolist()
    [[2.0], [-1.0]]
    """
    k = np.clip(np.floor(t).astype(int), 0, len(q) - 2)
    position: Array = q[k] + (t - k)[..., None] * (q[k + 1] - q[k])
    return position


def dips(values: Array) -> tuple[Places, ...]:
    """Indices of points 0 to K-1 near which a margin may go below zero between points.

    A parabola through three points falls below the middle one by an eighth of their second
    difference at most; the test uses the whole of it.

    values : (K + 2, ...), margins at -1, 0, ..., K; the first and last are beyond the path's ends.
    """
    before, here, after = values[:-2], values[1:-1], values[2:]
    low = (here >= 0) & (here <= before) & (here <= after) & (3 * here < before + after)
    return np.nonzero(low)


def deepest(margin: Callable[[Array], Array], k: Places, last: int) -> tuple[Array, Array]:
    """Where near points k (M,) of a path of points 0 to `last` the margin is least, and its value.

    margin : of places t (..., M), each in the design of its dip.
    """
    low, high = np.maximum(k - 1.0, 0.0), np.minimum(k + 1.0, float(last))
    for _ in range(NARROWINGS):
        places = np.linspace(low, high, PARTS + 1)
        least = np.clip(margin(places).argmin(axis=0), 1, PARTS - 1)
        low, high = (np.take_along_axis(places, least[None] + k, axis=0)[0] for k in (-1, 1))
    middle = (low + high) / 2
    return middle, margin(middle)


def first_open(margin: Callable[[Array], Array], count: int) -> float | None:
    """The first of points 0 to count - 1, and of dips between, without a margin; or None."""
    values = margin(np.arange(-1.0, count + 1))
    (low,) = dips(values)
    at, least = np.arange(float(count)), values[1:-1]
    if len(low):
        place, between = deepest(margin, low, count - 1)
        at, least = np.append(at, place), np.append(least, between)
    below = at[least < -MARGIN_ROUNDING]
    return float(below.min()) if len(below) else None


def edge(margin: Callable[[Array], Array], inside: float, outside: float) -> float:
    """The first place without a margin, bisected between one with and one without."""
    return first_true(lambda place: not margin(np.array([place]))[0] >= 0, inside, outside)
