"""A contact that is held, with its force."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.model import Array


@dataclass(frozen=True, eq=False)
class Contact:
    """A contact that is held: by a `Stepper` in its last step, by `simulate` at a sample.

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
    """

    point: int
    surface: str
    place: Array
    normal: Array
    force: Array
    sticks: bool
    links: tuple[str, ...] = ()

    @property
    def link(self) -> str | None:
        """The link that touches; None for the stop of a joint."""
        return self.links[0] if self.links else None
