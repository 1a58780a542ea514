"""XML read safely, with the file and line of every element for messages."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lxml import etree

from .errors import ModelError

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

TEXT = "<text>"
"""The name of a source given as text."""

MAXIMUM_BYTES = 256 * 2**20
DECLARATION = re.compile(rb"""\A<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
XML_DECLARATION = re.compile(r"\A\s*<\?xml\s[^>]*\?>")
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class XmlSource:
    """One XML document: its root element, its name, and checked access to what is in it.

    Parameters
    ----------
    source : str or os.PathLike
        A path, or the XML itself (a str that holds a ``<``).

    Raises
    ------
    ModelError
        No such file, not XML (with line and column), or a document type or entity declaration:
        nothing is ever expanded or fetched.
    """

    def __init__(self, source: str | os.PathLike[str]) -> None:
        self.name, text = _load(source)
        # The text is decoded already; its declaration would only contradict that.
        text = XML_DECLARATION.sub(lambda found: "\n" * found.group().count("\n"), text)
        _refuse_document_type(text, self.name)
        parser = etree.XMLParser(
            encoding="utf-8",  # what we encode to, whatever the declaration says
            resolve_entities=False,
            load_dtd=False,
            dtd_validation=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            self.root: Element = etree.fromstring(text.encode("utf-8"), parser)
        except etree.XMLSyntaxError as error:
            line, column = error.position
            reason = str(error.msg).split(", line ")[0]
            raise ModelError(
                f"{self.name}:{line}: column {column}: not well-formed XML: {reason}; "
                "correct the file there or just before"
            ) from None
        except UnicodeEncodeError as error:
            raise ModelError(f"{self.name}: the text is not valid Unicode: {error}") from None
        if self.root.getroottree().docinfo.internalDTD is not None:
            raise _document_type_error(self.name, 1)
        self._strip_default_namespace()

    def _strip_default_namespace(self) -> None:
        namespace = self.root.nsmap.get(None)
        if namespace:
            prefix = f"{{{namespace}}}"
            for element in self.root.iter(f"{prefix}*"):
                element.tag = str(element.tag)[len(prefix) :]

    def error(self, element: Element, problem: str) -> ModelError:
        """The error to raise for `element`: file, line and element, then the problem."""
        return ModelError(f"{self.place(element)}: {problem}")

    def place(self, element: Element) -> str:
        """File, line and name of an element, for messages.

        The named element around it (a link or joint) is given too.
        """
        label = f"<{element.tag}>"
        owner = element
        while owner.get("name") is None and owner.getparent() is not None:
            owner = owner.getparent()
        if owner.get("name") is not None and owner is not self.root:
            label = f'<{owner.tag} name="{owner.get("name")}">'
            label += "" if owner is element else f" <{element.tag}>"
        return f"{self.name}:{element.sourceline}: {label}"

    def children(self, element: Element, tag: str) -> Iterator[Element]:
        """The direct children of that tag."""
        return element.iterchildren(tag)

    def child(self, element: Element, tag: str) -> Element | None:
        """The only child of that tag, or None; two of them are refused."""
        found = list(element.iterchildren(tag))
        if len(found) > 1:
            raise self.error(
                element,
                f"has {len(found)} <{tag}> elements (lines "
                f"{', '.join(str(one.sourceline) for one in found)}); keep one",
            )
        return found[0] if found else None

    def number(
        self,
        element: Element,
        attribute: str,
        default: float | None = None,
        infinite: bool = False,
    ) -> float:
        """The finite number in an attribute; `default` where it is missing (None: required)."""
        text = element.get(attribute)
        if text is None:
            if default is None:
                raise self.error(element, f'has no attribute "{attribute}"; give a number')
            return default
        value = _to_float(text)
        if value is None or math.isnan(value) or (math.isinf(value) and not infinite):
            raise self.error(element, _no_number(attribute, text, text))
        return value

    def vector(
        self, element: Element, attribute: str, default: tuple[float, ...]
    ) -> tuple[float, ...]:
        """The finite numbers in an attribute, as many as `default` has."""
        text = element.get(attribute)
        if text is None:
            return default
        words = text.split()
        if len(words) != len(default):
            raise self.error(
                element,
                f'{attribute}="{text}" has {len(words)} values; give {len(default)} numbers '
                "separated by spaces",
            )
        values = []
        for word in words:
            value = _to_float(word)
            if value is None or not math.isfinite(value):
                raise self.error(element, _no_number(attribute, text, word))
            values.append(value)
        return tuple(values)


def _no_number(attribute: str, text: str, word: str) -> str:
    problem = f'{attribute}="{text}"'
    problem += "" if word == text else f': "{word}"'
    if "${" in text or "$(" in text:
        return f"{problem} is an unexpanded xacro expression; run xacro first"
    return f"{problem} is not a finite number; give one such as 0.25 or 1e-3"


def _to_float(word: str) -> float | None:
    """Read a number as C does: no underscores, no digits of other scripts."""
    try:
        return float(word) if word.isascii() and "_" not in word else None
    except ValueError:
        return None


def _load(source: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the name and the text of a source."""
    if isinstance(source, str) and "<" in source:
        return TEXT, source.lstrip("\ufeff")
    if isinstance(source, str) and not source.strip():
        raise ModelError("the robot description is empty; give a path or the XML text")
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(
            f"a robot description is a path or XML text, not {type(source).__name__}"
        )
    name = os.fspath(source)
    shown = name if len(name) < 300 else f"{name[:300]}..."
    try:
        with open(name, "rb") as file:
            data = file.read(MAXIMUM_BYTES + 1)
    except FileNotFoundError:
        raise ModelError(
            f"{shown}: no such file (and no XML text either: it holds no '<')"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError(f"{shown!r}: cannot be read: {reason}") from None
    if len(data) > MAXIMUM_BYTES:
        raise ModelError(f"{name}: larger than {MAXIMUM_BYTES} bytes; this is no robot description")
    if not data.strip():
        raise ModelError(f"{name}: the file is empty")
    return name, _decode(data, name)


def _decode(data: bytes, name: str) -> str:
    encoding = "utf-8"
    for mark, marked in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            encoding = marked
            break
    else:
        declared = DECLARATION.match(data)
        if declared:
            encoding = declared.group(1).decode("ascii")
    try:
        return data.decode(encoding).lstrip("\ufeff")
    except LookupError:
        raise ModelError(f'{name}:1: unknown encoding "{encoding}"; save it as UTF-8') from None
    except ValueError as error:
        line = data[: getattr(error, "start", 0)].count(b"\n") + 1
        raise ModelError(
            f"{name}:{line}: the bytes are not {encoding} text; save the file as UTF-8"
        ) from None


def _refuse_document_type(text: str, name: str) -> None:
    """Refuse a DOCTYPE before the parser sees it.

    One can stand only before the root element, after comments and processing instructions;
    entities can be declared only inside one.
    """
    position = 0
    while True:
        position = text.find("<", position)
        if position < 0:
            return
        for start, end in (("<?", "?>"), ("<!--", "-->")):
            if text.startswith(start, position):
                position = text.find(end, position + len(start))
                break
        else:
            break
        if position < 0:
            return
    if text.startswith("<!", position):
        line = text.count("\n", 0, position) + 1
        raise _document_type_error(name, line)


def _document_type_error(name: str, line: int) -> ModelError:
    return ModelError(
        f"{name}:{line}: a document type or entity declaration (<!DOCTYPE ...>) is refused "
        "for safety; remove it and write out what it stands for"
    )
