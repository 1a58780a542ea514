"""Attributes under the names of the previous release: they warn, and go with the next one."""

from __future__ import annotations

import warnings
from typing import Any


def former_name(new: str) -> Any:
    """A read-only attribute that warns and gives the attribute `new`.

    >>> class Pulse:
    ...     displacement = 0.1
    ...     way = former_name("displacement")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     Pulse().way, str(caught[0].message)
    (0.1, '`Pulse.way` is deprecated; use `Pulse.displacement`')
    """
    return _FormerName(new)


class _FormerName:
    def __init__(self, new: str) -> None:
        self._new, self._old = new, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._old = name

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        kind = owner.__name__
        warnings.warn(
            f"`{kind}.{self._old}` is deprecated; use `{kind}.{self._new}`", DeprecationWarning, 2
        )
        return getattr(instance, self._new)
