"""xacro: macros, properties, conditions and included files written out as plain XML."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree

from ....errors import InputError, suggestion
from ..source_text import TEXT, NamedText, Source, load_text, read_text
from ..xml_source import parse_xml
from .substitutions import Substitutions
from .texts import Texts
from .values import ExpressionError, Macro, PropertyScope, text_of, truth

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ELEMENT_WORK = 20
"""Steps of the budget that one element takes."""


class Expansion(Texts):
    """The expansion of one file."""

    def expand(self, root: Element) -> Element:
        """The document that a document stands for."""
        properties, macros = PropertyScope(), PropertyScope()
        holder = etree.Element("holder")
        with self._refusals():
            self._write(root, properties, macros, holder)
        if len(holder) != 1:
            self._refuse("expands to nothing that is one element")
        return holder[0]

    def _children(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
        """Write what an element holds."""
        self._add_text(out, element.text, names)
        for child in element:
            if isinstance(child.tag, str):
                self._one(child, names, macros, out)
            self._element = element
            self._add_text(out, child.tail, names)

    def _one(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
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
        self,
        element: Element,
        names: PropertyScope,
        macros: PropertyScope,
        out: Element,
        tag: str | None = None,
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

    def _include(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
        given = self._attributes(element, ("filename",), ("ns", "optional"))
        inner_names, inner_macros = names, macros
        if given["ns"]:
            space = text_of(self.text(given["ns"], names))
            inner_names, inner_macros = (
                PropertyScope(names, namespace=True),
                PropertyScope(namespace=True),
            )
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

    def _property(
        self, element: Element, names: PropertyScope, _macros: PropertyScope, _out: Element
    ) -> None:
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

    def _macro(
        self, element: Element, _names: PropertyScope, macros: PropertyScope, _out: Element
    ) -> None:
        given = self._attributes(element, ("name",), ("params",))
        name = (given["name"] or "").removeprefix("xacro:")
        if name in HANDLERS or "." in name:
            raise ExpressionError(f'"{name}" is not a name that a macro can have')
        macros.set(name, Macro(element, given["params"] or ""))

    def _argument(
        self, element: Element, names: PropertyScope, _macros: PropertyScope, _out: Element
    ) -> None:
        given = self._attributes(element, ("name",), ("default",))
        default = given["default"]
        value = None if default is None else text_of(self.text(default, names))
        self._substitutions.declare(given["name"] or "", value)

    def _if(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
        given = self._attributes(element, ("value",), ())
        value = self.text(given["value"] or "", names)
        wanted = etree.QName(element).localname == "if"
        if truth(value, given["value"] or "") is wanted:
            self._children(element, names, macros, out)

    def _insert_block(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
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
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
        own = {etree.QName(key).localname: value for key, value in element.attrib.items()}
        if "name" not in own:
            raise ExpressionError('has no attribute "xacro:name"')
        self._write(element, names, macros, out, self._tag(own["name"], names))

    def _attribute(
        self, element: Element, names: PropertyScope, _macros: PropertyScope, out: Element
    ) -> None:
        given = self._attributes(element, ("name", "value"), ())
        key = self._tag(given["name"] or "", names)
        self._set_attribute(out, key, text_of(self.text(given["value"] or "", names)))

    def _tag(self, text: str, names: PropertyScope) -> str:
        """An evaluated name of an element or attribute."""
        name = text_of(self.text(text, names))
        try:
            return str(etree.QName(name).text)
        except ValueError:
            raise ExpressionError(f'"{name}" is not a name that XML can have') from None

    def _named_call(
        self, element: Element, names: PropertyScope, macros: PropertyScope, out: Element
    ) -> None:
        name = text_of(self.text(element.get("macro", ""), names))
        if not name:
            raise ExpressionError('has no attribute "macro"')
        self._call(name, element, names, macros, out, ("macro",))

    def _call(
        self,
        name: str,
        element: Element,
        names: PropertyScope,
        macros: PropertyScope,
        out: Element,
        skipped: tuple[str, ...] = (),
    ) -> None:
        """Write the body of a macro, with the values and blocks of the call."""
        macro, outer_names, outer_macros = self._find_macro(name, names, macros)
        scope = PropertyScope(outer_names)
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
            self._children(macro.body, scope, PropertyScope(outer_macros), out)

    def _find_macro(
        self, full: str, names: PropertyScope, macros: PropertyScope
    ) -> tuple[Macro, PropertyScope, PropertyScope]:
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

    def _add_text(self, out: Element, text: str | None, names: PropertyScope) -> None:
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


def _is_own_attribute(element: Element, key: str) -> bool:
    """Whether an attribute has the prefix of xacro."""
    space = element.nsmap.get("xacro")
    return space is not None and key.startswith(f"{{{space}}}")


def _other_prefixes(element: Element) -> dict[str | None, str]:
    return {prefix: space for prefix, space in element.nsmap.items() if prefix != "xacro"}


def xacro_arguments(texts: Iterable[str], what: str) -> dict[str, str]:
    """Arguments as they are written for xacro, such as `prefix:=left_`; `what` begins messages.

    Examples
    --------
    >>> xacro_arguments(["prefix:=left_", "ur_type:=ur5e"], "--xacro")
    {'prefix': 'left_', 'ur_type': 'ur5e'}
    """
    arguments: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition(":=")
        if not mark or not name.strip():
            raise InputError(f"{what}: {text!r} is not an argument such as prefix:=left_")
        if name.strip() in arguments:
            raise InputError(f"{what}: {name.strip()!r} is given twice")
        arguments[name.strip()] = value.strip()
    return arguments


def expand_xacro(source: Source, arguments: Mapping[str, object] | None = None) -> NamedText:
    """The XML that a xacro file or text stands for.

    Parameters
    ----------
    source : its path, or its text.
    arguments : values of its `<xacro:arg>`, and of the environment variables that it asks for with
        `$(env)` and `$(optenv)`, by name.

    Returns
    -------
    NamedText
        Lines are those of the expansion.

    Raises
    ------
    ModelError
        It cannot be expanded: the message gives file, line, element and expression, the macros
        around the place, and the files that include it.

    Notes
    -----
    No code of a file is run: expressions are computed from their syntax tree, with numbers,
    strings, lists, dictionaries and the functions of xacro and of `math`. Included files and YAML
    lie in the folder or package of the file, or in packages that it names with `$(find package)`,
    which are looked for where meshes are: in the folders above the file, then in ROS_PACKAGE_PATH
    and AMENT_PREFIX_PATH.
    """
    name, text = load_text(source)
    folder = None if name == TEXT else Path(name).absolute().parent
    given = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (arguments or {}).items()
    }
    substitutions = Substitutions(folder, given)
    root = Expansion(name, substitutions).expand(parse_xml(text, name))
    substitutions.check_arguments(name)
    return NamedText(name, etree.tostring(root, encoding="unicode"))
