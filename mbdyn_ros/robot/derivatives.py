"""Exact derivatives of a robot's dynamics: the methods of `Robot` that compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arguments import Wrenches
from ..array import Array
from ..equations import parameter_derivatives, programs, second_derivatives

if TYPE_CHECKING:
    from .robot import Robot


def inverse_dynamics_derivatives(
    self: Robot,
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
    self: Robot,
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
        program = programs.forward_dynamics_derivatives
        whole = self._checked(program, (q, v, effort), wrenches, friction, out)
    return _side_by_side(self.nv, whole)


def inverse_dynamics_second_derivatives(
    self: Robot, q: Array, v: Array, a: Array, out: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Exact second derivatives of `inverse_dynamics` without friction.

    Returns
    -------
    Four arrays (efforts, nv, nv) or (N, efforts, nv, nv): by q and q, by v and v, by q and v, by a
    and q. [i, j, k] is the derivative of effort i by the j-th of the first and then by the k-th of
    the second; q changes as in `inverse_dynamics_derivatives`. `out` (efforts, 4 nv nv) takes all
    four side by side, and the results are views of it. The programs of humanoids are long:
    minutes of compiling, when first asked for.
    """
    whole = self._plain.inverse_dynamics_second_derivatives(q, v, a, out)
    if whole is None:
        program = second_derivatives.inverse_dynamics_second_derivatives
        whole = self._checked(program, (q, v, a), out=out)
    return _four(self.nv, whole)


def forward_dynamics_second_derivatives(
    self: Robot, q: Array, v: Array, effort: Array, out: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Exact second derivatives of `forward_dynamics` without friction.

    Returns
    -------
    Four arrays, (nv, nv, nv) thrice and (nv, efforts, nv), or with a leading N: by q and q, by v
    and v, by q and v, by effort and q, as in `inverse_dynamics_second_derivatives`. `out`
    (nv, (3 nv + efforts) nv) takes all four side by side. All others are zero.
    """
    whole = self._plain.forward_dynamics_second_derivatives(q, v, effort, out)
    if whole is None:
        program = second_derivatives.forward_dynamics_second_derivatives
        whole = self._checked(program, (q, v, effort), out=out)
    return _four(self.nv, whole)


def inverse_dynamics_by_parameters(
    self: Robot, q: Array, v: Array, a: Array, out: Array | None = None
) -> Array:
    """Derivatives (efforts, p) or (N, efforts, p) of `inverse_dynamics` by `parameter_values`."""
    return self._checked(parameter_derivatives.inverse_dynamics_by_parameters, (q, v, a), out=out)


def forward_dynamics_by_parameters(
    self: Robot, q: Array, v: Array, effort: Array, out: Array | None = None
) -> Array:
    """Derivatives (nv, p) or (N, nv, p) of `forward_dynamics` by `parameter_values`."""
    program = parameter_derivatives.forward_dynamics_by_parameters
    return self._checked(program, (q, v, effort), out=out)


def _four(n: int, whole: Array) -> tuple[Array, Array, Array, Array]:
    """Four arrays of second derivatives (..., rows, columns, nv) that stand in one."""
    blocks = whole.reshape(*whole.shape[:-1], -1, n)
    by_qq, by_vv, by_qv, last = np.split(blocks, [n, 2 * n, 3 * n], axis=-2)
    return by_qq, by_vv, by_qv, last


def _side_by_side(n: int, whole: Array) -> tuple[Array, Array, Array]:
    """Three matrices of derivatives that stand in one."""
    return whole[..., :n], whole[..., n : 2 * n], whole[..., 2 * n :]
