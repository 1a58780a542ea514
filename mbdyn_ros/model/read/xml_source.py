"""XML read safely: numbers, poses and axes of elements, and remarks on them by file and line.

Rotations are exact where they can be.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree

from ...array import Array
from ...errors import ModelError, listed
from ...number import LARGEST, to_finite, to_float
from ..joints.quaternion import rotation_rows
from ..pose import Pose, constant, normalized, rotation_from_rpy, snap_number
from .source_text import Source, document_type_error, load_text, refuse_document_type

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

OUTERMOST = re.compile(r"\A(?:\s|<\?.*?\?>|<!--.*?-->)*<([\w.-]+)", re.DOTALL)
"""The beginning of a document up to the name of its outermost element."""

UNDECLARED = re.compile(r"Namespace prefix ([\w.-]+) ")
"""The parser's words about a prefix that is not declared."""

MOST_PREFIXES = 20
"""Prefixes of a file that are not declared."""

MOST_TAGS = 500_000
"""Tags of a file: each takes 200 bytes of memory, and robots of 10 000 joints have 200 000."""


def parse_xml(text: str, name: str) -> Element:
    """The outermost element of XML; nothing is expanded or fetched, and comments are dropped.

    Raises
    ------
    ModelError
        Not XML (with line and column), a document type, or more tags than a robot has.
    """
    refuse_document_type(text, name)
    if text.count("<") > MOST_TAGS:
        raise ModelError(
            f"{name}: has {text.count('<')} tags, and robots have at most {MOST_TAGS}; is it one?"
        )
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
        root = _parsed(text, parser, name)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        reason = str(error.msg).split(", line ")[0]
        raise ModelError(
            f"{name}:{line}: column {column}: not well-formed XML: {reason}; "
            "correct the file there or just before"
        ) from None
    except UnicodeEncodeError as error:
        raise ModelError(f"{name}: the text is not valid Unicode: {error}") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise document_type_error(name, 1)
    return root


def _parsed(text: str, parser: etree.XMLParser, name: str) -> Element:
    """The outermost element; a prefix that is not declared (`drake:`, `gz:`) stands for itself.

    Readers of SDF and URDF know no namespaces, and so their files need not declare any; they take
    any comment, and XML none that holds two hyphens.
    """
    for _ in range(MOST_PREFIXES):
        try:
            root: Element = etree.fromstring(text.encode("utf-8"), parser, base_url=name)
            return root
        except etree.XMLSyntaxError as error:
            found = UNDECLARED.match(str(error.msg))
            if found is None:
                plain = _without_hyphens(text)
                if error.code != etree.ErrorTypes.ERR_HYPHEN_IN_COMMENT or plain == text:
                    raise
                text = plain
                continue
            word = f' xmlns:{found[1]}="{found[1]}"'
            text = OUTERMOST.sub(lambda start: start[0] + word, text, count=1)  # noqa: B023
    raise ModelError(f"{name}: more than {MOST_PREFIXES} prefixes of names are not declared")


