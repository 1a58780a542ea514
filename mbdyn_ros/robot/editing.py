"""Robots edited: methods of `Robot` that give a new one and leave the old as it was."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..arguments import (
    checked_mapping,
    checked_names,
    checked_text,
    positive_number,
)
from ..equations.variable import FRICTION, GRAVITY
from ..errors import InputError, ModelWarning, brief, shown, warn
from ..model import edit
from ..model.model import Model
from ..model.read.description import read_description
from .described import described_model
from .reduction import reduced_model
from .variable import variable_names

if TYPE_CHECKING:
    from .robot import Robot


@brief
def locked(self: Robot, joints: Mapping[str, float] | Sequence[str]) -> Robot:
    """The robot with some of its joints fixed: the reduced model.

    Parameters
    ----------
    joints : positions (rad or m) by joint name, as many as a joint has where it has several; or
        names alone, to fix them at home.

    Returns
    -------
    A new robot. Joints that mimic locked ones, and those that loops hold still then, are locked
    with them; loops in which nothing moves any more are dropped. All links stay.

    Raises
    ------
    InputError
        A name is unknown, a position is none, or the positions contradict each other, a mimic, a
        coupling or a loop; the message names them, and by how much.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import PENDULUM
    >>> robot = mbdyn_ros.load(PENDULUM)
    >>> robot.locked({"hinge": 0.5}).nv
    0
    """
    return _said(self, _rebuilt(self, *reduced_model(self, _positions(self, joints))))


@brief
def without(self: Robot, *names: str) -> Robot:
    """The robot without links, with what hangs on them, and without loops and couplings.

    Raises
    ------
    InputError
        See `model.edit.without`: nothing may be left with one of its two ends.
    """
    return _edited(self, lambda model: edit.without(model, *names))


@brief
def renamed(
    self: Robot,
    joints: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    loops: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Robot:
    """The robot with other names of joints, links, loops and couplings (new by old), or of itself.

    Raises
    ------
    InputError
        There is none of an old name, or a new one is taken.
    """
    named = {"joints": joints, "links": links, "loops": loops}
    joints, links, loops = (
        {} if one is None else checked_mapping(what, one) for what, one in named.items()
    )
    of_link, of_joint = dict(links), dict(joints)
    name = None if name is None else checked_text("name", name)
    home = {of_joint.get(key, key): value for key, value in self.home.items()}
    return _edited(
        self, lambda model: edit.renamed(model, joints, links, loops, name), home, of_link
    )


@brief
def attached(
    self: Robot,
    other: Robot | Model | str | os.PathLike[str],
    at: str,
    xyz: Sequence[float] = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    prefix: str = "",
    joint: str | None = None,
) -> Robot:
    """The robot with a tool or a second robot fastened to one of its links.

    Parameters
    ----------
    other : a robot, or the file of one. Its payloads come with it, its base is fastened.
    at : the link; xyz (m) and rpy (rad) place the other's root link in it.
    prefix : begins all names of the other.
    joint : name of the fixed joint between.

    Raises
    ------
    InputError
        There is no such link, or both have a link, a joint or a loop of one name.
    """
    prefix = checked_text("prefix", prefix)
    joint = None if joint is None else checked_text("joint", joint)
    if isinstance(other, Model):
        model, home = other, other.home
    elif isinstance(other, (str, os.PathLike)):
        model = read_description(other)
        home = model.home
    elif isinstance(other, type(self)):
        model, home = _with_choices(other), other.home
    else:
        raise InputError(f"what is attached must be a robot or a file; it is {shown(other)}")
    mine = described_model(self)
    if model.independent is not None or model.actuated is not None:
        mine = _with_choices(self)
    both = {**self.home, **{prefix + name: value for name, value in home.items()}}
    return _edited(
        self, lambda _: edit.attached(mine, model, at, xyz, rpy, prefix, joint), both
    )


@brief
def with_joint(self: Robot, name: str, **changes: object) -> Robot:
    """The robot with other numbers of a joint, by keyword; those that are not given stay.

    xyz, rpy, axis (where it stands), lower, upper, velocity, effort (its limits), damping,
    friction, armature, spring_stiffness, spring_reference (what acts on it); see
    `model.edit.with_joint`.
    """
    return _edited(self, lambda model: edit.with_joint(model, name, **changes))  # type: ignore[arg-type]


@brief
def scaled(self: Robot, length: float, mass: float | None = None) -> Robot:
    """The robot with all lengths times `length` and all masses times `mass` (default: length^3).

    Times go with the root of lengths, so that gravity stays: forces go with mass, moments with
    mass length, damping, friction, springs, armature and limits with what they belong to
    (`model.edit.scaled`).
    """
    length = positive_number("length", length, "a finite factor above 0")
    mass = None if mass is None else positive_number("mass", mass, "a finite factor above 0")
    sliding = {
        name: self.model.joint(name).kind.steps[0].motion.slides for name in self.home
    }
    home = {name: x * length if sliding[name] else x for name, x in self.home.items()}
    return _edited(self, lambda model: edit.scaled(model, length, mass), home)


@brief
def mirrored(self: Robot, normal: Sequence[float] = (0.0, 1.0, 0.0)) -> Robot:
    """The mirror image in the plane across `normal` through the root link's origin.

    Positions, velocities and efforts mean the same as before, but for a floating base and
    floating joints, whose places and turns are mirrored (`model.edit.mirrored`).
    """
    return _edited(self, lambda model: edit.mirrored(model, normal))


def _with_choices(robot: Robot) -> Model:
    """The model of a robot with its choices as they are; those of loops that nobody made too."""
    model = described_model(robot)
    if not robot.dependent_joints and model.independent is None and model.actuated is None:
        return model
    return replace(
        model, independent=robot.independent_joints, actuated=robot.actuated_joints
    )


def _edited(
    robot: Robot,
    change: Callable[[Model], Model],
    home: Mapping[str, float] | None = None,
    link_names: Mapping[str, str] | None = None,
) -> Robot:
    """The robot of a changed model, on the same branch of its loops."""
    model = change(described_model(robot))
    return _said(robot, _rebuilt(robot, model, robot.home if home is None else home, link_names))


def _rebuilt(
    robot: Robot,
    model: Model,
    home: Mapping[str, float],
    link_names: Mapping[str, str] | None = None,
) -> Robot:
    """A robot of that model, near a configuration, with the same arguments; nothing is said."""
    model = replace(model, home={})
    known = {joint.name for joint in model.joints if joint.nv}
    near = {name: position for name, position in home.items() if name in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return type(robot)(
            model, near, robot.floating_base, robot.gravity.tolist(),
            list(_still_variable(robot, model, link_names or {})),
        )  # fmt: skip


def _still_variable(robot: Robot, model: Model, link_names: Mapping[str, str]) -> Iterator[str]:
    """The names of what was variable and still can be."""
    for name in variable_names(robot._parameters.layout):
        link = link_names.get(name, name)
        if name in (GRAVITY, FRICTION) or _is_moved(robot, model, link):
            yield link


def _is_moved(robot: Robot, model: Model, link: str) -> bool:
    if link not in {one.name for one in model.links}:
        return False
    while (joint := model.joint_to(link)) is not None:
        if joint.nv:
            return True
        link = joint.parent
    return robot.floating_base


def _said(robot: Robot, other: Robot) -> Robot:
    """The other robot, after warnings that the first one has not given."""
    for text in other.warnings:
        if text not in robot.warnings:
            warn(text, ModelWarning)
    return other


def _positions(robot: Robot, joints: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Where joints are to be locked."""
    if isinstance(joints, Mapping):
        return dict(joints)
    if isinstance(joints, str) or not isinstance(joints, Iterable):
        raise InputError(f"joints are a list of names, or positions by name, not {shown(joints)}")
    found = {}
    for name in checked_names("joints", joints):
        if name not in robot.home:
            known = name in robot.joint_names
            raise InputError(
                f"{robot.model.source}: "
                + (f"joint {name!r} has several positions; give them: locked({{{name!r}: [...]}})"
                   if known else f"there is no movable joint {name!r}; the joints are "
                   f"{', '.join(robot.joint_names)}")
            )  # fmt: skip
        found[name] = robot.home[name]
    return found
