"""Loops written as joints: where several joints have one child, all but one are cut.

The joint that is kept makes the child part of the tree; each other one becomes a loop of its
type between the same links, in the same place, or keeps its position (see `held_joints`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..closing_types import CLOSING_TYPES
from ..model import Joint, Link, Loop
from .held_joints import HeldJoint


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
