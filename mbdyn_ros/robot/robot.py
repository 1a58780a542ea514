"""The object users hold: a robot's model and its compiled equations, made from a description."""

from __future__ import annotations

import copy
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca

from ..arguments import (
    checked_flag,
    checked_home,
    checked_mapping,
    checked_names,
    require_frame,
    require_link,
)
from ..array import Array, ArrayLike, as_numbers
from ..assembly.closure_gap import tree_gap
from ..compiler.kernel import Bound
from ..equations.actuation import condition_number, joint_rates
from ..errors import InputError, ModelError, ModelWarning, brief, shown, suggestion, warn
from ..model.model import Model, constant
from ..model.read.description import read_description
from ..model.read.installed import boxed_robot, find_robot
from ..model.read.side_car import read_mechanism
from ..model.read.source_text import Source
from ..model.read.srdf import read_srdf
from ..program.program import Declaration, Program, declared, offered
from ..program.symbols import lasting, serialized
from .base_parameters import Regression
from .core import Core
from .editing import Editing
from .export import Exports
from .inverse_kinematics import InverseKinematics
from .parameters import Parametrized, follow, symbolic_system
from .report import Reports
from .rollout import Rollouts
from .saving import Saving
from .variable import variable_names
from .wrenches import JointWrenches

if TYPE_CHECKING:
    from typing_extensions import Self


CLOSED_WITHIN = 1e-6
"""Gap (m or rad) of loops that counts as closed."""

ANOTHER_BRANCH = 1e-3
"""Distance (rad or m) of a joint from its home, from which the loops are on another branch."""

Made = TypeVar("Made", bound=Core)
"""The class of robots that is made again."""


class Branches(Core):
    """Other coordinates and other branches for loops."""

    def actuation_condition(self, q: ArrayLike) -> Array:
        """Condition number of the actuators of loops, () or (N,): infinite at a dead point.

        Parameters
        ----------
        q : (nq,) or (N, nq).

        Returns
        -------
        The reciprocal of the smallest singular value of the map from normalized motions of a loop
        to the motions of its actuators, lengths counting in the way around the loop; of several
        loops the worst. 1 is best, and all there is without loops. At a dead point, where an
        actuator stands still while the loop moves, it is infinite; from 1e6 on `inverse_dynamics`
        refuses (in batches: NaN), because the effort would have few digits.
        """
        rates = self.calls.call(joint_rates, (q,))
        return condition_number(self.system, rates)

    def with_independent(self, joints: Sequence[str], home: Mapping[str, float]) -> Self:
        """A copy of the robot in other coordinates: these joints independent, on `home`'s branch.

        The order of efforts stays; q, v and a follow `joints`. Where `home` is closed and the
        loops are not found closed there in these coordinates, a `ModelWarning` names the joint.

        Raises
        ------
        InputError
            A joint is unknown.
        ModelError
            The joints do not determine the others.
        """
        names = checked_names("joints", joints)
        for name in names:
            if name not in self.joint_names:
                known = suggestion(name, self.joint_names)
                raise InputError(f"{self.model.source}: there is no movable joint {name!r}{known}")
        model = replace(self.model, independent=names, actuated=self.actuated_joints)
        other = _rebuilt(self, model, home)
        if (closed := _closed_tree(self, home)) is not None:
            if self._parameters.layout.origins:
                other = other.with_home(closed)  # as described, loops may close nowhere near
            warn_of_branch(self, other, home)
        return other

    def with_home(self, home: Mapping[str, float] | Array) -> Self:
        """A copy of the robot on the branch of another home.

        Parameters
        ----------
        home : rough positions (rad or m) by joint name, as in `load`; joints that are not named
            stay where they are in `home`. Or the closed positions of the whole tree (nq_tree,), as
            `System.home` has them: nothing is compiled anew then, and loops with closed form stay
            on their branch.

        Raises
        ------
        InputError
            A joint is unknown, or the loops do not close near these positions.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.example("four_bar")
        >>> robot.with_home({"crank_joint": 0.5}).home_position
        array([0.5])
        """
        if isinstance(home, Mapping):
            names = [joint.name for joint in self.model.joints if joint.nv]
            near = {**self.home, **checked_home(home, names, self.model.source)}
            model = replace(self._described, home={})
            return _rebuilt(self, model, near)
        try:
            closed = constant(as_numbers(home), self.system.home.shape)
        except ValueError as error:
            raise InputError(f"home must map joint names to positions: {error}") from None
        other = copy.copy(self)
        other._system = replace(self.system, home=closed)
        other._start_calls(closed)
        follow(other, self)
        other._keep(home=other._home_by_name())
        other._rough = dict(other.home)
        return other


