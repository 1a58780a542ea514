"""Sound loops and couplings: checks that name the file, the line and the element.

Whether a loop can be closed, and what motion it leaves, is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...errors import ModelError, suggestion
from ..model import Combination, Coupling, Joint, Link, Loop

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
                    f'{place}: its {role} "{link}" is no link of this robot'
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
