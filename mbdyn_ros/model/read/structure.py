"""Checks of a description: links, joints and their numbers, loops, couplings and inertias.

Links and joints must make a tree; loops and couplings must name what is there. Messages name the
file, the lines and the elements. Whether a loop can be closed, and what motion it leaves, is not
checked here. Inertias that no body can have are computed as they are, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...errors import ModelError, listed, suggestion
from ..model import Combination, Coupling, Joint, Link, Loop


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
                    f'{place}: its {role} "{name}" is not a link of this robot'
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
                f'{place}: "{joint.mimic.joint}" is not a joint of this robot'
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


Closing = Loop | Coupling | Combination


def check_closures(
    links: Iterable[Link],
    joints: Sequence[Joint],
    placed: Iterable[tuple[str, Closing]],
    taken: Mapping[str, str] | None = None,
) -> None:
    """Refuse loops and couplings that cannot be meant.

    Parameters
    ----------
    links, joints : a tree, checked.
    placed : loops and couplings, each with what messages call its place.
    taken : where names are in use already.
    """
    names = {link.name for link in links}
    rigid = _Rigid(joints)
    seen = dict(taken or {})
    for place, closing in placed:
        if closing.name in seen:
            raise ModelError(
                f"{place}: the name is taken by {seen[closing.name]}; loops and couplings need "
                "different names, rename one"
            )
        seen[closing.name] = place
        if isinstance(closing, Combination):
            continue  # its joints are looked at in `couple_joints`
        for role in ("predecessor", "successor"):
            link = getattr(closing, role)
            if link not in names:
                raise ModelError(
                    f'{place}: its {role} "{link}" is not a link of this robot'
                    f"{suggestion(link, names)}; correct the name"
                )
        first, second = closing.predecessor, closing.successor
        if first == second:
            raise ModelError(f'{place}: joins the link "{first}" to itself; give another end')
        if rigid.body(first) == rigid.body(second):
            raise ModelError(
                f'{place}: its ends "{first}" and "{second}" are held together by fixed joints, '
                "nothing can move between them; give another end"
            )
        if isinstance(closing, Coupling):
            _refuse_carried(place, closing, rigid)


def _refuse_carried(place: str, coupling: Coupling, rigid: _Rigid) -> None:
    ends = (coupling.predecessor, coupling.successor)
    for outer, inner in (ends, ends[::-1]):
        if rigid.body(inner) in rigid.carriers(outer):
            raise ModelError(
                f'{place}: the link "{inner}" carries "{outer}", so there is no turn of "{inner}" '
                "to couple: turns are counted from the last link that carries both ends; couple "
                f'"{outer}" to a link that "{inner}" does not move, or write a <mimic>'
            )


class _Rigid:
    """Links lumped by the fixed joints of a tree; a body is called by its first link."""

    def __init__(self, joints: Sequence[Joint]) -> None:
        self._above = {joint.child: joint for joint in joints}

    def body(self, link: str) -> str:
        """The body of a link."""
        while link in self._above and not self._above[link].nv:
            link = self._above[link].parent
        return link

    def carriers(self, link: str) -> list[str]:
        """The bodies on the way from that of `link` to the root."""
        path = []
        while (link := self.body(link)) in self._above:
            path.append(link)
            link = self._above[link].parent
        return [*path, link]


MOMENT_ROUNDING = 1e-9
"""Violations below this fraction of the largest principal moment are rounding."""


def inertia_warnings(source: str, links: Iterable[Link]) -> list[str]:
    """One message for each link whose inertia is not one of a rigid body.

    The principal moments must be positive or zero and none may exceed the sum of the other two
    (which makes the matrix of second moments of mass positive semidefinite); a link without
    mass has no moments.
    """
    found = [(link, link.inertia) for link in links if link.inertia is not None]
    if not found:
        return []
    principal = np.linalg.eigvalsh(np.array([inertia.moments for _, inertia in found]))
    messages = []
    for (link, inertia), (small, middle, large) in zip(found, principal.tolist(), strict=True):
        scale = MOMENT_ROUNDING * max(abs(small), abs(large))
        numbers = f"principal moments {small:.6g}, {middle:.6g}, {large:.6g} kg m^2"
        place = f'{source}:{link.line}: <link name="{link.name}">'
        if inertia.mass == 0.0 and scale > 0.0:
            messages.append(f"{place}: has moments of inertia but no mass ({numbers})")
        elif small < -scale:
            messages.append(f"{place}: inertia not positive definite ({numbers})")
        elif large - small - middle > scale:
            messages.append(
                f"{place}: inertia breaks the triangle inequality, no body has it: the largest "
                f"exceeds the sum of the others ({numbers})"
            )
    return messages


REFUSED = {
    "friction": "friction opposes motion, give its magnitude",
    "armature": "no rotor has that inertia, give reduction^2 times that of the rotor",
}
"""Numbers of a joint that are not negative, and why."""

WARNED = {"damping": "drives the joint", "spring_stiffness": "drives the joint away"}
"""Numbers of a joint that are seldom negative, and their effect then."""


def judge(
    numbers: Mapping[str, float], written: Mapping[str, str] | None = None
) -> tuple[str | None, list[str]]:
    """Why no joint can have these numbers, if none can, and what is surely not meant of them.

    written : each of them as the file has it; by default its name and value.
    """
    if written is None:
        written = {name: f"{name} {value:g}" for name, value in numbers.items()}
    refused = (refusal(name, value, written[name]) for name, value in numbers.items())
    doubts = (doubt(name, value, written[name]) for name, value in numbers.items())
    return next(filter(None, refused), None), list(filter(None, doubts))


def refusal(name: str, value: float, written: str) -> str | None:
    """Why no joint can have this number; None where one can. `written`: as the file has it."""
    if value < 0.0 and name in REFUSED:
        return f"{written} is negative; {REFUSED[name]}"
    return None


def doubt(name: str, value: float, written: str) -> str | None:
    """Why this number is surely not what was meant; None where it may be."""
    if value < 0.0 and name in WARNED:
        return f"{written} is negative: it {WARNED[name]}; computed as it is"
    return None
