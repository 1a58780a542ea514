"""Macros, properties, conditions and included files of xacro, written out."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, NoReturn

from lxml import etree

from ....errors import ModelError, ModelWarning, suggestion, warn
from ..number import to_float
from ..source_text import read_text
from ..xml_source import parse_xml
from .expressions import (
    GLOBALS,
    Budget,
    ExpressionError,
    Function,
    Namespace,
    evaluate,
    size,
    text_of,
    tokenize,
)
from .substitutions import Substitutions, load_table

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DEEPEST = 100
"""Macros and included files within each other."""

ELEMENT_WORK = 20
"""Steps of the budget that one element takes."""

TOKEN = re.compile(
    r"(?P<escaped>\$\$+(?=[{(]))|\$\{(?P<expression>[^}]*)\}|\$\((?P<substitution>[^)]*)\)"
    r"|(?P<text>[^$]+|\$(?![{($])|\$(?=\$))"
)
PARAMETER = re.compile(
    r"\s*(?P<name>[^\s:=]+)(?:\s*:?=\s*(?P<forward>\^\|?)?"
    r"(?P<default>(?:\$\{[^}]*\}|\$\([^)]*\)|\$(?![{(])|'[^']*'|\"[^\"]*\"|[^\s'\"$])*))?"
    r"(?=\s|$)"
)
"""A parameter of a macro: its name, whether it is forwarded, its default."""


class Scope:
    """Properties or macros by name; those of the scopes around it are seen too."""

    def __init__(self, parent: Scope | None = None, namespace: bool = False) -> None:
        self.parent, self.namespace = parent, namespace
        self.values: dict[str, Any] = {}
        self.lazy: set[str] = set()

    def holder(self, name: str) -> Scope | None:
        """The innermost scope that has a name."""
        scope: Scope | None = self
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
        scope: Scope | None = self
        while scope is not None:
            scope.values.pop(name, None)
            scope.lazy.discard(name)
            scope = scope.parent

    def top(self) -> Scope:
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


class Values:
    """What expressions see of a scope: its properties, then the functions."""

    def __init__(self, expansion: Expansion, scope: Scope) -> None:
        self._expansion, self._scope = expansion, scope

    def __getitem__(self, name: str) -> Any:
        return self._expansion.property_value(name, self._scope)


class ArgumentNames:
    """What `$(eval ...)` sees: functions, then arguments."""

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


class Expansion:
    """The expansion of one file.

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

    def expand(self, root: Element) -> Element:
        """The document that a document stands for."""
        properties, macros = Scope(), Scope()
        holder = etree.Element("holder")
        with self._refusals():
            self._write(root, properties, macros, holder)
        if len(holder) != 1:
            self._refuse("expands to nothing that is one element")
        return holder[0]

    # ---- elements

    def _children(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        """Write what an element holds."""
        self._add_text(out, element.text, names)
        for child in element:
            if isinstance(child.tag, str):
                self._one(child, names, macros, out)
            self._element = element
            self._add_text(out, child.tail, names)

    def _one(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        self._element = element
        self._budget.spend(ELEMENT_WORK)
        if element.prefix != "xacro":
            self._write(element, names, macros, out)
            return
        kind = etree.QName(element).localname
        handler: Callable[..., None] | None = HANDLERS.get(kind)
        if handler is not None:
            handler(self, element, names, macros, out)
        else:
            self._call(kind, element, names, macros, out)

    def _write(
        self, element: Element, names: Scope, macros: Scope, out: Element, tag: str | None = None
    ) -> None:
        """Write an element that is not xacro's own."""
        written = etree.SubElement(out, tag or element.tag, nsmap=_other_prefixes(element))
        for key, value in element.attrib.items():
            if not _is_own_attribute(element, str(key)):
                self._set_attribute(written, str(key), text_of(self.text(str(value), names)))
        self._children(element, names, macros, written)

    def _set_attribute(self, element: Element, key: str, value: str) -> None:
        try:
            element.set(key, value)
        except ValueError as error:
            raise ExpressionError(f"{key}={value!r} cannot be an attribute: {error}") from None

    def _include(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        given = self._attributes(element, ("filename",), ("ns", "optional"))
        inner_names, inner_macros = names, macros
        if given["ns"]:
            space = text_of(self.text(given["ns"], names))
            inner_names, inner_macros = Scope(names, namespace=True), Scope(namespace=True)
            names.set(space, inner_names)
            macros.set(space, inner_macros)
        optional = truth(given["optional"] or "false", "optional")
        pattern = self._near(text_of(self.text(given["filename"] or "", names)))
        globbed = any(mark in pattern for mark in "*[?")
        self._substitutions.check_path(pattern)
        for path in sorted(glob.glob(pattern)) if globbed else [pattern]:
            self._substitutions.check_path(path)
            if not os.path.isfile(path):
                if optional:
                    continue
                raise ExpressionError(f"there is no file {path}, which is included")
            text = read_text(path, "it is included")
            self._budget.spend(len(text))
            root = parse_xml(text, path)
            with self._deeper(self._places, path):
                self._children(root, inner_names, inner_macros, out)

    def _property(self, element: Element, names: Scope, _macros: Scope, _out: Element) -> None:
        optional = ("value", "default", "remove", "scope", "lazy_eval")
        given = self._attributes(element, ("name",), optional)
        name = text_of(self.text(given["name"] or "", names))
        if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
            raise ExpressionError(f'"{name}" is not a name that a property can have')
        remove = truth(self.text(given["remove"] or "false", names), "remove")
        if (given["value"] is not None) + (given["default"] is not None) + remove > 1:
            raise ExpressionError(f'property "{name}": give one of value, default and remove')
        if remove:
            names.remove(name)
            return
        value: object = given["value"]
        if given["default"] is not None:
            if names.holder(name) is not None:
                return
            value = given["default"]
        if value is None:
            name, value = f"**{name}", element
        lazy = truth(self.text(given["lazy_eval"] or "true", names), "lazy_eval")
        target = names
        if given["scope"] == "global":
            target, lazy = names.top(), False
        elif given["scope"] == "parent" and names.parent is not None:
            target, lazy = names.parent, False
            while not names.namespace and target.namespace and target.parent is not None:
                target = target.parent
        if not lazy and isinstance(value, str):
            value = self.text(value, names)
        target.set(name, value, lazy)

    def _macro(self, element: Element, _names: Scope, macros: Scope, _out: Element) -> None:
        given = self._attributes(element, ("name",), ("params",))
        name = (given["name"] or "").removeprefix("xacro:")
        if name in HANDLERS or "." in name:
            raise ExpressionError(f'"{name}" is not a name that a macro can have')
        macros.set(name, Macro(element, given["params"] or ""))

    def _argument(self, element: Element, names: Scope, _macros: Scope, _out: Element) -> None:
        given = self._attributes(element, ("name",), ("default",))
        default = given["default"]
        value = None if default is None else text_of(self.text(default, names))
        self._substitutions.declare(given["name"] or "", value)

    def _if(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        given = self._attributes(element, ("value",), ())
        value = self.text(given["value"] or "", names)
        wanted = etree.QName(element).localname == "if"
        if truth(value, given["value"] or "") is wanted:
            self._children(element, names, macros, out)

    def _insert_block(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        name = self._attributes(element, ("name",), ())["name"]
        for mark in ("**", "*"):
            holder = names.holder(f"{mark}{name}")
            if holder is not None:
                block = holder.values[f"{mark}{name}"]
                if mark == "*":
                    self._one(block, names, macros, out)
                else:
                    self._children(block, names, macros, out)
                return
        raise ExpressionError(f'there is no block "{name}"')

    def _element_of_any_name(
        self, element: Element, names: Scope, macros: Scope, out: Element
    ) -> None:
        own = {etree.QName(key).localname: value for key, value in element.attrib.items()}
        if "name" not in own:
            raise ExpressionError('has no attribute "xacro:name"')
        self._write(element, names, macros, out, self._tag(own["name"], names))

    def _attribute(self, element: Element, names: Scope, _macros: Scope, out: Element) -> None:
        given = self._attributes(element, ("name", "value"), ())
        key = self._tag(given["name"] or "", names)
        self._set_attribute(out, key, text_of(self.text(given["value"] or "", names)))

    def _tag(self, text: str, names: Scope) -> str:
        """An evaluated name of an element or attribute."""
        name = text_of(self.text(text, names))
        try:
            return str(etree.QName(name).text)
        except ValueError:
            raise ExpressionError(f'"{name}" is not a name that XML can have') from None

    def _named_call(self, element: Element, names: Scope, macros: Scope, out: Element) -> None:
        name = text_of(self.text(element.get("macro", ""), names))
        if not name:
            raise ExpressionError('has no attribute "macro"')
        self._call(name, element, names, macros, out, ("macro",))

    def _call(
        self,
        name: str,
        element: Element,
        names: Scope,
        macros: Scope,
        out: Element,
        skipped: tuple[str, ...] = (),
    ) -> None:
        """Write the body of a macro, with the values and blocks of the call."""
        macro, outer_names, outer_macros = self._find_macro(name, names, macros)
        scope = Scope(outer_names)
        missing = dict(macro.parameters)
        for key, value in element.attrib.items():
            if key in skipped or _is_own_attribute(element, str(key)):
                continue
            if key not in missing or str(key).startswith("*"):
                near = suggestion(str(key), macro.parameters)
                raise ExpressionError(f'<xacro:{name}> has no parameter "{key}"{near}')
            del missing[str(key)]
            scope.set(str(key), self.text(str(value), names))
        holder = etree.Element("blocks")
        self._children(element, names, macros, holder)
        blocks = list(holder)
        for parameter, (forward, default) in missing.items():
            if parameter.startswith("*"):
                if not blocks:
                    raise ExpressionError(f'<xacro:{name}> lacks its block "{parameter}"')
                scope.values[parameter] = blocks.pop(0)
            elif forward and names.holder(parameter) is not None:
                scope.set(parameter, self.property_value(parameter, names))
            elif default is not None:
                scope.set(parameter, self.text(default, names))
            else:
                raise ExpressionError(f'<xacro:{name}> lacks its parameter "{parameter}"')
        if blocks:
            raise ExpressionError(f"<xacro:{name}> has no block <{blocks[0].tag}>")
        with self._deeper(self._macros, name):
            self._children(macro.body, scope, Scope(outer_macros), out)

    def _find_macro(self, full: str, names: Scope, macros: Scope) -> tuple[Macro, Scope, Scope]:
        """A macro, and the scopes that its body sees."""
        *spaces, name = [full] if macros.holder(full) else full.split(".")
        for space in spaces:
            inner, inner_names = macros.holder(space), names.holder(space)
            if inner is None or inner_names is None:
                raise ExpressionError(f'there is no namespace "{space}"')
            macros, names = inner.values[space], inner_names.values[space]
        holder = macros.holder(name)
        found = None if holder is None else holder.values[name]
        if not isinstance(found, Macro):
            raise ExpressionError(
                f"<xacro:{full}> is neither a macro of this file nor an element of xacro"
            )
        return found, names, macros

    def _attributes(
        self, element: Element, required: tuple[str, ...], optional: tuple[str, ...]
    ) -> dict[str, str | None]:
        for name in required:
            if name not in element.attrib:
                raise ExpressionError(f'has no attribute "{name}"')
        for key in element.attrib:
            if key not in (*required, *optional) and not str(key).startswith("{"):
                raise ExpressionError(f'has no use for the attribute "{key}"')
        return {name: element.get(name) for name in (*required, *optional)}

    # ---- text

    def _add_text(self, out: Element, text: str | None, names: Scope) -> None:
        """Write text after what an element holds so far."""
        if not text:
            return
        if "$" in text:
            text = text_of(self.text(text, names))
            if not text:
                return
        try:
            if len(out):
                out[-1].tail = (out[-1].tail or "") + text
            else:
                out.text = (out.text or "") + text
        except ValueError as error:
            raise ExpressionError(f"text that XML cannot hold: {error}") from None

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


HANDLERS: dict[str, Callable[..., None]] = {
    "include": Expansion._include,
    "property": Expansion._property,
    "macro": Expansion._macro,
    "arg": Expansion._argument,
    "if": Expansion._if,
    "unless": Expansion._if,
    "insert_block": Expansion._insert_block,
    "element": Expansion._element_of_any_name,
    "attribute": Expansion._attribute,
    "call": Expansion._named_call,
}
"""The elements of xacro; every other one calls a macro."""


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


def _in_expression(error: ExpressionError, expression: str) -> ExpressionError:
    """The error with the expression around it, the innermost only."""
    text = str(error)
    if " when evaluating " in text:
        return error
    return ExpressionError(f"{text} when evaluating {expression}")


def _is_own_attribute(element: Element, key: str) -> bool:
    """Whether an attribute has the prefix of xacro."""
    space = element.nsmap.get("xacro")
    return space is not None and key.startswith(f"{{{space}}}")


def _other_prefixes(element: Element) -> dict[str | None, str]:
    return {prefix: space for prefix, space in element.nsmap.items() if prefix != "xacro"}
