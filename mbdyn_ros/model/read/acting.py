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
    """Why no joint can have this number; None where one can. `written`: as the file has it."""
    if value < 0.0 and name in REFUSED:
        return f"{written} is negative; {REFUSED[name]}"
    return None


def doubt(name: str, value: float, written: str) -> str | None:
    """Why this number is surely not what was meant; None where it may be."""
    if value < 0.0 and name in WARNED:
        return f"{written} is negative: it {WARNED[name]}; computed as it stands"
    return None
