"""Expressions of xacro, computed from their syntax tree: no code of a file is ever run.

Numbers, strings, lists, tuples, dictionaries and the functions of `functions.py` are all there is.
Nothing reaches an object of Python's through an attribute, and every size is bounded before it is
made.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from .functions import COMPARISONS, METHODS, OPERATORS
from .values import (
    Budget,
    ExpressionError,
    Function,
    Names,
    Namespace,
    checked,
    kind_of,
    number_of,
    size,
)

LONGEST_EXPRESSION = 4000
"""Characters of an expression."""


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


class _Evaluation:
    """One walk through a syntax tree; what has no method here is refused."""

    def __init__(self, names: Names, budget: Budget) -> None:
        self._names, self._budget = names, budget

    def value(self, node: ast.expr) -> Any:
        """The checked value of a node."""
        compute = getattr(self, f"_{type(node).__name__}", None)
        if compute is None:
            raise ExpressionError(_refused(node))
        value = checked(compute(node))
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
        raise ExpressionError(f"{kind_of(owner)} has no '{name}' here")

    def _Subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, (str, list, tuple, dict)):
            raise ExpressionError(f"{kind_of(owner)} has no items")
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
        return -number_of(operand) if isinstance(node.op, ast.USub) else +number_of(operand)

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
            raise ExpressionError(f"{kind_of(function)} is not a function")
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


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no key {error.args[0]!r}"
    return str(error) or type(error).__name__
