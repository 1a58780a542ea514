"""Which coordinates move a robot: independent, dependent and actuated joints; names and rates."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..array import Array
from ..errors import ModelError
from ..model.joints.types import JointType, MotionType
from ..model.model import BASE_JOINT, Joint, Model


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Names of the joints, and the places of their coordinates in those of the spanning tree.

    joint_names : every movable joint of the description, in document order.
    independent, dependent, actuated : subsets of it; `independent` orders q, v and a (after
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
    blocks: Mapping[str, JointBlock]
    joint_blocks: Mapping[str, JointBlock]
    effort_blocks: Mapping[str, JointBlock]
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
    def motions(self) -> tuple[tuple[MotionType, slice, slice], ...]:
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

    def rows(blocks: Mapping[str, JointBlock], kind: int) -> list[int]:
        places = ((in_tree[name].q, in_tree[name].v)[kind] for name in blocks)
        return [row for place in places for row in range(place.start, place.stop)]

    def labels(blocks: Mapping[str, JointBlock], kind: int) -> tuple[str, ...]:
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


@dataclass(frozen=True)
class JointBlock:
    """The places of one joint's positions and velocities among those of several joints."""

    joint: str
    kind: JointType
    q: slice
    v: slice

    def motions(self) -> Iterator[tuple[MotionType, slice, slice]]:
        """The motions of its joint's type, outwards, and the places of the coordinates of each."""
        iq, iv = self.q.start, self.v.start
        for step in self.kind.steps:
            q, v = slice(iq, iq + step.motion.nq), slice(iv, iv + step.motion.nv)
            yield step.motion, q, v
            iq, iv = q.stop, v.stop

    def labels(self) -> tuple[list[str], list[str]]:
        """A name for each position and each velocity: the joint's, or "joint/part"."""
        positions, velocities = (
            [f"{self.joint}/{part.name}" if part.name else self.joint for part in parts]
            for parts in (self.kind.positions, self.kind.velocities)
        )
        return positions, velocities


def joint_blocks(joints: Iterable[Joint]) -> dict[str, JointBlock]:
    """The coordinates of every joint that has some, one joint after the other."""
    result = {}
    iq, iv = 0, 0
    for joint in joints:
        kind = joint.kind
        if kind.nv:
            q, v = slice(iq, iq + kind.nq), slice(iv, iv + kind.nv)
            result[joint.name] = JointBlock(joint.name, kind, q, v)
            iq, iv = q.stop, v.stop
    return result


def scalar_motions(blocks: Mapping[str, JointBlock]) -> tuple[list[str], list[int], list[int]]:
    """Labels of joints of one coordinate and of hinges in a row; rows of positions and velocities.

    A universal joint is two hinges in a row. A planar joint is kept: no message of
    joint states is expected to take it apart.
    """
    labels: list[str] = []
    rows_q: list[int] = []
    rows_v: list[int] = []
    for block in blocks.values():
        if block.kind.nq == 1 or all(motion.is_hinge for motion, _, _ in block.motions()):
            labels += block.labels()[0]
            rows_q += range(block.q.start, block.q.stop)
            rows_v += range(block.v.start, block.v.stop)
    return labels, rows_q, rows_v


def base_joint(model: Model) -> Joint:
    """The joint between the world and the root link of a floating base."""
    return Joint(BASE_JOINT, "floating", "", model.root)


def coordinates(model: Model, floating_base: bool) -> dict[str, JointBlock]:
    """The tree coordinates of every movable joint, in document order, the base's first.

    Raises
    ------
    ModelError
        The base floats, and a joint of the model that moves has the name of the base's.
    """
    if not floating_base:
        return joint_blocks(model.joints)
    if any(joint.name == BASE_JOINT and joint.nv for joint in model.joints):
        raise ModelError(
            f"{model.source}: joint {BASE_JOINT!r} has the name by which the joint of a floating "
            "base is known; rename it"
        )
    return joint_blocks([base_joint(model), *model.joints])


SHORTEST_QUATERNION = 1e-6
"""Length below which a quaternion has no direction."""


class PositionRate:
    """The map from v to the rate of q: q' = v, except for quaternions; see `MotionType.rate`."""

    def __init__(self, coordinates: Coordinates) -> None:
        self.turning = [place for place in coordinates.motions if place[0].quaternion is not None]
        self._quaternions = coordinates.quaternions
        turned_q = [k for _, iq, _ in self.turning for k in range(iq.start, iq.stop)]
        turned_v = [k for _, _, iv in self.turning for k in range(iv.start, iv.stop)]
        self._in_q = np.setdiff1d(np.arange(coordinates.nq), turned_q)
        self._in_v = np.setdiff1d(np.arange(coordinates.nv), turned_v)

    def __call__(self, q: Array, v: Array, rate: Array) -> None:
        """Write the rate of q (nq,) at the velocity v (nv,)."""
        if not self.turning:
            rate[:] = v
            return
        rate[self._in_q] = v[self._in_v]
        for motion, iq, iv in self.turning:
            rate[iq] = motion.rate(q[iq].tolist(), v[iv].tolist())

    def between(self, start: Array, end: Array, span: float, mean: Array) -> None:
        """Put into `mean` (nv,) the mean velocities from one q (nq,) to another in a span (s).

        Those of what turns by quaternions are left as they are.
        """
        mean[self._in_v] = (end[self._in_q] - start[self._in_q]) / span

    def normalize(self, q: Array) -> None:
        """Give the quaternions in q (nq,) or (N, nq) unit length, in place.

        Those that are too short to have a direction are left as they are.
        """
        for start in self._quaternions:
            quaternion = q[..., start : start + 4]
            length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
            quaternion /= np.where(length < SHORTEST_QUATERNION, 1.0, length)
