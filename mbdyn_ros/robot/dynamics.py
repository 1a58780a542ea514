"""Dynamics of a robot in its independent coordinates: the methods of `Robot` that compute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arguments import Wrenches
from ..array import Array, ArrayLike
from ..equations import programs
from ..equations.coriolis import coriolis_matrix as coriolis_program
from ..equations.inverse_inertia import inverse_mass_matrix as inverse_program

if TYPE_CHECKING:
    from .robot import Robot


def inverse_dynamics(
    self: Robot,
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
    DeadPointError
        An actuator of a loop is at a dead point, by name; NaN in that row of a batch. How near it
        is elsewhere is told by `actuation_condition`.
    """
    found = self._plain.inverse_dynamics(q, v, a, wrenches, friction, out)
    if found is None:
        found = self._checked(programs.inverse_dynamics, (q, v, a), wrenches, friction, out)
    return found


def forward_dynamics(
    self: Robot,
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
    if found is None:
        found = self._checked(programs.forward_dynamics, (q, v, effort), wrenches, friction, out)
    return found


def mass_matrix(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Mass matrix (nv, nv) or (N, nv, nv) of the independent joints."""
    found = self._plain.mass_matrix(q, out)
    return self._checked(programs.mass_matrix, (q,), out=out) if found is None else found


def coriolis_vector(self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
    """Centrifugal and Coriolis efforts (nv,) or (N, nv)."""
    found = self._plain.coriolis_vector(q, v, out)
    return self._checked(programs.coriolis_vector, (q, v), out=out) if found is None else found


def gravity_vector(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Efforts (nv,) or (N, nv) that hold the robot at rest against gravity."""
    found = self._plain.gravity_vector(q, out)
    return self._checked(programs.gravity_vector, (q,), out=out) if found is None else found


def spring_vector(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Efforts (nv,) or (N, nv) that hold the springs of all joints: stiffness (q - reference)."""
    found = self._plain.spring_vector(q, out)
    return self._checked(programs.spring_vector, (q,), out=out) if found is None else found


def bias_vector(self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
    """Coriolis, centrifugal and gravity efforts (nv,) or (N, nv).

    `inverse_dynamics` is M a + bias + springs + friction, where all joints are actuated.
    """
    found = self._plain.bias_vector(q, v, out)
    return self._checked(programs.bias_vector, (q, v), out=out) if found is None else found


def coriolis_matrix(self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
    """Matrix C (nv, nv) or (N, nv, nv) with C v = `coriolis_vector` and dM/dt - 2 C skew.

    That of Christoffel's symbols.
    """
    found = self._plain.coriolis_matrix(q, v, out)
    return self._checked(coriolis_program, (q, v), out=out) if found is None else found


def inverse_mass_matrix(self: Robot, q: ArrayLike, out: Array | None = None) -> Array:
    """Inverse of the mass matrix (nv, nv) or (N, nv, nv)."""
    found = self._plain.inverse_mass_matrix(q, out)
    return self._checked(inverse_program, (q,), out=out) if found is None else found


def friction_vector(self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None) -> Array:
    """Efforts (nv,) or (N, nv) that overcome friction: damping v + friction sign(v)."""
    found = self._plain.friction_vector(q, v, out)
    return self._checked(programs.friction_vector, (q, v), out=out) if found is None else found


def energy(
    self: Robot, q: ArrayLike, v: ArrayLike, out: Array | None = None
) -> tuple[Array, Array]:
    """Kinetic and potential energy (J), two numbers or two arrays (N,).

    The potential energy is -sum m g.c over the moving links, zero at the world's origin, and that
    of springs; rotors (armature) count as kinetic.
    `out` (2,) or (N, 2) takes both side by side.
    """
    whole = self._plain.energy(q, v, out)
    if whole is None:
        whole = self._checked(programs.energy, (q, v), out=out)
    kinetic, potential = whole.T
    return kinetic, potential


def regressor(
    self: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, out: Array | None = None
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
