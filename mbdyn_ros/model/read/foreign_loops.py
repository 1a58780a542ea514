"""Closed loops of a URDF in the words of other programs.

- `<loop_joint>` of Drake and Isaac Sim: ends `<link1>` and `<link2>` with link, xyz and rpy; the
  `<axis>` has the same components in both. Exporters of CAD programs write `<parent>`, `<child>`,
  `<parent_origin>` and `<child_origin>` in it.
- `<constraint>` as proposed for URDF: the same four, and `<parent_axis>` and `<child_axis>`.
- `<drake:ball_constraint>`: a point of body A, and one of body B.

Unless a rotation of the child's frame is given, it is oriented as the parent's with every joint
at 0, where such files have the robot assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..closing_types import ClosingType, Rotation, closing_type
from ..model import Array, Joint, Loop, Pose
from ..pose import rotation_onto
from .placement import X_AXIS, pose_of, read_axis, read_pose, snapped
from .urdf_joint import read_end
from .xml_source import XmlSource, local_name

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

BALL = "ball_constraint"
LOOPS = ("loop_joint", "constraint", BALL)


def read_foreign_loops(document: XmlSource, joints: Sequence[Joint]) -> list[Loop]:
    """The loops that a URDF has in other programs' words.

    Raises
    ------
    ModelError
        One is not a loop that can be read, or a constraint of another kind.
    """
    loops: list[Loop] = []
    for element in document.root:
        name = local_name(element)
        if name == BALL:
            loops.append(_ball(document, element, len(loops)))
        elif name in LOOPS:
            loops.append(_loop(document, element, joints))
        elif name.endswith("_constraint"):
            raise document.error(
                element,
                "is a constraint that is not read; write it as a <loop> or <coupling> of URDF+, "
                "or remove it to compute the robot without (a different machine)",
            )
    return loops


def standing(joints: Sequence[Joint], link: str) -> Pose:
    """Pose of a link in the root with every joint at 0."""
    above = {joint.child: joint for joint in reversed(joints)}
    pose, passed = Pose(), set()
    while (joint := above.get(link)) is not None and link not in passed:
        passed.add(link)
        pose, link = joint.origin @ pose, joint.parent
    return pose


def _ball(document: XmlSource, element: Element, count: int) -> Loop:
    """A `<drake:ball_constraint>`, which need not have a name."""
    found = {local_name(one).removeprefix(f"{BALL}_"): one for one in element}
    ends = []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        link = found[body].get("name") if body in found else None
        if not link:
            raise document.error(element, f'names no {body}; add <drake:{BALL}_{body} name="..."/>')
        at: Sequence[float] = (0.0, 0.0, 0.0)
        if point in found:
            at = document.vector(found[point], "value", (0.0, 0.0, 0.0))
        ends.append((link, Pose(translation=np.array(at))))
    (first, place), (second, other) = ends
    name = element.get("name") or f"{BALL}_{count + 1}"
    return Loop(name, "spherical", first, second, place, other, line=element.sourceline)


def _loop(document: XmlSource, element: Element, joints: Sequence[Joint]) -> Loop:
    name, closing = document.read_name(element), _type(document, element)
    ends = list(element.iterchildren("link1", "link2"))
    if ends:
        if len(ends) != 2:
            raise document.error(element, f"has {len(ends)} ends; give a <link1> and a <link2>")
        links = [_link(document, one) for one in ends]
        first, second = (pose_of(document, one) for one in ends)
        axis = read_axis(document, element)
    else:
        links = [read_end(document, element, role) for role in ("parent", "child")]
        first = read_pose(document, element, "parent_origin")
        axis, second = _turned(document, element, joints, links, first)
    if not closing.has_axis:
        axis = X_AXIS
    return Loop(name, closing.name, links[0], links[1], first, second, axis, element.sourceline)


def _turned(
    document: XmlSource,
    element: Element,
    joints: Sequence[Joint],
    links: Sequence[str],
    first: Pose,
) -> tuple[Array, Pose]:
    """The axis in the parent's loop frame, and the child's frame, where it is the same.

    links : of parent and child; `first` is the parent's loop frame.
    """
    second = read_pose(document, element, "child_origin")
    if element.find("parent_axis") is not None:
        axis = read_axis(document, element, "parent_axis")
        other = read_axis(document, element, "child_axis")
        return axis, snapped(second @ Pose(rotation_onto(other) @ rotation_onto(axis).T))
    origin = element.find("child_origin")
    if origin is None or not {"rpy", "quat_xyzw"} & set(origin.keys()):
        parent, child = (standing(joints, link) for link in links)
        turn = child.rotation.T @ parent.rotation @ first.rotation
        second = snapped(Pose(turn, second.translation))
    return read_axis(document, element), second


def _type(document: XmlSource, element: Element) -> ClosingType:
    try:
        closing = closing_type(element.get("type"))
    except ModelError as error:
        raise document.error(element, str(error)) from None
    if closing.turn is Rotation.BEND:
        raise document.error(
            element,
            f'type="{closing.name}" has two pins, which formats count differently; write it as '
            '<loop type="universal"> (see docs/closed_loops.md)',
        )
    return closing


def _link(document: XmlSource, end: Element) -> str:
    if not end.get("link"):
        raise document.error(end, 'names no link; add link="..."')
    return str(end.get("link"))
