"""Choices by joint name in a URDF, ours: what a side-car file says, in the same words.

`<home>` holds `<joint name position>`, `<independent>` and `<actuated>` hold `<joint name>`. Their
order is that of q, and of efforts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import suggestion
from ..model import Model
from ..split_joints import joints_of_parts, split_joints
from .structure import quoted
from .xml_source import XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LISTS = ("independent", "actuated")
CHOICES = (*LISTS, "home")
"""The elements that choose."""


def read_choices(document: XmlSource, model: Model) -> Model:
    """The model with the choices of its URDF, and the joints split whose parts they name.

    Raises
    ------
    ModelError
        A joint is named that is not there, does not move, or is named twice; or nothing is.
    """
    chosen = {key: document.child(document.root, key) for key in CHOICES}
    named = {
        key: [(one, document.read_name(one)) for one in element.iterchildren("joint")]
        for key, element in chosen.items()
        if element is not None
    }
    if not named:
        return model
    every = [name for those in named.values() for _, name in those]
    model = split_joints(model, joints_of_parts(model, every))
    for key, those in named.items():
        _check(document, chosen[key], key, those, model)
    changes: dict[str, object] = {
        key: tuple(name for _, name in named[key]) for key in LISTS if key in named
    }
    if "home" in named:
        changes["home"] = {name: document.number(one, "position") for one, name in named["home"]}
    return replace(model, **changes)  # type: ignore[arg-type]


def _check(
    document: XmlSource, element: Element, key: str, those: list[tuple[Element, str]], model: Model
) -> None:
    movable = [joint.name for joint in model.joints if joint.nv]
    if not those:
        raise document.error(
            element, 'names no joint; add <joint name="..."/> elements, or leave it out'
        )
    seen: set[str] = set()
    for one, name in those:
        if name not in movable:
            still = name in {joint.name for joint in model.joints}
            raise document.error(
                one,
                f'<{key}>: "{name}" '
                + ("is fixed" if still else f"is no joint of this robot{suggestion(name, movable)}")
                + f"; the joints that move are {quoted(movable)}",
            )
        if name in seen:
            raise document.error(one, f'<{key}> names the joint "{name}" twice; keep one')
        if key == "home" and model.joint(name).nq != 1:
            raise document.error(
                one,
                f'<home>: joint "{name}" is {model.joint(name).type}; only a joint with one '
                "position has one in home",
            )
        seen.add(name)
