"""Joints of planar loops that rounded angles tilt out of the plane, such as rpy 1.5708.

A tilt of 4e-6 rad locks a planar loop, for no motion out of the plane makes up for it. The axes
that miss the plane are set straight; whether they need to be is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .clusters import PARALLEL_AXES, closures_on_bodies
from .model import Array, Model
from .tree import Tree

ROUNDED_JOINT_AXIS = 1e-4
"""Largest tilt (rad) of a joint that is taken for the rounding of an angle."""

SINGLE_AXIS = {"revolute", "continuous", "prismatic"}
"""Types of joints whose axis a description may have tilted."""


@dataclass(frozen=True)
class Tilt:
    """A joint of a loop, and the angle (rad) by which its axis misses what the loop needs."""

    loop: str
    joint: str
    angle: float

    def __str__(self) -> str:
        return (
            f"the axis of joint {self.joint!r} misses the plane of loop {self.loop!r} by "
            f"{self.angle:.2g} rad, which would lock the loop, and is set straight; write "
            "angles with all their digits (1.5707963267948966, not 1.5708)"
        )


def set_straight(model: Model, tree: Tree) -> tuple[Model, list[Tilt]]:
    """The model with the axes of nearly planar loops exactly in place, and what was changed."""
    axes = {joint.name: joint.axis for joint in model.joints}
    settled: set[str] = set()  # joints that an earlier loop has looked at
    tilts = []
    for closure in closures_on_bodies(model, tree):
        bodies = {tree.bodies[body].joint: tree.bodies[body] for body in closure.bodies}
        if not {model.joint(name).type for name in bodies} <= SINGLE_AXIS:
            continue
        turns = {name: _turn(model, body.name) for name, body in bodies.items()}
        now = {name: turn @ axes[name] for name, turn in turns.items()}
        hinges = [name for name, body in bodies.items() if body.motion.is_hinge]
        if not hinges:
            continue
        votes = [now[name] for name in hinges] + _closing_axes(model, closure.name)
        fixed = [now[name] for name in hinges if name in settled]
        normal = max(
            fixed or votes, key=lambda axis: sum(_sine(axis, one) <= PARALLEL_AXES for one in votes)
        )
        misses = {
            name: body.motion.leaves_plane(now[name], normal) for name, body in bodies.items()
        }
        if not PARALLEL_AXES < max(misses.values()) <= ROUNDED_JOINT_AXIS:
            continue
        for name, miss in misses.items():
            settled.add(name)
            if miss > PARALLEL_AXES:
                straight = normal * np.sign(now[name] @ normal)
                if name not in hinges:
                    straight = now[name] - (now[name] @ normal) * normal
                    straight = straight / np.linalg.norm(straight)
                axes[name] = turns[name].T @ straight
                tilts.append(Tilt(closure.name, name, miss))
    if not tilts:
        return model, []
    changed = {tilt.joint for tilt in tilts}
    joints = tuple(
        replace(joint, axis=axes[joint.name]) if joint.name in changed else joint
        for joint in model.joints
    )
    return replace(model, joints=joints), tilts


def _turn(model: Model, link: str) -> Array:
    """Rotation (3, 3) of a link in the root link, all joints at zero."""
    rotation = np.eye(3)
    while (joint := model.joint_to(link)) is not None:
        rotation = joint.origin.rotation @ rotation
        link = joint.parent
    return rotation


def _closing_axes(model: Model, name: str) -> list[Array]:
    """The closing pin's axis as both ends have it, in the root link at zero."""
    loop = next(loop for loop in model.loops if loop.name == name)
    if not loop.closing.is_hinge:
        return []
    return [
        _turn(model, link) @ frame.rotation @ loop.axis
        for link, frame in (
            (loop.predecessor, loop.predecessor_frame),
            (loop.successor, loop.successor_frame),
        )
    ]


def _sine(one: Array, other: Array) -> float:
    return float(np.linalg.norm(np.cross(one, other)))
