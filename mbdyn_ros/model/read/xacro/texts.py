"""Texts of xacro: `${...}` and `$(...)` in them, and the properties that these name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from lxml import etree

from ....errors import ModelError, ModelWarning, warn
from .expressions import evaluate
from .functions import GLOBALS, tokenize
from .scope import Scope, literal, shortened
from .substitutions import Substitutions, load_table
from .values import Budget, ExpressionError, Function, Namespace, size, text_of

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

    def __init__(self, texts: Texts, scope: Scope) -> None:
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

    def text(self, text: str, names: Scope) -> Any:
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

    def _evaluate(self, expression: str, names: Scope) -> Any:
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

    def property_value(self, name: str, scope: Scope) -> Any:
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
        if isinstance(value, Scope):
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
            raise ExpressionError("macros, includes or properties go on without end")
        stack.append(name)
        yield
        stack.pop()  # after a refusal it tells the place

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except ExpressionError as error:
            self._refuse(str(error))
        except RecursionError:
            self._refuse("macros, includes or properties go on without end")

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
