"""Formulas of walls as text: read by Python's own parser, nothing of them is ever run."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import casadi as ca

from ...equations.algebra.spatial import SX
from ...errors import InputError, suggestion
from ...model.read.number import to_finite

LONGEST = 2000
"""Characters of a formula."""

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda over, under: SX(over) / under, ast.Pow: lambda base, power: SX(base) ** power,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip

FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{name: (getattr(ca, name), 1) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt"
    )},
    "abs": (ca.fabs, 1), "atan2": (ca.atan2, 2), "hypot": (ca.hypot, 2),
    "min": (ca.fmin, 2), "max": (ca.fmax, 2),
}  # fmt: skip
"""CasADi's function of each name, and how many arguments it takes."""

AXES = ("x", "y", "z")


def formula(text: str) -> Callable[[SX], SX]:
    """The function of a world point (3,) that a formula in x, y, z describes.

    Parameters
    ----------
    text : numbers, x, y, z (m), pi, + - * / **, parentheses, and the `FUNCTIONS`.

    Raises
    ------
    InputError
        It is not such a formula; the message says which part is not.

    Examples
    --------
    >>> formula("z - 0.1*sin(3*x)")(SX([0.0, 1.0, 2.0]))
    SX(2)
    """
    if len(text) > LONGEST:
        raise InputError(f"the formula has {len(text)} characters; write it in {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise InputError(
            f"{text!r} is not a formula: {reason}; write one such as z - 0.1*x"
        ) from None
    try:
        _value(tree, SX.sym("x", 3), text)  # refused before anybody asks
    except RecursionError:
        raise InputError(f"{text[:40]!r}... is nested too deeply to be a formula") from None
    return lambda x: SX(_value(tree, x, text))


def _value(node: ast.AST, x: SX, text: str) -> Any:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        number = to_finite(str(node.value))
        if number is not None:
            return number
    if isinstance(node, ast.Name):
        if node.id in AXES:
            return x[AXES.index(node.id)]
        if node.id == "pi":
            return math.pi
        known = (*AXES, "pi", *FUNCTIONS)
        raise InputError(
            f"{text!r}: there is no {node.id!r}{suggestion(node.id, known)}; there are "
            f"{', '.join(known)}"
        )
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, x, text), _value(node.right, x, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, x, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name in FUNCTIONS:
            function, count = FUNCTIONS[name]
            if len(node.args) != count:
                raise InputError(f"{text!r}: {name} takes {count} values, not {len(node.args)}")
            return function(*(_value(argument, x, text) for argument in node.args))
        raise InputError(
            f"{text!r}: there is no function {name!r}{suggestion(name, FUNCTIONS)}; there are "
            f"{', '.join(FUNCTIONS)}"
        )
    part = ast.get_source_segment(text.strip(), node) or type(node).__name__  # type: ignore[arg-type]
    where = "" if part == text.strip() else f"{text!r}: "
    raise InputError(
        f"{where}{part!r} is not a number, x, y, z, pi, one of + - * / ** or a function; write a "
        "formula such as z - 0.1*sin(3*x)"
    )
