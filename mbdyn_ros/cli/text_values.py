"""Numbers in the text of options."""

from __future__ import annotations

from ..errors import InputError
from ..model.read.number import to_float


def name_values(text: str, source: str) -> dict[str, float]:
    """The numbers of name=value,... pairs."""
    values: dict[str, float] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        found = to_float(value)
        if not equals or found is None:
            raise InputError(f"{source}: {part!r} is not name=number")
        if name in values:
            raise InputError(f"{source}: {name!r} is given twice")
        values[name] = found
    return values
