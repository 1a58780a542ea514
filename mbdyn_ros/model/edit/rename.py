"""Links, joints and loops under other names, wherever they are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...errors import InputError, ModelError
from ..model import Combination, Coupling, Joint, Model
from ..shapes import Visual
from ..split_joints import whole_joints
from .parts import names_of, require, split_where_named

Rename = Callable[[str], str]


def renamed(
    model: Model,
    joints: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    loops: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Model:
    """The robot with other names.

    Parameters
    ----------
    joints, links, loops : new names by old ones; couplings are named among the loops.
    name : of the robot.

    Raises
    ------
    InputError
        There is none of an old name, or a new one is taken.
    """
    whole = whole_joints(model)
    closures = [one.name for one in (*whole.loops, *whole.couplings)]
    known = {
        "joint": ([one.name for one in whole.joints], joints or {}),
        "link": ([one.name for one in whole.links], links or {}),
        "loop": (closures, loops or {}),
    }
    for what, (names, changes) in known.items():
        for old in changes:
            require(model, what, old, names)
        new = [changes.get(one, one) for one in names]
        for one in new:
            if not isinstance(one, str) or not one:
                raise InputError(f"{model.source}: {one!r} is not a name of a {what}")
            if new.count(one) > 1:
                raise InputError(f"{model.source}: two {what}s would be called {one!r}")
    return _named(
        whole,
        name or model.name,
        lambda old: known["link"][1].get(old, old),
        lambda old: known["joint"][1].get(old, old),
        lambda old: known["loop"][1].get(old, old),
    )


def prefixed(model: Model, prefix: str) -> Model:
    """The robot with a prefix before the names of all links, joints, loops, colours and homes."""

    def rename(name: str) -> str:
        return prefix + name

    return _named(whole_joints(model), model.name, rename, rename, rename, rename)


def _named(
    model: Model, name: str, link: Rename, joint: Rename, loop: Rename, other: Rename = str
) -> Model:
    """The model, its joints whole, with every name changed."""
    of_part = {
        part: joint(one.name) + part[len(one.name) :]
        for one in model.joints
        for part in names_of(one)
    }
    joint_of = of_part.__getitem__

    def moved(one: Joint) -> Joint:
        mimic = one.mimic and replace(one.mimic, joint=joint_of(one.mimic.joint))
        part_of = one.part_of and joint(one.part_of)
        return replace(
            one, name=joint_of(one.name), parent=link(one.parent), child=link(one.child),
            mimic=mimic, part_of=part_of,
        )  # fmt: skip

    def coupled(one: Coupling | Combination) -> Coupling | Combination:
        if isinstance(one, Combination):
            factors = tuple((joint_of(of), factor) for of, factor in one.factors)
            powers = tuple((joint_of(of), more) for of, more in one.powers)
            laws = tuple((joint_of(of), law) for of, law in one.laws)
            return replace(one, name=loop(one.name), factors=factors, powers=powers, laws=laws)
        ends = link(one.predecessor), link(one.successor)
        return replace(one, name=loop(one.name), predecessor=ends[0], successor=ends[1])

    def colored(one: Visual) -> Visual:
        return replace(one, material=one.material and other(one.material))

    def all_of(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if names is None else tuple(map(joint_of, names))

    def placed(home: Mapping[str, float]) -> dict[str, float]:
        return {joint_of(of): position for of, position in home.items()}

    def foreign(what: str, old: str) -> str:
        if what == "link":
            return link(old) if old in model._links else old
        return of_part.get(old, old)

    try:
        result = replace(
            model,
            name=name,
            root=link(model.root),
            links=tuple(
                replace(one, name=link(one.name), visuals=tuple(map(colored, one.visuals)))
                for one in model.links
            ),
            joints=tuple(map(moved, model.joints)),
            loops=tuple(
                replace(one, name=loop(one.name), predecessor=link(one.predecessor),
                        successor=link(one.successor))
                for one in model.loops
            ),
            couplings=tuple(map(coupled, model.couplings)),
            independent=all_of(model.independent),
            actuated=all_of(model.actuated),
            driven=all_of(model.driven) or (),
            transmissions=tuple(
                replace(one, joints=all_of(one.joints) or ()) for one in model.transmissions
            ),
            actuators=tuple(
                replace(one, name=other(one.name), joint=joint_of(one.joint))
                for one in model.actuators
            ),
            home=placed(model.home),
            homes={other(called): placed(home) for called, home in model.homes.items()},
            foreign=tuple(one.renamed(foreign) for one in model.foreign),
        )  # fmt: skip
    except ModelError as error:  # a name that no file may hold
        raise InputError(str(error)) from None
    return split_where_named(result)
