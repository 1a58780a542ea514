"""Nearly planar loops made exactly planar: what rounded numbers tilt is set straight.

An angle written as 1.5708 tilts an axis by 4e-6 rad, and a planar loop with such an axis has no
closed form. The axes of its joints are turned into place, and its closing frames with them, so
that the redundant rows repeat the others exactly. Whether a loop's tilts are rounding is not asked
here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..model.closing_types import Rotation, Translation
from ..model.model import Array, Loop, Model, Pose
from .clusters import PARALLEL_AXES, closures_on_bodies
from .tree import Tree

SINGLE_AXIS = {"revolute", "continuous", "prismatic"}
"""Types of joints whose axis a description may have tilted."""


@dataclass(frozen=True)
class Tilt:
    """A joint of a loop, and the angle (rad) by which its axis missed the plane."""

    loop: str
    joint: str
    angle: float

    def __str__(self) -> str:
        return f"joint {self.joint!r}" if self.joint else f"the closing joint of loop {self.loop!r}"


@dataclass
class _Plane:
    """Loops that share hinges, and so a plane: their names, hinges and slides."""

    loops: list[str] = field(default_factory=list)
    hinges: set[str] = field(default_factory=set)
    slides: set[str] = field(default_factory=set)


def set_straight(model: Model, tree: Tree, loops: Mapping[str, float]) -> tuple[Model, list[Tilt]]:
    """The model with those of the loops exactly planar that nearly are, and the tilts they had.

    loops : largest tilt (rad) of an axis that is set straight, by name of the loop.
    """
    places = _places(model)
    axes = {joint.name: places[joint.child].rotation @ joint.axis for joint in model.joints}
    loop_of = {loop.name: loop for loop in model.loops}
    straight: dict[str, Array] = {}
    closings: dict[str, Loop] = {}
    tilts: list[Tilt] = []
    for plane in _planes(model, tree, loops):
        fixed = [straight[name] for name in sorted(plane.slides) if name in straight]
        normal = _normal([axes[name] for name in sorted(plane.hinges)], fixed)
        most = min(loops[name] for name in plane.loops)
        if normal is None or any(abs(axes[name] @ normal) > most for name in plane.slides):
            continue
        wanted = {name: normal * np.copysign(1.0, axes[name] @ normal) for name in plane.hinges}
        for name in plane.slides - straight.keys():
            across = axes[name] - (axes[name] @ normal) * normal
            wanted[name] = across / np.linalg.norm(across)
        misses = {name: _sine(axes[name], axis) for name, axis in wanted.items()}
        if max(misses.values()) > most:
            continue
        straight |= wanted
        tilts += [
            Tilt(plane.loops[0], name, miss)
            for name, miss in misses.items()
            if miss > PARALLEL_AXES
        ]
        for name in plane.loops:
            closings[name], angle = _in_plane(places, loop_of[name], normal, most)
            if angle > PARALLEL_AXES:
                tilts.append(Tilt(name, "", angle))
    joints = tuple(
        replace(joint, axis=places[joint.child].rotation.T @ straight[joint.name])
        if joint.name in straight and _sine(axes[joint.name], straight[joint.name]) > PARALLEL_AXES
        else joint
        for joint in model.joints
    )
    if not tilts and not any(_moved(loop_of[name], loop) for name, loop in closings.items()):
        return model, []
    all_loops = tuple(closings.get(loop.name, loop) for loop in model.loops)
    return replace(model, joints=joints, loops=all_loops), tilts


def _planes(model: Model, tree: Tree, loops: Collection[str]) -> list[_Plane]:
    """The loops whose joints have single axes, those that share hinges together."""
    planes: list[_Plane] = []
    for closure in closures_on_bodies(model, tree):
        bodies = [tree.bodies[body] for body in closure.bodies]
        if closure.name not in loops or any(
            model.joint(body.joint).type not in SINGLE_AXIS for body in bodies
        ):
            continue
        hinges = {body.joint for body in bodies if body.motion.is_hinge}
        slides = {body.joint for body in bodies} - hinges
        if not hinges:
            continue
        plane = _Plane([closure.name], hinges, slides)
        for other in [other for other in planes if other.hinges & hinges]:
            planes.remove(other)
            plane.loops = other.loops + plane.loops
            plane.hinges |= other.hinges
            plane.slides |= other.slides
        planes.append(plane)
    return planes


def _normal(hinges: list[Array], slides: list[Array]) -> Array | None:
    """The direction nearest to all hinges, across slides that have their place already.

    It is that of one hinge where most have it exactly. None where no direction is near.
    """
    alike = [int(np.sum(_sines(axis, hinges) <= PARALLEL_AXES)) for axis in hinges]
    normal = hinges[int(np.argmax(alike))]
    if 2 * max(alike) <= len(hinges):
        normal = np.sum([one * np.sign(one @ normal) for one in hinges], axis=0)
    for slide in slides:
        normal = normal - (normal @ slide) * slide
    length = float(np.linalg.norm(normal))
    return None if length < 0.5 else normal / length


def _in_plane(
    places: Mapping[str, Pose], loop: Loop, normal: Array, most: float
) -> tuple[Loop, float]:
    """A loop whose closing frames are exactly in a plane across `normal`, all joints at zero.

    And the angle (rad) by which they were turned; none is turned by more than `most`.
    """
    carriers = places[loop.predecessor], places[loop.successor]
    one, two = carriers[0] @ loop.predecessor_frame, carriers[1] @ loop.successor_frame
    angle = 0.0
    if loop.closing.turn is Rotation.ABOUT:
        turn, angle = _onto(one.rotation @ loop.axis, normal, most)
        one = Pose(turn @ one.rotation, one.translation)
    if loop.closing.turn in (Rotation.ABOUT, Rotation.NOWHERE):
        turn, other = _onto(two.rotation @ one.rotation.T @ normal, normal, most)
        two, angle = Pose(turn @ two.rotation, two.translation), max(angle, other)
    if loop.closing.slide is Translation.NOWHERE:
        apart = (one.translation - two.translation) @ normal
        two = Pose(two.rotation, two.translation + apart * normal)
    straight = replace(
        loop,
        predecessor_frame=carriers[0].inverse() @ one,
        successor_frame=carriers[1].inverse() @ two,
    )
    return straight, angle


def _onto(axis: Array, normal: Array, most: float) -> tuple[Array, float]:
    """The shortest turn of a unit vector onto +-`normal`, and its angle, exact when small.

    None where they are so far apart that this is intended.
    """
    if _sine(axis, normal) > most:
        return np.eye(3), 0.0
    target = normal * np.sign(axis @ normal)
    turn = np.cross(axis, target)
    skew = np.array([[0, -turn[2], turn[1]], [turn[2], 0, -turn[0]], [-turn[1], turn[0], 0]])
    turned = np.eye(3) + skew + skew @ skew / (1 + axis @ target)
    return turned, float(np.linalg.norm(turn))


def _moved(loop: Loop, straight: Loop) -> bool:
    """Whether the closing frames of a loop have been moved across its plane by more than noise."""
    apart = straight.successor_frame.translation - loop.successor_frame.translation
    return float(np.abs(apart).max()) > PARALLEL_AXES


def _places(model: Model) -> dict[str, Pose]:
    """Poses of all links in the root link, all joints at zero."""
    places = {model.root: Pose()}
    for joint in model.joints:
        way = []
        while joint.child not in places:
            way.append(joint)
            if joint.parent in places:
                break
            above = model.joint_to(joint.parent)
            assert above is not None, "the links are a tree"
            joint = above
        for one in reversed(way):
            places[one.child] = places[one.parent] @ one.origin
    return places


def _sine(one: Array, other: Array) -> float:
    return float(np.linalg.norm(np.cross(one, other)))


def _sines(one: Array, others: list[Array]) -> Array:
    """Sines (N,) of the angles between unit vectors."""
    return np.linalg.norm(np.cross(one, others), axis=1)