def _without_hyphens(text: str) -> str:
    """The same with blanks for the hyphens in its comments."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[at : start + 4], text[start + 4 : end].replace("-", " ")]
        at = end
    return "".join([*parts, text[at:]])


class XmlSource:
    """One XML document: its root element, its name, and checked access to what is in it.

    Parameters
    ----------
    source : str, os.PathLike or NamedText
        A path, or the XML itself (a str that holds a ``<``).

    Raises
    ------
    ModelError
        No such file, not XML (with line and column), or a document type or entity declaration:
        nothing is ever expanded or fetched.

    Notes
    -----
    Lines beyond 65535 are given as 65535: libxml2 counts no further.
    """

    def __init__(self, source: Source) -> None:
        self.name, text = load_text(source)
        self.root: Element = parse_xml(text, self.name)
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
        """File, line and element, with the link or joint it is in, for messages."""
        owner = self._owner(element)
        label = f"<{written_name(element)}>"
        if owner is not self.root:
            within = f'<{written_name(owner)} name="{owner.get("name")}">'
            label = within if owner is element else f"{within} {label}"
        return f"{self.name}:{element.sourceline}: {label}"

    def short_place(self, element: Element) -> str:
        """The link or joint an element is in, and its line, for lists."""
        owner = self._owner(element)
        label = f"<{element.tag}>" if owner is self.root else f'"{owner.get("name")}"'
        return f"{label} (line {element.sourceline})"

    def _owner(self, element: Element) -> Element:
        """The child of the root around an element, the root where that has no name."""
        while (parent := element.getparent()) is not None and parent is not self.root:
            element = parent
        return element if element.get("name") else self.root

    def read_name(self, element: Element) -> str:
        """The name of an element; it must have one."""
        name = element.get("name")
        if not name:
            raise self.error(element, f"this {element.tag} has no name; give it one")
        return str(name)

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
        """The number in an attribute; `default` where it is missing (None: required).

        It must be finite, except for the bounds that may be `infinite`.
        """
        text = element.get(attribute)
        if text is None:
            if default is None:
                raise self.error(element, f'has no attribute "{attribute}"; give a number')
            return default
        value = to_float(text) if infinite else to_finite(text)
        if value is None or math.isnan(value):
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
        return self.numbers(element, attribute)

    def numbers(self, element: Element, attribute: str) -> tuple[float, ...]:
        """The finite numbers in an attribute, however many; none where it is missing."""
        text = element.get(attribute, "")
        values = []
        for word in text.split():
            value = to_finite(word)
            if value is None:
                raise self.error(element, _no_number(attribute, text, word))
            values.append(value)
        return tuple(values)


def local_name(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def written_name(element: Element) -> str:
    """The name of an element as the file has it, with its prefix."""
    return f"{element.prefix}:{local_name(element)}" if element.prefix else str(element.tag)


def is_unexpanded(text: str) -> bool:
    """Whether a text holds an expression of xacro."""
    return "${" in text or "$(" in text


def _no_number(attribute: str, text: str, word: str) -> str:
    problem = f'{attribute}="{text}"'
    problem += "" if word == text else f': "{word}"'
    if is_unexpanded(text):
        return f"{problem} is an unexpanded xacro expression; run xacro first"
    return f"{problem} is not a finite number (below {LARGEST:g}); give one such as 0.25 or 1e-3"


IDENTITY = Pose()
X_AXIS = constant((1.0, 0.0, 0.0), (3,))


def read_pose(source: XmlSource, parent: Element, tag: str = "origin") -> Pose:
    """The `<origin>` of an element, or the child of another tag: identity where it is missing."""
    origin = source.child(parent, tag)
    return IDENTITY if origin is None else pose_of(source, origin)


def pose_of(source: XmlSource, origin: Element) -> Pose:
    """The pose in the attributes of an element; a missing xyz (m) or rpy (rad) is zero.

    The `quat_xyzw` of URDF 1.1 is read in a file that says it is one (`<robot version="1.1">`).
    """
    xyz = np.array(source.vector(origin, "xyz", (0.0, 0.0, 0.0)))
    if origin.get("quat_xyzw") is not None:
        return Pose(_read_quaternion(source, origin), xyz)
    rpy = source.vector(origin, "rpy", (0.0, 0.0, 0.0))
    return Pose(np.array(rotation_from_rpy(*rpy)) if any(rpy) else IDENTITY.rotation, xyz)


def in_degrees(rpy: Iterable[float]) -> str:
    """Words about angles that can hardly be radians; empty where they can.

    >>> in_degrees((0.0, 90.0, 0.0))[:27], in_degrees((0.0, 1.57, -3.15))
    ('rpy="0 90 0" looks like deg', '')
    """
    angles = tuple(rpy)
    if max(map(abs, angles)) <= 2 * math.pi:
        return ""
    return (
        f'rpy="{" ".join(f"{angle:g}" for angle in angles)}" looks like degrees: it turns by more '
        "than a whole turn. Angles are in radians; 90 degrees are 1.5707963267948966"
    )


def read_axis(source: XmlSource, parent: Element, tag: str = "axis") -> Array:
    """The unit vector along the `<axis>` of an element: (1, 0, 0) where it is missing."""
    axis = source.child(parent, tag)
    if axis is None:
        return X_AXIS
    unit = normalized(source.vector(axis, "xyz", (1.0, 0.0, 0.0)))
    if unit is None:
        raise source.error(
            axis, f'xyz="{axis.get("xyz")}" has no direction; give one such as "0 0 1"'
        )
    return np.array(unit)


def _read_quaternion(source: XmlSource, origin: Element) -> Array:
    if source.root.get("version", "1.0") in ("1", "1.0"):
        raise source.error(
            origin,
            f'quat_xyzw="{origin.get("quat_xyzw")}" needs URDF 1.1; write '
            '<robot version="1.1"> or give rpy',
        )
    if origin.get("rpy") is not None:
        raise source.error(origin, "has both rpy and quat_xyzw; keep one")
    quaternion = normalized(source.vector(origin, "quat_xyzw", (0.0, 0.0, 0.0, 1.0)))
    if quaternion is None:
        raise source.error(origin, 'quat_xyzw="0 0 0 0" has no direction; no turn is "0 0 0 1"')
    return np.array([[snap_number(entry) for entry in row] for row in rotation_rows(*quaternion)])


class Remarks:
    """Remarks on elements of one document, in the order in which they were first made."""

    def __init__(self, document: XmlSource) -> None:
        self._document = document
        self._elements: dict[str, list[Element]] = {}

    def add(self, element: Element, problem: str) -> None:
        """Note a problem of an element; the same text on others joins them in one warning."""
        self._elements.setdefault(problem, []).append(element)

    def warnings(self) -> list[str]:
        """One line a problem: the first place in full, the others by name and line."""
        lines = []
        for problem, (first, *others) in self._elements.items():
            text = f"{self._document.place(first)}: {problem}"
            if others:
                text += f"; likewise {listed(self._document.short_place(one) for one in others)}"
            lines.append(text)
        return lines
