"""A tool or a second robot fastened to a link, and links removed with all that hangs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ...errors import InputError
from ..foreign import OWNERS
from ..model import Combination, Joint, Model
from ..read.shape import find_mesh
from ..read.source_text import TEXT
from ..shapes import Collision, Mesh
from ..split_joints import whole_joints
from ..write.elements import moved_reference
from .parts import (
    keep_choices,
    keep_foreign,
    names_of,
    placed_at,
    require,
    split_where_named,
    still_unused,
)
from .rename import prefixed

AnyShape = TypeVar("AnyShape", bound=Collision)


def attached(
    model: Model,
    other: Model,
    at: str,
    xyz: Sequence[float] = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    prefix: str = "",
    joint: str | None = None,
    free: bool = False,
) -> Model:
    """The robot with another one, whose root link is fastened to a link of this one, or free there.

    Parameters
    ----------
    other : a tool, or a robot.
    at : a link of `model`; xyz (m) and rpy (rad) place the root link of `other` in it.
    prefix : begins all names of `other`.
    joint : name of the joint between; by default that of the root link and "_mount".
    free : whether that joint is a floating one, at home where xyz and rpy say.

    Raises
    ------
    InputError
        There is no such link, or both have a link, a joint or a loop of one name.

    Notes
    -----
    Choices that one of them makes hold for both only if both make them: where one names its
    independent or actuated joints and the other does not, all joints of the other that move and
    do not mimic are meant; and the joint between, where it is free.
    """
    one, two = whole_joints(model), prefixed(_files_from(model, other), prefix)
    require(one, "link", at, one._links)
    kind, place = "floating" if free else "fixed", placed_at(model.source, xyz, rpy)
    mount = Joint(joint or f"{two.root}_mount", kind, at, two.root, place)
    _refuse_clashes(one, two, mount)
    return split_where_named(
        replace(
            one,
            links=(*one.links, *two.links),
            joints=(*one.joints, mount, *two.joints),
            loops=(*one.loops, *two.loops),
            couplings=(*one.couplings, *two.couplings),
            independent=_both(one, two, mount, "independent"),
            actuated=_both(one, two, mount, "actuated"),
            driven=(*one.driven, *two.driven),
            transmissions=(*one.transmissions, *two.transmissions),
            actuators=(*one.actuators, *two.actuators),
            home={**one.home, **two.home},
            homes={**one.homes, **two.homes},
            unused=Counter(one.unused) + Counter(two.unused),
            foreign=tuple(
                sorted((*one.foreign, *two.foreign), key=lambda each: OWNERS.index(each.owner))
            ),
            warnings=(*one.warnings, *two.warnings),
        )
    )


def _files_from(model: Model, other: Model) -> Model:
    """The other robot, its meshes named as from a file in the folder of the model."""
    if other.source == TEXT:
        return other
    source = Path(other.source).resolve().parent
    target = None if model.source == TEXT else Path(model.source).parent

    def moved(shape: AnyShape) -> AnyShape:
        one = shape.geometry
        if not isinstance(one, Mesh):
            return shape
        file = moved_reference(one.file, source, target)
        if find_mesh(file, target) is None and (found := find_mesh(one.file, source)) is not None:
            file = found.resolve().as_posix()  # in a package that is near the other's file alone
        return replace(shape, geometry=replace(one, file=file))

    links = (
        replace(
            link,
            visuals=tuple(map(moved, link.visuals)),
            collisions=tuple(map(moved, link.collisions)),
        )
        for link in other.links
    )
    return replace(other, links=tuple(links))


def _both(one: Model, two: Model, mount: Joint, choice: str) -> tuple[str, ...] | None:
    given = [getattr(model, choice) for model in (one, two)]
    if given == [None, None]:
        return None
    first, second = (
        [each.name for each in model.joints if each.nv and each.mimic is None]
        if chosen is None
        else chosen
        for model, chosen in zip((one, two), given, strict=True)
    )
    return (*first, *[mount.name] * bool(mount.nv), *second)


def _refuse_clashes(one: Model, two: Model, mount: Joint) -> None:
    kinds = (
        ("link", one.links, two.links),
        ("joint", one.joints, (mount, *two.joints)),
        ("loop or coupling", (*one.loops, *one.couplings), (*two.loops, *two.couplings)),
    )
    for what, those, others in kinds:
        names = [each.name for each in those]
        clashes = [each.name for each in others if each.name in names]
        if clashes:
            more = f" and {len(clashes) - 3} more" if len(clashes) > 3 else ""
            raise InputError(
                f"{one.source}: both have a {what} called {', '.join(map(repr, clashes[:3]))}"
                f'{more}; give the one that is attached a prefix, such as prefix="tool_"'
            )


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
