"""The numbers that act on the coordinates of a joint, wherever they are written."""

from __future__ import annotations

REFUSED = {
    "friction": "friction opposes motion, give its magnitude",
    "armature": "no rotor has that inertia, give reduction^2 times that of the rotor",
}
"""Numbers of a joint that are not negative, and why."""

WARNED = {"damping": "drives the joint", "spring_stiffness": "drives the joint away"}
"""Numbers of a joint that are seldom negative, and what they do then."""


def refusal(name: str, value: float, written: str) -> str | None:
    """Words about a number that no joint has; None where it may be. `written`: as it stands."""
    if value < 0.0 and name in REFUSED:
        return f"{written} is negative; {REFUSED[name]}"
    return None


def doubt(name: str, value: float, written: str) -> str | None:
    """Words about a number that is surely meant otherwise; None where it is not."""
    if value < 0.0 and name in WARNED:
        return f"{written} is negative: it {WARNED[name]}; computed as it stands"
    return None
