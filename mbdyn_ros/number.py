"""Numbers as descriptions and settings write them: read as C does, in SI units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TypeVar

from .errors import InputError

T = TypeVar("T")

LARGEST = 1e100
"""No mass, length or angle is larger; squares and products of smaller numbers stay finite."""

UNITS = {
    "deg": ("rad", math.radians(1.0)), "degrees": ("rad", math.radians(1.0)),
    "°": ("rad", math.radians(1.0)), "rpm": ("rad/s", math.tau / 60),
    "mm": ("m", 1e-3), "cm": ("m", 1e-2), "ms": ("s", 1e-3), "min": ("s", 60.0),
    "g": ("kg", 1e-3), "kN": ("N", 1e3), "kNm": ("N m", 1e3), "bar": ("Pa", 1e5),
    "kHz": ("Hz", 1e3), "kW": ("W", 1e3), "deg/s": ("rad/s", math.radians(1.0)),
    **{one: (one, 1.0) for one in ("rad", "rad/s", "m", "m/s", "s", "kg", "N", "Nm", "Hz", "W")},
}  # fmt: skip
"""Units that may follow a number: the SI unit, and the size in it."""


def to_float(word: str) -> float | None:
    """Read a number as C does: no underscores, no digits of other scripts; None for no number.

    >>> to_float("1e-3"), to_float("1_0"), to_float("pi")
    (0.001, None, None)
    """
    try:
        return float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        return None


def to_floats(text: str, separator: str = ",") -> list[float] | None:
    """Read a list of numbers as `to_float` does; None where a word is none.

    >>> to_floats("1, 2e-3"), to_floats("1,a"), to_floats("0:1", ":")
    ([1.0, 0.002], None, [0.0, 1.0])
    """
    found = [value for word in text.split(separator) if (value := to_float(word)) is not None]
    return found if len(found) == text.count(separator) + 1 else None


def to_finite(word: str) -> float | None:
    """Read a number that is finite and below `LARGEST`; None for any other word."""
    value = to_float(word)
    return value if value is not None and abs(value) <= LARGEST else None


def in_si(word: str) -> str:
    """The SI number for a number with its unit; nothing for any other word.

    >>> in_si("90deg")
    '; numbers are in SI units, without their names: write 1.5708 (rad)'
    >>> in_si("ninety")
    ''
    """
    parts = re.fullmatch(r"([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*(\D.*)", word.strip())
    if parts is None or parts[2] not in UNITS:
        return ""
    unit, size = UNITS[parts[2]]
    number = float(parts[1]) * size
    return f"; numbers are in SI units, without their names: write {number:.6g} ({unit})"


def once(option: str, pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """The pairs by their names.

    Raises
    ------
    InputError
        A name is given twice.
    """
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"{option}: {name!r} is given twice")
        found[name] = value
    return found


def name_values(text: str, source: str) -> dict[str, float]:
    """The numbers of name=value,... pairs."""
    pairs = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        found = to_float(value)
        if not equals or found is None:
            raise InputError(f"{source}: {part!r} is not of the form name=number{in_si(value)}")
        pairs.append((name, found))
    return once(source, pairs)
