"""The equations of one robot as compiled programs: what every method that computes stands on."""

from __future__ import annotations

import casadi as ca

from ..arguments import Wrenches, require_link
from ..compiler.bound import Bound
from ..equations import programs
from ..equations.singularity import massless_directions
from ..equations.system import System
from ..errors import InputError, SingularMassMatrixError
from ..export.operation_count import formulation_counts
from ..model.model import Array, Model
from ..model.tree import BASE_JOINT
from ..program.declaration import Declaration, declared, offered
from ..program.program import Program
from ..program.symbols import alone, lasting
from .calls import Calls


class Equations:
    """Dynamics of a robot in its independent coordinates; see `Robot`, which adds the rest.

    Parameters
    ----------
    model : the description. system : its equations. gravity : (3,) m/s^2.
    """

    def __init__(
        self, model: Model, system: System, floating_base: bool, gravity: Array
    ) -> None:
        self.model, self.floating_base, self.gravity = model, floating_base, gravity
        self.system = system
        coordinates = system.coordinates
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
        self.calls = Calls(system, model.source)
        self._plain = self.calls.plain

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
        found = self._plain.inverse_dynamics(q, v, a, wrenches, friction, out)
        if found is not None:
            return found
        self._require_drive()
        call = self.calls.call
        return call(programs.inverse_dynamics, (q, v, a), wrenches, friction, out=out)

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
        found = self._plain.forward_dynamics(q, v, effort, wrenches, friction, out)
        if found is not None:
            return found
        self.require_mass("forward dynamics")
        call = self.calls.call
        return call(programs.forward_dynamics, (q, v, effort), wrenches, friction, out=out)

    def inverse_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        a: Array,
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """Exact derivatives of `inverse_dynamics` by q, v and a.

        Parameters as in `inverse_dynamics`; `out` (efforts, 3 nv) or (N, efforts, 3 nv) takes
        all three side by side, and the results are views of it.

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
        whole = self._plain.inverse_dynamics_derivatives(q, v, a, wrenches, friction, out)
        if whole is None:
            self._require_drive()
            call, program = self.calls.call, programs.inverse_dynamics_derivatives
            whole = call(program, (q, v, a), wrenches, friction, out=out)
        return self._side_by_side(whole)

    def forward_dynamics_derivatives(
        self,
        q: Array,
        v: Array,
        effort: Array,
        wrenches: Wrenches | None = None,
        friction: bool = True,
        out: Array | None = None,
    ) -> tuple[Array, Array, Array]:
        """Exact derivatives of `forward_dynamics` by q, v and effort.

        `out` (nv, 2 nv + efforts) or (N, nv, 2 nv + efforts) takes all three side by side.

        Returns
        -------
        Two arrays (nv, nv) and one (nv, efforts), or with a leading N; columns as in
        `inverse_dynamics_derivatives`.
        """
        whole = self._plain.forward_dynamics_derivatives(q, v, effort, wrenches, friction, out)
        if whole is None:
            self.require_mass("forward dynamics")
            call, program = self.calls.call, programs.forward_dynamics_derivatives
            whole = call(program, (q, v, effort), wrenches, friction, out=out)
        return self._side_by_side(whole)

    def _side_by_side(self, whole: Array) -> tuple[Array, Array, Array]:
        """Three matrices of derivatives that stand in one."""
        n = self.nv
        return whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n :]

    def mass_matrix(self, q: Array, out: Array | None = None) -> Array:
        """Mass matrix (nv, nv) or (N, nv, nv) of the independent joints."""
        found = self._plain.mass_matrix(q, out)
        return self.calls.call(programs.mass_matrix, (q,), out=out) if found is None else found

    def coriolis_vector(self, q: Array, v: Array, out: Array | None = None) -> Array:
        """Centrifugal and Coriolis efforts (nv,) or (N, nv)."""
        found = self._plain.coriolis_vector(q, v, out)
        if found is not None:
            return found
        return self.calls.call(programs.coriolis_vector, (q, v), out=out)

    def gravity_vector(self, q: Array, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that hold the robot at rest against gravity."""
        found = self._plain.gravity_vector(q, out)
        return self.calls.call(programs.gravity_vector, (q,), out=out) if found is None else found

    def friction_vector(self, q: Array, v: Array, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that overcome friction: damping v + friction sign(v)."""
        found = self._plain.friction_vector(q, v, out)
        if found is not None:
            return found
        return self.calls.call(programs.friction_vector, (q, v), out=out)

    def energy(self, q: Array, v: Array, out: Array | None = None) -> tuple[Array, Array]:
        """Kinetic and potential energy (J), two numbers or two arrays (N,).

        The potential energy is -sum m g.c over the moving links, zero at the world's origin.
        `out` (2,) or (N, 2) takes both side by side.
        """
        whole = self._plain.energy(q, v, out)
        if whole is None:
            whole = self.calls.call(programs.energy, (q, v), out=out)
        kinetic, potential = whole.T
        return kinetic, potential

    def frame_pose(self, q: Array, link: str, out: Array | None = None) -> Array:
        """Homogeneous matrix (4, 4) or (N, 4, 4) of a link's frame in the world."""
        return self.calls.call(programs.frame_pose, (q,), link=self._known_link(link), out=out)

    def jacobian(self, q: Array, link: str, out: Array | None = None) -> Array:
        """Jacobian (6, nv) or (N, 6, nv) of a link's origin.

        Rows: linear velocity of the origin, then angular velocity, both in world axes; times v.
        """
        return self.calls.call(programs.jacobian, (q,), link=self._known_link(link), out=out)

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
        return Bound(self.calls.kernel(*self._wanted(name, link, friction)))

    @alone
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
            q, z = ca.SX.sym("q", self.nq), ca.SX.sym("z", self.system.nz)
            residual = self.system.closure(q, z)
            names = ["q", "z"], ["gap"]
            return lasting(ca.Function("closure", [q, z], [residual], *names, {"cse": True}))
        program, about, *loads = self._wanted(name, link, friction)
        return lasting(Program(program, self.system, about, *loads).symbolic)

    @property
    def walked_joints(self) -> tuple[str, ...]:
        """The dependent joints whose positions have no closed form."""
        by_row = {body.q.start: body.joint for body in self.system.tree.bodies}
        return tuple(by_row[row] for row in self.system.walked_rows)

    def compile(self, *names: str) -> None:
        """Load or compile the named programs now, several at once (default: all)."""
        self.calls.load(*map(declared, names or offered()))

    @alone
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
        counts = {
            name: Program(declared(name), self.system).operations for name in offered()
        }
        return {**counts, **formulation_counts(self.system)}

    def require_mass(self, purpose: str) -> None:
        """Raise `SingularMassMatrixError`, by link name, where `purpose` has no answer."""
        if self.massless_links:
            raise SingularMassMatrixError(
                f"{self.model.source}: {purpose} has no answer, because the mass matrix is "
                f"singular: {self._massless_text()}. Give the links mass and inertia, or fix "
                "their joints."
            )

    def _wanted(
        self, name: str, link: str | None, friction: bool
    ) -> tuple[Declaration, str | None, bool, bool]:
        """The program behind a method, its link, no wrenches, and whether friction counts.

        Or words about why there is none.
        """
        program = declared(name)
        if (program.about == "link") != (link is not None):
            needed = "needs" if link is None else "has no"
            raise InputError(f"{name} {needed} link")
        if name.startswith("forward_dynamics"):
            self.require_mass("forward dynamics")
        if name.startswith("inverse_dynamics"):
            self._require_drive()
        about = None if link is None else self._known_link(link)
        friction = friction or not program.loaded or not self.system.has_friction
        return program, about, False, friction

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
        bodies = {body.joint: body for body in self.system.tree.bodies}
        single = [name for name in self.joint_names if self.model.joint(name).nq == 1]
        return {name: float(self.system.home[bodies[name].q.start]) for name in single}

    def _known_link(self, link: str) -> str:
        return require_link(self.system.tree, link, self.model.source)

    def _find_massless_links(self) -> tuple[str, ...]:
        names = {BASE_JOINT: self.model.root}
        names.update((joint.name, joint.child) for joint in self.model.joints)
        labels = (self.velocity_labels[k].split("/")[0] for k in massless_directions(self.system))
        return tuple(dict.fromkeys(names[label] for label in labels))

    def _massless_text(self) -> str:
        links = ", ".join(repr(link) for link in self.massless_links)
        return f"no mass resists the motion of link {links}"

