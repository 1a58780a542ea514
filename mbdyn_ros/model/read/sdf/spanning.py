"""A tree among the joints of an SDF, which name their links in any order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...closing_types import CLOSING_TYPES
from ...model import ACTING, Joint
from .joints import SdfJoint


def spanning_tree(
    root: str, joints: Sequence[SdfJoint], needed: Collection[str]
) -> tuple[list[SdfJoint], list[SdfJoint], set[str]]:
    """Part the joints that the root reaches into those of a tree and those that close loops.

    Joints keep their direction where they can; others are turned round. Of the joints to one link
    those that must keep a position are kept before others.

    Returns
    -------
    kept, cut : in the order of `joints`; the kept ones lead away from the root.
    reached : the links.
    """
    first = sorted(joints, key=lambda one: not keeps_position(one.joint, needed))
    reached, kept = {root}, {}
    while True:
        found = next((one for one in first if _leads_on(one, reached)), None)
        if found is None:
            back = next((one for one in first if _leads_on(inverse(one), reached)), None)
            if back is None:
                break
            found = inverse(back)
        kept[found.joint.name] = found
        reached.add(found.joint.child)
    tree = [kept[one.joint.name] for one in joints if one.joint.name in kept]
    cut = [one for one in joints if one.joint.name not in kept and one.joint.parent in reached]
    return tree, cut, reached


def rigid_bodies(tree: Sequence[SdfJoint]) -> dict[str, str]:
    """The body of every link, called by its first link; `tree` leads outwards."""
    body: dict[str, str] = {}
    waiting = list(tree)
    children = {one.joint.child for one in tree}
    for one in tree:
        if one.joint.parent not in children:
            body[one.joint.parent] = one.joint.parent
    while waiting:
        ready = [one for one in waiting if one.joint.parent in body]
        for one in ready:
            body[one.joint.child] = one.joint.child if one.joint.nv else body[one.joint.parent]
        waiting = [one for one in waiting if one.joint.child not in body]
    return body


def keeps_position(joint: Joint, needed: Collection[str]) -> bool:
    """Whether a joint must have a position of its own, even where it closes a loop."""
    acting = any(getattr(joint, name) for name in ACTING)
    return joint.name in needed or joint.type not in CLOSING_TYPES or acting


def inverse(one: SdfJoint) -> SdfJoint:
    """The same joint from its child to its parent."""
    joint = one.joint
    turned = replace(
        joint, parent=joint.child, child=joint.parent, origin=one.end.inverse(), axis=-joint.axis
    )
    return SdfJoint(turned, joint.origin.inverse())


def _leads_on(one: SdfJoint, reached: Collection[str]) -> bool:
    return one.joint.parent in reached and one.joint.child not in reached
