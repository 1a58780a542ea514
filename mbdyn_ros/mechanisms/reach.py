"""How far the inputs of a mechanism can turn, and what stops them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.model import Array
from .mechanism import SAMPLES, Mechanism

CLEAR = 0.01
"""Margin (squared sine of the transmission angle) that is far enough from a toggle for a home."""


def home(mechanism: Mechanism) -> Array:
    """See `Mechanism.home`."""
    zero = np.zeros(len(mechanism.inputs))
    if mechanism.margin(zero) >= CLEAR:
        return zero
    turn = np.linspace(-np.pi, np.pi, SAMPLES if len(zero) == 1 else 36, endpoint=False)
    grid = np.stack([one.ravel() for one in np.meshgrid(*[turn] * len(zero))], axis=1)
    best: Array = grid[np.argmax(mechanism.margin(grid))]
    return best


def reach(mechanism: Mechanism, start: float | None = None) -> tuple[float, float]:
    """Interval of the input's angle (rad) around `start`; infinite where it turns fully.

    start : an angle at which the mechanism closes; default its home.

    Raises
    ------
    InputError
        The mechanism has several inputs: how far one turns depends on the others.
    """
    if len(mechanism.inputs) != 1:
        raise mechanism.refusal(
            f"how far an input turns depends on the others ({', '.join(mechanism.inputs)}); ask "
            "`margin` whether positions can be assembled"
        )
    middle = float(mechanism.home[0]) if start is None else start

    def margin(angles: Array) -> Array:
        return mechanism.margin(angles[:, None])

    ahead = _first_limit(margin, middle, 1.0)
    if ahead is None:
        return -np.inf, np.inf
    behind = _first_limit(margin, middle, -1.0)
    assert behind is not None, "what ends on one side ends on the other"
    return behind, ahead


def _first_limit(margin: Callable[[Array], Array], start: float, sense: float) -> float | None:
    """Where the margin first becomes negative within a turn; None where it stays above."""
    angles = start + sense * np.linspace(0, 2 * np.pi, SAMPLES + 1)
    values = margin(angles)
    # a dip between samples: look closer around every low minimum
    inner = np.arange(1, SAMPLES)
    low = inner[(values[inner] <= values[inner - 1]) & (values[inner] <= values[inner + 1])]
    for k in low:
        if values[k] >= 0 and values[k] < CLEAR:
            fine = np.linspace(angles[k - 1], angles[k + 1], SAMPLES + 1)
            below = np.flatnonzero(margin(fine) < -ROUNDING)
            if len(below):
                values[k], angles[k] = -1.0, fine[below[0]]
    negative = np.flatnonzero(values < -ROUNDING)
    if not len(negative):
        return None
    k = negative[0]
    inside, outside = angles[max(k - 1, 0)], angles[k]
    while inside != (middle := 0.5 * (inside + outside)) != outside:
        if margin(np.array([middle]))[0] >= 0:
            inside = middle
        else:
            outside = middle
    return float(inside)


ROUNDING = 1e-14
"""A margin this little below zero is zero: a change point touches the limit and goes on."""


def require_reach(mechanism: Mechanism, q: Array) -> None:
    """Raise `InputError`, with the limiting angle, where it cannot be assembled at q (N, n)."""
    bad = np.flatnonzero(mechanism.margin(q) < -ROUNDING)
    if not len(bad):
        return
    angles = ", ".join(f"{one:.6g}" for one in np.degrees(q[bad[0]]))
    names = " and ".join(mechanism.inputs)
    text = f"it cannot be assembled with the {names} at {angles} deg"
    if len(mechanism.inputs) == 1:
        lower, upper = np.degrees(reach(mechanism))
        text += f": a toggle stops the {names}, which goes from {lower:.6g} to {upper:.6g} deg"
    raise mechanism.refusal(text)


def dead_centers(mechanism: Mechanism) -> Array:
    """Angles (k,) of the input, rising within a turn, at which the output stands still.

    There the mechanical advantage is infinite; in a four-bar crank and coupler are in line.
    """
    from scipy.optimize import brentq

    from .programs import bound

    lower, upper = reach(mechanism)
    if not np.isfinite(lower):
        lower, upper = -np.pi, np.pi
    rates = bound(mechanism, "joint_velocity")
    rates.v[:] = 1.0
    row = mechanism.joint_names.index(f"{mechanism.output}_joint")

    def rate(angle: float) -> float:
        rates.q[0] = angle
        rates()
        return float(rates.result[row])

    inside = 1e-9 * (upper - lower)
    angles = np.linspace(lower + inside, upper - inside, SAMPLES + 1)
    values = np.array([rate(angle) for angle in angles.tolist()])
    found = [
        brentq(rate, angles[k], angles[k + 1], xtol=1e-14, rtol=1e-14)
        for k in np.flatnonzero(values[:-1] * values[1:] < 0)
    ]
    found += angles[:-1][values[:-1] == 0].tolist()
    return np.sort(np.array(found))
