"""Texts of xacro: `${...}` and `$(...)` in them, and the properties that these name.

An expression is evaluated from its syntax tree: no code of a file is ever run. Numbers, strings,
lists, tuples, dictionaries and the functions of `functions.py` are all there is. Nothing reaches
an object of Python's through an attribute, and every size is bounded before it is made.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from lxml import etree

from ....errors import ModelError, ModelWarning, warn
from .functions import COMPARISONS, GLOBALS, METHODS, OPERATORS, tokenize
from .substitutions import Substitutions, load_table
from .values import (
    Budget,
    ExpressionError,
    Function,
    Names,
    Namespace,
    PropertyScope,
    checked,
    kind_of,
    literal,
    number_of,
    shortened,
    size,
    text_of,
)

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


DEEPEST = 100
"""Macros and included files within each other."""

TOKEN = re.compile(
    r"(?P<escaped>\$\$+(?=[{(]))|\$\{(?P<expression>[^}]*)\}|\$\((?P<substitution>[^)]*)\)"
    r"|(?P<text>[^$]+|\$(?![{($])|\$(?=\$))"
)


class Values:
    """The names that expressions see of a scope: its properties, then the functions."""

    def __init__(self, texts: Texts, scope: PropertyScope) -> None:
        self._texts, self._scope = texts, scope

    def __getitem__(self, name: str) -> Any:
        return self._texts.property_value(name, self._scope)


class ArgumentNames:
    """The names that `$(eval ...)` sees: functions, then arguments."""

    def __init__(self, substitutions: Substitutions, file: str) -> None:
        self._substitutions = substitutions
        own: dict[str, Callable[..., Any]] = {
            "arg": self._value,
            "find": substitutions.package,
            "env": substitutions.environment,
            "optenv": lambda name, default="": substitutions.environment(name, text_of(default)),
            "dirname": lambda: substitutions.resolve("dirname", file),
        }
        functions = {name: Function(name, call) for name, call in own.items()}
        self._values = {**GLOBALS, "true": True, "false": False, **functions}

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else self._value(name)

    def _value(self, name: str) -> Any:
        return literal(self._substitutions.text(name))


class Texts:
    """The texts of one file with their expressions evaluated.

    Parameters
    ----------
    name : of the file.
    substitutions : what `$(...)` stands for, and the folders that files are read from.
    """

    def __init__(self, name: str, substitutions: Substitutions) -> None:
        self._substitutions = substitutions
        self._budget = Budget()
        self._places: list[str] = [name]
        self._macros: list[str] = []
        self._element: Element | None = None
        self._evaluating: list[str] = []
        self._globals = {**GLOBALS, "xacro": Namespace(self._own_functions())}

    def text(self, text: str, names: PropertyScope) -> Any:
        """A text with its expressions evaluated; one that is a single expression is its value."""
        if "$" not in text:
            return text
        parts: list[Any] = []
        position = 0
        while position < len(text):
            found = TOKEN.match(text, position)
            if found is None:
                raise ExpressionError(f'"{shortened(text)}" has a "${{" or "$(" that is not closed')
            position = found.end()
            if found["expression"] is not None:
                parts.append(self._evaluate(found["expression"], names))
            elif found["substitution"] is not None:
                inner = text_of(self.text(found["substitution"], names))
                parts.append(self._substitute(inner))
            else:
                parts.append(found["text"] or found["escaped"][1:])
        if len(parts) == 1:
            return parts[0]
        joined = "".join(map(text_of, parts))
        self._budget.spend(len(joined))
        return joined

    def _evaluate(self, expression: str, names: PropertyScope) -> Any:
        code = text_of(self.text(expression, names))
        try:
            return evaluate(code, Values(self, names), self._budget)
        except ExpressionError as error:
            raise _in_expression(error, f"${{{shortened(code)}}}") from None

    def _substitute(self, call: str) -> str:
        if call.startswith("eval "):
            code = call.removeprefix("eval ")
            try:
                names = ArgumentNames(self._substitutions, self._places[-1])
                return text_of(evaluate(code, names, self._budget))
            except ExpressionError as error:
                raise _in_expression(error, f"$(eval {shortened(code)})") from None
        return self._substitutions.resolve(call, self._places[-1])

    def property_value(self, name: str, scope: PropertyScope) -> Any:
        """The value of a property, evaluated now where it waits for that; KeyError for none."""
        holder = scope.holder(name)
        if holder is None:
            return self._globals[name]
        value = holder.values[name]
        if name in holder.lazy:
            if name in self._evaluating:
                chain = " -> ".join([*self._evaluating, name])
                raise ExpressionError(f"the properties {chain} go round in a circle")
            with self._deeper(self._evaluating, name):
                value = self.text(value, holder)
            holder.set(name, value)
            value = holder.values[name]
        if isinstance(value, PropertyScope):
            return Namespace(Values(self, value))
        if not (value is None or isinstance(value, (str, int, float, list, tuple, dict))):
            if not isinstance(value, (Function, Namespace)):
                raise KeyError(name)
        return value

    # ---- functions of the namespace xacro

    def _own_functions(self) -> dict[str, Any]:
        def fatal(*words: object) -> NoReturn:
            raise ExpressionError(" ".join(map(text_of, words)))

        def remark(*words: object) -> str:
            text = " ".join(map(text_of, words))
            warn(f"{self._place()}: {shortened(text)}", ModelWarning)
            return ""

        table: Mapping[str, Callable[..., Any]] = {
            "load_yaml": self._load_yaml, "abs_filename": self._near, "dotify": dict,
            "arg": self._substitutions.text, "message": remark, "warning": remark,
            "error": remark, "fatal": fatal, "tokenize": tokenize, "print_location": lambda: "",
        }  # fmt: skip
        keywords = {"tokenize": ("sep", "skip_empty")}
        return {name: Function(name, call, keywords.get(name, ())) for name, call in table.items()}

    def _load_yaml(self, name: str) -> Any:
        path = self._near(text_of(name))
        self._substitutions.check_path(path)

        def unit(text: str) -> float:
            return float(evaluate(text, self._globals, self._budget))

        table = load_table(path, unit)
        self._budget.spend(size(table))
        return table

    def _near(self, name: str) -> str:
        """A path, relative to the file at hand, in full and without `..`."""
        folder = os.path.dirname(os.path.abspath(self._places[-1]))
        return os.path.normpath(os.path.join(folder, name))

    # ---- places

    @contextmanager
    def _deeper(self, stack: list[str], name: str) -> Iterator[None]:
        """Go into a macro, a file or a property."""
        if len(stack) > DEEPEST:
            raise ExpressionError("endless recursion of macros, includes or properties")
        stack.append(name)
        yield
        stack.pop()  # kept after a refusal: it names the place

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except ExpressionError as error:
            self._refuse(str(error))
        except RecursionError:
            self._refuse("endless recursion of macros, includes or properties")

    def _refuse(self, reason: str) -> NoReturn:
        raise ModelError(f"{self._place()}: {reason}") from None

    def _place(self) -> str:
        """File, line and element, the macros around it, and the files that include it."""
        place, element = self._places[-1], self._element
        if element is not None:
            name = etree.QName(element).localname
            name = f"{element.prefix}:{name}" if element.prefix else name
            named = element.get("name")
            label = f' name="{shortened(named)}"' if named else ""
            place = element.getroottree().docinfo.URL or place
            place += f":{element.sourceline}: <{name}{label}>"
        if self._macros:
            place += f" in {', in '.join(f'<xacro:{one}>' for one in self._macros[:-6:-1])}"
        if len(self._places) > 1:
            place += f" (included by {', by '.join(self._places[-2:-5:-1])})"
        return f"{place}: xacro"


def _in_expression(error: ExpressionError, expression: str) -> ExpressionError:
    """The error with the expression around it, the innermost only."""
    text = str(error)
    if " when evaluating " in text:
        return error
    return ExpressionError(f"{text} when evaluating {expression}")


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
