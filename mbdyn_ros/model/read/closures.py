"""Closed loops of a URDF: the `<loop>` of URDF+, shared child links, and other programs' words.

Where several joints have one child, one is kept and makes the child part of the tree. Each other
one becomes a loop of its type between the same links, in the same place, or keeps its position
(a `HeldJoint`, such as a screw, which ends in a link of no mass that a fixed loop holds).

Chignoli et al., URDF+: An Enhanced URDF for Robots with Kinematic Loops, arXiv 2411.19753.

In the words of other programs:

- `<loop_joint>` of Drake and Isaac Sim: ends `<link1>` and `<link2>` with link, xyz and rpy; the
  `<axis>` has the same components in both. Exporters of CAD programs write `<parent>`, `<child>`,
  `<parent_origin>` and `<child_origin>` in it.
- `<constraint>` as proposed for URDF: the same four, and `<parent_axis>` and `<child_axis>`.
- `<drake:ball_constraint>`: a point of body A, and one of body B.

Unless a rotation of the child's frame is given, it is oriented as the parent's with every joint
at 0, where such files have the robot assembled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import ModelError
from ..closing_types import CLOSING_TYPES, ClosingType, Rotation, closing_type
from ..joints.types import JOINT_TYPES, JointType
from ..model import Array, Joint, Link, Loop, Pose
from ..pose import rotation_onto, snapped
from .urdf_joint import read_end, read_numbers
from .xml_source import X_AXIS, Remarks, XmlSource, local_name, pose_of, read_axis, read_pose

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


WORDS = {"true": True, "True": True, "false": False, "False": False}
"""How `independent` is written; the capitals are found in files of URDF+'s authors."""


def read_loop(document: XmlSource, element: Element) -> Loop | HeldJoint:
    """Read one `<loop>`; whether its links exist is not looked at."""
    name = document.read_name(element)
    if (kind := held_type(element.get("type"))) is not None:
        return held_loop(
            kind,
            name,
            [read_end(document, element, role) for role in ("predecessor", "successor")],
            [read_pose(document, element.find(role)) for role in ("predecessor", "successor")],
            np.array(read_axis(document, element)),
            read_numbers(document, element, kind),
            element.sourceline,
        )
    try:
        closing = closing_type(element.get("type"))
    except ModelError as error:
        raise document.error(element, str(error)) from None
    return Loop(
        name=name,
        type=closing.name,
        predecessor=read_end(document, element, "predecessor"),
        successor=read_end(document, element, "successor"),
        predecessor_frame=read_pose(document, element.find("predecessor")),
        successor_frame=read_pose(document, element.find("successor")),
        axis=read_axis(document, element) if closing.has_axis else X_AXIS,
        line=element.sourceline,
    )


def read_marks(document: XmlSource, remarks: Remarks) -> dict[str, bool]:
    """The `independent` marks of the joints that can move, by name."""
    marks = {}
    for joint in document.root.iterchildren("joint"):
        text = joint.get("independent")
        if text is None:
            continue
        if text not in WORDS:
            raise document.error(joint, f'independent="{text}" is neither "true" nor "false"')
        if joint.get("type") == "fixed":
            remarks.add(joint, "a fixed joint has no position; its independent is not used")
        else:
            marks[str(joint.get("name"))] = WORDS[text]
    return marks


def independent_joints(
    source: str,
    joints: Sequence[Joint],
    marks: Mapping[str, bool],
    loops: Iterable[Loop | HeldJoint] = (),
) -> tuple[str, ...]:
    """The joints that a file chooses as independent, where it marks some.

    As in URDF+ a joint without a mark is independent as soon as another one is marked, except for
    one that mimics. In a loop where some joints are marked "true" and none "false", those without
    a mark are dependent.
    """
    dependent: set[str] = set()
    for constrained in _joints_of_loops(joints, loops):
        if {marks[name] for name in constrained if name in marks} == {True}:
            dependent |= {name for name in constrained if name not in marks}
    chosen = tuple(
        joint.name
        for joint in joints
        if joint.nv and marks.get(joint.name, joint.mimic is None and joint.name not in dependent)
    )
    if not chosen:
        raise ModelError(
            f'{source}: every joint that moves is marked independent="false"; mark those "true" '
            "whose positions determine the others"
        )
    return chosen


def _joints_of_loops(joints: Sequence[Joint], loops: Iterable[Loop | HeldJoint]) -> list[set[str]]:
    """The movable joints of every loop; loops that share a joint are one set."""
    above = {joint.child: joint for joint in joints}

    def up(link: str) -> dict[str, bool]:
        passed: dict[str, bool] = {}
        while (joint := above.get(link)) is not None and joint.name not in passed:
            passed[joint.name] = bool(joint.nv)
            link = joint.parent
        return passed

    found: list[set[str]] = []
    for one in loops:
        loop = one if isinstance(one, Loop) else one.written_loop
        first, second = up(loop.predecessor), up(loop.successor)
        constrained = {name for name in first.keys() ^ second.keys() if (first | second)[name]}
        apart = [other for other in found if not other & constrained]
        found = [*apart, constrained.union(*(other for other in found if other & constrained))]
    return found


