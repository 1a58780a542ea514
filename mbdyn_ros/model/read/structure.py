"""Links and joints that make a tree: checks that name the file, the lines and the elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import ModelError, listed, suggestion
from ..model import Joint, Link


def quoted(names: Iterable[str]) -> str:
    """Names for a message: '"a", "b"'."""
    return listed(f'"{name}"' for name in names)


def check_unique(source: str, elements: Sequence[Link] | Sequence[Joint], tag: str) -> None:
    """Refuse two elements of one name."""
    seen: dict[str, int | None] = {}
    for element in elements:
        if element.name in seen:
            raise ModelError(
                f'{source}:{element.line}: <{tag} name="{element.name}">: the name is taken by '
                f"the {tag} in line {seen[element.name]}; rename one"
            )
        seen[element.name] = element.line


def check_ends(source: str, links: Sequence[Link], joints: Sequence[Joint]) -> None:
    """Refuse joints to or from links that are not there, or from a link to itself."""
    names = {link.name for link in links}
    for joint in joints:
        place = f'{source}:{joint.line}: <joint name="{joint.name}">'
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in names:
                raise ModelError(
                    f'{place}: its {role} "{name}" is no link of this robot'
                    f"{suggestion(name, names)}; add the link or correct the name"
                )
        if joint.parent == joint.child:
            raise ModelError(
                f'{place}: joins the link "{joint.child}" to itself; give another parent or child'
            )


def find_root(source: str, links: Sequence[Link], joints: Sequence[Joint]) -> str:
    """The one link without a parent, from which the joints reach every link.

    The ends of the joints must have been checked. A cycle, no root or several are refused.
    """
    if not links:
        raise ModelError(f"{source}: the robot has no <link>; add one")
    above = {joint.child: joint for joint in joints}
    _refuse_cycle(source, links, above)
    roots = [link for link in links if link.name not in above]
    if len(roots) > 1:
        parents = {joint.parent for joint in joints}
        named = listed(f'"{root.name}" (line {root.line})' for root in roots)
        lone = [root.name for root in roots if root.name not in parents]
        remark = f"; no joint touches {quoted(lone)}" if lone else ""
        raise ModelError(
            f"{source}:{roots[1].line}: {len(roots)} links have no parent joint, a robot has one "
            f"root: {named}{remark}; join them to the tree or remove them"
        )
    return roots[0].name


def _refuse_cycle(source: str, links: Sequence[Link], above: dict[str, Joint]) -> None:
    sound: set[str] = set()  # links known to hang from a root
    for link in links:
        path: list[str] = []
        on_path: set[str] = set()
        name = link.name
        while name not in sound and name in above and name not in on_path:
            path.append(name)
            on_path.add(name)
            name = above[name].parent
        if name in on_path:
            cycle = path[path.index(name) :]
            joints = [above[one] for one in reversed(cycle)]
            raise ModelError(
                f"{source}:{joints[0].line}: the joints {quoted(one.name for one in joints)} "
                f"form a cycle through the links {quoted(reversed(cycle))}, which no root "
                "reaches; write the one that closes it as a <loop>, or give one of them a parent "
                "outside it"
            )
        sound.update(path)


def check_mimics(source: str, joints: Sequence[Joint]) -> None:
    """Refuse mimics of nothing, of themselves, in a circle, or with other than one freedom."""
    by_name = {joint.name: joint for joint in joints}
    sound: set[str] = set()  # joints known to follow one that moves freely
    for joint in joints:
        if joint.mimic is None:
            continue
        place = f'{source}:{joint.line}: <joint name="{joint.name}"> <mimic>'
        target = by_name.get(joint.mimic.joint)
        if target is None:
            raise ModelError(
                f'{place}: "{joint.mimic.joint}" is no joint of this robot'
                f"{suggestion(joint.mimic.joint, by_name)}; correct the name or remove the mimic"
            )
        for one in (joint, target):
            if one.nv != 1:
                raise ModelError(
                    f'{place}: joint "{one.name}" (line {one.line}) is {one.type}; only a '
                    "joint of one coordinate mimics or is mimicked"
                )
        chain, passed = [joint.name], {joint.name}
        while target is not None and target.mimic is not None and target.name not in sound:
            if target.name in passed:
                raise ModelError(
                    f"{place}: mimics itself (through {quoted(chain)}); one of them must move "
                    "freely"
                )
            chain.append(target.name)
            passed.add(target.name)
            target = by_name.get(target.mimic.joint)
        sound |= passed
