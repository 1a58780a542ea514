"""The values of expressions of xacro, and the scopes in which they are named."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ....number import to_float

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


LARGEST_VALUE = 100_000
"""Characters of a string, or items (those of inner lists too) of a list or dictionary."""

INTEGER_BITS = 1024
"""Of an integer: about as many as the largest float has."""

WORK = 20_000_000
"""Operations, characters and elements of one document: some ten seconds."""


class ExpressionError(Exception):
    """An expression that is refused or cannot be computed; the text is the reason."""


class Budget:
    """The work a document may still cause: a file that multiplies itself ends in words."""

    def __init__(self) -> None:
        self._left = WORK

    def spend(self, amount: int) -> None:
        """Take that much off."""
        self._left -= amount
        if self._left < 0:
            raise ExpressionError(
                f"expanding the file takes more than {WORK} steps; does a macro, an include or a "
                "property multiply itself?"
            )


class Names(Protocol):
    """Where names are looked up; a missing one is a KeyError."""

    def __getitem__(self, name: str, /) -> Any: ...


class Function:
    """A function that expressions may call; only its name and its result can be seen."""

    def __init__(self, name: str, call: Callable[..., Any], keywords: tuple[str, ...] = ()) -> None:
        self.name, self.call, self.keywords = name, call, keywords


class Namespace:
    """Values that are reached through the name of the namespace and a point."""

    def __init__(self, values: Names) -> None:
        self.values = values


def size(value: object) -> int:
    """Characters of a string, items of a list or dictionary and of all within it."""
    if isinstance(value, str):
        return len(value) + 1
    if not isinstance(value, (list, tuple, dict)):
        return 1
    total, left = 1, [value]
    while left and total <= LARGEST_VALUE:
        one = left.pop()
        items = [*one.keys(), *one.values()] if isinstance(one, dict) else one
        for item in items:
            total += len(item) + 1 if isinstance(item, str) else 1
            if isinstance(item, (list, tuple, dict)):
                left.append(item)
    return total


def checked(value: Any) -> Any:
    """The value, of an allowed type and a bounded size."""
    if value is None or isinstance(value, (bool, float, Function, Namespace)):
        return value
    if isinstance(value, int):
        if value.bit_length() > INTEGER_BITS:
            raise ExpressionError(f"an integer of more than {INTEGER_BITS} bits")
        return value
    if isinstance(value, (str, list, tuple, dict)):
        check_room(size(value))
        items = value.values() if isinstance(value, dict) else value
        if any(isinstance(one, (Function, Namespace)) for one in items):
            raise ExpressionError("a list or dictionary holds values, not functions")
        return value
    raise ExpressionError(f"{kind_of(value)} is not allowed in an expression of a robot file")


def kind_of(value: object) -> str:
    """The kind of a value, for messages."""
    if isinstance(value, Function):
        return f"the function {value.name}"
    return f"a value of type {type(value).__name__}"


def number_of(value: Any) -> Any:
    """The value, which must be a number."""
    if isinstance(value, (int, float)):
        return value
    raise ExpressionError(f"{kind_of(value)} is not a number")


def check_room(needed: int) -> None:
    """Refuse a value before it is made."""
    if needed > LARGEST_VALUE:
        raise ExpressionError(f"a value of more than {LARGEST_VALUE} characters or items")


def text_of(value: object) -> str:
    """A value as text; functions and namespaces have none."""
    if value is None or isinstance(value, (str, int, float, list, tuple, dict)):
        return str(value)
    raise ExpressionError(f"{kind_of(value)} has no text; call it, or name one of its values")


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
