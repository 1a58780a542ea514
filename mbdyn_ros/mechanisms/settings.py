"""The flat names of all numbers that can be set, such as `ground` or `coupler_mass`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from ..model.read.number import LARGEST
from .link import ORDINALS, Bar, Link, Number, Piece, Plate, Wheel, plate_numbers

UNITS = {"mass": "kg", "inertia": "kg m^2", "gravity": "m/s^2", "branch": "",
         "teeth": "1", "ratio": "1", "phase": "rad"}  # fmt: skip
"""Units of settings by the end of their names; all others are lengths."""


def problem_of(name: str, number: float) -> str | None:
    """The fault of a number of a setting, in words; None of one without."""
    unit = unit_of(name)
    if not math.isfinite(number):
        return f"{name} is {number}; give a finite number"
    if (name == "ground" or name.endswith(("_length", "_mass", "_teeth"))) and number <= 0:
        what = {"m": "length", "kg": "mass"}.get(unit, "number")
        return f"{name} is {number:g} {unit}; give a {what} above zero"
    if name.endswith(("_width", "_inertia")) and number < 0:
        return f"{name} is {number:g} {unit}; it cannot be negative"
    if name.endswith("branch") and number not in (1, -1):
        return f"{name} is {number:g}; the two assembly branches are 1 and -1"
    if abs(number) > LARGEST:
        return f"{name} is {number:g} {unit}; give {LARGEST:g} {unit} at most"
    return None


def unit_of(setting: str) -> str:
    """Unit of a setting."""
    return UNITS.get(setting.rpartition("_")[2], "m")


def length_names(settings: Iterable[str]) -> list[str]:
    """The settings that are lengths of links and between pivots, in order."""
    others = ("_width", "_along", "_across")
    return [name for name in settings if unit_of(name) == "m" and not name.endswith(others)]


def piece_settings(piece: Piece) -> dict[str, Number]:
    """The settings of a link, with their present values."""
    result: dict[str, Number] = {}
    if isinstance(piece, Bar):
        result["length"] = piece.length
    if isinstance(piece, Wheel):
        result["teeth"] = piece.teeth
    result["mass"] = piece.mass
    if isinstance(piece, Link):
        result["width"] = piece.width
    if isinstance(piece, Plate):
        result |= plate_numbers(piece)
    if isinstance(piece, Bar):
        result["center_along"], result["center_across"] = piece.middle
    result["inertia"] = piece.moment
    return result


def with_setting(piece: Piece, key: str, number: Number) -> Piece:
    """The link with one setting changed."""
    for pair in ("third", "center", *ORDINALS):
        if key.startswith(f"{pair}_") and isinstance(piece, Bar):
            along, across = piece.middle if pair == "center" else getattr(piece, pair)
            changed = (number, across) if key.endswith("along") else (along, number)
            return replace(piece, **{pair: changed})  # type: ignore[arg-type]
    return replace(piece, **{key: number})


def stands_in(field: str, name: str) -> bool:
    """Whether a setting belongs to a field of a design."""
    return name == field or name.startswith(f"{field}_")
