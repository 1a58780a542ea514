"""Shapes of links without visuals: rods from joint to joint, and to the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.model import Array, Model
from ..colors import Color, color_of, rgb
from .visuals import Visual


@dataclass(frozen=True, eq=False)
class Bone:
    """A link without a shape: rods from its origin to `ends` (n, 3), m, in link axes."""

    link: str
    ends: Array
    color: Color


def skeleton(model: Model, visuals: tuple[Visual, ...]) -> tuple[Bone, ...]:
    """The links that are drawn as rods.

    Where something is drawn, these are the links with mass that are not; else all. Rods end at
    the joints to other links, at loops, and at the centre of mass where nothing else follows.
    """
    seen = {visual.link for visual in visuals}
    bones = []
    for k, link in enumerate(model.links):
        mass = link.inertia.mass if link.inertia is not None else 0.0
        if link.name in seen or (seen and not mass):
            continue
        ends = [joint.origin.translation for joint in model.joints if joint.parent == link.name]
        for loop in model.loops:
            if loop.predecessor == link.name:
                ends.append(loop.predecessor_frame.translation)
            if loop.successor == link.name:
                ends.append(loop.successor_frame.translation)
        if link.inertia is not None and mass and not any(np.any(end) for end in ends):
            ends.append(2 * link.inertia.center)
        bones.append(
            Bone(link.name, np.reshape([e for e in ends if np.any(e)], (-1, 3)),
                 (*rgb(color_of(k)), 1.0))
        )  # fmt: skip
    return tuple(bones)
