"""Positions of a robot: as points of a space, of all joints, and within limits.

Positions add up, but where a quaternion turns: there a velocity along the way (linear and angular,
in moving axes) leads from one position to the other, as Pinocchio has it. Angles count their turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import overload

import numpy as np

from ..arguments import (
    broadcast_count,
    checked_count,
    checked_numbers,
    coordinate_array,
    positive_number,
    require_unit_quaternions,
    single_vector,
    written_joint_state,
)
from ..array import Array, ArrayLike
from ..assembly.closure_gap import tree_gap
from ..equations import parameter_derivatives, programs
from ..errors import InputError, brief
from ..model.model import Limits
from ..prepare.coordinates import JointBlock
from ..program.program import Declaration
from .core import Core

REACH = np.pi
"""How far from home (rad or m) random positions are drawn where there are no limits."""
DRAWS, HALVINGS = 64, 8
"""Positions of loops drawn at once, and how often the range is halved until some of them close."""


class Configurations(Core):
    """Positions and states: ways between them, all joints, limits."""

    @property
    def home_position(self) -> Array:
        """`home` as q (nq,), with closed loops."""
        home: Array = self.system.home[list(self.system.coordinates.q)]
        return home

    @property
    def home_velocity(self) -> Array:
        """Velocities v (nv,) at rest: 0, and 1 where the motion is given, as time goes on."""
        velocity = np.zeros(self.nv)
        velocity[list(self.system.given)] = 1.0
        return velocity

    def neutral(self) -> Array:
        """Positions (nq,) with all joints at zero and all quaternions at identity.

        Loops need not close there; `home_position` is where they do.
        """
        result = np.zeros(self.nq)
        for motion, in_q, _ in self.system.coordinates.motions:
            result[in_q] = motion.neutral
        return result

    def random(
        self, rng: np.random.Generator | int | None = None, count: int | None = None
    ) -> Array:
        """Random positions (nq,), or `count` of them (count, nq).

        Uniform within the position limits; where there are none within pi (rad or m) of home;
        orientations uniform. Loops are closed: where a draw does not close, another one is taken,
        at last nearer to home.

        Parameters
        ----------
        rng : generator, or the seed of one.
        """
        if rng is not None and not isinstance(rng, np.random.Generator):
            rng = checked_count("rng", rng)
        rng = np.random.default_rng(rng)
        wanted = 1 if count is None else checked_count("count", count)
        found = _drawn(self, rng, wanted, 1.0)
        if self.model.loops:
            kept = np.empty((0, self.nq))
            for k in range(HALVINGS):
                if len(kept) < wanted:
                    draws = _drawn(self, rng, max(DRAWS, 4 * wanted), 0.5**k)
                    positions = self.calls.call(programs.joint_position, (draws,))
                    kept = np.concatenate([kept, draws[np.isfinite(positions).all(axis=1)]])
            rest = np.tile(self.home_position, (max(0, wanted - len(kept)), 1))
            found = np.concatenate([kept, rest])[:wanted]
        return found[0] if count is None else found

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Positions (nq,) or (N, nq) after the displacement `dv` (nv,) or (N, nv) from q.

        A velocity that is constant in moving axes for a time t leads to integrate(q, t v).
        """
        q, dv = _positions(self, "q", q), coordinate_array("dv", dv, self.velocity_labels)
        broadcast_count({"q": (q, 1), "dv": (dv, 1)})
        result = np.empty((*np.broadcast_shapes(q.shape[:-1], dv.shape[:-1]), self.nq))
        for motion, in_q, in_v in self.system.coordinates.motions:
            result[..., in_q] = motion.integrate(q[..., in_q], dv[..., in_v])
        return result

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The shortest displacement (nv,) or (N, nv) from q0 to q1.

        integrate(q0, difference(q0, q1)) is q1.
        """
        q0, q1 = _positions(self, "q0", q0), _positions(self, "q1", q1)
        broadcast_count({"q0": (q0, 1), "q1": (q1, 1)})
        result = np.empty((*np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1]), self.nv))
        for motion, in_q, in_v in self.system.coordinates.motions:
            result[..., in_v] = motion.difference(q0[..., in_q], q1[..., in_q])
        return result

    def interpolate(self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike) -> Array:
        """Positions between q0 (t = 0) and q1 (t = 1): (nq,), or (N, nq) for `t` (N,)."""
        share = checked_numbers("t", t)
        if share.ndim > 1 or not np.isfinite(share).all():
            raise InputError(f"t must be a finite number, or (N,) of them; it is {t!r}")
        step = self.difference(q0, q1)
        return self.integrate(q0, share[..., None] * step if share.ndim else float(share) * step)

    def joint_state(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
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
        Three arrays (n,) or (N, n); None where the input is not given. A floating base is not
        a joint of the description and left out; a planar joint has three numbers, a floating one
        seven and six.

        Examples
        --------
        >>> import mbdyn_ros, numpy as np
        >>> robot = mbdyn_ros.load('''<robot name="gears"><link name="world"/><link name="one"/>
        ...   <link name="two"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ...   ixz="0" iyz="0"/></inertial></link>
        ...   <joint name="driven" type="continuous"><parent link="world"/><child link="two"/>
        ...     <axis xyz="1 0 0"/><mimic joint="driving" multiplier="-3"/></joint>
        ...   <joint name="driving" type="continuous"><parent link="world"/><child link="one"/>
        ...     <axis xyz="1 0 0"/></joint></robot>''')
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
        position = self._tree_numbers(programs.joint_position, q, together=together)
        position = position.take(rows_q, axis=-1)
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

    def joint_position_by_parameters(self, q: ArrayLike) -> Array:
        """Derivatives (n, p) or (N, n, p) of the positions of all joints by `parameter_values`.

        Those of `joint_state`, in the order of `joint_names`, q held: joints of loops move where
        lengths of their loops change.
        """
        found = self._checked(parameter_derivatives.joint_position_by_parameters, (q,))
        return found.take(self._joint_rows[0], axis=-2)

    def numerical_positions(self, q: ArrayLike) -> Array:
        """Positions z (nz,) or (N, nz) of `numerical_joints` at q: what `casadi` functions take as
        z.

        Raises
        ------
        InputError
            The loops cannot be closed at q (single states; NaN in that row of a batch).
        """
        return self._tree_numbers(programs.joint_position, q).take(
            self.system.numerical_dependent_rows, axis=-1
        )

    def _tree_numbers(
        self, program: Declaration, *state: ArrayLike, together: Sequence[Declaration] = ()
    ) -> Array:
        """Numbers of all coordinates of the tree, by a program; others compile together with it."""
        with brief:
            found = getattr(self._plain, program.name)(*state, None)
            if found is None and not self.calls.has(program):
                self.calls.load(*((one,) for one in (program, *together)))
            return self.calls.call(program, state) if found is None else found

    @overload
    def independent_state(
        self, position: ArrayLike, velocity: None = None, tolerance: float = 1e-6
    ) -> Array: ...

    @overload
    def independent_state(
        self, position: ArrayLike, velocity: ArrayLike, tolerance: float = 1e-6
    ) -> tuple[Array, Array]: ...

    @brief
    def independent_state(
        self, position: ArrayLike, velocity: ArrayLike | None = None, tolerance: float = 1e-6
    ) -> Array | tuple[Array, Array]:
        """Independent part of a full measured state: the inverse of `joint_state`.

        Parameters
        ----------
        position, velocity : of all joints, in `joint_names` order (after the base's seven and
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
        return q if velocity is None else (q, self._independent_velocity(q, velocity, tolerance))

    def _independent_velocity(self, q: Array, velocity: ArrayLike, tolerance: float) -> Array:
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

    @property
    def position_limits(self) -> Array:
        """Lower and upper limits of q (2, nq), rad or m; infinite where there are none.

        Those of joints of one coordinate.
        """
        result = np.tile([[-np.inf], [np.inf]], self.nq)
        for name, block in self.system.coordinates.blocks.items():
            if name in self.joint_names and block.kind.nq == 1 and not block.kind.is_endless:
                limits = self.model.joint(name).limits
                result[:, block.q] = [[limits.lower], [limits.upper]]
        return result

    def loop_limits(self) -> Array:
        """Positions (2, nq), or (N, 2, nq) of N designs, between which loops stay on their branch.

        Each independent joint of a loop of triangles on its way from home, the others at home: at
        an end the loop is stretched or folded, and another joint of it comes to rest (a dead
        centre). Infinite where there is no end, or none is known: outside of loops, and of loops
        that Newton's method closes. N designs where rows have their own lengths (`set_origin`).

        This is geometry alone: strokes and other limits of the description are not in it.
        `position_limits` has those of independent joints; a dependent cylinder's are checked by
        `motion.convert_trajectory`, whose `violation` names the first that is passed.

        Examples
        --------
        >>> import numpy as np, mbdyn_ros
        >>> boom = mbdyn_ros.example("boom", variable=["barrel_joint/x"])
        >>> x = boom.system.origins["barrel_joint"].six[:3]
        >>> boom.set_origin("barrel_joint", x * [[1.0, 1.0, 1.0], [1.1, 1.0, 1.0]])
        >>> boom.loop_limits().shape
        (2, 2, 1)
        """
        order = list(self.system.coordinates.q)
        reach = self.calls.reach()
        rows = np.broadcast_shapes(*(np.shape(one.lower) for one in reach.values()))
        found = np.tile(np.array([[-np.inf], [np.inf]]), (*rows, 1, self.nq))
        for body, one in reach.items():
            place = order.index(self.system.tree.bodies[body].q.start)
            found[..., 0, place], found[..., 1, place] = one.lower, one.upper
        return found

    @property
    def velocity_limits(self) -> Array:
        """Largest speeds (nv,), rad/s or m/s; infinite where there are none."""
        coordinates = self.system.coordinates
        return _of_each(self, coordinates.blocks, self.nv, lambda limits: limits.velocity)

    @property
    def effort_limits(self) -> Array:
        """Largest efforts, as `actuated_joints`, N m or N; infinite where there are none."""
        blocks, size = self.system.coordinates.effort_blocks, len(self.effort_labels)
        return _of_each(self, blocks, size, lambda limits: limits.effort)


def _drawn(robot: Configurations, rng: np.random.Generator, count: int, share: float) -> Array:
    """Positions (count, nq) in a share of the range around home."""
    home = robot.home_position
    low, high = robot.position_limits
    low = home + share * (np.where(np.isfinite(low), low, home - REACH) - home)
    high = home + share * (np.where(np.isfinite(high), high, home + REACH) - home)
    drawn = rng.uniform(np.minimum(low, high), np.maximum(low, high), (count, robot.nq))
    for start in robot.system.coordinates.quaternions:
        turn = rng.normal(size=(count, 4))
        drawn[:, start : start + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return drawn


def _positions(robot: Configurations, what: str, q: object) -> Array:
    """Positions of unit quaternions; anything else is refused."""
    array = coordinate_array(what, q, robot.position_labels)
    require_unit_quaternions(robot.system.coordinates, array)
    return array


def _of_each(
    robot: Configurations,
    blocks: Mapping[str, JointBlock],
    size: int,
    number: Callable[[Limits], float],
) -> Array:
    result = np.full(size, np.inf)
    for name, block in blocks.items():
        if name in robot.joint_names and block.kind.nv == 1:
            result[block.v] = number(robot.model.joint(name).limits)
    return result
