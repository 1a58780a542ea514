"""Expressions of xacro, computed from their syntax tree: no code of a file is ever run.

Numbers, strings, lists, tuples, dictionaries and the functions below are all there is. Nothing
reaches an object of Python's through an attribute, and every size is bounded before it is made.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

LONGEST_EXPRESSION = 4000
"""Characters of an expression."""

LARGEST_VALUE = 100_000
"""Characters of a string, or items (those of inner lists too) of a list or dictionary."""

INTEGER_BITS = 1024
"""Of an integer: about as many as the largest float has."""

WORK = 20_000_000
"""Operations, characters and elements of one document: some ten seconds."""


class ExpressionError(Exception):
    """An expression that is refused or cannot be computed; the text is the reason."""


class Budget:
    """What a document may still spend: a file that multiplies itself ends in words."""

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


def evaluate(text: str, names: Names, budget: Budget) -> Any:
    """The value of an expression.

    Parameters
    ----------
    text : the expression, without `${` and `}`.
    names : arguments, properties and functions by name.
    budget : of the document.

    Returns
    -------
    Any
        A bool, int, float, str, None, list, tuple or dict (or a `Function`).

    Raises
    ------
    ExpressionError
        The expression is not well formed, holds something that is not allowed, or fails.
    """
    if len(text) > LONGEST_EXPRESSION:
        raise ExpressionError(f"has {len(text)} characters, and at most {LONGEST_EXPRESSION} count")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"not a valid expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError("not a valid expression: too deeply nested, or not text") from None
    try:
        return _Evaluation(names, budget).value(tree)
    except RecursionError:
        raise ExpressionError(
            "is nested too deeply, or its properties go round in a circle"
        ) from None
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise ExpressionError(_reason(error)) from None


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


class _Evaluation:
    """One walk through a syntax tree; what has no method here is refused."""

    def __init__(self, names: Names, budget: Budget) -> None:
        self._names, self._budget = names, budget

    def value(self, node: ast.expr) -> Any:
        """The checked value of a node."""
        compute = getattr(self, f"_{type(node).__name__}", None)
        if compute is None:
            raise ExpressionError(_refused(node))
        value = _checked(compute(node))
        self._budget.spend(size(value))
        return value

    def _Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _Name(self, node: ast.Name) -> Any:
        try:
            return self._names[node.id]
        except KeyError:
            raise ExpressionError(f"name '{node.id}' is not defined") from None

    def _Attribute(self, node: ast.Attribute) -> Any:
        name = node.attr
        if name.startswith("_"):
            raise ExpressionError(f"the attribute .{name} is not allowed")
        owner = self.value(node.value)
        if isinstance(owner, Namespace):
            try:
                return owner.values[name]
            except KeyError:
                raise ExpressionError(f"name '{name}' is not defined") from None
        if isinstance(owner, dict) and name in owner:
            return owner[name]
        method = METHODS.get(type(owner), {}).get(name)
        if method is not None:
            return Function(name, partial(method, owner))
        raise ExpressionError(f"{_kind(owner)} has no '{name}' here")

    def _Subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, (str, list, tuple, dict)):
            raise ExpressionError(f"{_kind(owner)} has no items")
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = slice(*(None if one is None else self.value(one) for one in parts))
            if isinstance(owner, (str, list, tuple)):
                return owner[bounds]
            raise ExpressionError("a dictionary has no slices")
        return owner[self.value(node.slice)]

    def _Tuple(self, node: ast.Tuple) -> Any:
        return tuple(map(self.value, node.elts))

    def _List(self, node: ast.List) -> Any:
        return list(map(self.value, node.elts))

    def _Dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise ExpressionError("** is not allowed")
        return {
            self.value(key): self.value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key
        }

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return not operand
        if isinstance(node.op, ast.Invert):
            raise ExpressionError("the operator ~ is not allowed")
        return -_number(operand) if isinstance(node.op, ast.USub) else +_number(operand)

    def _BinOp(self, node: ast.BinOp) -> Any:
        compute = OPERATORS.get(type(node.op))
        if compute is None:
            raise ExpressionError(f"the operator {type(node.op).__name__} is not allowed")
        return compute(self.value(node.left), self.value(node.right))

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        stops = isinstance(node.op, ast.Or)
        value: Any = None
        for one in node.values:
            value = self.value(one)
            if bool(value) is stops:
                break
        return value

    def _IfExp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _Compare(self, node: ast.Compare) -> Any:
        left, result = self.value(node.left), True
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            if not COMPARISONS[type(op)](left, right):
                return False
            left = right
        return result

    def _Call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        if not isinstance(function, Function):
            raise ExpressionError(f"{_kind(function)} is not a function")
        named = {str(one.arg): self.value(one.value) for one in node.keywords}
        for name in named:
            if name == "None" or (name not in function.keywords and "*" not in function.keywords):
                raise ExpressionError(f"{function.name}() takes no argument '{name}' here")
        given = [self.value(one) for one in node.args]
        self._budget.spend(sum(map(size, given)))
        return function.call(*given, **named)


def _refused(node: ast.expr) -> str:
    """Why a kind of node is refused."""
    words = {
        "Lambda": "lambda", "JoinedStr": "an f-string", "NamedExpr": "the operator :=",
        "ListComp": "a comprehension", "SetComp": "a comprehension", "DictComp": "a comprehension",
        "GeneratorExp": "a comprehension", "Starred": "* before an argument", "Set": "a set",
        "Await": "await", "Yield": "yield", "YieldFrom": "yield",
    }  # fmt: skip
    name = type(node).__name__
    return f"{words.get(name, name)} is not allowed in an expression of a robot file"


def _checked(value: Any) -> Any:
    """The value, of an allowed type and a bounded size."""
    if value is None or isinstance(value, (bool, float, Function, Namespace)):
        return value
    if isinstance(value, int):
        if value.bit_length() > INTEGER_BITS:
            raise ExpressionError(f"an integer of more than {INTEGER_BITS} bits")
        return value
    if isinstance(value, (str, list, tuple, dict)):
        _room(size(value))
        items = value.values() if isinstance(value, dict) else value
        if any(isinstance(one, (Function, Namespace)) for one in items):
            raise ExpressionError("a list or dictionary holds values, not functions")
        return value
    raise ExpressionError(f"{_kind(value)} is not allowed in an expression of a robot file")


def _kind(value: object) -> str:
    if isinstance(value, Function):
        return f"the function {value.name}"
    return f"a value of type {type(value).__name__}"


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no key {error.args[0]!r}"
    return str(error) or type(error).__name__


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return value
    raise ExpressionError(f"{_kind(value)} is not a number")


def _room(needed: int) -> None:
    """Refuse a value before it is made."""
    if needed > LARGEST_VALUE:
        raise ExpressionError(f"a value of more than {LARGEST_VALUE} characters or items")


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, (str, list, tuple)):
        return left + right
    return _number(left) + _number(right)


def _multiply(left: Any, right: Any) -> Any:
    for many, times in ((left, right), (right, left)):
        if isinstance(many, (str, list, tuple)) and isinstance(times, int):
            _room(size(many) * max(times, 0))
            return many * times
    return _number(left) * _number(right)


def _power(base: Any, exponent: Any, modulus: object = None) -> Any:
    if modulus is not None:
        raise ExpressionError("pow() takes two arguments here")
    base, exponent = _number(base), _number(exponent)
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent > 0 and base.bit_length() * exponent > 2 * INTEGER_BITS:
            raise ExpressionError(f"an integer of more than {INTEGER_BITS} bits")
    return base**exponent


def _numbers_only(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: compute(_number(left), _number(right))


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _add,
    ast.Mult: _multiply,
    ast.Pow: _power,
    ast.Sub: _numbers_only(operator.sub),
    ast.Div: _numbers_only(operator.truediv),
    ast.FloorDiv: _numbers_only(operator.floordiv),
    ast.Mod: _numbers_only(operator.mod),
    ast.BitAnd: _numbers_only(operator.and_),
    ast.BitOr: _numbers_only(operator.or_),
    ast.BitXor: _numbers_only(operator.xor),
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,  # codespell:ignore
}


def text_of(value: object) -> str:
    """A value as text; functions and namespaces have none."""
    if value is None or isinstance(value, (str, int, float, list, tuple, dict)):
        return str(value)
    raise ExpressionError(f"{_kind(value)} has no text; call it, or name one of its values")


def _replace(text: str, old: Any, new: Any) -> str:
    if not isinstance(old, str) or not isinstance(new, str):
        raise ExpressionError("replace() takes strings")
    _room(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _join(separator: str, parts: Any) -> str:
    texts = list(parts)
    _room(sum(map(size, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _bounded_range(*bounds: Any) -> list[int]:
    found = range(*bounds)
    _room(max(0, (found.stop - found.start) // found.step))
    return list(found)


def _round(value: Any, ndigits: Any = None) -> Any:
    if isinstance(ndigits, int) and abs(ndigits) > 400:
        raise ExpressionError("round() takes at most 400 digits")
    return round(_number(value), ndigits)


def _integer(value: Any = 0, *base: Any) -> int:
    if isinstance(value, str) and len(value) > 1000:
        raise ExpressionError("an integer of more than 1000 digits")
    return int(value, *base)


def _map(function: Any, *lists: Any) -> list[Any]:
    if not isinstance(function, Function):
        raise ExpressionError(f"{_kind(function)} is not a function")
    results, needed = [], 0
    for given in zip(*lists, strict=False):
        results.append(_checked(function.call(*given)))
        needed += size(results[-1])
        _room(needed)
    return results


def _sum(values: Any, start: Any = 0) -> Any:
    total = _number(start)
    for one in values:
        total = _checked(total + _number(one))
    return total


def _product(values: Any) -> Any:
    total: Any = 1
    for one in values:
        total = _checked(total * _number(one))
    return total


def tokenize(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    """The words of a text between any of the characters of `sep`."""
    words = [""]
    for character in text:
        if character in sep:
            words.append("")
        else:
            words[-1] += character
    return [one for one in words if one] if skip_empty else words


def _functions(table: Mapping[str, Callable[..., Any]]) -> dict[str, Function]:
    keywords = {"dict": ("*",), "round": ("ndigits",), "sorted": ("reverse",)}
    return {name: Function(name, call, keywords.get(name, ())) for name, call in table.items()}


METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    str: {
        **{
            name: getattr(str, name)
            for name in (
                "split rsplit strip lstrip rstrip lower upper title capitalize startswith endswith "
                "find rfind index count isdigit isalpha isalnum islower isupper isspace splitlines"
            ).split()
        },
        "replace": _replace,
        "join": _join,
    },
    dict: {
        "keys": lambda owner: list(owner),
        "values": lambda owner: list(owner.values()),
        "items": lambda owner: list(owner.items()),
        "get": dict.get,
    },
    list: {"index": list.index, "count": list.count},
    tuple: {"index": tuple.index, "count": tuple.count},
}
"""What a value can be asked for after a point, by its type."""

ALWAYS: dict[str, Callable[..., Any]] = {
    "list": list, "dict": dict, "map": _map, "len": len, "str": text_of, "float": float,
    "int": _integer, "bool": bool, "min": min, "max": max, "round": _round,
    "sorted": lambda values, reverse=False: sorted(values, reverse=bool(reverse)),
    "range": _bounded_range,
}  # fmt: skip
QUALIFIED: dict[str, Callable[..., Any]] = {
    **ALWAYS,
    "abs": abs, "all": all, "any": any, "sum": _sum, "tuple": tuple, "divmod": divmod, "ord": ord,
    "zip": lambda *lists: list(zip(*lists, strict=False)),
    "enumerate": lambda values: list(enumerate(values)),
    "reversed": lambda values: list(reversed(values)),
}  # fmt: skip
MATH = _functions(
    {
        name: getattr(math, name)
        for name in (
            "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees dist erf erfc "
            "exp expm1 fabs floor fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan "
            "isqrt ldexp lgamma log log10 log1p log2 modf radians remainder sin sinh sqrt tan tanh "
            "trunc"
        ).split()
    }
    | {"pow": lambda base, exponent: math.pow(base, exponent), "prod": _product}
)
CONSTANTS: dict[str, Any] = {
    "True": True, "False": False, "pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf,
    "nan": math.nan,
}  # fmt: skip


GLOBALS: dict[str, Any] = {
    **MATH,
    **_functions(ALWAYS),
    **CONSTANTS,
    "math": Namespace(MATH | CONSTANTS),
    "python": Namespace(_functions(QUALIFIED) | {"True": True, "False": False}),
}
"""The names that every expression knows; properties of the same name hide them."""
