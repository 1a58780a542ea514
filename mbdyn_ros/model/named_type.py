"""Looking up the type of a joint or of a loop by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from ..errors import ModelError, suggestion


class Named(Protocol):
    """A type, its name, and those it has elsewhere."""

    @property
    def name(self) -> str: ...

    @property
    def synonyms(self) -> tuple[str, ...]: ...


Type = TypeVar("Type", bound=Named)


def named_type(
    name: str | None,
    types: Mapping[str, Type],
    what: str,
    known: Callable[[], str],
    elsewhere: Mapping[str, str],
) -> Type:
    """The type of that name, or of that name elsewhere.

    Parameters
    ----------
    what, known : words that a refusal begins with, and those that list the types at its end.
    elsewhere : how to write what other formats have and this one has not, by name.

    Raises
    ------
    ModelError
        There is none.
    """
    if not name:
        raise ModelError(f"{what}has no type; {known()}")
    for one in types.values():
        if name == one.name or name in one.synonyms:
            return one
    problem = f"is unknown{suggestion(name, types)}"
    if name in elsewhere:
        problem = f"is not in URDF; write it as {elsewhere[name]}"
    raise ModelError(f'{what}type "{name}" {problem}; {known()}')
