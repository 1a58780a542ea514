"""Edits of whole joints: places as users give them, and models put together again after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ...array import NoNumbers, as_numbers
from ...errors import InputError, shown, suggestion
from ..foreign import Foreign
from ..model import Array, Combination, Joint, Model, Pose
from ..pose import normalized, rotation_from_rpy
from ..split_joints import joints_of_parts, parts, split_joints

Value = TypeVar("Value")

PLACELESS = ("transmission", "ros2_control", "safety_controller", "calibration")
"""Elements for other programs that contain no placement."""


def require(model: Model, what: str, name: object, known: Collection[str]) -> str:
    """Refuse a name that the robot does not have. `what`: "link", "joint", ...

    Raises
    ------
    InputError
        There is none of that name.
    """
    if isinstance(name, str) and name in known:
        return name
    near = suggestion(name, known) if isinstance(name, str) else ""
    raise InputError(f"{model.source}: there is no {what} {shown(name)}{near}")


def split_where_named(model: Model) -> Model:
    """The model with those joints of several coordinates split whose parts it names."""
    return split_joints(model, joints_of_parts(model, _named(model)))


def _named(model: Model) -> Iterator[str]:
    for coupling in model.couplings:
        if isinstance(coupling, Combination):
            yield from (name for name, _ in coupling.factors)
    for names in (model.independent, model.actuated, model.home, *model.homes.values()):
        yield from names or ()


def names_of(joint: Joint) -> list[str]:
    """The name of a joint, and those of its parts."""
    return [joint.name, *parts(joint)]


def keep_choices(model: Model, gone: Collection[str]) -> Model:
    """The model without choices of joints that are gone; a choice that is left empty is dropped."""
    return replace(
        model,
        independent=_kept(model.independent, gone),
        actuated=_kept(model.actuated, gone),
        driven=_kept(model.driven, gone) or (),
        transmissions=tuple(one for one in model.transmissions if not {*one.joints} & {*gone}),
        actuators=tuple(one for one in model.actuators if one.joint not in gone),
        home=kept_positions(model.home, gone),
        homes={name: kept_positions(home, gone) for name, home in model.homes.items()},
    )


def _kept(names: tuple[str, ...] | None, gone: Collection[str]) -> tuple[str, ...] | None:
    return tuple(name for name in names or () if name not in gone) or None


def kept_positions(home: Mapping[str, Value], gone: Collection[str]) -> dict[str, Value]:
    """Positions by joint name without those of joints that are gone."""
    return {name: position for name, position in home.items() if name not in gone}


def keep_foreign(
    model: Model, links: Iterable[str], joints: Iterable[str]
) -> tuple[tuple[Foreign, ...], list[str]]:
    """The elements for other programs without links and joints that are gone, and words about them.

    Those inside removed elements are removed silently.
    """
    gone = {*(("link", name) for name in links), *(("joint", name) for name in joints)}
    kept, words = [], []
    for one in model.foreign:
        rest = one.without(gone)
        if rest is not None:
            kept.append(rest)
        if rest is not one and (one.owner, one.name) not in gone:
            named = ", ".join(f'"{name}"' for name in sorted({n for _, n in one.names() & gone}))
            how = "is left out with" if rest is None else "is kept without"
            words.append(f"{model.source}: <{one.tag}> {how} {named}")
    return tuple(kept), list(dict.fromkeys(words))


def still_unused(model: Model, foreign: Iterable[Foreign]) -> dict[str, int]:
    """Counts of what is not used once these are the only elements left for other programs."""
    lost = Counter(one.tag for one in model.foreign) - Counter(one.tag for one in foreign)
    return {what: count - lost[what] for what, count in model.unused.items() if count > lost[what]}


def untouched(model: Model, how: str) -> list[str]:
    """Words about elements for other programs that stay as they are."""
    tags = {one.tag for one in model.foreign} - set(PLACELESS)
    if not tags:
        return []
    listed = ", ".join(f"<{tag}>" for tag in sorted(tags))
    return [f"{model.source}: places in {listed} are {how}: they are for other programs"]


def three_numbers(source: str, what: str, values: Sequence[float]) -> tuple[float, float, float]:
    """Return three finite numbers, or refuse what is given."""
    try:
        numbers = as_numbers(values)
    except NoNumbers:
        numbers = np.zeros(0)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InputError(f"{source}: {what} are three finite numbers, not {shown(values)}")
    x, y, z = numbers.tolist()
    return x, y, z


def placed_at(source: str, xyz: Sequence[float], rpy: Sequence[float]) -> Pose:
    """A pose by its origin (m) and its roll, pitch and yaw (rad)."""
    turn = rotation_from_rpy(*three_numbers(source, "rpy", rpy))
    return Pose(np.array(turn), np.array(three_numbers(source, "xyz", xyz)))


def direction(source: str, what: str, values: Sequence[float]) -> Array:
    """A unit vector (3,)."""
    unit = normalized(three_numbers(source, what, values))
    if unit is None:
        raise InputError(f"{source}: {what} {list(values)} has no direction; give one such as "
                         "(0, 0, 1)")  # fmt: skip
    return np.array(unit)
