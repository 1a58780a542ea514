"""Inertias, gravity and what acts on joints, changed while programs run."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from ..arguments import coordinate_array, require_finite
from ..array import Array, ArrayLike, as_numbers
from ..equations.system import System
from ..equations.variable import (
    ARMATURE,
    AT_JOINTS,
    FRICTION,
    GRAVITY,
    SPRINGS,
    ParameterLayout,
    with_symbols,
    without,
)
from ..errors import CompilerWarning, InputError, brief, shown, suggestion, warn
from .core import Core
from .variable import ALL, checked_layout, moving_link, standard_numbers

FOLLOWING: weakref.WeakKeyDictionary[Core, weakref.WeakSet[Core]] = weakref.WeakKeyDictionary()
"""Robots that take what is variable from another one: copies with another home."""


class Parametrized(Core):
    """Inertias, gravity and what acts on joints, changed while programs run."""

    @brief
    def set_inertia(self, link: str, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> None:
        """Give a link another inertia, from the next call on; a payload stays.

        Parameters
        ----------
        link : a link that joints move. One that is not `variable` (see `load`) becomes so: programs
            are compiled once more, with a notice.
        mass : () or (N,), kg.
        com : (3,) or (N, 3), its centre of mass in the link's axes, m.
        inertia : (3, 3) or (N, 3, 3) about the centre of mass, in the link's axes, kg m^2.

        With N values every row of a batch or a rollout has its own.

        Raises
        ------
        InputError
            An unknown link, one that is fixed to the world, or an inertia that no body has.
        """
        known = moving_link(self._system.tree, self.model.source, link)
        given = standard_numbers(f"link {known!r}", mass, com, inertia)
        _take(self, known, self._parameters.own, given)

    @brief
    def set_payload(
        self,
        link: str,
        mass: ArrayLike,
        com: ArrayLike | Sequence[float] = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> None:
        """Fasten a body to a link, instead of what was fastened there; mass 0 takes it off.

        Parameters as in `set_inertia`; without `inertia` it is a point.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART, variable=["cart"])
        >>> robot.mass_matrix([0.0])
        array([[2.]])
        >>> robot.set_payload("cart", 3.0)
        >>> robot.mass_matrix([0.0])
        array([[5.]])
        """
        known = moving_link(self._system.tree, self.model.source, link)
        given = standard_numbers(f"the payload of link {known!r}", mass, com, inertia)
        _take(self, known, self._parameters.payload, given)

    @brief
    def set_gravity(self, gravity: ArrayLike) -> None:
        """Let another gravity (3,) or (N, 3) act, in the world (m/s^2), from the next call on."""
        labels = ("x", "y", "z")
        given = coordinate_array("gravity", gravity, labels)
        for row in np.atleast_2d(given):
            require_finite("gravity", row, labels)
        _take(self, GRAVITY, self._parameters.field, given.copy())
        if given.ndim == 1:
            self._keep(gravity=self.system.gravity)

    @brief
    def set_friction(self, joint: str, damping: ArrayLike, friction: ArrayLike = 0.0) -> None:
        """Give a joint other damping (N m s or N s/m) and dry friction (N m or N), () or (N,)."""
        _act(self, FRICTION, joint, (damping, friction))

    @brief
    def set_armature(self, joint: str, armature: ArrayLike) -> None:
        """Give a joint another inertia of its drive, as it feels it (kg m^2 or kg), () or (N,)."""
        _act(self, ARMATURE, joint, (armature,))
        if self.massless_links or not np.all(armature):
            self._find_massless_links()
            self.calls.plain.clear()

    @brief
    def set_spring(self, joint: str, stiffness: ArrayLike, reference: ArrayLike = 0.0) -> None:
        """Give a joint a spring (N m/rad or N/m), slack at `reference` (rad or m), () or (N,)."""
        _act(self, SPRINGS, joint, (stiffness, reference))

    @brief
    def parameter_labels(self, variable: Sequence[str] | None = None) -> tuple[str, ...]:
        """A name for each of `parameter_values`: link/m, ..., gravity/x, joint/damping."""
        return _chosen(self, variable).labels

    @brief
    def parameter_values(self, variable: Sequence[str] | None = None) -> Array:
        """The numbers that hold now (p,) of what is variable, or of a list as in `load`.

        (N, p) where each row of batches has its own. Ten a link: m, m c (x, y, z), and the moments
        Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin, in its axes, with its payload.
        """
        return self._parameters.values(_chosen(self, variable))


def _act(robot: Core, group: str, joint: str, numbers: Sequence[ArrayLike]) -> None:
    """Let other numbers of `AT_JOINTS` act on a joint, or say what is wrong with them."""
    known, labels = robot._parameters.at_joints[group], AT_JOINTS[group]
    if not isinstance(joint, str) or joint not in known:
        which = "movable joint" if group != SPRINGS else "joint of angles or lengths"
        raise InputError(
            f"{robot.model.source}: there is no {which} {shown(joint)}"
            f"{suggestion(shown(joint), known)}; the joints are {', '.join(known)}"
        )
    what = f"{group} of {joint}"
    try:
        rows = np.stack(np.broadcast_arrays(*map(as_numbers, numbers)), axis=-1)
    except ValueError as error:
        raise InputError(f"{what} must be numbers, or N of them each: {error}") from None
    given = coordinate_array(what, rows, labels)
    for row in np.atleast_2d(given):
        require_finite(what, row, labels)
    if group != SPRINGS and (given < 0).any():
        raise InputError(f"{' and '.join(labels)} of {joint} must not be negative: {rows.tolist()}")
    _take(robot, group, known, given, joint)


def layout_of(robot: Core, variable: Sequence[str]) -> ParameterLayout:
    """The layout of a list as in `load`; anything else is refused."""
    return checked_layout(robot._system.tree, robot.model.source, variable)


def _chosen(robot: Core, variable: Sequence[str] | None) -> ParameterLayout:
    return robot._parameters.layout if variable is None else layout_of(robot, variable)


def symbolic_system(robot: Core, parameters: bool | Sequence[str]) -> System:
    """The robot with symbols for what is variable (True; for all, if nothing is), or for a list."""
    layout = robot._parameters.layout
    if not isinstance(parameters, bool):
        layout = layout_of(robot, parameters)
    elif not layout:
        layout = layout_of(robot, [*robot.moving_links, *ALL])
    return with_symbols(without(robot.system, layout), layout)


def _take(
    robot: Core, changed: str, among: dict[str, Array], numbers: Array, name: str = ""
) -> None:
    """Let numbers hold from now on, or leave all as it was."""
    given, before = robot._parameters, dict(among)
    layout = given.layout
    if not layout.has(changed):
        layout = checked_layout(robot._system.tree, robot.model.source, [changed], layout)
    among[name or changed] = numbers
    try:
        values = given.values(layout)
    except InputError:
        among.clear()
        among.update(before)
        raise
    if layout is not given.layout:
        _recompile(robot, layout, changed)
    _spread(robot, values)
    if changed in layout.links and (robot.massless_links or not given.is_solid(changed)):
        robot._find_massless_links()
        robot.calls.plain.clear()


def _recompile(robot: Core, layout: ParameterLayout, changed: str) -> None:
    """Make more variable: other programs serve from now on, also in calls that are bound."""
    warn(
        f"{robot.model.source}: {changed!r} was folded into the programs; it is variable from now "
        f"on, and they are compiled once more. Name it in load(..., variable=[{changed!r}])",
        CompilerWarning,
    )
    _make_variable(robot, layout)


def _make_variable(robot: Core, layout: ParameterLayout) -> None:
    """Run the programs of a layout from now on, in calls that are bound and in followers too."""
    old, robot._parameters.layout = robot.calls, layout
    robot._start_calls(robot._system.home)
    robot.calls.home[:] = old.home
    robot.calls.take_over(old)
    for follower in _followers(robot):
        _make_variable(follower, layout)


def _spread(robot: Core, values: Array) -> None:
    """Let numbers (p,) or (N, p) hold from now on, for the robot and those that follow it."""
    robot.calls.set_parameters(values)
    for follower in _followers(robot):
        _spread(follower, values)


def follow(robot: Core, other: Core) -> None:
    """Take what is variable from another robot of the same description, now and later."""
    if robot._parameters.layout:
        robot.calls.set_parameters(other.calls.parameters)
    FOLLOWING.setdefault(other, weakref.WeakSet()).add(robot)


def _followers(robot: Core) -> list[Core]:
    return list(FOLLOWING.get(robot, ()))
