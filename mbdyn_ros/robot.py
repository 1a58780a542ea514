"""The object users hold: a robot's model and its compiled equations."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import casadi as ca
import numpy as np

from .arguments import (
    Wrenches,
    checked_home,
    coordinate_array,
    require_finite,
    require_link,
    single_vector,
)
from .codegen.c_export import Exported, export_c
from .codegen.call import UNFIT
from .codegen.closed_form import ClosedForm, closed_form
from .codegen.kernel import Bound
from .codegen.operation_count import formulation_counts
from .codegen.program import LINKED, LOADED, WHOLE, Variant, trace
from .dynamics.build import build_robot
from .dynamics.gap import tree_gap
from .dynamics.loop_forces import LoopForces
from .dynamics.regressor import moving_links
from .dynamics.singularity import massless_directions
from .identification import BaseParameters, base_parameters
from .model.description import read_description
from .model.errors import InputError, ModelWarning, SingularMassMatrixError
from .model.mechanism import read_mechanism
from .model.model import Array, Model, constant
from .model.planar_joint import joints_of_parts, split_planar
from .model.tree import BASE_JOINT
from .programs import SPOKEN, Programs
from .report import Report, report

if TYPE_CHECKING:
    from .rollout import Rollout


def load(
    source: str | os.PathLike[str],
    mechanism: str | os.PathLike[str] | None = None,
    home: Mapping[str, float] | None = None,
    floating_base: bool = False,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
) -> Robot:
    """Read a robot description and return the `Robot`.

    Parameters
    ----------
    source : path of a URDF file or, ending in .yaml or .yml, of a DH table
        (`model.dh_table`); or the text of either.
    mechanism : path of a side-car YAML file, or its text: loops, couplings, independent and
        actuated joints, home.
    home : rough position (rad or m) by joint name; joints not named are at 0.
    floating_base : whether the root link is free to move in the world.
    gravity : (3,), m/s^2, in the world.

    Raises
    ------
    ModelError
        The description cannot be read, or no robot can be like that.
    InputError
        An argument does not fit the description.

    Examples
    --------
    >>> import mbdyn_ros
    >>> robot = mbdyn_ros.load('''<robot name="pendulum"><link name="world"/><link name="rod">
    ...   <inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    ...     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ...   <joint name="hinge" type="continuous"><axis xyz="0 1 0"/>
    ...     <parent link="world"/><child link="rod"/></joint></robot>''')
    >>> robot.inverse_dynamics([0.0], [0.0], [0.0])
    array([-9.81])
    """
    model = read_description(source)
    if mechanism is not None:
        model = read_mechanism(mechanism, model)
    return Robot(model, home, floating_base, gravity)


class Robot:
    """Exact dynamics of one robot.

    Positions q, velocities v and accelerations a follow `independent_joints` (rad or m), behind
    the base's coordinates where the base floats: q = [x y z qx qy qz qw, joints] and
    v = [linear, angular velocity in base axes, joints]. Efforts (N m or N) follow
    `actuated_joints`, behind the base's wrench. Arrays are NumPy; each may have a leading batch
    dimension N, and the result then has it too. Arrays of other types or not contiguous are
    copied once. Methods that return one array write it into `out` on request. Methods may be
    called from several threads.

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
    massless_links : links that can move without moving mass; forward dynamics is refused then.
    """

    def __init__(
        self,
        model: Model,
        home: Mapping[str, float] | None = None,
        floating_base: bool = False,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
    ) -> None:
        model = split_planar(
            model, joints_of_parts(model, home if isinstance(home, Mapping) else ())
        )
        self.gravity = constant(single_vector("gravity", gravity, ("x", "y", "z")), (3,))
        self.floating_base = floating_base
        movable = [joint.name for joint in model.joints if joint.nv]
        rough = checked_home(home, movable, model.source)
        model, self._system, self._assemblies, tilts = build_robot(
            model, floating_base, self.gravity, rough
        )
        self.model = model
        coordinates = self._system.coordinates
        self.joint_names = coordinates.joint_names
        self.independent_joints = coordinates.independent
        self.dependent_joints = coordinates.dependent
        self.actuated_joints = coordinates.actuated
        self.nq, self.nv = coordinates.nq, coordinates.nv
        self.position_labels = coordinates.position_labels
        self.velocity_labels = coordinates.velocity_labels
        self.effort_labels = coordinates.effort_labels
        self.home = self._home_by_name()
        self.massless_links = self._find_massless_links()
        straightened = (f"{model.source}: {tilt}" for tilt in tilts)
        self.warnings = (*model.warnings, *straightened, *self._tilts())
        if self.massless_links:
            text = (
                f"{model.source}: {self._massless_text()}: inverse dynamics is right, forward "
                "dynamics will be refused"
            )
            self.warnings = (*self.warnings, text)
        for text in self.warnings:
            warnings.warn(text, ModelWarning, stacklevel=3)
        self._programs = Programs(self._system, model.source)
        self._plain = self._programs.plain
        self._loop_forces: LoopForces | None = None
        self._rollouts: dict[bool, Rollout] = {}

    def inverse_dynamics(
        self,
        q: Array,
        v: Array,
        a: Array,
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> Array:
        """Efforts of the actuated joints that cause the accelerations `a`.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) or with a leading N.
        wrenches : link name -> [force, torque] (6,) from outside on the link, at its origin in
            its axes (N, N m).
        friction : whether damping and dry friction of the description count.
        out : array of the result's shape to write it into: contiguous, float64.

        Returns
        -------
        (nv,) or (N, nv), N m or N; of a floating base the first six are the wrench on the base.

        Raises
        ------
        InputError
            Wrong shape, NaN or infinity (by joint name), or a wrench on an unknown link.
        """
        if wrenches is None and friction and out is None:
            try:
                return self._plain.inverse_dynamics(q, v, a)
            except (AttributeError, *UNFIT):
                pass
        self._require_drive()
        call = self._programs.call
        return call("inverse_dynamics", (q, v, a), wrenches, friction, out=out)

    def forward_dynamics(
        self,
        q: Array,
        v: Array,
        effort: Array,
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> Array:
        """Accelerations of the independent joints that the efforts cause.

        Parameters as in `inverse_dynamics`; `effort` (nv,) or (N, nv).

        Returns
        -------
        (nv,) or (N, nv), rad/s^2 or m/s^2.

        Raises
        ------
        SingularMassMatrixError
            A link without mass leaves the acceleration undetermined; the message names it.
        InputError
            As for `inverse_dynamics`.
        """
        if wrenches is None and friction and out is None:
            try:
                return self._plain.forward_dynamics(q, v, effort)
            except (AttributeError, *UNFIT):
                pass
        self.require_mass("forward dynamics")
        call = self._programs.call
        return call("forward_dynamics", (q, v, effort), wrenches, friction, out=out)

    def inverse_dynamics_derivatives(
        self, q: Array, v: Array, a: Array, wrenches: Wrenches | None = None, friction: bool = True
    ) -> tuple[Array, Array, Array]:
        """Exact derivatives of `inverse_dynamics` by q, v and a.

        Parameters as in `inverse_dynamics`.

        Returns
        -------
        Three arrays (efforts, nv) or (N, efforts, nv): one row an actuated effort, one column a
        velocity coordinate. Of a floating base, q changes by a shift and a turn along the base's
        own axes, as Pinocchio has it. The derivative of dry friction at rest is taken as 0.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="pendulum"><link name="world"/>
        ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
        ...     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        ...   <joint name="hinge" type="continuous"><axis xyz="0 1 0"/>
        ...     <parent link="world"/><child link="rod"/></joint></robot>''')
        >>> by_q, by_v, by_a = robot.inverse_dynamics_derivatives([1.5], [0.0], [0.0])
        >>> by_q.round(3), by_a
        (array([[9.785]]), array([[0.6]]))
        """
        arguments = (q, v, a)
        self._require_drive()
        whole = self._programs.call("inverse_dynamics_derivatives", arguments, wrenches, friction)
        by_q, by_v, by_a = np.split(whole, (self.nv, 2 * self.nv), axis=-1)
        return by_q, by_v, by_a

    def forward_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        effort: Array,
        wrenches: Wrenches | None = None,
        friction: bool = True,
    ) -> tuple[Array, Array, Array]:
        """Exact derivatives of `forward_dynamics` by q, v and effort.

        Returns
        -------
        Two arrays (nv, nv) and one (nv, efforts), or with a leading N; columns as in
        `inverse_dynamics_derivatives`.
        """
        self.require_mass("forward dynamics")
        arguments = (q, v, effort)
        whole = self._programs.call("forward_dynamics_derivatives", arguments, wrenches, friction)
        by_q, by_v, by_effort = np.split(whole, (self.nv, 2 * self.nv), axis=-1)
        return by_q, by_v, by_effort

    def mass_matrix(self, q: Array, out: Array | None = None) -> Array:
        """Mass matrix (nv, nv) or (N, nv, nv) of the independent joints."""
        if out is None:
            try:
                return self._plain.mass_matrix(q)
            except (AttributeError, *UNFIT):
                pass
        return self._programs.call("mass_matrix", (q,), out=out)

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """The efforts' linear form Y in the inertias of the links: effort = Y parameters.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) or with a leading N.

        Returns
        -------
        (efforts, 10 links) or (N, efforts, 10 links); its product with the parameters of
        `base_parameters().standard` is `inverse_dynamics` without friction. The links are those
        that joints move, in the order of `moving_links`; of each m, m c (x, y, z) and the
        moments Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin, in its axes.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="pendulum"><link name="world"/>
        ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
        ...     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        ...   <joint name="hinge" type="continuous"><axis xyz="0 1 0"/>
        ...     <parent link="world"/><child link="rod"/></joint></robot>''')
        >>> robot.regressor([0.0], [0.0], [1.0]).round(12) + 0.0
        array([[ 0.  , -9.81,  0.  ,  0.  ,  0.  ,  0.  ,  0.  ,  1.  ,  0.  ,
                 0.  ]])
        """
        self._require_drive()
        return self._programs.call("regressor", (q, v, a))

    @property
    def moving_links(self) -> tuple[str, ...]:
        """The links that joints can move, in the order of `regressor`."""
        return tuple(moving_links(self._system.tree))

    def base_parameters(self) -> BaseParameters:
        """The combinations of the links' inertias that the efforts depend on.

        See `identification`, also for finding their values from a recorded motion.
        """
        return base_parameters(self)

    def coriolis_vector(self, q: Array, v: Array, out: Array | None = None) -> Array:
        """Centrifugal and Coriolis efforts (nv,) or (N, nv)."""
        if out is None:
            try:
                return self._plain.coriolis_vector(q, v)
            except (AttributeError, *UNFIT):
                pass
        return self._programs.call("coriolis_vector", (q, v), out=out)

    def gravity_vector(self, q: Array, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that hold the robot at rest against gravity."""
        if out is None:
            try:
                return self._plain.gravity_vector(q)
            except (AttributeError, *UNFIT):
                pass
        return self._programs.call("gravity_vector", (q,), out=out)

    def friction_vector(self, q: Array, v: Array, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that overcome friction: damping v + friction sign(v)."""
        if out is None:
            try:
                return self._plain.friction_vector(q, v)
            except (AttributeError, *UNFIT):
                pass
        return self._programs.call("friction_vector", (q, v), out=out)

    def energy(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy (J), two numbers or two arrays (N,).

        The potential energy is -sum m g.c over the moving links, zero at the world's origin.
        """
        try:
            kinetic, potential = self._plain.energy(q, v)
        except (AttributeError, *UNFIT):
            kinetic, potential = np.moveaxis(self._programs.call("energy", (q, v)), -1, 0)
        return kinetic, potential

    def frame_pose(self, q: Array, link: str, out: Array | None = None) -> Array:
        """Homogeneous matrix (4, 4) or (N, 4, 4) of a link's frame in the world."""
        return self._programs.call("frame_pose", (q,), link=self._known_link(link), out=out)

    def jacobian(self, q: Array, link: str, out: Array | None = None) -> Array:
        """Jacobian (6, nv) or (N, 6, nv) of a link's origin.

        Rows: linear velocity of the origin, then angular velocity, both in world axes; times v.
        """
        return self._programs.call("jacobian", (q,), link=self._known_link(link), out=out)

    def joint_state(
        self, q: Array, v: Array | None = None, a: Array | None = None
    ) -> tuple[Array, Array | None, Array | None]:
        """Positions, velocities and accelerations of all joints, in `joint_names` order.

        Returns
        -------
        Three arrays (n,) or (N, n); None where the input is not given. A floating base is no
        joint of the description and left out; a planar joint has three numbers, a floating one
        seven and six.
        """
        rows_q, rows_v = self._system.coordinates.joint_rows
        position = self._programs.call("joint_position", (q,))[..., rows_q]
        velocity = acceleration = None
        if v is not None:
            velocity = self._programs.call("joint_velocity", (q, v))[..., rows_v]
        if a is not None:
            rate = np.zeros(self.nv) if v is None else v
            acceleration = self._programs.call("joint_acceleration", (q, rate, a))[..., rows_v]
        return position, velocity, acceleration

    @overload
    def independent_state(
        self, position: Array, velocity: None = None, tolerance: float = 1e-6
    ) -> Array: ...
    @overload
    def independent_state(
        self, position: Array, velocity: Array, tolerance: float = 1e-6
    ) -> tuple[Array, Array]: ...
    def independent_state(
        self, position: Array, velocity: Array | None = None, tolerance: float = 1e-6
    ) -> Array | tuple[Array, Array]:
        """Independent part of a full measured state: the way back from `joint_state`.

        Parameters
        ----------
        position, velocity : of all joints, in `joint_names` order (behind the base's seven and
            six where the base floats).
        tolerance : largest gap (m or rad) that counts as closed. Dependent joints may be off by a
            thousand times as much, their velocities by that share of the fastest.

        Returns
        -------
        q (nq,); with a velocity q and v (nv,).

        Raises
        ------
        InputError
            The loops are open by more than `tolerance`, or closed on another assembly branch; or
            the velocity of a joint is not what the loops make of the others.
        """
        coordinates = self._system.coordinates
        labels = coordinates.joint_labels
        if self.floating_base:
            labels = (*self.position_labels[:7], *labels)
        whole = np.zeros(self._system.tree.nq)
        rows = [*range(7 * self.floating_base), *coordinates.joint_rows[0]]
        whole[rows] = single_vector("position", position, labels)
        gap, loop = tree_gap(self._system, whole)
        if not gap.largest <= tolerance:
            raise InputError(
                f"{self.model.source}: the position leaves a gap of {gap} in {loop}; at most "
                f"{tolerance:.3g} counts as closed"
            )
        q: Array = whole[list(coordinates.q)]
        expected = self._programs.call("joint_position", (q,))
        for body in self._system.tree.bodies:
            if body.kind in ("revolute", "prismatic"):
                apart = whole[body.q.start] - expected[body.q.start]
                if body.kind == "revolute":
                    apart -= 2 * np.pi * round(apart / (2 * np.pi))
                if abs(apart) > 1e3 * tolerance:
                    raise InputError(
                        f"{self.model.source}: the position is closed on another assembly branch "
                        f"than home: joint {body.joint!r} is {apart:.3g} away. Give a home on "
                        "this branch."
                    )
        return q if velocity is None else (q, self._independent_velocity(q, velocity, tolerance))

    def _independent_velocity(self, q: Array, velocity: Array, tolerance: float) -> Array:
        """v (nv,) of the velocities of all joints; refused where they would open the loops."""
        coordinates = self._system.coordinates
        labels = coordinates.joint_rate_labels
        if self.floating_base:
            labels = (*self.velocity_labels[:6], *labels)
        whole = np.zeros(self._system.tree.nv)
        rows = [*range(6 * self.floating_base), *coordinates.joint_rows[1]]
        whole[rows] = single_vector("velocity", velocity, labels)
        v: Array = whole[list(coordinates.v)]
        expected = self._programs.call("joint_velocity", (q, v))
        fastest = max(1.0, float(np.abs(whole).max(initial=0.0)))
        for label, row in zip(labels, rows, strict=True):
            if abs(whole[row] - expected[row]) > 1e3 * tolerance * fastest:
                raise InputError(
                    f"{self.model.source}: the velocity of {label} is {whole[row]:.6g}, but the "
                    f"loops make it {expected[row]:.6g} (rad/s or m/s) at those of the "
                    "independent joints; make them agree"
                )
        return v

    def rollout(
        self,
        q0: Array,
        v0: Array,
        efforts: Array,
        dt: float,
        integrator: str = "rk4",
        friction: bool = True,
        terminal: bool = False,
    ) -> tuple[Array, Array]:
        """N motions of T equal steps in compiled code, for sampling controllers and learning.

        Parameters
        ----------
        q0, v0 : (nq,), (nv,) or with a leading N: the states at the start.
        efforts : (T, efforts) or (N, T, efforts), N m or N, each constant over its step.
        dt : length of a step, s.
        integrator : "rk4", the classical Runge-Kutta method, or "semi_implicit", of order 1: the
            velocity first, then the position with that velocity.
        friction : whether damping counts. Dry friction makes joints stick, which needs `simulate`
            or `FixedStep`: a robot that has some is refused unless False.
        terminal : whether to return the last states only.

        Returns
        -------
        q (N, T, nq) and v (N, T, nv) after every step, or (N, nq) and (N, nv) after the last;
        without N where nothing has it. Loops stay closed, for the state is that of the
        independent joints; quaternions have unit length after every step. A motion that leaves
        the finite numbers, or in which a loop cannot close, is NaN from there on.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="mass"><link name="world"/><link name="cart">
        ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
        ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
        ...   <parent link="world"/><child link="cart"/></joint></robot>''')
        >>> q, v = robot.rollout([0.0], [0.0], [[4.0], [4.0]], dt=0.5)
        >>> q.ravel(), v.ravel()
        (array([0.25, 1. ]), array([1., 2.]))
        """
        from .rollout import ORDERS, Rollout, checked_efforts, checked_start, checked_step

        self.require_mass("a rollout")
        if integrator not in ORDERS:
            raise InputError(f"there is no integrator {integrator!r}; there are {tuple(ORDERS)}")
        rough = [body.joint for body in self._system.tree.bodies if body.friction]
        if friction and rough:
            raise InputError(
                f"{self.model.source}: joints with dry friction ({', '.join(rough)}) stick, which "
                "a rollout leaves out: use friction=False, or simulate"
            )
        forces = checked_efforts(efforts, self.effort_labels)
        q, v = checked_start(self._system, q0, v0, forces)
        friction = friction and self._system.has_friction
        if friction not in self._rollouts:
            used = friction or not self._system.has_friction
            kernel = self._programs.kernel(Variant("forward_dynamics", friction=used))
            self._rollouts[friction] = Rollout(self._system, kernel)
        run = self._rollouts[friction]
        return run(q, v, forces, checked_step(dt), ORDERS[integrator], bool(terminal))

    def loop_forces(self, q: Array, v: Array, a: Array) -> dict[str, Array]:
        """Force and moment in every closing joint, of the predecessor on the successor.

        Returns
        -------
        {loop name: [force, moment] (6,)}, N and N m, about the origin of the predecessor's loop
        frame in its axes. Where constraints are redundant the answer of least norm is taken:
        a planar loop carries nothing across its plane. Batches give (N, 6).
        """
        values = [
            coordinate_array(SPOKEN[key], value, labels)
            for key, value, labels in zip(
                "qva",
                (q, v, a),
                (self.position_labels, self.velocity_labels, self.velocity_labels),
                strict=True,
            )
        ]
        if any(value.ndim == 2 for value in values):
            rows = [
                self.loop_forces(*row) for row in zip(*np.broadcast_arrays(*values), strict=True)
            ]
            return {name: np.array([row[name] for row in rows]) for name in rows[0]}
        tree_position = self._programs.call("joint_position", (q,))
        for value, labels in zip(values[1:], (self.velocity_labels,) * 2, strict=True):
            require_finite("velocity or acceleration", value, labels)
        if self._loop_forces is None:
            self._loop_forces = LoopForces(self._system)
        forces = self._loop_forces(
            values[0], tree_position[self._system.walked_rows], *values[1:]
        )
        return {loop.name: forces[loop.name] for loop in self.model.loops}

    def with_independent(self, joints: Sequence[str], home: Mapping[str, float]) -> Robot:
        """The same robot in other coordinates: these joints independent, on `home`'s branch.

        The order of efforts stays; q, v and a follow `joints`.
        """
        model = replace(self.model, independent=tuple(joints), actuated=self.actuated_joints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # they were given for this robot
            return Robot(model, home, self.floating_base, self.gravity.tolist())

    def with_home(self, tree_position: Array) -> Robot:
        """The same robot on the branch of a closed configuration, with nothing compiled anew.

        tree_position : (nq_tree,) as `System.home`; loops with closed form stay on their branch.
        """
        other = copy.copy(self)
        home = constant(tree_position, self._system.home.shape)
        other._system = replace(self._system, home=home)
        other._programs = Programs(other._system, self.model.source)
        other._plain = other._programs.plain
        other.home = other._home_by_name()
        return other

    def bind(self, name: str, link: str | None = None, friction: bool = True) -> Bound:
        """The hot path: a compiled program with arrays of its own.

        Parameters
        ----------
        name : name of a method that computes an array (`inverse_dynamics`, `mass_matrix`, ...).
        link : for the programs of one link, such as `frame_pose` and `jacobian`.
        friction : for inverse and forward dynamics.

        Returns
        -------
        A callable without arguments. Its arrays are attributes named as the method's arguments
        (`q`, `v`, `a`, `effort`); the result is the array it names (`effort`; `a` of forward
        dynamics) and always `result`. Fill inputs in place, call, read. Nothing is checked;
        one `Bound` serves one thread.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="mass"><link name="world"/><link name="cart">
        ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
        ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
        ...   <parent link="world"/><child link="cart"/></joint></robot>''')
        >>> fd = robot.bind("forward_dynamics")
        >>> fd.effort[:] = 3.0
        >>> fd()
        >>> fd.a
        array([1.5])
        """
        return Bound(self._programs.kernel(self._variant(name, link, friction)))

    def casadi(self, name: str, link: str | None = None, friction: bool = True) -> ca.Function:
        """The equations of a method as a CasADi `Function`, for optimisers such as acados.

        Parameters
        ----------
        name, link, friction : as in `bind`; also "closure", the residual (m or rad) of the loops
            that have no closed form.

        Returns
        -------
        A function of the method's arguments, expanded (SX), so that it can be differentiated,
        generated as C and mapped. Where loops have no closed form it has one more argument, `z`
        behind `q`: the positions of `robot.walked_joints`. Impose closure(q, z) = 0 on them.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="mass"><link name="world"/><link name="cart">
        ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
        ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
        ...   <parent link="world"/><child link="cart"/></joint></robot>''')
        >>> robot.casadi("forward_dynamics")
        Function(forward_dynamics:(q,v,effort)->(a) SXFunction)
        """
        if name == "closure":
            q, z = ca.SX.sym("q", self.nq), ca.SX.sym("z", self._system.nz)
            residual = self._system.closure(q, z)
            return ca.Function("closure", [q, z], [residual], ["q", "z"], ["gap"], {"cse": True})
        return trace(self._system, self._variant(name, link, friction)).symbolic

    @property
    def walked_joints(self) -> tuple[str, ...]:
        """The dependent joints whose positions have no closed form."""
        by_row = {body.q.start: body.joint for body in self._system.tree.bodies}
        return tuple(by_row[row] for row in self._system.walked_rows)

    def compile(self, *names: str) -> None:
        """Load or compile the named programs now, several at once (default: all)."""
        for name in names:
            _require_program(name)
        self._programs.load(*names or WHOLE)

    def operation_counts(self) -> dict[str, dict[str, int]]:
        """Multiplications, additions, divisions and function calls of programs and formulations.

        Of every program by its name, as it is compiled, and of every formulation that applies to
        the robot as "inverse_dynamics by Newton-Euler" and so on (`codegen.operation_count`). A
        doubling counts as an addition, a change of sign as nothing.

        Examples
        --------
        >>> import mbdyn_ros
        >>> robot = mbdyn_ros.load('''<robot name="mass"><link name="world"/><link name="cart">
        ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
        ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
        ...   <parent link="world"/><child link="cart"/></joint></robot>''')
        >>> robot.operation_counts()["inverse_dynamics"]
        {'multiplications': 0, 'additions': 1, 'divisions': 0, 'functions': 0}
        """
        programs = {name: trace(self._system, Variant(name)).operations for name in WHOLE}
        return {**programs, **formulation_counts(self._system)}

    def closed_form(self) -> ClosedForm:
        """Every element of H, C and g in P = H qdd + qd^T C qd + g as trigonometric polynomial.

        Without friction. `codegen.closed_form_text` writes it as text, Markdown and LaTeX.

        Raises
        ------
        InputError
            The robot has closed loops, a floating base, or other than turning and sliding joints.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.codegen.closed_form_text import to_text
        >>> robot = mbdyn_ros.load('''{name: arm, joints: [{name: swing, type: revolute, a: 0.5,
        ...   alpha: 1.5707963267948966, d: 0, theta: 0, mass: 2, centre: [-0.25, 0, 0],
        ...   inertia: {ixx: 0, iyy: 0.1, izz: 0.1}}]}''', gravity=[0, -10, 0])
        >>> print(to_text(robot.closed_form()))
        # arm: P = H(q) qdd + qd^T C(q) qd + g(q)
        # C1 = cos(q1), S1 = sin(q1), q1: swing, rad
        # efforts P in N m and N, gravity 0 -10 0 m/s^2
        # H is symmetric, and C in its last two indices: only one of two equal elements is listed
        # 3 elements, 1 of them zero (33.3%)
        H11 = 0.225
        C111 = 0
        g1 = 5.0*C1
        """
        return closed_form(self._system, self.model.name, self.model.source)

    def generate_c(
        self, directory: str | os.PathLike[str], links: Sequence[str] | None = None
    ) -> Exported:
        """Write the equations as self-contained C99: no libraries, no memory, no state.

        Inverse and forward dynamics, mass matrix, gravity vector, and the Jacobians of links,
        with a header, a test program, a CMakeLists.txt and a Python module; all names begin with
        the robot's.

        Parameters
        ----------
        directory : folder to write into; made if it is not there.
        links : links whose Jacobian is wanted; those at the ends of the robot if not given.

        Returns
        -------
        The files, the names of the functions, and what was left out, with the reason.

        Raises
        ------
        InputError
            An unknown link, a folder that cannot be written, a file in it that is not ours.

        Examples
        --------
        >>> import mbdyn_ros, tempfile
        >>> robot = mbdyn_ros.load('''<robot name="cart"><link name="world"/><link name="box">
        ...   <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
        ...   iyz="0"/></inertial></link><joint name="rail" type="prismatic">
        ...   <parent link="world"/><child link="box"/></joint></robot>''')
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in robot.generate_c(folder).files]
        ['cart.h', 'cart.c', 'test_cart.c', 'CMakeLists.txt', 'cart.py']
        """
        return export_c(self, directory, links)

    def report(self) -> Report:
        """What was understood of the robot: print it, or take its `to_dict()`."""
        return report(self)

    def require_mass(self, purpose: str) -> None:
        """Raise `SingularMassMatrixError`, by link name, where `purpose` has no answer."""
        if self.massless_links:
            raise SingularMassMatrixError(
                f"{self.model.source}: {purpose} has no answer, because the mass matrix is "
                f"singular: {self._massless_text()}. Give the links mass and inertia, or fix "
                "their joints."
            )

    def _variant(self, name: str, link: str | None, friction: bool) -> Variant:
        """The program behind a method, or words about why it has none."""
        _require_program(name)
        if (name in LINKED) != (link is not None):
            needed = "needs" if link is None else "has no"
            raise InputError(f"{name} {needed} link")
        if name.startswith("forward_dynamics"):
            self.require_mass("forward dynamics")
        if name.startswith("inverse_dynamics"):
            self._require_drive()
        return Variant(
            name,
            None if link is None else self._known_link(link),
            friction=friction or name not in LOADED or not self._system.has_friction,
        )

    def _tilts(self) -> list[str]:
        """A warning for every loop whose axis had to be set straight."""
        return [
            f"{self.model.source}: the axis of loop {closure.name!r} misses the plane of its "
            f"joints by {closure.tilt:.2g} rad and is taken as exactly across it; write angles "
            "with all their digits (1.5707963267948966, not 1.5708)"
            for linkage in self._system.linkages
            for closure in linkage.cluster.closures
            if closure.tilt
        ]

    def _require_drive(self) -> None:
        """Raise `InputError` where the actuated joints do not determine the motion."""
        if len(self.effort_labels) < self.nv:
            raise InputError(
                f"{self.model.source}: inverse dynamics has no answer: {self.nv} coordinates move, "
                f"but only {len(self.effort_labels)} efforts act "
                f"({', '.join(self.effort_labels) or 'none'}). Name more actuated joints."
            )

    def _home_by_name(self) -> dict[str, float]:
        """The closed home configuration of the joints with one coordinate."""
        bodies = {body.joint: body for body in self._system.tree.bodies}
        single = [name for name in self.joint_names if self.model.joint(name).nq == 1]
        return {name: float(self._system.home[bodies[name].q.start]) for name in single}

    def _known_link(self, link: str) -> str:
        return require_link(self._system.tree, link, self.model.source)

    def _find_massless_links(self) -> tuple[str, ...]:
        names = {BASE_JOINT: self.model.root}
        names.update((joint.name, joint.child) for joint in self.model.joints)
        labels = (self.velocity_labels[k].split("/")[0] for k in massless_directions(self._system))
        return tuple(dict.fromkeys(names[label] for label in labels))

    def _massless_text(self) -> str:
        links = ", ".join(repr(link) for link in self.massless_links)
        return f"no mass resists the motion of link {links}"


def _require_program(name: object) -> None:
    if name not in WHOLE + LINKED:
        known = ", ".join(WHOLE + LINKED)
        raise InputError(f"there is no program {name!r}; there are {known}")
