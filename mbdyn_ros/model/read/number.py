"""Numbers as descriptions write them: finite, and read as C does."""

from __future__ import annotations

LARGEST = 1e100
"""No mass, length or angle is larger; squares and products of smaller numbers stay finite."""


def to_float(word: str) -> float | None:
    """Read a number as C does: no underscores, no digits of other scripts; None for no number.

    >>> to_float("1e-3"), to_float("1_0"), to_float("pi")
    (0.001, None, None)
    """
    try:
        return float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        return None


def to_finite(word: str) -> float | None:
    """Read a number that is finite and below `LARGEST`; None for any other word."""
    value = to_float(word)
    return value if value is not None and abs(value) <= LARGEST else None
