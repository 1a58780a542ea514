"""Between the state of the independent joints and that of all: methods of `Robot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from ..arguments import positive_number, single_vector, written_joint_state
from ..array import Array, ArrayLike
from ..equations import programs
from ..equations.gap import tree_gap
from ..errors import InputError, brief
from ..program.declaration import Declaration

if TYPE_CHECKING:
    from .robot import Robot


def joint_state(
    self: Robot,
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
    together: list[Declaration] = []
    if v is not None:
        together.append(programs.joint_velocity)
    if a is not None:
        together.append(programs.joint_acceleration)
    position = _tree_numbers(self, programs.joint_position, q, together=together)
    position = position.take(rows_q, axis=-1)
    velocity = acceleration = None
    if v is not None:
        velocity = _tree_numbers(self, programs.joint_velocity, q, v).take(rows_v, axis=-1)
    if a is not None:
        rate = np.zeros(self.nv) if v is None else v
        acceleration = _tree_numbers(self, programs.joint_acceleration, q, rate, a)
        acceleration = acceleration.take(rows_v, axis=-1)
    if out is None:
        return position, velocity, acceleration
    return written_joint_state((position, velocity, acceleration), out)


def numerical_positions(self: Robot, q: ArrayLike) -> Array:
    """Positions z (nz,) or (N, nz) of `numerical_joints` at q: what `casadi` functions take as z.

    Raises
    ------
    InputError
        The loops cannot be closed at q (single states; NaN in that row of a batch).
    """
    return _tree_numbers(self, programs.joint_position, q).take(self.system.walked_rows, axis=-1)


def _tree_numbers(
    self: Robot, program: Declaration, *state: ArrayLike, together: Sequence[Declaration] = ()
) -> Array:
    """Numbers of all coordinates of the tree, by a program; others compile together with it."""
    with brief:
        found = getattr(self._plain, program.name)(*state, None)
        if found is None and not self.calls.has(program):
            self.calls.load(*((one,) for one in (program, *together)))
        return self.calls.call(program, state) if found is None else found


@overload
def independent_state(
    self: Robot, position: Array, velocity: None = None, tolerance: float = 1e-6
) -> Array: ...
@overload
def independent_state(
    self: Robot, position: Array, velocity: Array, tolerance: float = 1e-6
) -> tuple[Array, Array]: ...
@brief
def independent_state(
    self: Robot, position: Array, velocity: Array | None = None, tolerance: float = 1e-6
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
    tolerance = positive_number("tolerance", tolerance)
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
    return q if velocity is None else (q, _independent_velocity(self, q, velocity, tolerance))


def _independent_velocity(
    self: Robot, q: Array, velocity: ArrayLike, tolerance: float
) -> Array:
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