def cut_joints(
    links: Sequence[Link], joints: Sequence[Joint], needed: Collection[str]
) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """Part the joints into those of a tree and those that close loops.

    Of the joints to one child the first in the document is kept, `needed` ones before others and
    of these such as close no loop, unless no tree is left then. Where there is no tree at all
    nothing is cut.
    """
    parents: dict[str, list[Joint]] = {}
    for joint in joints:
        parents.setdefault(joint.child, []).append(joint)
    roots = [link.name for link in links if link.name not in parents]
    several = [child for child in parents if len(parents[child]) > 1]
    if not several or len(roots) != 1 or len(_reached(roots[0], parents)) < len(links):
        return tuple(joints), ()
    for child in several:
        parents[child].sort(
            key=lambda joint: (joint.name not in needed, joint.type in CLOSING_TYPES)
        )
    first = {child: candidates[:1] for child, candidates in parents.items()}
    if len(_reached(roots[0], first)) < len(links):
        for child in several:
            for joint in (candidates := parents[child]):
                parents[child] = [joint]
                if len(_reached(roots[0], parents)) == len(links):
                    break
                parents[child] = candidates
    kept = {parents[child][0].name for child in parents}
    cut = tuple(joint for joint in joints if joint.name not in kept)
    return tuple(joint for joint in joints if joint.name in kept), cut


def _reached(root: str, parents: dict[str, list[Joint]]) -> set[str]:
    """The links that joints lead to from the root."""
    children: dict[str, list[str]] = {}
    for joints in parents.values():
        for joint in joints:
            children.setdefault(joint.parent, []).append(joint.child)
    reached, pending = {root}, [root]
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in reached:
                reached.add(child)
                pending.append(child)
    return reached


def loop_of(joint: Joint) -> Loop:
    """The loop that a cut joint is; the frame of its child is that of the child link."""
    return Loop(
        name=joint.name,
        type=joint.type,
        predecessor=joint.parent,
        successor=joint.child,
        predecessor_frame=joint.origin,
        axis=joint.axis,
        line=joint.line,
    )


def cut_warnings(
    source: str, kept: Sequence[Joint], cut: Sequence[Joint], held: Sequence[HeldJoint]
) -> list[str]:
    """Warnings of cut joints: that they are cut, and what of them is lost.

    held : those of `cut` that keep their position.
    """
    ends = {one.name: one.end for one in held}
    above = {joint.child: joint for joint in kept}
    messages = []
    for joint in cut:
        place = f'{source}:{joint.line}: <joint name="{joint.name}">'
        other = above[joint.child]
        message = (
            f'{place}: its child "{joint.child}" has a parent by joint "{other.name}" (line '
            f"{other.line}) too; cut "
        )
        if joint.name in ends:
            messages.append(f'{message}at its end, and held there by the loop "{ends[joint.name]}"')
            continue
        message += f'here, and closed as the loop "{joint.name}"'
        if joint.armature or joint.spring_stiffness:
            message += " without its damping, friction, armature and spring"
        elif joint.damping or joint.friction:
            message += " without its damping and friction"
        messages.append(message)
    return messages


BALL = "ball_constraint"
LOOPS = ("loop_joint", "constraint", BALL)

CLOSING = re.compile(r"loop|loop_joint|(.*_)?constraint|coupling")
"""Names of elements that tie links of the tree, or hold them in a way that is refused."""


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


@dataclass(frozen=True, eq=False)
class HeldJoint:
    """A joint from its parent to its child, which another joint carries; `frame` is in the child.

    `joint`, `link` and `loop` replace it; the latter two are called `name/end`.
    """

    written: Joint
    frame: Pose = Pose()

    @property
    def end(self) -> str:
        """The name of its link and of its loop."""
        return f"{self.name}/end"

    @property
    def name(self) -> str:
        """The name by which it is written."""
        return self.written.name

    @property
    def line(self) -> int | None:
        """Where it is written."""
        return self.written.line

    @property
    def joint(self) -> Joint:
        """The joint, to a link of its own."""
        return replace(self.written, child=self.end)

    @property
    def link(self) -> Link:
        """The link of no mass in which it ends."""
        return Link(self.end, line=self.line)

    @property
    def loop(self) -> Loop:
        """The loop that holds its end to the child."""
        return Loop(
            name=self.end, type="fixed", predecessor=self.end, successor=self.written.child,
            successor_frame=self.frame, line=self.line,
        )  # fmt: skip

    @property
    def written_loop(self) -> Loop:
        """A loop between the links that the description names, for checks."""
        return Loop(
            self.name, "fixed", self.written.parent, self.written.child,
            line=self.line,
        )  # fmt: skip


def held_type(name: str | None) -> JointType | None:
    """The type of joint that closes a loop only with a position of its own; else None."""
    kind = JOINT_TYPES.get(name or "")
    return kind if kind is not None and kind.nv == 1 and name not in CLOSING_TYPES else None


def held_loop(
    kind: JointType, name: str, ends: Sequence[str], frames: Sequence[Pose], axis: Array,
    numbers: Mapping[str, float], line: int | None,
) -> HeldJoint:  # fmt: skip
    """The joint of a `<loop>` of that type; `ends` and `frames` of predecessor and successor."""
    joint = Joint(name, kind.name, ends[0], ends[1], frames[0], axis, line=line, numbers=numbers)
    return HeldJoint(joint, frames[1])


def held_joints(cut: Sequence[Joint], needed: Collection[str]) -> list[HeldJoint]:
    """The cut joints that keep a position: `needed` ones, and types that close no loop."""
    return [
        HeldJoint(joint)
        for joint in cut
        if joint.nv and (joint.name in needed or joint.type not in CLOSING_TYPES)
    ]
