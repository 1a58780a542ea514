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
from ..prepare.tree import COMPONENTS
from .core import Core
from .variable import (
    ALL,
    checked_layout,
    known_origin,
    moving_link,
    require_body,
    standard_numbers,
)

UNCHANGED = 1e-14
"""Difference (m or rad) of a number of an origin that is rounding."""

FOLLOWING: weakref.WeakKeyDictionary[Core, weakref.WeakSet[Core]] = weakref.WeakKeyDictionary()
"""Robots that take what is variable from another one: copies with another home."""


class Parametrized(Core):
    """Inertias, gravity and what acts on joints, changed while programs run."""

    @brief
    def set_inertia(self, link: str, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> None:
        """Set the inertia of a link, from the next call on; its payload stays.

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
        _take(self, [known], self._parameters.own, given, known)

    @brief
    def set_payload(
        self,
        link: str,
        mass: ArrayLike,
        com: ArrayLike | Sequence[float] = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
    ) -> None:
        """Attach a body to a link, in place of an earlier payload; mass 0 removes it.

        Parameters as in `set_inertia`: kg, m in the link's axes, and kg m^2 about the payload's
        centre of mass; without `inertia` it is a point.

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
        _take(self, [known], self._parameters.payload, given, known)

    @brief
    def payload(self, link: str) -> Array:
        """Parameters of the payload of a link, (10,) or (N, 10) as in `parameter_values`."""
        known = moving_link(self._system.tree, self.model.source, link)
        return np.array(self._parameters.payload.get(known, np.zeros(10)))

    @brief
    def set_gravity(self, gravity: ArrayLike) -> None:
        """Set the gravity (3,) or (N, 3), in the world (m/s^2), from the next call on."""
        labels = ("x", "y", "z")
        given = coordinate_array("gravity", gravity, labels)
        require_finite("gravity", given, labels)
        _take(self, [GRAVITY], self._parameters.field, given.copy(), GRAVITY)
        if given.ndim == 1:
            self._keep(gravity=self.system.gravity)

    @brief
    def set_friction(self, joint: str, damping: ArrayLike, friction: ArrayLike = 0.0) -> None:
        """Set the damping (N m s or N s/m) and dry friction (N m or N) of a joint, () or (N,)."""
        _act(self, FRICTION, joint, (damping, friction))

    @brief
    def set_armature(self, joint: str, armature: ArrayLike) -> None:
        """Set the inertia of a joint's drive, as the joint feels it (kg m^2 or kg), () or (N,)."""
        _act(self, ARMATURE, joint, (armature,))
        if self.massless_links or not np.all(armature):
            self._find_massless_links()
            self.calls.plain.clear()

    @brief
    def set_spring(self, joint: str, stiffness: ArrayLike, reference: ArrayLike = 0.0) -> None:
        """Set a joint's spring (N m/rad or N/m), slack at `reference` (rad or m), () or (N,)."""
        _act(self, SPRINGS, joint, (stiffness, reference))

    @brief
    def set_origin(
        self, name: str, xyz: ArrayLike | None = None, rpy: ArrayLike | None = None
    ) -> None:
        """Set the origin of a joint or a loop frame on its link, from the next call on.

        Parameters
        ----------
        name : a joint, fixed ones too, or `loop/predecessor` or `loop/successor` for a frame of a
            loop. Of what is not `variable` (see `load`) the numbers that change become so: programs
            are compiled once more, with a notice.
        xyz : (3,) or (N, 3), m, as in <origin>; stays by default.
        rpy : (3,) or (N, 3), rad, as in <origin>; stays by default.

        What hangs on it moves along: links that fixed joints hold, their inertias, loop frames.
        Loops are closed anew at home, on the branch of home.

        Raises
        ------
        InputError
            An unknown name; numbers that are not finite; a number changes that is not among the
            variable ones of this origin, so that the robot would leave its structure; or a loop
            cannot be closed on its branch.

        Examples
        --------
        >>> import mbdyn_ros
        >>> arm = mbdyn_ros.example("ur5", variable=["elbow_joint/z"])
        >>> arm.set_origin("elbow_joint", xyz=[0.0, -0.1197, 0.5])
        >>> arm.frame_pose([0.0] * 6, "wrist_1_link")[:3, 3].round(4)
        array([0.8922, 0.0161, 0.0892])
        """
        given, source = self._parameters, self.model.source
        known = known_origin(given.described, source, name)
        now = given.origins[known]
        parts = [
            part[0] if part.ndim > 1 and (part == part[0]).all() else part
            for part in (now[..., :3], now[..., 3:])
        ]
        for k, (what, value) in enumerate((("xyz", xyz), ("rpy", rpy))):
            if value is not None:
                labels = COMPONENTS[3 * k : 3 * k + 3]
                parts[k] = coordinate_array(f"{what} of {known}", value, labels)
                require_finite(f"{known}: {what}", parts[k], labels)
        if rpy is not None:
            parts[1] = given.described.origins[known].angles_from(parts[1])
        try:
            six = np.concatenate(np.broadcast_arrays(*parts), axis=-1)
        except ValueError:
            raise InputError(
                f"{source}: xyz and rpy of {known!r} have {len(parts[0])} and {len(parts[1])} "
                "rows: give both as many, or one"
            ) from None
        described = given.described.origins[known].six
        changed = np.abs(six - described).reshape(-1, 6).max(axis=0) > UNCHANGED
        numbers = [one for one, other in zip(COMPONENTS, changed, strict=True) if other]
        free = dict(given.layout.origins).get(known, numbers)
        if fixed := [one for one in numbers if one not in free]:
            raise InputError(
                f"{source}: {' and '.join(fixed)} of the origin of {known!r} changed, and only "
                f"{', '.join(free)} may: the programs count on the others. Name "
                f"{', '.join(f'{known}/{one}' for one in fixed)} in load(..., variable=[...]) too"
            )
        if numbers or known in dict(given.layout.origins):
            names = [f"{known}/{one}" for one in free]
            _take(self, names, given.origins, np.where(changed, six, described), known)

    @brief
    def set_parameter_values(self, values: ArrayLike) -> None:
        """Set all variable numbers at once, in the form of `parameter_values`.

        values : (p,), or (N, p) where each row of batches has its own; the order is that of
            `parameter_labels`. Payloads are part of the ten numbers of their links, and stay.

        Raises
        ------
        InputError
            No finite numbers of that shape, an inertia that no body has, negative friction or
            armature, or lengths with which a loop cannot be closed; nothing changes then.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.example("four_bar", variable=["rocker_joint/x", "gravity"])
        >>> robot.parameter_labels()
        ('gravity/x', 'gravity/y', 'gravity/z', 'rocker_joint/x')
        >>> robot.set_parameter_values([0.0, 0.0, -1.62, 0.33])
        """
        given, layout = self._parameters, self._parameters.layout
        labels = layout.labels
        array = coordinate_array("parameter values", values, labels)
        require_finite("parameter value", array, labels)
        own = {link: array[..., layout.of_link(link)] for link in layout.links}
        for link, ten in own.items():
            require_body(f"link {link!r}", ten)
            own[link] = ten - given.payload.get(link, 0.0)
        at_joints = {group: dict(joints) for group, joints in given.at_joints.items()}
        acting = layout.at_joints(np.moveaxis(array, -1, 0))
        for group, joints in layout.joints:
            for joint in joints:
                rows = np.stack([acting[joint][one] for one in AT_JOINTS[group]], axis=-1)
                if group != SPRINGS:
                    _require_positive(joint, AT_JOINTS[group], rows)
                at_joints[group][joint] = rows
        six = {}
        for name, chosen in layout.of_origins(np.moveaxis(array, -1, 0)).items():
            whole = np.broadcast_to(given.described.origins[name].six, (*array.shape[:-1], 6))
            six[name] = whole.copy()
            for component, numbers in chosen.items():
                six[name][..., COMPONENTS.index(component)] = numbers
        field = {GRAVITY: array[..., layout.of_gravity]} if layout.gravity else {}
        before = given.own, given.at_joints, given.origins, given.field
        given.own, given.at_joints = {**given.own, **own}, at_joints
        given.origins, given.field = {**given.origins, **six}, {**given.field, **field}
        try:
            _spread(self, given.values(layout))
        except InputError:
            given.own, given.at_joints, given.origins, given.field = before
            raise
        loose = ARMATURE in dict(layout.joints) or not all(map(given.is_solid, own))
        if self.massless_links or loose:
            self._find_massless_links()
            self.calls.plain.clear()
        if array.ndim == 1 and field:
            self._keep(gravity=self.system.gravity)
        if six and self._system.linkages:
            self._keep(home=self._home_by_name())

    @property
    def variable_origins(self) -> tuple[str, ...]:
        """Joints and loop frames whose origins have numbers that may change."""
        return tuple(name for name, _ in self._parameters.layout.origins)

    @brief
    def parameter_labels(self, variable: Sequence[str] | None = None) -> tuple[str, ...]:
        """A name for each of `parameter_values`: link/m, ..., gravity/x, joint/damping."""
        return _chosen(self, variable).labels

    @brief
    def parameter_values(self, variable: Sequence[str] | None = None) -> Array:
        """The current numbers (p,) of all variables, or of a list as in `load`.

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
    require_finite(what, given, labels)
    if group != SPRINGS:
        _require_positive(joint, labels, given)
    _take(robot, [group], known, given, joint)


def _require_positive(joint: str, labels: Sequence[str], rows: Array) -> None:
    """Refuse friction or armature below 0."""
    if (rows < 0).any():
        raise InputError(f"{' and '.join(labels)} of {joint} must not be negative: {rows.tolist()}")


def layout_of(robot: Core, variable: Sequence[str]) -> ParameterLayout:
    """The layout of a list as in `load`; anything else is refused."""
    return checked_layout(robot._system, robot.model.source, variable)


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
    robot: Core, changed: Sequence[str], among: dict[str, Array], numbers: Array, name: str
) -> None:
    """Let numbers hold from now on, or leave all as it was.

    changed : what has to be variable for that. name : whose numbers they are, `among` others.
    """
    given, before = robot._parameters, dict(among)
    layout = given.layout
    if missing := [one for one in changed if not layout.has(one)]:
        layout = checked_layout(robot._system, robot.model.source, missing, layout)
    try:
        among[name] = numbers
        values = given.values(layout)
        if layout is not given.layout:
            among.update(before)  # what home is closed at
            _recompile(robot, layout, missing)
            among[name] = numbers
        _spread(robot, values)
    except InputError:
        among.clear()
        among.update(before)
        raise
    if name in layout.links and (robot.massless_links or not given.is_solid(name)):
        robot._find_massless_links()
        robot.calls.plain.clear()
    if name in dict(layout.origins) and robot._system.linkages:
        robot._keep(home=robot._home_by_name())


def _recompile(robot: Core, layout: ParameterLayout, changed: Sequence[str]) -> None:
    """Make more variable: other programs serve from now on, also in calls that are bound."""
    names = ", ".join(map(repr, changed))
    warn(
        f"{robot.model.source}: {names} was folded into the programs; it is variable from now "
        f"on, and they are compiled once more. Name it in load(..., variable=[{names}])",
        CompilerWarning,
    )
    _make_variable(robot, layout)


def _make_variable(robot: Core, layout: ParameterLayout) -> None:
    """Run the programs of a layout from now on, in calls that are bound and in followers too."""
    old, home = robot.calls, robot.system.home
    robot._parameters.layout = layout
    robot._start_calls(home)
    if robot.calls.home.shape == old.home.shape:
        robot.calls.home[:] = old.home
    robot.calls.take_over(old)
    for follower in _followers(robot):
        _make_variable(follower, layout)


def _spread(robot: Core, values: Array) -> None:
    """Let numbers (p,) or (N, p) hold from now on, for the robot and those that follow it."""
    robot.calls.set_parameters(values)
    for follower in _followers(robot):
        follower._parameters.take(robot._parameters)
        _spread(follower, values)


def follow(robot: Core, other: Core) -> None:
    """Take what is variable from another robot of the same description, now and later."""
    if robot._parameters.layout:
        robot._parameters.take(other._parameters)
        robot.calls.set_parameters(robot._parameters.values(robot._parameters.layout))
    FOLLOWING.setdefault(other, weakref.WeakSet()).add(robot)


def _followers(robot: Core) -> list[Core]:
    return list(FOLLOWING.get(robot, ()))
