"""Yaw, pitch and roll where a quarter turn of pitch makes yaw and roll one: gimbal lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ..equations.system import System
from ..errors import ModelError
from ..model.model import Array
from ..model.pose import rotation_from_rpy
from ..prepare.clusters import Cluster
from ..prepare.tree import Body, Tree

UPRIGHT = 0.3
"""Cosine of a pitch at home under which the turns of its joint are counted from home."""


class QuarterPitchError(ModelError):
    """At home the pitch of the joint `joint` is near a quarter turn; `rotation` is its turn."""

    def __init__(self, joint: str, rotation: Array) -> None:
        super().__init__(f"the pitch of joint {joint!r} is near a quarter turn")
        self.joint, self.rotation = joint, rotation


def pitches(system: System, cluster: Cluster) -> list[tuple[int, int]]:
    """Tree positions of the yaw and the pitch of all links of a cluster that turn freely."""
    bodies = system.tree.bodies
    return [
        (bodies[bodies[index].parent].q.start, bodies[index].q.start)
        for index in cluster.coupled
        if is_pitch(bodies[index])
    ]


def is_pitch(body: Body) -> bool:
    """Whether a body moves by the pitch of a joint that was split."""
    return body.part_of is not None and body.joint == f"{body.part_of}/pitch"


def check_pitches(
    what: str, tree: Tree, closed: Mapping[int, float], home: Collection[int]
) -> None:
    """Refuse yaw, pitch and roll near a quarter turn of pitch, where two of them are one turn.

    Parameters
    ----------
    what : begins messages.
    closed : positions by body at home; `home` : the bodies whose positions were named.

    Raises
    ------
    QuarterPitchError
        The turns can be counted from home instead.
    ModelError
        They cannot, because home names them.
    """
    for index, position in closed.items():
        body = tree.bodies[index]
        if body.part_of is None or not is_pitch(body) or abs(np.cos(position)) >= UPRIGHT:
            continue
        turns = [tree.bodies[index].parent, index, *tree.children(index)[:1]]
        if named := [tree.bodies[k].joint for k in turns if k in home]:
            raise ModelError(
                f"{what}: at home joint {body.part_of!r} has a pitch near a quarter turn, where "
                f"yaw and roll are one. Turn its frame by its <origin>, or leave {named[0]!r} out "
                "of home: its turns are then counted from home"
            )
        yaw, pitch, roll = (float(closed[k]) for k in turns)
        raise QuarterPitchError(body.part_of, np.array(rotation_from_rpy(roll, pitch, yaw)))
