"""An SRDF: homes, the base, joints without drives, and links that need not be checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import suggestion
from ..joints.types import JOINT_TYPES
from ..model import Joint, Link, Model
from .source_text import Source
from .xml_source import Remarks, XmlSource

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

READ = ("group_state", "virtual_joint", "passive_joint", "disable_collisions")
VIRTUAL = ("fixed", "floating", "planar")
"""Types of virtual joints."""


def read_srdf(source: Source, model: Model) -> Model:
    """The model with what an SRDF adds to it.

    Parameters
    ----------
    source : a path, or the XML text.
    model : the robot, as its description has it. It is not changed.

    Returns
    -------
    Model
        `homes` has the group states by name, those of one name in several groups together and
        as `group/name` too. A virtual joint to the root makes the base float, or move in a plane;
        joints without drives are not actuated. What else is there is counted in `unused`.

    Raises
    ------
    ModelError
        No SRDF, or one for another base; file and line are named.

    Examples
    --------
    >>> from mbdyn_ros.model import read_urdf
    >>> arm = read_urdf('''<robot name="arm"> <link name="base"/> <link name="hand"/>
    ...   <joint name="wrist" type="continuous"> <parent link="base"/> <child link="hand"/>
    ...   <axis xyz="1 0 0"/> </joint> </robot>''')
    >>> read_srdf('''<robot name="arm"> <group_state name="ready" group="all">
    ...   <joint name="wrist" value="0.5"/> </group_state> </robot>''', arm).homes
    {'ready': {'wrist': 0.5}}
    """
    document = _document(source)
    remarks = Remarks(document)
    virtual = {one.get("name", "") for one in document.root.iterchildren("virtual_joint")}
    model = replace(model, homes={**model.homes, **_homes(document, model, virtual, remarks)})
    passive = _passive(document, model, virtual, remarks)
    for element in document.root.iterchildren("virtual_joint"):
        model = _with_base(document, element, model)
    if passive and model.actuated is None:
        moved = [one for one in model.joints if one.nv and one.mimic is None]
        model = replace(model, actuated=tuple(one.name for one in moved if one.name not in passive))
    others = Counter(f"srdf {one.tag}" for one in document.root if one.tag not in READ)
    return replace(
        model,
        unused={**model.unused, **others},
        warnings=(*model.warnings, *remarks.warnings()),
    )


def read_disabled_pairs(source: Source) -> tuple[tuple[str, str], ...]:
    """The links of every `<disable_collisions link1="..." link2="..."/>`.

    Raises
    ------
    ModelError
        No SRDF, or an element without both links; file and line are named.

    Examples
    --------
    >>> read_disabled_pairs('''<robot name="r"><disable_collisions link1="hand" link2="arm"
    ...   reason="Never"/></robot>''')
    (('hand', 'arm'),)
    """
    document = _document(source)
    pairs = []
    for element in document.root.iterchildren("disable_collisions"):
        names = [element.get(key) for key in ("link1", "link2")]
        if not all(names):
            raise document.error(element, "has no link1 or no link2; give both")
        pairs.append((str(names[0]), str(names[1])))
    return tuple(pairs)


def _document(source: Source) -> XmlSource:
    document = XmlSource(source)
    if document.root.tag != "robot":
        raise document.error(document.root, "this is not an SRDF: its outermost element is <robot>")
    return document


def _homes(
    document: XmlSource, model: Model, virtual: set[str], remarks: Remarks
) -> dict[str, dict[str, float]]:
    states: dict[str, dict[str, dict[str, float]]] = {}
    for element in document.root.iterchildren("group_state"):
        name, group = document.read_name(element), element.get("group", "")
        by_group = states.setdefault(name, {})
        if group in by_group:
            raise document.error(element, f'group "{group}" has a state of that name already')
        by_group[group] = _positions(document, element, model, virtual, remarks)
    homes: dict[str, dict[str, float]] = {}
    for name, by_group in states.items():
        homes[name] = {joint: at for one in by_group.values() for joint, at in one.items()}
        if len(by_group) > 1:
            homes |= {f"{group}/{name}": one for group, one in by_group.items()}
    return homes


def _positions(
    document: XmlSource, state: Element, model: Model, virtual: set[str], remarks: Remarks
) -> dict[str, float]:
    joints = {joint.name: joint for joint in model.joints}
    result, unknown = {}, []
    for element in state.iterchildren("joint"):
        name = document.read_name(element)
        if name in virtual or (name not in joints and " " in element.get("value", "").strip()):
            continue  # the base has no home
        if name not in joints:
            unknown.append(f'"{name}"{suggestion(name, joints)}')
        elif joints[name].nq == 1:
            result[name] = document.number(element, "value")
        elif joints[name].nq:
            kind = joints[name].type
            remarks.add(state, f'"{name}" is {kind}, and has no single position; left out')
    if unknown:
        remarks.add(state, f"left out, for this robot has no such joints: {', '.join(unknown)}")
    return result


def _passive(document: XmlSource, model: Model, virtual: set[str], remarks: Remarks) -> set[str]:
    """The joints without drives."""
    known = {joint.name for joint in model.joints}
    passive = set()
    for element in document.root.iterchildren("passive_joint"):
        name = document.read_name(element)
        if name in known:
            passive.add(name)
        elif name not in virtual:
            remarks.add(
                element, f'"{name}" is not a joint of this robot{suggestion(name, known)}; left out'
            )
    return passive


def _with_base(document: XmlSource, element: Element, model: Model) -> Model:
    """The model with the virtual joint that its root hangs from."""
    name, kind = document.read_name(element), element.get("type", "")
    child, parent = element.get("child_link", ""), element.get("parent_frame", "")
    links = {link.name for link in model.links}
    if kind not in VIRTUAL:
        raise document.error(
            element, f'type="{kind}" is not a virtual joint; there are {", ".join(VIRTUAL)}'
        )
    if child not in links:
        raise document.error(
            element,
            f'its child_link "{child}" is not a link of this robot{suggestion(child, links)}',
        )
    if kind == "fixed":
        return model
    if child != model.root:
        raise document.error(
            element, f'its child_link "{child}" is not the root, which is "{model.root}"'
        )
    if kind == "floating":
        return replace(model, floating_base=True)
    if not parent or parent in links:
        raise document.error(element, f'parent_frame="{parent}" must be a name that no link has')
    base = Joint(
        name, JOINT_TYPES["planar"].name, parent, child, axis=np.array([0.0, 0.0, 1.0]),
        line=element.sourceline,
    )  # fmt: skip
    return replace(
        model, root=parent, links=(Link(parent), *model.links), joints=(base, *model.joints)
    )
