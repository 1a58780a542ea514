"""Which coordinates move a robot: independent, dependent and actuated joints, and their names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from .model import JOINT_COORDINATES, Model
from .tree import BASE_JOINT, coordinates


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Names of the joints, and where their coordinates stand in those of the spanning tree.

    joint_names : every movable joint of the description, in document order.
    independent, dependent, actuated : subsets of it; `independent` orders q, v and a (behind
        the base's coordinates of a floating base), `actuated` orders the efforts (likewise).
    q, v : tree position and velocity coordinates of the independent positions and velocities.
    effort : tree velocity coordinates of the efforts.
    joint_rows : tree position and velocity coordinates of `joint_names`, one after the other.
    position_labels, velocity_labels, effort_labels : a name for each coordinate of q, v, effort.
    joint_labels, joint_rate_labels : a name for each position and velocity of `joint_names`.
    """

    joint_names: tuple[str, ...]
    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    actuated: tuple[str, ...]
    q: tuple[int, ...]
    v: tuple[int, ...]
    effort: tuple[int, ...]
    joint_rows: tuple[list[int], list[int]]
    position_labels: tuple[str, ...]
    velocity_labels: tuple[str, ...]
    effort_labels: tuple[str, ...]
    joint_labels: tuple[str, ...]
    joint_rate_labels: tuple[str, ...]

    @property
    def nq(self) -> int:
        """Number of independent position coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """Number of independent velocity coordinates."""
        return len(self.v)

    @functools.cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q the unit quaternions of floating joints begin."""
        return tuple(k for k, name in enumerate(self.position_labels) if name.endswith("/qx"))


def choose_coordinates(
    model: Model, floating_base: bool, independent: Sequence[str], actuated: Sequence[str]
) -> Coordinates:
    """The coordinates with the given joints independent and actuated."""
    slices = coordinates(model, floating_base)
    base = [BASE_JOINT] if floating_base else []
    movable = [joint.name for joint in model.joints if joint.nv]

    def rows(joints: Sequence[str], kind: int) -> list[int]:
        places = (slices[name][kind] for name in joints)
        return [row for place in places for row in range(place.start, place.stop)]

    def labels(joints: Sequence[str], kind: int) -> tuple[str, ...]:
        result = []
        for name in joints:
            type_ = "floating" if name == BASE_JOINT else model.joint(name).type
            for part in JOINT_COORDINATES[type_][kind]:
                result.append(f"{name}/{part}" if part else name)
        return tuple(result)

    free, driven = [*base, *independent], [*base, *actuated]
    return Coordinates(
        joint_names=tuple(movable),
        independent=tuple(independent),
        dependent=tuple(name for name in movable if name not in independent),
        actuated=tuple(actuated),
        q=tuple(rows(free, 0)),
        v=tuple(rows(free, 1)),
        effort=tuple(rows(driven, 1)),
        joint_rows=(rows(movable, 0), rows(movable, 1)),
        position_labels=labels(free, 0),
        velocity_labels=labels(free, 1),
        effort_labels=labels(driven, 1),
        joint_labels=labels(movable, 0),
        joint_rate_labels=labels(movable, 1),
    )
