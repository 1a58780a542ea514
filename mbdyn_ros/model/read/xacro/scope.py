"""The scopes of xacro: properties and macros by name, and the values that texts write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..number import to_float
from .values import ExpressionError

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PARAMETER = re.compile(
    r"\s*(?P<name>[^\s:=]+)(?:\s*:?=\s*(?P<forward>\^\|?)?"
    r"(?P<default>(?:\$\{[^}]*\}|\$\([^)]*\)|\$(?![{(])|'[^']*'|\"[^\"]*\"|[^\s'\"$])*))?"
    r"(?=\s|$)"
)
"""A parameter of a macro: its name, whether it is forwarded, its default."""


class PropertyScope:
    """Properties or macros by name; those of the scopes around it are seen too."""

    def __init__(self, parent: PropertyScope | None = None, namespace: bool = False) -> None:
        self.parent, self.namespace = parent, namespace
        self.values: dict[str, Any] = {}
        self.lazy: set[str] = set()

    def holder(self, name: str) -> PropertyScope | None:
        """The innermost scope that has a name."""
        scope: PropertyScope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.parent
        return scope

    def set(self, name: str, value: object, lazy: bool = False) -> None:
        """Set a value; lazily one that is evaluated when it is first asked for."""
        self.values[name] = value = literal(value)
        self.lazy.discard(name)
        if lazy and isinstance(value, str):
            self.lazy.add(name)

    def remove(self, name: str) -> None:
        """Remove a name from this scope and all around it."""
        scope: PropertyScope | None = self
        while scope is not None:
            scope.values.pop(name, None)
            scope.lazy.discard(name)
            scope = scope.parent

    def top(self) -> PropertyScope:
        """The outermost scope."""
        return self if self.parent is None else self.parent.top()


class Macro:
    """The body of a macro and its parameters: name -> (forwarded, default)."""

    def __init__(self, body: Element, text: str) -> None:
        self.body = body
        self.parameters: dict[str, tuple[bool, str | None]] = {}
        text, position = text.strip(), 0
        while position < len(text):
            found = PARAMETER.match(text, position)
            if found is None:
                raise ExpressionError(f'params="{text}" is not a list of parameters')
            self.parameters[found["name"]] = (bool(found["forward"]), found["default"] or None)
            position = found.end()


def literal(value: object) -> Any:
    """A text as the value it writes: without its quotes, a number, true or false."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    text = value.strip()
    if "_" in text or len(text) > 400:
        return value
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text)
    number = to_float(text)
    if number is not None:
        return number
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


def truth(value: object, condition: str) -> bool:
    """A condition that xacro knows: true, false or a number."""
    value = literal(value)
    if isinstance(value, str):
        raise ExpressionError(
            f'the condition "{shortened(condition)}" is "{shortened(value)}", which is neither '
            "true nor false"
        )
    return bool(value)


def shortened(text: str) -> str:
    """A text as messages show it."""
    return text if len(text) < 200 else f"{text[:200]}..."
