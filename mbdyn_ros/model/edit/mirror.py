"""Mirror images of robots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..model import Array, Inertia, Joint, Loop, Model, Pose
from ..shapes import Collision, Mesh
from ..split_joints import whole_joints
from .parts import split_where_named, untouched
from .placing import direction

AnyShape = TypeVar("AnyShape", bound=Collision)


def mirrored(model: Model, normal: Sequence[float] = (0.0, 1.0, 0.0)) -> Model:
    """The mirror image of a robot, in the plane through its root link's origin.

    Parameters
    ----------
    normal : of the plane, in the root link's axes; (0, 1, 0) makes a left arm of a right one.

    Notes
    -----
    Frames stay right-handed: every link's axes are the image's, with the direction along the
    normal (in its own axes) turned round. Positions, velocities and efforts mean the same: the
    image of a motion has the same numbers, except for floating joints and a floating base, whose
    places and turns are mirrored.
    """
    model = whole_joints(model)
    n = direction(model.source, "normal", normal)
    image = np.eye(3) - 2 * np.outer(n, n)
    flip = {link.name: image for link in model.links}
    flip |= {joint.child: _flip_of(joint, image) for joint in model.joints}

    def moved(pose: Pose, link: str, inner: Array) -> Pose:
        return Pose(flip[link] @ pose.rotation @ inner, flip[link] @ pose.translation)

    def drawn(shape: AnyShape, link: str) -> AnyShape:
        if not isinstance(shape.geometry, Mesh):  # all others are their own images in a point
            return replace(shape, origin=moved(shape.origin, link, -np.eye(3)))
        x, y, z = shape.geometry.scale
        mesh = replace(shape.geometry, scale=(-x, y, z))
        return replace(
            shape, geometry=mesh, origin=moved(shape.origin, link, np.diag([-1.0, 1.0, 1.0]))
        )

    def looped(loop: Loop) -> Loop:
        bends = loop.closing.name == "universal"
        inner = -np.eye(3) if bends else image
        return replace(
            loop,
            predecessor_frame=moved(loop.predecessor_frame, loop.predecessor, inner),
            successor_frame=moved(loop.successor_frame, loop.successor, inner),
            axis=loop.axis if bends else image @ loop.axis,
        )

    return split_where_named(
        replace(
            model,
            links=tuple(
                replace(
                    link,
                    inertia=link.inertia and _image(link.inertia, flip[link.name]),
                    visuals=tuple(drawn(one, link.name) for one in link.visuals),
                    collisions=tuple(drawn(one, link.name) for one in link.collisions),
                )
                for link in model.links
            ),
            joints=tuple(
                replace(
                    joint,
                    origin=moved(joint.origin, joint.parent, flip[joint.child]),
                    axis=_image_axis(joint, flip[joint.child]),
                    numbers={key: -value for key, value in joint.numbers.items()},
                )
                for joint in model.joints
            ),
            loops=tuple(map(looped, model.loops)),
            warnings=(*model.warnings, *untouched(model, "not mirrored")),
        )
    )


def _flip_of(joint: Joint, image: Array) -> Array:
    """The reflection of the child's axes by which the joint's coordinates stay as they are."""
    if joint.type == "planar":
        return np.eye(3) - 2 * np.outer(joint.axis, joint.axis)
    return -np.eye(3) if joint.type in ("universal", "spherical") else image


def _image_axis(joint: Joint, flip: Array) -> Array:
    """A reflection reverses the sense of rotations about an axis, but not of slides along it."""
    if not joint.kind.has_axis:
        return joint.axis
    image: Array = flip @ joint.axis
    return image if joint.type == "prismatic" else -image


def _image(inertia: Inertia, flip: Array) -> Inertia:
    return Inertia(inertia.mass, flip @ inertia.center, flip @ inertia.moments @ flip)
