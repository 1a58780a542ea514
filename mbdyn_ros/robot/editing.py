"""Robots edited: a new one each time, and the old one stays as it was."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..arguments import (
    checked_flag,
    checked_mapping,
    checked_text,
    positive_number,
)
from ..errors import InputError, ModelWarning, brief, shown, warn
from ..model import edit
from ..model.model import Model
from ..model.read.description import read_description
from .configuration import Configurations
from .core import Core
from .described import described_model
from .reduction import locked_positions, reduced_model
from .variable import ALL, variable_names

if TYPE_CHECKING:
    from typing_extensions import Self

Made = TypeVar("Made", bound=Configurations)
"""The class of robots that is made again."""


class Editing(Configurations):
    """Robots edited: a new one each time, and the old one stays as it was."""

    @brief
    def locked(self, joints: Mapping[str, float] | Sequence[str]) -> Self:
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
            A name is unknown, a position is not a number, or the positions contradict each other, a
            mimic, a coupling or a loop; the message names them, and by how much.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import PENDULUM
        >>> robot = mbdyn_ros.load(PENDULUM)
        >>> robot.locked({"hinge": 0.5}).nv
        0
        """
        return _said(self, _rebuilt(self, *reduced_model(self, locked_positions(self, joints))))

    @brief
    def without(self, *names: str) -> Self:
        """The robot without some links and their subtrees, loops and couplings.

        Raises
        ------
        InputError
            See `model.edit.without`: nothing may be left with one of its two ends.
        """
        return _edited(self, lambda model: edit.without(model, *names))

    @brief
    def renamed(
        self,
        joints: Mapping[str, str] | None = None,
        links: Mapping[str, str] | None = None,
        loops: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Self:
        """The robot with other names of joints, links, loops and couplings (new by old), or of
        itself.

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
        self,
        other: Configurations | Model | str | os.PathLike[str],
        at: str,
        xyz: Sequence[float] = (0.0, 0.0, 0.0),
        rpy: Sequence[float] = (0.0, 0.0, 0.0),
        prefix: str = "",
        joint: str | None = None,
        free: bool = False,
    ) -> Self:
        """The robot with a tool or a second robot attached to one of its links.

        Parameters
        ----------
        other : a robot, or the file of one. Its payloads come with it, its base is fastened; one
            that floated is warned of.
        at : the link; xyz (m) and rpy (rad) place the other's root link in it.
        prefix : begins all names of the other.
        joint : name of the joint between, which is fixed.
        free : whether it is a floating joint instead, at home where xyz and rpy say.

        Raises
        ------
        InputError
            There is no such link, or both have a link, a joint or a loop of one name.
        """
        prefix = checked_text("prefix", prefix)
        joint = None if joint is None else checked_text("joint", joint)
        free = checked_flag("free", free)
        if isinstance(other, Model):
            model, home = other, other.home
        elif isinstance(other, (str, os.PathLike)):
            model = read_description(other)
            home = model.home
        elif isinstance(other, type(self)):
            model, home = _with_choices(other), other.home
        else:
            raise InputError(f"attached() takes a robot or a file; it got {shown(other)}")
        floats = model.floating_base or (isinstance(other, type(self)) and other.floating_base)
        if floats and not free:
            warn(
                f"{model.source}: the robot floats on its own; attached, its base is fastened to "
                f"link {shown(at)}; with free=True it floats",
                ModelWarning,
            )
        mine = described_model(self)
        if model.independent is not None or model.actuated is not None:
            mine = _with_choices(self)
        both = {**self.home, **{prefix + name: value for name, value in home.items()}}
        variable = variable_names(self._parameters.layout)
        if isinstance(other, type(self)):
            names = variable_names(other._parameters.layout)
            variable += [name if name in ALL else prefix + name for name in names]
        whole = edit.attached(mine, model, at, xyz, rpy, prefix, joint, free)
        return _said(self, _rebuilt(self, whole, both, more=variable))

    @brief
    def with_joint(self, name: str, **changes: object) -> Self:
        """The robot with changed numbers of a joint, by keyword; the others stay.

        xyz, rpy, axis (where it stands), lower, upper, velocity, effort (its limits), damping,
        friction, armature, spring_stiffness, spring_reference (what acts on it); see
        `model.edit.with_joint`.
        """
        numbers: dict[str, Any] = dict(changes)
        return _edited(self, lambda model: edit.with_joint(model, name, **numbers))

    @brief
    def with_elastic_link(
        self,
        link: str,
        start: Sequence[float],
        end: Sequence[float],
        rigidity: Sequence[tuple[Sequence[float], float]],
        segments: int = 4,
        loss_time: float = 0.0,
    ) -> Self:
        """The robot with an elastic link: rigid segments between torsion springs.

        Its joints that moved before stay the actuated ones.

        Parameters
        ----------
        link : its name. start, end : (3,) m in its frame, of the beam, from the side of its parent.
        rigidity : pairs of an axis (3,) in its frame and EI (N m^2); along the beam GJ.
        segments : springs for each axis. loss_time : s, damping over stiffness.

        Raises
        ------
        InputError
            See `model.edit.with_elastic_link`.

        Examples
        --------
        >>> import mbdyn_ros
        >>> arm = mbdyn_ros.load('''{name: arm, joints: [{name: swing, type: revolute, a: 0.5,
        ...   alpha: 0, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0], link: rod,
        ...   inertia: {ixx: 0.001, iyy: 0.043, izz: 0.043}}]}''')
        >>> bends = [((0, 0, 1), 20.0)]
        >>> arm.with_elastic_link("rod", (-0.5, 0, 0), (0, 0, 0), bends, 3).joint_names
        ('swing', 'rod_bend_1', 'rod_bend_2', 'rod_bend_3')
        """
        return _edited(
            self,
            lambda model: edit.with_elastic_link(
                model, link, start, end, rigidity, segments, loss_time
            ),
        )

    @brief
    def scaled(self, length: float, mass: float | None = None) -> Self:
        """The robot with all lengths times `length` and all masses times `mass` (default:
        length^3).

        Times go with the root of lengths, so that gravity stays: forces go with mass, moments with
        mass length, damping, friction, springs, armature and limits with what they belong to
        (`model.edit.scaled`).
        """
        length = positive_number("length", length, "a finite factor above 0")
        mass = None if mass is None else positive_number("mass", mass, "a finite factor above 0")
        sliding = {name: self.model.joint(name).kind.steps[0].motion.slides for name in self.home}
        home = {name: x * length if sliding[name] else x for name, x in self.home.items()}
        return _edited(self, lambda model: edit.scaled(model, length, mass), home)

    @brief
    def mirrored(self, normal: Sequence[float] = (0.0, 1.0, 0.0)) -> Self:
        """The mirror image in the plane across `normal` through the root link's origin.

        Positions, velocities and efforts mean the same as before, except for a floating base and
        floating joints, whose places and turns are mirrored (`model.edit.mirrored`).
        """
        return _edited(self, lambda model: edit.mirrored(model, normal))


def _with_choices(robot: Configurations) -> Model:
    """The model of a robot with its choices as they are; those of loops that nobody made too."""
    model = described_model(robot)
    if not robot.dependent_joints and model.independent is None and model.actuated is None:
        return model
    return replace(model, independent=robot.independent_joints, actuated=robot.actuated_joints)


def _edited(
    robot: Made,
    change: Callable[[Model], Model],
    home: Mapping[str, float] | None = None,
    link_names: Mapping[str, str] | None = None,
) -> Made:
    """The robot of a changed model, on the same branch of its loops."""
    model = change(described_model(robot))
    return _said(robot, _rebuilt(robot, model, robot.home if home is None else home, link_names))


def _rebuilt(
    robot: Made,
    model: Model,
    home: Mapping[str, float],
    link_names: Mapping[str, str] | None = None,
    more: Sequence[str] = (),
) -> Made:
    """A robot of that model, near a configuration, with the same arguments; nothing is said.

    more : names of what is variable too.
    """
    model = replace(model, home={})
    known = {joint.name for joint in model.joints if joint.nv}
    near = {name: position for name, position in home.items() if name in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return type(robot)(
            model, near, robot.floating_base, robot.gravity.tolist(),
            list(dict.fromkeys([*_still_variable(robot, model, link_names or {}), *more])),
        )  # fmt: skip


def _still_variable(
    robot: Configurations, model: Model, link_names: Mapping[str, str]
) -> Iterator[str]:
    """The names of what was variable and still can be."""
    for name in variable_names(robot._parameters.layout):
        link = link_names.get(name, name)
        if name in ALL or _is_moved(robot, model, link):
            yield link


def _is_moved(robot: Configurations, model: Model, link: str) -> bool:
    if link not in {one.name for one in model.links}:
        return False
    while (joint := model.joint_to(link)) is not None:
        if joint.nv:
            return True
        link = joint.parent
    return robot.floating_base


def _said(robot: Core, other: Made) -> Made:
    """The other robot, after warnings that the first one has not given."""
    for text in other.warnings:
        if text not in robot.warnings:
            warn(text, ModelWarning)
    return other
