"""Dynamics of a robot in its independent coordinates, of the robot as a whole, and derivatives."""

from __future__ import annotations

import numpy as np

from ..arguments import Wrenches
from ..array import Array, ArrayLike
from ..equations import momentum, parameter_derivatives, programs, second_derivatives
from ..equations.inertia_matrices import coriolis_matrix as coriolis_program
from ..equations.inertia_matrices import inverse_mass_matrix as inverse_program
from ..equations.programs import link_energies as energies_of
from ..errors import InputError
from ..program.program import Declaration
from .core import Core


class Dynamics(Core):
    """Efforts, accelerations, their terms and derivatives, and the centre of mass."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
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
        DeadPointError
            An actuator of a loop is at a dead point, by name; NaN in that row of a batch. How near
            it is elsewhere is what `actuation_condition` says.
        """
        found = self._plain.inverse_dynamics(q, v, a, wrenches, friction, out)
        if found is None:
            found = self._checked(programs.inverse_dynamics, (q, v, a), wrenches, friction, out)
        return found

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        effort: ArrayLike,
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
        if found is None:
            found = self._checked(
                programs.forward_dynamics, (q, v, effort), wrenches, friction, out
            )
        return found

    def mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Mass matrix (nv, nv) or (N, nv, nv) of the independent joints."""
        found = self._plain.mass_matrix(q, out)
        return self._checked(programs.mass_matrix, (q,), out=out) if found is None else found

    def coriolis_vector(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Centrifugal and Coriolis efforts (nv,) or (N, nv)."""
        found = self._plain.coriolis_vector(q, v, out)
        return self._checked(programs.coriolis_vector, (q, v), out=out) if found is None else found

    def gravity_vector(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that hold the robot at rest against gravity."""
        found = self._plain.gravity_vector(q, out)
        return self._checked(programs.gravity_vector, (q,), out=out) if found is None else found

    def spring_vector(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that hold all springs at q: stiffness (q - reference)."""
        found = self._plain.spring_vector(q, out)
        return self._checked(programs.spring_vector, (q,), out=out) if found is None else found

    def bias_vector(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Coriolis, centrifugal and gravity efforts (nv,) or (N, nv).

        `inverse_dynamics` is M a + bias + springs + friction, where all joints are actuated.
        """
        found = self._plain.bias_vector(q, v, out)
        return self._checked(programs.bias_vector, (q, v), out=out) if found is None else found

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Matrix C (nv, nv) or (N, nv, nv) with C v = `coriolis_vector` and dM/dt - 2 C skew.

        That of Christoffel's symbols.
        """
        found = self._plain.coriolis_matrix(q, v, out)
        return self._checked(coriolis_program, (q, v), out=out) if found is None else found

    def inverse_mass_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Inverse of the mass matrix (nv, nv) or (N, nv, nv)."""
        found = self._plain.inverse_mass_matrix(q, out)
        return self._checked(inverse_program, (q,), out=out) if found is None else found

    def friction_vector(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Efforts (nv,) or (N, nv) that overcome friction: damping v + friction sign(v)."""
        found = self._plain.friction_vector(q, v, out)
        return self._checked(programs.friction_vector, (q, v), out=out) if found is None else found

    def energy(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> tuple[Array, Array]:
        """Kinetic and potential energy (J), two numbers or two arrays (N,).

        The potential energy is -sum m g.c over the moving links, zero at the world's origin, and
        that of springs; rotors (armature) count as kinetic.
        `out` (2,) or (N, 2) takes both side by side.
        """
        whole = self._plain.energy(q, v, out)
        if whole is None:
            whole = self._checked(programs.energy, (q, v), out=out)
        kinetic, potential = whole.T
        return kinetic, potential

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Array | None = None
    ) -> Array:
        """The efforts' linear form Y in the inertias of the links: effort = Y parameters.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) or with a leading N.
        out : array of the result's shape to write it into: contiguous, float64.

        Returns
        -------
        (efforts, 10 links) or (N, efforts, 10 links); its product with the parameters of
        `base_parameters().standard` is `inverse_dynamics` without what acts on joints (friction,
        armature, springs). The links are those
        that joints move, in the order of `moving_links`; of each m, m c (x, y, z) and the
        moments Ixx, Ixy, Ixz, Iyy, Iyz, Izz about its origin, in its axes.

        Examples
        --------
        >>> import mbdyn_ros
        >>> from mbdyn_ros.model.examples import PENDULUM
        >>> robot = mbdyn_ros.load(PENDULUM)
        >>> robot.regressor([0.0], [0.0], [1.0]).round(12) + 0.0
        array([[ 0.  , -9.81,  0.  ,  0.  ,  0.  ,  0.  ,  0.  ,  1.  ,  0.  ,
                 0.  ]])
        """
        found = self._plain.regressor(q, v, a, out)
        return self._checked(programs.regressor, (q, v, a), out=out) if found is None else found

    def center_of_mass(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Centre of mass (3,) or (N, 3) of the links that joints move, in the world (m)."""
        found = self._plain.center_of_mass(q, out)
        return self._of_mass(momentum.center_of_mass, (q,), out) if found is None else found

    def center_of_mass_velocity(
        self, q: ArrayLike, v: ArrayLike, out: Array | None = None
    ) -> Array:
        """Its velocity (3,) or (N, 3), m/s."""
        found = self._plain.center_of_mass_velocity(q, v, out)
        if found is None:
            found = self._of_mass(momentum.center_of_mass_velocity, (q, v), out)
        return found

    def center_of_mass_jacobian(self, q: ArrayLike, out: Array | None = None) -> Array:
        """Its velocity per velocity coordinate (3, nv) or (N, 3, nv)."""
        found = self._plain.center_of_mass_jacobian(q, out)
        if found is None:
            found = self._of_mass(momentum.center_of_mass_jacobian, (q,), out)
        return found

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Linear momentum, and angular momentum about the centre of mass: (6,) or (N, 6).

        In world axes, N s and N m s.
        """
        found = self._plain.centroidal_momentum(q, v, out)
        if found is None:
            found = self._of_mass(momentum.centroidal_momentum, (q, v), out)
        return found

    def centroidal_momentum_matrix(self, q: ArrayLike, out: Array | None = None) -> Array:
        """A (6, nv) or (N, 6, nv) of `centroidal_momentum` = A v."""
        found = self._plain.centroidal_momentum_matrix(q, out)
        if found is None:
            found = self._of_mass(momentum.centroidal_momentum_matrix, (q,), out)
        return found

    def centroidal_momentum_rate(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Array | None = None
    ) -> Array:
        """Rate of `centroidal_momentum` (6,) or (N, 6) along a motion, N and N m.

        What all forces on the robot, gravity among them, sum up to, and their moment about the
        centre of mass.
        """
        found = self._plain.centroidal_momentum_rate(q, v, a, out)
        if found is None:
            found = self._of_mass(momentum.centroidal_momentum_rate, (q, v, a), out)
        return found

    def link_energies(
        self, q: ArrayLike, v: ArrayLike, out: Array | None = None
    ) -> tuple[Array, Array]:
        """Kinetic and potential energy (J) of every link of `moving_links`: two arrays (L,) or (N,
        L).

        Their sums are `energy`. `out` (2, L) or (N, 2, L) takes both.
        """
        whole = self._plain.link_energies(q, v, out)
        if whole is None:
            whole = self._checked(energies_of, (q, v), out=out)
        return whole[..., 0, :], whole[..., 1, :]

    def _of_mass(
        self, program: Declaration, values: tuple[ArrayLike, ...], out: Array | None
    ) -> Array:
        """A program that needs a centre of mass."""
        if not self.total_mass:
            raise InputError(
                f"{self.model.source}: what moves has no mass, so there is no centre of mass; give "
                "its links an <inertial>"
            )
        return self._checked(program, values, out=out)

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
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
        >>> from mbdyn_ros.model.examples import PENDULUM
        >>> robot = mbdyn_ros.load(PENDULUM)
        >>> by_q, by_v, by_a = robot.inverse_dynamics_derivatives([1.5], [0.0], [0.0])
        >>> by_q.round(3), by_a
        (array([[9.785]]), array([[0.6]]))
        """
        whole = self._plain.inverse_dynamics_derivatives(q, v, a, wrenches, friction, out)
        if whole is None:
            program = programs.inverse_dynamics_derivatives
            whole = self._checked(program, (q, v, a), wrenches, friction, out)
        return _side_by_side(self.nv, whole)

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        effort: ArrayLike,
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
            program = programs.forward_dynamics_derivatives
            whole = self._checked(program, (q, v, effort), wrenches, friction, out)
        return _side_by_side(self.nv, whole)

    def inverse_dynamics_second_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """Exact second derivatives of `inverse_dynamics` without friction.

        Returns
        -------
        Four arrays (efforts, nv, nv) or (N, efforts, nv, nv): by q and q, by v and v, by q and v,
        by a and q. [i, j, k] is the derivative of effort i by the j-th of the first and then by the
        k-th of the second; q changes as in `inverse_dynamics_derivatives`. `out` (efforts, 4 nv nv)
        takes all four side by side, and the results are views of it. The programs of humanoids are
        long: minutes of compiling, when first asked for.
        """
        whole = self._plain.inverse_dynamics_second_derivatives(q, v, a, out)
        if whole is None:
            program = second_derivatives.inverse_dynamics_second_derivatives
            whole = self._checked(program, (q, v, a), out=out)
        return _four(self.nv, whole)

    def forward_dynamics_second_derivatives(
        self, q: ArrayLike, v: ArrayLike, effort: ArrayLike, out: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """Exact second derivatives of `forward_dynamics` without friction.

        Returns
        -------
        Four arrays, (nv, nv, nv) thrice and (nv, efforts, nv), or with a leading N: by q and q, by
        v and v, by q and v, by effort and q, as in `inverse_dynamics_second_derivatives`. `out`
        (nv, (3 nv + efforts) nv) takes all four side by side. All others are zero.
        """
        whole = self._plain.forward_dynamics_second_derivatives(q, v, effort, out)
        if whole is None:
            program = second_derivatives.forward_dynamics_second_derivatives
            whole = self._checked(program, (q, v, effort), out=out)
        return _four(self.nv, whole)

    def inverse_dynamics_by_parameters(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Array | None = None
    ) -> Array:
        """Derivatives of `inverse_dynamics` by `parameter_values`.

        (efforts, p) or (N, efforts, p).
        """
        return self._checked(
            parameter_derivatives.inverse_dynamics_by_parameters, (q, v, a), out=out
        )

    def forward_dynamics_by_parameters(
        self, q: ArrayLike, v: ArrayLike, effort: ArrayLike, out: Array | None = None
    ) -> Array:
        """Derivatives (nv, p) or (N, nv, p) of `forward_dynamics` by `parameter_values`."""
        program = parameter_derivatives.forward_dynamics_by_parameters
        return self._checked(program, (q, v, effort), out=out)

    def energy_by_parameters(self, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
        """Derivatives (2, p) or (N, 2, p) of the kinetic and potential energy by
        `parameter_values`, J per unit of each."""
        return self._checked(parameter_derivatives.energy_by_parameters, (q, v), out=out)


def _four(n: int, whole: Array) -> tuple[Array, Array, Array, Array]:
    """Four arrays of second derivatives (..., rows, columns, nv) that are views of one."""
    blocks = whole.reshape(*whole.shape[:-1], -1, n)
    by_qq, by_vv, by_qv, last = np.split(blocks, [n, 2 * n, 3 * n], axis=-2)
    return by_qq, by_vv, by_qv, last


def _side_by_side(n: int, whole: Array) -> tuple[Array, Array, Array]:
    """Three matrices of derivatives that are views of one."""
    return whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n :]
