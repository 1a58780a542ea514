"""Impulses of contacts, stops and dry friction of joints as one problem, solved in compiled code.

w = A f + b with A = S M^-1 S^T: each constraint is a set in which its impulse lies, and the law
that w obeys there (`compiler/runtime/contact/cones.hpp`). The same conditions on accelerations
determine which resting contacts stick, slide or separate. An impact is Newton's law on that
(`newtons_law.hpp`; Shafei and Shafei 2018, equations 44 to 47).
"""

from __future__ import annotations

import ctypes
import functools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...array import Array
from ...compiler.gcc import CompilationError
from ...compiler.runtime.library import events, structure
from ...errors import ContactError, SimulationError

UNSETTLED = 1e-7
"""Share of the velocities by which redundant contacts with friction may miss their laws."""

SETTLED = 1e-11
"""Share of the velocities by which contacts may miss their laws, else."""

ASYMMETRY = 1e-12
"""Share of the largest number by which a symmetric matrix may differ from its transpose."""

Cones = structure("contact/cones.hpp", "Cones")


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where the unknowns of k contacts stand: the normal, and the first of two tangents.

    tangent : (k,), -1 where the contact has no cone of friction (none, or it slides already).
    friction : (k,) mu.
    bound : (b,) of the last b unknowns, which are impulses of dry friction in joints: each within
        [-bound, bound], and at a bound only against the velocity there.
    """

    normal: NDArray[np.intp]
    tangent: NDArray[np.intp]
    friction: Array
    bound: Array = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def dry(bound: Array) -> Blocks:
        """Dry friction of joints alone."""
        none = np.zeros(0, dtype=np.intp)
        return Blocks(none, none, np.zeros(0), bound)


@functools.cache
def solver() -> ctypes.CDLL:
    """The compiled solver.

    Raises
    ------
    SimulationError
        There is no C++ compiler.
    """
    try:
        return events()
    except CompilationError as error:
        raise SimulationError(f"contacts and dry friction need compiled code: {error}") from error


class Problem:
    """The unknowns f (m,) of w = A f + b, as the compiled solver reads them.

    Parameters
    ----------
    matrix : A (m, m), semidefinite. It is not symmetric where contacts slide in given directions.
    """

    def __init__(self, matrix: Array, free: Array, blocks: Blocks) -> None:
        m = len(free)
        apart, size = (np.abs(one).max(initial=0.0) for one in (matrix - matrix.T, matrix))
        root = np.empty(m * m if apart <= ASYMMETRY * size else 0)
        self.f, self.free = np.zeros(m), np.array(free, dtype=np.float64)
        arrays = blocks.normal, blocks.tangent, blocks.friction, blocks.bound, matrix, self.free
        room = np.zeros(solver().room_of_impulses(m, m))
        self._arrays = [np.ascontiguousarray(one) for one in (*arrays, room, root)]
        *places, at_room, at_root = (one.ctypes.data for one in self._arrays)
        counts = m, len(blocks.normal), len(blocks.bound), m
        self._cones = Cones(*counts, *places, None, at_room, at_root if root.size else None)
        self.address = ctypes.addressof(self._cones)


def contact_impulses(
    matrix: Array, free: Array, blocks: Blocks, guess: Array | None = None
) -> Array:
    """Impulses f (m,) with friction, w = A f + b; redundant contacts share them evenly.

    Parameters
    ----------
    matrix, free : see `Problem`.
    guess : (m,) where to start, such as the impulses of the last step.

    Raises
    ------
    ContactError
        They do not settle.
    """
    problem = Problem(matrix, free, blocks)
    if guess is not None:
        problem.f[:] = guess
    missed = solver().solve_impulses(problem.address, SETTLED, problem.f.ctypes.data)
    _require_settled(missed, free, blocks)
    return problem.f


def impact_impulses(matrix: Array, before: Array, e: Array, blocks: Blocks) -> tuple[Array, Array]:
    """Impulses (m,) of an impact, and the restitution (k,) that was used.

    It is less than e where friction jams, or where friction and Newton's law would gain energy.

    Parameters
    ----------
    before : velocities (m,) of all rows.
    """
    problem, used = Problem(matrix, before, blocks), np.array(e, dtype=np.float64)
    velocity, law = np.ascontiguousarray(before), UNSETTLED * float(np.abs(before).max(initial=0))
    places = [one.ctypes.data for one in (problem.free, velocity, used)]
    missed = solver().impact_impulses(problem.address, *places, SETTLED, law, problem.f.ctypes.data)
    _require_settled(missed, before, blocks)
    return problem.f, used


def _require_settled(missed: float, free: Array, blocks: Blocks) -> None:
    size = float(np.abs(free).max(initial=0.0))
    if missed > UNSETTLED * size:
        raise ContactError(
            f"friction: the impulses of {len(blocks.normal)} contacts and {len(blocks.bound)} "
            f"joints do not settle (by {missed / size:.1g} of the velocities)"
        )


@dataclass(frozen=True, eq=False)
class Contact:
    """An active contact: of a `Stepper` in its last step, or of `simulate` at a sample.

    Attributes
    ----------
    point : index into the environment's points; -1 for the stop of a joint.
    links : of the robot: the one that touches, and the other one where links touch each other;
        empty for the stop of a joint.
    surface : name of what is touched.
    place, normal : (3,) m and the unit vector into free space, in the world; NaN for stops.
    force : (3,) N on the robot, in the world; (along, 0, 0) N or N m of a stop. Of a `Stepper`, and
        in stretches of equal steps, the mean over a step.
    sticks : whether friction holds it; false where it slides or is smooth.
    moment : (3,) N m on the robot, in the world, of walls that resist turning.
    """

    point: int
    surface: str
    place: Array
    normal: Array
    force: Array
    sticks: bool
    links: tuple[str, ...] = ()
    moment: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def link(self) -> str | None:
        """The link that touches; None for the stop of a joint."""
        return self.links[0] if self.links else None

    @property
    def normal_force(self) -> float:
        """The force along the normal, N; along the joint of a stop, N or N m."""
        at_stop = np.isnan(self.normal).any()
        return float(self.force[0] if at_stop else self.force @ self.normal)

    @property
    def friction(self) -> Array:
        """The force (3,) along the wall, N, in the world; zero at a stop."""
        at_stop = np.isnan(self.normal).any()
        return np.zeros(3) if at_stop else self.force - self.normal_force * self.normal


@dataclass(frozen=True, eq=False)
class Impact:
    """One impact: everything that hit at one instant, solved together.

    Arrays have one entry (or row) for each of its k contacts; a point in a corner is there
    once for each face.

    Attributes
    ----------
    time : s.
    points : indices into the environment's points; -1 for the stop of a joint.
    surfaces : names of what was hit.
    places, normals : (k, 3) m and unit vectors into free space, in the world; NaN for stops.
    impulses : (k,) N s along the normals (N m s for the stop of a joint that turns).
    tangential_impulses : (k, 3) N s along the wall, in the world: friction.
    normal_velocity_before, normal_velocity_after : (k,) m/s, positive into free space.
    angle_of_attack : (k,) rad, between the velocity of the point and the wall's normal: 0 is a
        straight hit; NaN for stops, and of a point that rests before.
    energy_before, energy_after : kinetic and potential together, J.
    q, v_before, v_after : the state, as in a trajectory.
    restitution : (k,) e that was used: less than the surface's where bouncing dies out, or where
        Newton's law with friction would have gained energy.
    loss : J, by the impulses: minus impulse times mean velocity, summed. The energies before and
        after give the same independently.
    """

    time: float
    points: tuple[int, ...]
    surfaces: tuple[str, ...]
    places: Array
    normals: Array
    impulses: Array
    tangential_impulses: Array
    normal_velocity_before: Array
    normal_velocity_after: Array
    angle_of_attack: Array
    energy_before: float
    energy_after: float
    q: Array
    v_before: Array
    v_after: Array
    restitution: Array
    loss: float

    @property
    def forces(self) -> Array:
        """Whole impulses (k, 3) on the robot, in the world, N s; NaN for stops."""
        result: Array = self.impulses[:, None] * self.normals + self.tangential_impulses
        return result


SPEED_AT_REST = 1e-12
"""Speed, m/s, of a place that rests: its direction is rounding."""


def angle_between(velocity: Array, normal: Array) -> float:
    """Angle (rad) between minus the velocity and a unit normal; NaN where there is none."""
    if np.linalg.norm(velocity) < SPEED_AT_REST:
        return math.nan
    along = -float(velocity @ normal)
    across = float(np.linalg.norm(velocity + along * normal))
    return float(np.arctan2(across, along))
