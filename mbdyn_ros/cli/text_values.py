"""Numbers in the text of options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import click

from ..errors import InputError

T = TypeVar("T")


def joined_pairs(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> str | None:
    """The text of an option that may be repeated where it gives name=value pairs."""
    if len(texts) > 1 and not all("=" in one and one.lstrip()[:1] not in "[{" for one in texts):
        raise click.UsageError(
            f"{option.opts[-1]} is given {len(texts)} times; only name=value pairs add up", context
        )
    return ",".join(texts) if texts else None


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
    from ..model.read.number import to_float  # a help needs none of the readers

    pairs = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, value = (one.strip() for one in part.partition("="))
        found = to_float(value)
        if not equals or found is None:
            raise InputError(f"{source}: {part!r} is not of the form name=number")
        pairs.append((name, found))
    return once(source, pairs)
