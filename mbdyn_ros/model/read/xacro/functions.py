"""The operators and functions of expressions of xacro, each with a bounded result."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from .values import (
    INTEGER_BITS,
    ExpressionError,
    Function,
    Namespace,
    check_room,
    checked,
    kind_of,
    number_of,
    size,
    text_of,
)


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, (str, list, tuple)):
        return left + right
    return number_of(left) + number_of(right)


def _multiply(left: Any, right: Any) -> Any:
    for many, times in ((left, right), (right, left)):
        if isinstance(many, (str, list, tuple)) and isinstance(times, int):
            check_room(size(many) * max(times, 0))
            return many * times
    return number_of(left) * number_of(right)


def _power(base: Any, exponent: Any, modulus: object = None) -> Any:
    if modulus is not None:
        raise ExpressionError("pow() takes two arguments here")
    base, exponent = number_of(base), number_of(exponent)
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent > 0 and base.bit_length() * exponent > 2 * INTEGER_BITS:
            raise ExpressionError(f"an integer of more than {INTEGER_BITS} bits")
    return base**exponent


def _numbers_only(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: compute(number_of(left), number_of(right))


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


def _replace(text: str, old: Any, new: Any) -> str:
    if not isinstance(old, str) or not isinstance(new, str):
        raise ExpressionError("replace() takes strings")
    check_room(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _join(separator: str, parts: Any) -> str:
    texts = list(parts)
    check_room(sum(map(size, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _bounded_range(*bounds: Any) -> list[int]:
    found = range(*bounds)
    check_room(max(0, (found.stop - found.start) // found.step))
    return list(found)


def _round(value: Any, ndigits: Any = None) -> Any:
    if isinstance(ndigits, int) and abs(ndigits) > 400:
        raise ExpressionError("round() takes at most 400 digits")
    return round(number_of(value), ndigits)


def _integer(value: Any = 0, *base: Any) -> int:
    if isinstance(value, str) and len(value) > 1000:
        raise ExpressionError("an integer of more than 1000 digits")
    return int(value, *base)


def _map(function: Any, *lists: Any) -> list[Any]:
    if not isinstance(function, Function):
        raise ExpressionError(f"{kind_of(function)} is not a function")
    results, needed = [], 0
    for given in zip(*lists, strict=False):
        results.append(checked(function.call(*given)))
        needed += size(results[-1])
        check_room(needed)
    return results


def _sum(values: Any, start: Any = 0) -> Any:
    total = number_of(start)
    for one in values:
        total = checked(total + number_of(one))
    return total


def _product(values: Any) -> Any:
    total: Any = 1
    for one in values:
        total = checked(total * number_of(one))
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
"""Methods of values, by their type."""

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
