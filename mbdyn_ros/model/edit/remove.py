"""Links removed, with all that hangs on them."""

from __future__ import annotations

from dataclasses import replace

from ...errors import InputError
from ..model import Combination, Model
from ..split_joints import whole_joints
from .parts import keep_choices, keep_foreign, names_of, require, split_where_named, still_unused


def without(model: Model, *names: str) -> Model:
    """The robot without some links and their subtrees, loops and couplings.

    Parameters
    ----------
    names : of links, loops and couplings.

    Raises
    ------
    InputError
        There is nothing of a name; it is the root; or something that stays would be left without
        its other end: a loop or coupling between links of which one goes, a joint that mimics one
        that goes. The message names them.
    """
    model = whole_joints(model)
    closures = {one.name for one in (*model.loops, *model.couplings)}
    for name in names:
        require(model, "link, loop or coupling", name, {*model._links, *closures})
    if model.root in names:
        raise InputError(
            f"{model.source}: link {model.root!r} is the root, on which all hangs; keep it, or "
            "remove the links that hang on it"
        )
    links = {name for name in names if name in model._links}
    for link in model.links:
        if any(one in links for one in _carriers(model, link.name)):
            links.add(link.name)
    gone = [joint for joint in model.joints if joint.child in links]
    joints = {part for joint in gone for part in names_of(joint)}
    dropped = {name for name in names if name not in model._links}
    _refuse_loose_ends(model, links, joints, dropped)
    foreign, words = keep_foreign(model, links, joints)
    result = replace(
        model,
        links=tuple(link for link in model.links if link.name not in links),
        joints=tuple(joint for joint in model.joints if joint.child not in links),
        loops=tuple(
            one for one in model.loops if one.name not in dropped and one.successor not in links
        ),
        couplings=tuple(
            one for one in model.couplings
            if one.name not in dropped and not (
                one.factors[0][0] in joints if isinstance(one, Combination)
                else one.successor in links
            )
        ),
        foreign=foreign,
        unused=still_unused(model, foreign),
        warnings=(*model.warnings, *words),
    )  # fmt: skip
    if dropped:  # more joints are independent then, and not by choice
        result = replace(result, independent=None)
    return split_where_named(keep_choices(result, joints))


def _carriers(model: Model, link: str) -> list[str]:
    """The links above a link."""
    above = []
    while (joint := model.joint_to(link)) is not None:
        above.append(link := joint.parent)
    return above


def _refuse_loose_ends(model: Model, links: set[str], joints: set[str], dropped: set[str]) -> None:
    """Refuse what would be left with one end of two."""
    for one in (*model.loops, *model.couplings):
        if one.name in dropped:
            continue
        if isinstance(one, Combination):
            what, ends, lost = "joint", {name for name, _ in one.factors}, joints
        else:
            what, ends, lost = "link", {one.predecessor, one.successor}, links
        if ends & lost and not ends <= lost:
            raise InputError(
                f"{model.source}: {one.name!r} connects the {what} {_quoted(ends & lost)}, which "
                f"would be removed, to {_quoted(ends - lost)}, which would stay; "
                f"remove {one.name!r} or the latter too"
            )
    for joint in model.joints:
        leader = joint.mimic and joint.mimic.joint
        if leader in joints and joint.name not in joints:
            raise InputError(
                f"{model.source}: joint {joint.name!r} mimics {leader!r}, which would be removed: "
                f"remove the link {joint.child!r} too, or lock {leader!r} before"
            )


def _quoted(names: set[str]) -> str:
    return ", ".join(map(repr, sorted(names)))