def _closed_tree(robot: Core, home: Mapping[str, float]) -> Array | None:
    """The positions of the tree (n,) where `home` names all joints and loops are closed there."""
    if not isinstance(home, Mapping) or not set(robot.home) <= set(home):
        return None
    whole = robot.system.home.copy()
    bodies = {body.joint: body for body in robot.system.tree.bodies}
    for name in robot.home:
        whole[bodies[name].q.start] = home[name]
    return None if tree_gap(robot.system, whole)[0].largest > CLOSED_WITHIN else whole


def warn_of_branch(robot: Core, other: Core, home: Mapping[str, float]) -> None:
    """Warn where `home`, which names all joints and is closed, became another configuration."""
    bodies = {body.joint: body for body in robot.system.tree.bodies}
    apart = {
        name: math.remainder(other.home[name] - home[name], math.tau)
        if bodies[name].motion.is_periodic
        else other.home[name] - home[name]
        for name in robot.home
    }
    worst = max(apart, key=lambda name: abs(apart[name]), default="")
    if worst and abs(apart[worst]) > ANOTHER_BRANCH:
        warn(
            f"{robot.model.source}: with {', '.join(other.independent_joints)} independent the "
            f"loops were closed on another branch than home: {worst} is at "
            f"{other.home[worst]:.6g}, where home has {home[worst]:.6g}. Choose other independent "
            "joints, or a home farther from a singularity",
            ModelWarning,
        )


def _rebuilt(robot: Made, model: Model, home: Mapping[str, float]) -> Made:
    """A robot of that model with the arguments of this one; its warnings were given for this."""
    layout = robot._parameters.layout
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        other = type(robot)(
            model, home, robot.floating_base, robot.gravity.tolist(), variable_names(layout)
        )
    follow(other, robot)
    return other


