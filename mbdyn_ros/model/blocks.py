"""Where the coordinates of joints stand when they follow one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .joints import JointType, Motion
from .model import Joint


@dataclass(frozen=True)
class Block:
    """Where one joint's positions and velocities stand among those of several joints."""

    joint: str
    kind: JointType
    q: slice
    v: slice

    def motions(self) -> Iterator[tuple[Motion, slice, slice]]:
        """The motions of its joint's type, outwards, and where the coordinates of each stand."""
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


def joint_blocks(joints: Iterable[Joint]) -> dict[str, Block]:
    """The coordinates of every joint that has some, one joint after the other."""
    result = {}
    iq, iv = 0, 0
    for joint in joints:
        kind = joint.kind
        if kind.nv:
            q, v = slice(iq, iq + kind.nq), slice(iv, iv + kind.nv)
            result[joint.name] = Block(joint.name, kind, q, v)
            iq, iv = q.stop, v.stop
    return result


def scalar_motions(blocks: Mapping[str, Block]) -> tuple[list[str], list[int], list[int]]:
    """Labels of joints of one coordinate and of hinges in a row; rows of positions and velocities.

    A universal joint is two hinges in a row. A planar joint stands for itself: no message of
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
