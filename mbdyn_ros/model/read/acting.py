"""The numbers that act on the coordinates of a joint, wherever they are written."""

from __future__ import annotations

from collections.abc import Mapping

REFUSED = {
    "friction": "friction opposes motion, give its magnitude",
    "armature": "no rotor has that inertia, give reduction^2 times that of the rotor",
}
"""Numbers of a joint that are not negative, and why."""

WARNED = {"damping": "drives the joint", "spring_stiffness": "drives the joint away"}
"""Numbers of a joint that are seldom negative, and what they do then."""


def judge(
    numbers: Mapping[str, float], written: Mapping[str, str] | None = None
) -> tuple[str | None, list[str]]:
    """Why no joint can have these numbers, if none can, and what is surely not meant of them.

    written : each of them as the file has it; by default its name and value.
    """
    if written is None:
        written = {name: f"{name} {value:g}" for name, value in numbers.items()}
    refused = (refusal(name, value, written[name]) for name, value in numbers.items())
    doubts = (doubt(name, value, written[name]) for name, value in numbers.items())
    return next(filter(None, refused), None), list(filter(None, doubts))


def refusal(name: str, value: float, written: str) -> str | None:
    """Why no joint can have this number; None where one can. `written`: as the file has it."""
    if value < 0.0 and name in REFUSED:
        return f"{written} is negative; {REFUSED[name]}"
    return None


def doubt(name: str, value: float, written: str) -> str | None:
    """Why this number is surely not what was meant; None where it may be."""
    if value < 0.0 and name in WARNED:
        return f"{written} is negative: it {WARNED[name]}; computed as it is"
    return None