class Programs(Core):
    """Programs by name: bound to arrays, as expressions, compiled, counted."""

    @brief
    def bind(
        self, name: str, link: str | None = None, friction: bool = True, axes: str = "world"
    ) -> Bound:
        """A compiled program with preallocated arrays, for control loops.

        Parameters
        ----------
        name : name of a method that computes an array (`inverse_dynamics`, `mass_matrix`, ...).
        link : for the programs of one link, such as `frame_pose` and `jacobian`.
        friction : for inverse and forward dynamics.
        axes : "world", "local" or "spatial", for the programs of a link's motion.

        Returns
        -------
        A callable without arguments. Its arrays are attributes named as the method's arguments
        (`q`, `v`, `a`, `effort`); the result is the array it names (`effort`; `a` of forward
        dynamics) and always `result`. Fill inputs (`bound.q[:] = q`, or `bound.q = q`, which copies
        q and checks its shape), call, read. A call checks nothing; one `Bound` serves one thread.
        Loops without closed form follow a motion: they are closed from where the last call left
        them, if q is near, else from home; see docs/closed_loops.md.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> fd = robot.bind("forward_dynamics")
        >>> fd.effort[:] = 3.0
        >>> fd()
        >>> fd.a
        array([1.5])
        """
        self.require_single("a bound call")
        return Bound(self.calls.kernel(*self._wanted(name, link, friction, axes)))

    @serialized
    @brief
    def casadi(
        self,
        name: str,
        link: str | None = None,
        friction: bool = True,
        axes: str = "world",
        parameters: bool | Sequence[str] = False,
    ) -> ca.Function:
        """The equations of a method as a CasADi `Function`, for optimizers such as acados.

        Parameters
        ----------
        name : as in `bind`; also "closure", the residual (m or rad) of the loops that have no
            closed form.
        link, friction, axes : as in `bind`.
        parameters : True (and always for derivatives by parameters): what is variable is the last
            argument (`parameter_labels`), or, where nothing is, all inertias, gravity and what acts
            on joints; or a list as `variable` in `load`, of which it shall be made.

        Returns
        -------
        A function of the method's arguments, expanded (SX), so that it can be differentiated,
        generated as C and mapped. Where loops have no closed form it has one more argument, `z`
        after `q`: the positions (nz,) of `robot.numerical_joints`, in that order, of joints with
        several coordinates each of its own. Its result holds where closure(q, z) = 0 alone: impose
        that as a constraint, and start from z = `robot.numerical_positions(q)`. No function of
        CasADi can refuse another z.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> robot.casadi("forward_dynamics")
        Function(forward_dynamics:(q,v,effort)->(a) SXFunction)
        """
        if isinstance(name, str) and name == "closure":
            q, z = ca.SX.sym("q", self.nq), ca.SX.sym("z", self.system.nz)
            residual = self.system.closure(q, z)
            names = ["q", "z"], ["gap"]
            return lasting(ca.Function("closure", [q, z], [residual], *names, {"cse": True}))
        named = declared(name)
        if not isinstance(parameters, bool):
            parameters = checked_names("parameters", parameters)
        by_parameters = "variables" in named.needs
        if by_parameters:
            parameters = parameters or True
        system = self.system if parameters is False else symbolic_system(self, parameters)
        if by_parameters:  # of what is chosen here, whatever is variable
            return lasting(Program(named, system).symbolic)
        program, about, *loads = self._wanted(name, link, friction, axes)
        return lasting(Program(program, system, about, *loads).symbolic)

    @brief
    def compile(self, *names: str, link: str | None = None, axes: str = "world") -> None:
        """Load or compile the named programs now, several at once.

        Default: all of the robot but second derivatives, whose text is long, or all of `link`, in
        `axes`. Those of links are interpreted otherwise.
        """
        if link is None:
            self.calls.load(*((declared(name),) for name in names or offered()))
            return
        names = names or (*offered("link"), *offered("frame"))
        self.calls.load(*(self._wanted(name, link, True, axes) for name in names))

    @serialized
    def operation_counts(self) -> dict[str, dict[str, int]]:
        """Multiplications, additions, divisions and function calls of programs and formulations.

        Of every program by its name, as it is compiled, and of every formulation that applies to
        the robot as "inverse_dynamics by Newton-Euler" and so on (`export.operation_count`). A
        doubling counts as an addition, a change of sign as nothing.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import CART
        >>> robot = mbdyn_ros.load(CART)
        >>> robot.operation_counts()["inverse_dynamics"]
        {'multiplications': 0, 'additions': 1, 'divisions': 0, 'functions': 0}
        """
        from ..export.operation_count import formulation_counts  # few programs need it

        counts = {name: Program(declared(name), self.system).operations for name in offered()}
        return {**counts, **formulation_counts(self.system)}

    def _wanted(
        self, name: str, link: str | None, friction: bool, axes: str
    ) -> tuple[Declaration, object, bool, bool]:
        """The program behind a method, what it is about, no wrenches, and whether friction counts.

        Or words about why there is none.
        """
        program = declared(name)
        if bool(program.about) != (link is not None):
            needed = "needs" if link is None else "has no"
            raise InputError(f"{name} {needed} link")
        self._require_answer(program)
        about: object = None
        if program.about == "frame":
            about = require_frame(self.system.tree, link, axes, self.model.source)
        elif link is not None:
            about = require_link(self.system.tree, link, self.model.source)
        friction = checked_flag("friction", friction)
        friction = friction or not program.loaded or not self.calls.traced.has_friction
        return program, about, False, friction


class Robot(
    Regression,
    JointWrenches,
    InverseKinematics,
    Parametrized,
    Rollouts,
    Branches,
    Editing,
    Programs,
    Exports,
    Saving,
    Reports,
):
    """Exact dynamics of one robot.

    Positions q, velocities v and accelerations a follow `independent_joints` (rad or m), after
    the base's coordinates if the base floats: q = [x y z qx qy qz qw, joints] and
    v = [linear, angular velocity in base axes, joints]. Efforts (N m or N) follow
    `actuated_joints`, after the base's wrench. Arrays are NumPy; each may have a leading batch
    dimension N, and the result then has it too. Arrays of other types or not contiguous are
    copied once. Methods write their arrays into `out` on request. Methods may be called from
    several threads.

    Attributes
    ----------
    model : the description, as read.
    joint_names : all movable joints, in document order.
    independent_joints, dependent_joints, actuated_joints : subsets of them.
    nq, nv : numbers of position and velocity coordinates.
    position_labels, velocity_labels : a name for each coordinate of q and v.
    gravity : (3,) m/s^2.
    warnings : what looks wrong in the description but could be computed.
    home : closed configuration by joint name (rad or m) that fixes the assembly branch.
    effort_labels : a name for each effort.
    massless_links : links that can move without moving mass; forward dynamics is refused then.
    """


