"""The instant at which something happens within a step."""

from __future__ import annotations

from collections.abc import Callable

LANDINGS = 3
"""Most steps that are taken to land on an instant; Newton's method needs two."""


def first_true(condition: Callable[[float], bool], before: float, after: float) -> float:
    """Where a condition, false at `before` and true at `after`, becomes true: to the last digit."""
    while before < (middle := 0.5 * (before + after)) < after:
        if condition(middle):
            after = middle
        else:
            before = middle
    return after


def zero_between(function: Callable[[float], float], a: float, b: float) -> float:
    """A zero between two times with different signs (Brent's method)."""
    from scipy.optimize import brentq  # slow to import, and only contacts need it

    if function(a) * function(b) > 0:  # by rounding: one of them is the zero
        return a if abs(function(a)) < abs(function(b)) else b
    accuracy = 1e-15 * max(1.0, abs(b))
    found, _ = brentq(function, a, b, xtol=accuracy, rtol=1e-15, full_output=True, disp=False)
    return float(found)


def land(
    step_to: Callable[[float], tuple[float, float, float] | None],
    instant: float,
    window: tuple[float, float],
) -> float:
    """Step to where a falling distance is zero, by Newton's method on the steps themselves.

    Parameters
    ----------
    step_to : takes the step up to an instant, each time anew; the distance at its end, its rate,
        and what distance counts as none. None where there is no step so short.
    instant : where to step first. window : where the instant must lie.

    Returns
    -------
    The instant at which the last step ends.
    """
    ends = instant
    for _ in range(LANDINGS):
        found = step_to(instant)
        if found is None:
            break
        ends, (distance, rate, none) = instant, found
        if abs(distance) <= none or not rate < 0:
            break
        instant = ends - distance / rate
        if not window[0] < instant < window[1] or instant == ends:
            break
    return ends
