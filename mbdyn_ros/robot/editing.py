"""Robots edited: a new one each time, and the old one stays as it was.

Where joints are locked, loops are closed there, and what they hold still then is locked too.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..arguments import (
    checked_flag,
    checked_mapping,
    checked_names,
    checked_text,
    positive_number,
)
from ..array import Array
from ..errors import InputError, ModelWarning, brief, shown, warn
from ..model import edit
from ..model.edit.lock import AGREED, checked_position
from ..model.model import Model
from ..model.read.description import read_description
from ..model.split_joints import split_joints
from .configuration import Configurations
from .core import Core
from .described import described_model
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


MOST_TRIES = 60
LONGEST_STEP = 0.2
"""rad or m, of the way to where joints are locked."""
STANDING = 1e-8
"""Velocity (for one of size 1 of those that move) under which a joint stands still."""


def locked_positions(
    robot: Configurations, joints: Mapping[str, float] | Sequence[str]
) -> dict[str, float]:
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


def reduced_model(
    robot: Configurations, positions: Mapping[str, float]
) -> tuple[Model, dict[str, float]]:
    """The model of a robot with joints locked, and a configuration in which its loops are closed.

    What loops hold still then is locked too.

    Raises
    ------
    InputError
        See `model.edit.locked`; or the loops do not close there.
    """
    model, home = described_model(robot), dict(robot.home)
    if not positions:
        return model, home
    known = {
        name: float(checked_position(model.source, robot.model.joint(name), x)[0])
        for name, x in positions.items()
        if name in robot.home
    }
    if all(one.linkage.linear for one in robot._assemblies) or len(known) < len(positions):
        result = edit.locked(model, positions)
        if set(positions) & set(robot.dependent_joints):
            result = replace(result, independent=None)  # joints of gears choose anew
        return result, {**home, **known}
    q = _configuration(robot, _asked(robot, known), known)
    state, rates = joint_position(robot, q), _rates(robot, q)
    free = _free(rates, known)
    home |= {name: float(x[0]) for name, x in state.items() if len(x) == 1}
    still = {name: _written(state[name]) for name in _still(rates, free)}
    for near in _nearby(robot, q, free, known):  # at a dead point a joint only seems to stand
        rates = _rates(robot, near)
        moving = set(still) - _still(rates, _free(rates, known))
        still = {name: x for name, x in still.items() if name not in moving}
    parts = {one.part_of for one in robot.model.joints if one.part_of and one.name in still}
    model = split_joints(model, parts & {one.name for one in model.joints})
    result = edit.locked(model, {**still, **known})
    names = [name for name in robot.independent_joints if name not in still]
    left = sum(robot.model.joint(name).nv for name in names) + 6 * robot.floating_base
    if left != free.shape[1]:  # a joint that others determined is locked: they choose anew
        result = replace(result, independent=None)
    return result, home


def joint_position(robot: Configurations, q: Array) -> dict[str, Array]:
    """The positions (nq,) of every joint, by name."""
    positions = robot.joint_state(q)[0]
    return {name: positions[one.q] for name, one in robot.system.coordinates.joint_blocks.items()}


def _rates(robot: Configurations, q: Array) -> dict[str, Array]:
    """Velocities (nv of a joint, nv) for one of every coordinate, by joint."""
    rates = np.array([robot.joint_state(q, unit)[1] for unit in np.eye(robot.nv)]).T
    return {name: rates[one.v] for name, one in robot.system.coordinates.joint_blocks.items()}


def _free(rates: Mapping[str, Array], known: Mapping[str, float]) -> Array:
    """Velocities that leave these joints where they are, as columns."""
    _, sizes, rows = np.linalg.svd(np.concatenate([rates[name] for name in known]))
    free: Array = rows[int((sizes > STANDING).sum()) :].T
    return free


def _still(rates: Mapping[str, Array], free: Array) -> set[str]:
    """The joints that stand still, whichever of these velocities a robot has."""
    return {n for n, rate in rates.items() if np.abs(rate @ free).max(initial=0.0) < STANDING}


def _nearby(
    robot: Configurations, q: Array, free: Array, known: Mapping[str, float]
) -> Iterator[Array]:
    """Two configurations near q in which these joints are where they are in q."""
    for k in (1, 2):
        direction, length = free @ np.cos(k * np.arange(1.0, 1 + free.shape[1])), LONGEST_STEP / 4
        while length > AGREED:
            try:
                yield _configuration(robot, robot.integrate(q, length * direction), known)
                break
            except InputError:
                length /= 4


def _configuration(robot: Configurations, q: Array, wanted: Mapping[str, float]) -> Array:
    """q with these joints there: Gauss and Newton's steps, the loops closed at each.

    Raises
    ------
    InputError
        There is none; the message says how far they come.
    """
    length = LONGEST_STEP
    target = np.array(list(wanted.values()), dtype=np.float64)
    reason = ""
    for _ in range(MOST_TRIES):
        state = joint_position(robot, q)
        apart = target - np.concatenate([state[name] for name in wanted])
        if np.abs(apart).max() < AGREED**2:
            return q
        rates = _rates(robot, q)
        step = np.linalg.lstsq(np.concatenate([rates[name] for name in wanted]), apart)[0]
        size = np.abs(step).max()
        if size < AGREED**2:
            break
        try:
            further = robot.integrate(q, step * min(1.0, length / size))
            joint_position(robot, further)
        except InputError as error:
            reason, length = f" {error}", length / 4
            continue
        q = further
    if np.abs(apart).max() < AGREED:
        return q
    asked = ", ".join(f"{name} = {x:g}" for name, x in wanted.items())
    there = ", ".join(f"{name} = {float(state[name][0]):.9g}" for name in wanted)
    raise InputError(
        f"{robot.model.source}: {asked} cannot be locked together: the loops stay open there. "
        f"The nearest closed positions are {there}.{reason} Lock fewer of them; the others follow"
    )


def _asked(robot: Configurations, wanted: Mapping[str, float]) -> Array:
    """Home with the independent joints where they are wanted, if the loops close there."""
    home = robot.home_position
    q = home.copy()
    for k, label in enumerate(robot.position_labels):
        q[k] = wanted.get(label, q[k])
    try:
        joint_position(robot, q)
    except InputError:
        return home
    return q


def _written(x: Array) -> float:
    """The position of a joint as edits take it."""
    return float(x[0]) if len(x) == 1 else x.tolist()  # type: ignore[return-value]
