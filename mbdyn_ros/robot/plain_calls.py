"""The short way to call a robot's programs once they are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..array import Array
from ..program.declaration import Declaration, offered


class PlainCalls:
    """The plain call of every program by its name (`plain_call`); None until it is compiled.

    of_links : those of programs of links, by name, link, and axes where there are some.
    """

    def __init__(self) -> None:
        self.of_links: dict[tuple[str, ...], Callable[..., Array | None]] = {}
        self.clear()

    def clear(self) -> None:
        """Leave all arguments to the general calls, until they take the short way again."""
        self.of_links.clear()
        for name in (*offered(), *offered(long=True)):
            setattr(self, name, _not_compiled)

    def take(self, program: Declaration, about: object, call: Callable[..., Array | None]) -> None:
        """Keep the plain call of a program, about a link or about nothing else."""
        if about is None:
            setattr(self, program.name, call)
        elif program.about in ("link", "frame"):
            names = about if isinstance(about, tuple) else (about,)
            self.of_links[(program.name, *names)] = call

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Array | None]: ...


def _not_compiled(*_: object) -> None:
    """Return None, as a plain call does that leaves its arguments to the general call."""
