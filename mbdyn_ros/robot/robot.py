"""The object users hold: a robot's model and its compiled equations."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np

from ..arguments import checked_home, single_vector, written_joint_state
from ..equations import programs
from ..equations.build import build_robot
from ..equations.gap import tree_gap
from ..equations.loop_forces import loop_forces, loop_terms
from ..equations.tree.regressor import moving_links
from ..errors import InputError, ModelWarning
from ..export.c_export import Exported, export_c
from ..export.closed_form import ClosedForm, closed_form
from ..identification import BaseParameters, base_parameters
from ..model.model import Array, Model, constant
from ..model.read.description import read_description
from ..model.read.side_car import read_mechanism
from ..model.split_joints import joints_of_parts, split_joints
from ..program.declaration import Declaration
from .calls import Calls
from .equations import Equations
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


class Robot(Equations):
    """Exact dynamics of one robot.

    Positions q, velocities v and accelerations a follow `independent_joints` (rad or m), behind
    the base's coordinates where the base floats: q = [x y z qx qy qz qw, joints] and
    v = [linear, angular velocity in base axes, joints]. Efforts (N m or N) follow
    `actuated_joints`, behind the base's wrench. Arrays are NumPy; each may have a leading batch
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
    massless_links : links that can move without moving mass; forward dynamics is refused then.
    """

    def __init__(
        self,
        model: Model,
        home: Mapping[str, float] | None = None,
        floating_base: bool = False,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
    ) -> None:
        model = split_joints(
            model, joints_of_parts(model, home if isinstance(home, Mapping) else ())
        )
        down = constant(single_vector("gravity", gravity, ("x", "y", "z")), (3,))
        movable = [joint.name for joint in model.joints if joint.nv]
        rough = checked_home(home, movable, model.source)
        model, system, self._assemblies, tilts = build_robot(model, floating_base, down, rough)
        super().__init__(model, system, floating_base, down)
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
        self._rollouts: dict[bool, Rollout] = {}
        rows_q, rows_v = system.coordinates.joint_rows
        self._joint_rows = np.array(rows_q, dtype=np.intp), np.array(rows_v, dtype=np.intp)

    def regressor(self, q: Array, v: Array, a: Array, out: Array | None = None) -> Array:
        """The efforts' linear form Y in the inertias of the links: effort = Y parameters.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) or with a leading N.
        out : array of the result's shape to write it into: contiguous, float64.

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
        found = self._plain.regressor(q, v, a, out)
        if found is not None:
            return found
        self._require_drive()
        return self.calls.call(programs.regressor, (q, v, a), out=out)

    @property
    def moving_links(self) -> tuple[str, ...]:
        """The links that joints can move, in the order of `regressor`."""
        return tuple(moving_links(self.system.tree))

    def base_parameters(self) -> BaseParameters:
        """The combinations of the links' inertias that the efforts depend on.

        See `identification`, also for finding their values from a recorded motion.
        """
        return base_parameters(self)

    def joint_state(
        self,
        q: Array,
        v: Array | None = None,
        a: Array | None = None,
        out: Sequence[Array | None] | None = None,
    ) -> tuple[Array, Array | None, Array | None]:
        """Positions, velocities and accelerations of all joints, in `joint_names` order.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) or with a leading N; v and a only where their part of the
            answer is wanted. Without v, accelerations are those from rest.
        out : three arrays to write the answer into, contiguous, float64, of its shapes; None for
            a part that is not asked for, or that is wanted in a new array.

        Returns
        -------
        Three arrays (n,) or (N, n); None where the input is not given. A floating base is no
        joint of the description and left out; a planar joint has three numbers, a floating one
        seven and six.

        Examples
        --------
        >>> import mbdyn_ros, numpy as np
        >>> robot = mbdyn_ros.load('''<robot name="gears"><link name="world"/><link name="one"/>
        ...   <link name="two"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ...   ixz="0" iyz="0"/></inertial></link>
        ...   <joint name="driven" type="continuous"><parent link="world"/><child link="two"/>
        ...     <mimic joint="driving" multiplier="-3"/></joint>
        ...   <joint name="driving" type="continuous"><parent link="world"/><child link="one"/>
        ...   </joint></robot>''')
        >>> robot.joint_state([0.5], [1.0])
        (array([-1.5,  0.5]), array([-3.,  1.]), None)
        >>> position = np.empty((2, 2))
        >>> robot.joint_state([[0.5], [1.0]], out=(position, None, None))[0] is position
        True
        """
        rows_q, rows_v = self._joint_rows
        position = self._tree_numbers(programs.joint_position, q).take(rows_q, axis=-1)
        velocity = acceleration = None
        if v is not None:
            velocity = self._tree_numbers(programs.joint_velocity, q, v).take(rows_v, axis=-1)
        if a is not None:
            rate = np.zeros(self.nv) if v is None else v
            acceleration = self._tree_numbers(programs.joint_acceleration, q, rate, a)
            acceleration = acceleration.take(rows_v, axis=-1)
        if out is None:
            return position, velocity, acceleration
        return written_joint_state((position, velocity, acceleration), out)

    def _tree_numbers(self, program: Declaration, *state: Array) -> Array:
        """What a program says of the coordinates of all bodies of the tree."""
        found = getattr(self._plain, program.name)(*state, None)
        return self.calls.call(program, state) if found is None else found

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
        coordinates = self.system.coordinates
        labels = coordinates.joint_labels
        if self.floating_base:
            labels = (*self.position_labels[:7], *labels)
        whole = np.zeros(self.system.tree.nq)
        rows = [*range(7 * self.floating_base), *coordinates.joint_rows[0]]
        whole[rows] = single_vector("position", position, labels)
        gap, loop = tree_gap(self.system, whole)
        if not gap.largest <= tolerance:
            raise InputError(
                f"{self.model.source}: the position leaves a gap of {gap} in {loop}; at most "
                f"{tolerance:.3g} counts as closed"
            )
        q: Array = whole[list(coordinates.q)]
        expected = self.calls.call(programs.joint_position, (q,))
        for body in self.system.tree.bodies:
            if body.motion.nv == 1:
                apart = whole[body.q.start] - expected[body.q.start]
                if body.motion.is_periodic:
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
        coordinates = self.system.coordinates
        labels = coordinates.joint_rate_labels
        if self.floating_base:
            labels = (*self.velocity_labels[:6], *labels)
        whole = np.zeros(self.system.tree.nv)
        rows = [*range(6 * self.floating_base), *coordinates.joint_rows[1]]
        whole[rows] = single_vector("velocity", velocity, labels)
        v: Array = whole[list(coordinates.v)]
        expected = self.calls.call(programs.joint_velocity, (q, v))
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
        from ..integration.methods import FIXED, named
        from .rollout import Rollout, checked_efforts, checked_start, checked_step

        self.require_mass("a rollout")
        method = named("integrator", integrator, FIXED)
        rough = [body.joint for body in self.system.tree.bodies if body.friction]
        if friction and rough:
            raise InputError(
                f"{self.model.source}: joints with dry friction ({', '.join(rough)}) stick, which "
                "a rollout leaves out: use friction=False, or simulate"
            )
        forces = checked_efforts(efforts, self.effort_labels)
        q, v = checked_start(self.system, q0, v0, forces)
        friction = friction and self.system.has_friction
        if friction not in self._rollouts:
            used = friction or not self.system.has_friction
            kernel = self.calls.kernel(programs.forward_dynamics, friction=used)
            self._rollouts[friction] = Rollout(self.system, kernel)
        run = self._rollouts[friction]
        return run(q, v, forces, checked_step(dt), method, bool(terminal))

    def loop_forces(self, q: Array, v: Array, a: Array) -> dict[str, Array]:
        """Force and moment in every closing joint, of the predecessor on the successor.

        Returns
        -------
        {loop name: [force, moment] (6,)}, N and N m, about the origin of the predecessor's loop
        frame in its axes. Where constraints are redundant the answer of least norm is taken:
        a planar loop carries nothing across its plane. Batches give (N, 6).
        """
        if not self.model.loops:
            self.calls.call(programs.joint_acceleration, (q, v, a))  # refuses what is no motion
            return {}
        forces = loop_forces(self.system, self.calls.call(loop_terms, (q, v, a)))
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
        home = constant(tree_position, self.system.home.shape)
        other.system = replace(self.system, home=home)
        other.calls = Calls(other.system, self.model.source)
        other._plain = other.calls.plain
        other.home = other._home_by_name()
        return other

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
        >>> from mbdyn_ros.export.closed_form_text import to_text
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
        return closed_form(self.system, self.model.name, self.model.source)

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

    def _tilts(self) -> list[str]:
        """A warning for every loop whose axis had to be set straight."""
        return [
            f"{self.model.source}: the axis of loop {closure.name!r} misses the plane of its "
            f"joints by {closure.tilt:.2g} rad and is taken as exactly across it; write angles "
            "with all their digits (1.5707963267948966, not 1.5708)"
            for linkage in self.system.linkages
            for closure in linkage.cluster.closures
            if closure.tilt
        ]