def checked_robot(value: object) -> Robot:
    """Return `value`, refused where it is not a robot."""
    if not isinstance(value, Robot):
        raise InputError(f"robot must be a Robot, such as load(file) gives; it is {shown(value)}")
    return value


def load(
    source: Source,
    mechanism: str | os.PathLike[str] | None = None,
    home: Mapping[str, float] | str | None = None,
    floating_base: bool | None = None,
    gravity: Sequence[float] | None = None,
    variable: Sequence[str] = (),
    xacro: Mapping[str, object] | None = None,
    srdf: Source | None = None,
) -> Robot:
    """Read a robot description and return the `Robot`.

    Parameters
    ----------
    source : path of a URDF or xacro file or, ending in .yaml or .yml, of a DH table
        (`model.read.dh_table`); or the text of one (see docs/files.md for all formats).
    mechanism : path of a side-car YAML file, or its text: loops, couplings, independent and
        actuated joints, home.
    home : rough position (rad or m) by joint name; joints not named are at 0. Or the name of a
        configuration that the files give.
    floating_base : whether the root link is free to move in the world; by default as the
        description says, and no URDF says so.
    gravity : (3,), m/s^2, in the world; by default the description's, (0, 0, -9.81) where it has
        none.
    variable : links whose inertias, and "gravity", "friction", "armature" and "springs", whose
        numbers may change without compiling (`set_payload`, `set_inertia`, `set_gravity`,
        `set_friction`, `set_armature`, `set_spring`): inputs of the programs, where all others
        are folded. What is set without being named here becomes so. Lengths and angles too
        (`set_origin`): "elbow_joint/x" is where that joint is along x on its parent link (x, y, z,
        roll, pitch, yaw, or origin for all six), "pin/successor/x" a frame of the loop `pin`.
    xacro : arguments of a xacro file, such as ``{"prefix": "left_"}``; text is expanded only where
        they are given (they may be empty).
    srdf : path of an SRDF, or its text: homes, virtual joints, and joints without drives.

    Raises
    ------
    ModelError
        The description cannot be read, or no robot can be like that.
    InputError
        An argument does not fit the description.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.examples import PENDULUM
    >>> robot = mbdyn_ros.load(PENDULUM)
    >>> robot.inverse_dynamics([0.0], [0.0], [0.0])
    array([-9.81])
    """
    with brief:
        if xacro is not None:
            checked_mapping("xacro", xacro)
        if floating_base is not None:
            floating_base = checked_flag("floating_base", floating_base)
        model = _read(source, xacro)
        if srdf is not None:
            model = read_srdf(srdf, model)
        if mechanism is not None:
            model = read_mechanism(mechanism, model)
        return Robot(model, home, floating_base, gravity, variable)


def _read(source: Source, xacro: Mapping[str, object] | None) -> Model:
    """The model of a description; a refusal says where the name is one of our robots."""
    try:
        return read_description(source, xacro)
    except ModelError as error:
        if isinstance(source, str) and "<" not in source and (also := boxed_robot(source)):
            raise ModelError(f"{error}{also}") from None
        raise


def example(name: str, **loading: Any) -> Robot:
    """A robot in the box, loaded.

    Parameters
    ----------
    name : "ur5", "panda", "crane", "excavator", "stewart", "delta", "gripper", "quadruped",
        "four_bar", ... (`mbdyn examples` lists them), or of the package example-robot-data where
        it is installed.
    loading : the other arguments of `load`.

    Raises
    ------
    InputError
        There is no such robot; the message gives similar names.

    Examples
    --------
    >>> import mbdyn_ros
    >>> mbdyn_ros.example("four_bar").independent_joints
    ('crank_joint',)
    """
    with brief:
        if not isinstance(name, str):
            raise InputError(f"an example is a name such as 'ur5', not {shown(name)}")
        return load(find_robot(name), **loading)
