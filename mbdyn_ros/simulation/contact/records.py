"""Records of a contact that is held, with its force, and of an impact."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...model.model import Array


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
