"""Which coordinates move a robot: independent, dependent and actuated joints, and their names."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .blocks import Block, joint_blocks
from .joints import Motion
from .model import Model
from .tree import base_joint, coordinates


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Names of the joints, and where their coordinates stand in those of the spanning tree.

    joint_names : every movable joint of the description, in document order.
    independent, dependent, actuated : subsets of it; `independent` orders q, v and a (behind
        the base's coordinates of a floating base), `actuated` orders the efforts (likewise).
    blocks : where each independent joint's coordinates are in q and v, the base first.
    joint_blocks : where those of `joint_names` are in the positions and velocities of all joints.
    effort_blocks : where those of the actuated joints are in the efforts (`v`), the base first.
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
    blocks: Mapping[str, Block]
    joint_blocks: Mapping[str, Block]
    effort_blocks: Mapping[str, Block]
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
    def motions(self) -> tuple[tuple[Motion, slice, slice], ...]:
        """The motions of the independent joints, and where their coordinates are in q and v."""
        return tuple(motion for block in self.blocks.values() for motion in block.motions())

    @functools.cached_property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q unit quaternions begin; without any, the rates of q are v."""
        return tuple(
            q.start + motion.quaternion
            for motion, q, _ in self.motions
            if motion.quaternion is not None
        )


def choose_coordinates(
    model: Model, floating_base: bool, independent: Sequence[str], actuated: Sequence[str]
) -> Coordinates:
    """The coordinates with the given joints independent and actuated."""
    in_tree = coordinates(model, floating_base)
    base = [base_joint(model)] if floating_base else []
    movable = [joint for joint in model.joints if joint.nv]
    every = joint_blocks(movable)
    free, driven = (
        joint_blocks([*base, *map(model.joint, names)]) for names in (independent, actuated)
    )

    def rows(blocks: Mapping[str, Block], kind: int) -> list[int]:
        places = ((in_tree[name].q, in_tree[name].v)[kind] for name in blocks)
        return [row for place in places for row in range(place.start, place.stop)]

    def labels(blocks: Mapping[str, Block], kind: int) -> tuple[str, ...]:
        return tuple(label for block in blocks.values() for label in block.labels()[kind])

    return Coordinates(
        joint_names=tuple(every),
        independent=tuple(independent),
        dependent=tuple(name for name in every if name not in independent),
        actuated=tuple(actuated),
        blocks=free,
        joint_blocks=every,
        effort_blocks=driven,
        q=tuple(rows(free, 0)),
        v=tuple(rows(free, 1)),
        effort=tuple(rows(driven, 1)),
        joint_rows=(rows(every, 0), rows(every, 1)),
        position_labels=labels(free, 0),
        velocity_labels=labels(free, 1),
        effort_labels=labels(driven, 1),
        joint_labels=labels(every, 0),
        joint_rate_labels=labels(every, 1),
    )
