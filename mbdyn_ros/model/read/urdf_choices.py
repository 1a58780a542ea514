"""Extensions of URDF for settings that a side-car file and other formats have too.

`<home>` holds `<joint name position>`; one with a name is a configuration to choose.
`<independent>` and `<actuated>` hold `<joint name>`; their order is that of q, and of efforts.
`<gravity xyz>` is in m/s^2, `<floating_base/>` says that the root link moves freely.
`<actuator name type joint>` has the settings of a side-car file's `actuators` as attributes, and
`<valve>` and `<friction>` in it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ModelError, suggestion
from ..model import Joint, Model
from ..split_joints import joints_of_parts, split_joints
from .side_car_joints import read_actuators
from .structure import quoted
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


LISTS = ("independent", "actuated")


def read_choices(document: XmlSource, model: Model) -> Model:
    """The model with the choices of its URDF, and the joints split whose parts they name.

    Raises
    ------
    ModelError
        A joint is named that is not there, does not move, or is named twice; or nothing is; or an
        actuator is not one.
    """
    root = document.root
    lists = {key: _named(document, one) for key in LISTS
             if (one := document.child(root, key)) is not None}  # fmt: skip
    homes = {one.get("name"): _named(document, one) for one in root.iterchildren("home")}
    if len(homes) < len(list(root.iterchildren("home"))):
        raise document.error(root, "has two <home> elements of one name; rename or drop one")
    every = [*lists.values(), *homes.values()]
    actuators = list(root.iterchildren("actuator"))
    named = [name for those in every for name in those]
    named += [one.get("joint", "") for one in actuators]
    model = split_joints(model, joints_of_parts(model, named))
    movable = {joint.name: joint for joint in model.joints if joint.nv}
    for those in every:
        for name, one in those.items():
            if name not in movable:
                raise document.error(one, _unknown(name, model))
    positions = {
        home: {name: _position(document, one, movable[name]) for name, one in those.items()}
        for home, those in homes.items()
    }
    gravity = document.child(root, "gravity")
    changes: dict[str, object] = {key: tuple(those) for key, those in lists.items()}
    if None in positions:
        changes["home"] = positions.pop(None)
    if gravity is not None:
        changes["gravity"] = document.vector(gravity, "xyz", (0.0, 0.0, 0.0))
    floating = document.child(root, "floating_base") is not None
    model = read_actuators(XmlRecords(document), actuators, model, _with_armature(root))
    return replace(model, homes=positions, floating_base=floating, **changes)  # type: ignore[arg-type]


def _with_armature(root: Element) -> set[str]:
    """The joints whose armature is written."""
    dynamics = (one for one in root.iterfind("joint/dynamics") if "armature" in one.attrib)
    return {one.getparent().get("name", "") for one in dynamics}


def _named(document: XmlSource, element: Element) -> dict[str, Element]:
    """The joints that an element names, in order."""
    named: dict[str, Element] = {}
    for one in element.iterchildren("joint"):
        if (name := document.read_name(one)) in named:
            raise document.error(one, f'names the joint "{name}" twice; keep one')
        named[name] = one
    if not named:
        raise document.error(
            element, 'names no joint; add <joint name="..."/> elements, or leave it out'
        )
    return named


def _position(document: XmlSource, element: Element, joint: Joint) -> float:
    if joint.nq != 1:
        raise document.error(
            element,
            f'joint "{joint.name}" is {joint.type}; only a joint with one position has one in home',
        )
    return document.number(element, "position")


def _unknown(name: str, model: Model) -> str:
    movable = [joint.name for joint in model.joints if joint.nv]
    is_fixed = name in {joint.name for joint in model.joints}
    problem = "is fixed" if is_fixed else f"is not a joint of this robot{suggestion(name, movable)}"
    return f'"{name}" {problem}; the joints that move are {quoted(movable)}'


class Attribute(NamedTuple):
    """An attribute, and the element that has it."""

    element: Element
    key: str


class XmlRecords:
    """The records of a document in XML, as `actuator_records.Records` reads them."""

    def __init__(self, document: XmlSource) -> None:
        self._document = document

    def mapping(
        self, node: Element | Attribute, what: str, known: Collection[str] | None = None
    ) -> dict[str, Element | Attribute]:
        """Attributes and elements of an element by their names."""
        if isinstance(node, Attribute):
            raise self.error(node, f"{what} is an element of its own, not an attribute")
        found: dict[str, Element | Attribute] = {
            str(key): Attribute(node, str(key)) for key in node.attrib
        }
        for child in node:
            tag = str(child.tag)
            if tag in found:
                raise self.error(child, f'{what} has "{tag}" twice; keep one')
            found[tag] = child
        for key in found:
            if known is not None and key not in known:
                raise self.error(
                    found[key],
                    f'{what} has no "{key}"{suggestion(key, known)}; it has {", ".join(known)}',
                )
        return found

    def text(self, node: Element | Attribute, what: str) -> str:
        """The text of an attribute, which is not empty."""
        if not isinstance(node, Attribute):
            raise self.error(node, f"{what} is an attribute, not an element")
        text = str(node.element.get(node.key))
        if not text:
            raise self.error(node, f"{what} is empty; give a name")
        return text

    def number(self, node: Element | Attribute, what: str) -> float:
        """The finite number in an attribute."""
        if not isinstance(node, Attribute):
            raise self.error(node, f"{what} is an attribute, not an element")
        return self._document.number(node.element, node.key)

    def line(self, node: Element | Attribute) -> int:
        """The line of the element."""
        element = node.element if isinstance(node, Attribute) else node
        return int(element.sourceline or 0)

    def error(self, node: Element | Attribute, problem: str) -> ModelError:
        """The error to raise for an element, or for an attribute of it."""
        element = node.element if isinstance(node, Attribute) else node
        return self._document.error(element, problem)
