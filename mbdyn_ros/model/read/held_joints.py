"""Joints that close a loop and have a position of their own, such as a screw.

They end in a link of no mass, which a fixed loop holds to the link that they close to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..closing_types import CLOSING_TYPES
from ..joints import JOINT_TYPES, JointType
from ..model import Array, Joint, Link, Loop, Pose


@dataclass(frozen=True, eq=False)
class HeldJoint:
    """A joint from its parent to its child, which another joint carries; `frame` is in the child.

    `joint`, `link` and `loop` replace it; the latter two are called `name/end`.
    """

    written: Joint
    frame: Pose = Pose()

    @property
    def end(self) -> str:
        """The name of its link and of its loop."""
        return f"{self.name}/end"

    @property
    def name(self) -> str:
        """The name by which it is written."""
        return self.written.name

    @property
    def line(self) -> int | None:
        """Where it is written."""
        return self.written.line

    @property
    def joint(self) -> Joint:
        """The joint, to a link of its own."""
        return replace(self.written, child=self.end)

    @property
    def link(self) -> Link:
        """The link of no mass in which it ends."""
        return Link(self.end, line=self.line)

    @property
    def loop(self) -> Loop:
        """The loop that holds its end to the child."""
        return Loop(
            name=self.end, type="fixed", predecessor=self.end, successor=self.written.child,
            successor_frame=self.frame, line=self.line,
        )  # fmt: skip

    @property
    def written_loop(self) -> Loop:
        """A loop between the links that the description names, for checks."""
        return Loop(
            self.name, "fixed", self.written.parent, self.written.child,
            line=self.line,
        )  # fmt: skip


def held_type(name: str | None) -> JointType | None:
    """The type of joint that closes a loop only with a position of its own; else None."""
    kind = JOINT_TYPES.get(name or "")
    return kind if kind is not None and kind.nv == 1 and name not in CLOSING_TYPES else None


def held_loop(
    kind: JointType, name: str, ends: Sequence[str], frames: Sequence[Pose], axis: Array,
    numbers: Mapping[str, float], line: int | None,
) -> HeldJoint:  # fmt: skip
    """The joint of a `<loop>` of that type; `ends` and `frames` of predecessor and successor."""
    joint = Joint(name, kind.name, ends[0], ends[1], frames[0], axis, line=line, numbers=numbers)
    return HeldJoint(joint, frames[1])


def held_joints(cut: Sequence[Joint], needed: Collection[str]) -> list[HeldJoint]:
    """The cut joints that keep a position: `needed` ones, and types that close no loop."""
    return [
        HeldJoint(joint)
        for joint in cut
        if joint.nv and (joint.name in needed or joint.type not in CLOSING_TYPES)
    ]
