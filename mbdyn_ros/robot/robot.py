"""The object users hold: a robot's model and its compiled equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arguments import Wrenches, checked_home, single_vector
from ..array import Array
from ..equations.build import build_robot
from ..errors import InputError, ModelWarning, brief, shown, warn
from ..model.model import Model, constant
from ..model.split_joints import joints_of_parts, quaternions_in_loops, split_joints
from ..program.declaration import Declaration
from . import (
    base_parameters,
    branches,
    configuration,
    derivatives,
    dynamics,
    editing,
    export,
    formulas,
    frames,
    inverse_kinematics,
    limits,
    makeup,
    motors,
    parameters,
    rollout,
    saving,
    state,
    whole_body,
    wrenches,
)
from .answers import find_massless_links, require_answer, require_mass, require_single
from .assignment import INTERNAL, assignment_refusal
from .calls import Calls
from .choice import say_choice
from .home import EARTH, Home, all_warnings, named_home
from .parameters import start_calls
from .report import report
from .variable import variable_parameters


class Robot:
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
    effort_labels : a name for each effort.
    massless_links : links that can move without moving mass; forward dynamics is refused then.
    """

    model: Model
    joint_names: tuple[str, ...]
    independent_joints: tuple[str, ...]
    dependent_joints: tuple[str, ...]
    actuated_joints: tuple[str, ...]
    nq: int
    nv: int
    position_labels: tuple[str, ...]
    velocity_labels: tuple[str, ...]
    effort_labels: tuple[str, ...]
    gravity: Array
    floating_base: bool
    warnings: tuple[str, ...]
    home: Home
    massless_links: tuple[str, ...]
    calls: Calls

    def __init__(
        self,
        model: Model,
        home: Mapping[str, float] | str | None = None,
        floating_base: bool | None = None,
        gravity: Sequence[float] | None = None,
        variable: Sequence[str] = (),
    ) -> None:
        if isinstance(home, str):
            home = named_home(model, home)
        if floating_base is None:
            floating_base = model.floating_base
        if gravity is None:
            gravity = model.gravity or EARTH
        self._described = model
        named = joints_of_parts(model, home if isinstance(home, Mapping) else ())
        model = split_joints(model, named | quaternions_in_loops(model))
        field = constant(single_vector("gravity", gravity, ("x", "y", "z")), (3,))
        movable = [joint.name for joint in model.joints if joint.nv]
        rough = checked_home(home, movable, model.source)
        self._rough, self._seen = rough, 0
        model, self._system, self._assemblies, notes = build_robot(
            model, floating_base, field, rough
        )
        self._keep(model=model, gravity=field, floating_base=floating_base)
        coordinates = self.system.coordinates
        self._keep(
            joint_names=coordinates.joint_names,
            independent_joints=coordinates.independent,
            dependent_joints=coordinates.dependent,
            actuated_joints=coordinates.actuated,
            nq=coordinates.nq,
            nv=coordinates.nv,
            position_labels=coordinates.position_labels,
            velocity_labels=coordinates.velocity_labels,
            effort_labels=coordinates.effort_labels,
        )
        rows_q, rows_v = coordinates.joint_rows
        self._joint_rows = np.array(rows_q, dtype=np.intp), np.array(rows_v, dtype=np.intp)
        self._keep(home=self._home_by_name())
        self._keep(massless_links=find_massless_links(self))
        self._parameters = variable_parameters(self, variable)
        start_calls(self, self._system.home)
        self._choice_said = self._limits_said = False
        self._keep(warnings=all_warnings(self, notes))
        for text in self.warnings:
            warn(text, ModelWarning)

    def _keep(self, **values: object) -> None:
        """Set attributes that users read, and cannot set."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what would be reported and not computed with; say what to call instead."""
        if not name.startswith("_"):
            raise InputError(assignment_refusal(name, vars(type(self))))
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise InputError(assignment_refusal(name, vars(type(self))))

    def __dir__(self) -> list[str]:
        """The public attributes and methods."""
        return sorted(name for name in super().__dir__() if name not in INTERNAL)

    def _start(self, calls: Calls) -> None:
        """Run programs by these calls."""
        self._keep(calls=calls)
        self._plain = calls.plain
        self._rollouts: dict[bool, rollout.Rollout] = {}

    def __getstate__(self) -> dict[str, object]:
        """Attributes for a copy or a pickle: all but those that `_start` makes of the calls."""
        return {key: one for key, one in vars(self).items() if key not in ("_plain", "_rollouts")}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._keep(**state)
        self._start(self.calls)

    inverse_dynamics = dynamics.inverse_dynamics
    forward_dynamics = dynamics.forward_dynamics
    mass_matrix = dynamics.mass_matrix
    coriolis_vector = dynamics.coriolis_vector
    gravity_vector = dynamics.gravity_vector
    spring_vector = dynamics.spring_vector
    friction_vector = dynamics.friction_vector
    bias_vector = dynamics.bias_vector
    coriolis_matrix = dynamics.coriolis_matrix
    inverse_mass_matrix = dynamics.inverse_mass_matrix
    energy = dynamics.energy
    regressor = dynamics.regressor
    base_parameters = base_parameters.base_parameters
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    system = property(parameters.system)
    set_inertia = parameters.set_inertia
    set_payload = parameters.set_payload
    set_gravity = parameters.set_gravity
    motor_labels = property(motors.motor_labels)
    motor_effort = motors.motor_effort
    set_friction = parameters.set_friction
    set_armature = parameters.set_armature
    set_spring = parameters.set_spring
    parameter_labels = parameters.parameter_labels
    parameter_values = parameters.parameter_values
    inverse_dynamics_second_derivatives = derivatives.inverse_dynamics_second_derivatives
    forward_dynamics_second_derivatives = derivatives.forward_dynamics_second_derivatives
    inverse_dynamics_by_parameters = derivatives.inverse_dynamics_by_parameters
    forward_dynamics_by_parameters = derivatives.forward_dynamics_by_parameters
    neutral = configuration.neutral
    random = configuration.random
    integrate = configuration.integrate
    difference = configuration.difference
    interpolate = configuration.interpolate
    home_position = property(configuration.home_position)
    position_limits = property(limits.position_limits)
    velocity_limits = property(limits.velocity_limits)
    effort_limits = property(limits.effort_limits)
    links = property(makeup.links)
    moving_links = property(makeup.moving_links)
    numerical_joints = property(makeup.numerical_joints)
    numerical_positions = state.numerical_positions
    walked_joints = property(makeup.walked_joints)
    total_mass = property(makeup.total_mass)
    __repr__ = makeup.text
    joint_state = state.joint_state
    independent_state = state.independent_state
    frame_pose = frames.frame_pose
    frame_velocity = frames.frame_velocity
    frame_acceleration = frames.frame_acceleration
    jacobian = frames.jacobian
    jacobian_rate = frames.jacobian_rate
    operational_mobility = frames.operational_mobility
    operational_inertia = frames.operational_inertia
    inverse_kinematics = inverse_kinematics.inverse_kinematics
    frames = property(makeup.frames)
    center_of_mass = whole_body.center_of_mass
    center_of_mass_velocity = whole_body.center_of_mass_velocity
    center_of_mass_jacobian = whole_body.center_of_mass_jacobian
    centroidal_momentum = whole_body.centroidal_momentum
    centroidal_momentum_matrix = whole_body.centroidal_momentum_matrix
    centroidal_momentum_rate = whole_body.centroidal_momentum_rate
    link_energies = whole_body.link_energies
    loop_forces = wrenches.loop_forces
    joint_wrenches = wrenches.joint_wrenches
    undetermined_wrenches = wrenches.undetermined_wrenches
    actuation_condition = branches.actuation_condition
    require_mass = require_mass
    require_single = require_single
    _require_answer = require_answer
    with_independent = branches.with_independent
    with_home = branches.with_home
    say_choice = say_choice
    rollout = rollout.rollout
    bind = formulas.bind
    casadi = formulas.casadi
    compile = formulas.compile
    operation_counts = formulas.operation_counts
    closed_form = export.closed_form
    generate_c = export.generate_c
    generate_cpp = export.generate_cpp
    locked = editing.locked
    without = editing.without
    renamed = editing.renamed
    attached = editing.attached
    with_joint = editing.with_joint
    scaled = editing.scaled
    mirrored = editing.mirrored
    save_urdf = saving.save_urdf
    save_mjcf = saving.save_mjcf
    save_sdf = saving.save_sdf
    report = report

    def _checked(
        self,
        program: Declaration,
        values: tuple[object, ...],
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> Array:
        """Run a program on any arguments, or say why it has no answer; see `Calls.call`."""
        with brief:
            self._require_answer(program)
            return self.calls.call(program, values, wrenches, friction, out=out)

    def _home_by_name(self) -> Home:
        """The closed home configuration of the joints with one coordinate."""
        bodies = {body.joint: body for body in self.system.tree.bodies}
        single = [name for name in self.joint_names if self.model.joint(name).nq == 1]
        return Home({name: float(self.system.home[bodies[name].q.start]) for name in single})


def checked_robot(value: object) -> Robot:
    """Return `value`, refused where it is no robot."""
    if not isinstance(value, Robot):
        raise InputError(f"robot must be a Robot, such as load(file) gives; it is {shown(value)}")
    return value
