"""Robots of another size, and mirror images."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from lxml import etree

from ...errors import InputError
from ..actuators import Transmission
from ..foreign import Foreign
from ..model import (
    Array,
    Combination,
    Coupling,
    Inertia,
    Joint,
    Link,
    Loop,
    Mimic,
    Model,
    Pose,
    factors_of,
)
from ..read.transmissions import REDUCTIONS
from ..shapes import Box, Collision, Cylinder, Ellipsoid, Geometry, Mesh, Sphere
from ..split_joints import parts, whole_joints
from .parts import direction, split_where_named, untouched

AnyShape = TypeVar("AnyShape", bound=Collision)


MOST_SCALE = 1e12
"""Largest factor of lengths, and of 1 over them: beyond it products of inertias overflow."""


@dataclass(frozen=True)
class _Law:
    """Factors of all numbers. A time is the root of a length: gravity stays."""

    length: float
    mass: float

    @property
    def time(self) -> float:
        return math.sqrt(self.length)

    def position(self, slides: bool) -> float:
        """Of a coordinate that slides, or turns."""
        return self.length if slides else 1.0

    def effort(self, slides: bool) -> float:
        """Forces scale as weights do."""
        return self.mass * (1.0 if slides else self.length)


def scaled(model: Model, length: float, mass: float | None = None) -> Model:
    """The robot with all lengths multiplied by `length`, and all masses by `mass`.

    By default masses go with length^3: the material stays. Everything else follows from gravity
    staying as it is (Froude's similarity): times go with the root of lengths, moments of inertia
    with mass length^2, forces with mass, moments of forces with mass length, speeds with the root
    of length and angular ones with its inverse; damping, dry friction, armature, springs and
    limits are those that belong to them. So the large robot moves as the small one does in time
    made longer.

    Raises
    ------
    InputError
        A factor is not above 0; the robot has actuators; or a joint of several coordinates, of
        which some slide and others turn, has damping, friction or an armature, which is one number
        for all.
    """
    if model.actuators:
        raise InputError(
            f"{model.source}: actuator {model.actuators[0].name!r} has the size that it has: "
            "atmosphere, oil and windings do not follow the law of the rest; scale the robot "
            "without its actuators, and give those of the other one in a side-car file"
        )
    length = _factor(model, "length", length, MOST_SCALE)
    law = _Law(length, _factor(model, "mass", length**3 if mass is None else mass, MOST_SCALE**3))
    model = whole_joints(model)
    slides = _sliding(model)
    return split_where_named(
        replace(
            model,
            links=tuple(_scaled_link(link, law) for link in model.links),
            joints=tuple(_scaled_joint(model, joint, law, slides) for joint in model.joints),
            loops=tuple(
                replace(
                    loop,
                    predecessor_frame=_longer(loop.predecessor_frame, law.length),
                    successor_frame=_longer(loop.successor_frame, law.length),
                )
                for loop in model.loops
            ),
            transmissions=tuple(
                _scaled_transmission(one, law, slides) for one in model.transmissions
            ),
            couplings=tuple(_scaled_coupling(model, one, law, slides) for one in model.couplings),
            home=_scaled_home(model.home, law, slides),
            homes={name: _scaled_home(home, law, slides) for name, home in model.homes.items()},
            foreign=tuple(_scaled_foreign(one, law, slides) for one in model.foreign),
            warnings=(*model.warnings, *untouched(model, "not scaled")),
        )
    )


def _factor(model: Model, what: str, value: float, largest: float) -> float:
    if not (isinstance(value, (int, float)) and 1 / largest <= value <= largest):
        raise InputError(
            f"{model.source}: the factor of {what} is {value!r}; it must be above 0, between "
            f"{1 / largest:g} and {largest:g}"
        )
    return float(value)


def _sliding(model: Model) -> dict[str, bool]:
    """Whether a coordinate slides, by the name of its joint or part."""
    found = {}
    for joint in model.joints:
        for name, step in zip(parts(joint) or [joint.name], joint.kind.single_steps, strict=False):
            found[name] = step.motion.slides
    return found


def _longer(pose: Pose, factor: float) -> Pose:
    return Pose(pose.rotation, factor * pose.translation)


def _scaled_link(link: Link, law: _Law) -> Link:
    inertia = link.inertia and Inertia(
        law.mass * link.inertia.mass,
        law.length * link.inertia.center,
        law.mass * law.length**2 * link.inertia.moments,
    )
    shaped = _shaped(law.length)
    return replace(
        link,
        inertia=inertia,
        visuals=tuple(map(shaped, link.visuals)),
        collisions=tuple(map(shaped, link.collisions)),
    )


def _shaped(factor: float) -> Callable[[AnyShape], AnyShape]:
    def larger(shape: AnyShape) -> AnyShape:
        geometry = shape.geometry and _larger(shape.geometry, factor)
        return replace(shape, geometry=geometry, origin=_longer(shape.origin, factor))

    return larger


def _larger(geometry: Geometry, factor: float) -> Geometry:
    match geometry:
        case Box(size):
            return Box(tuple(factor * edge for edge in size))
        case Cylinder(radius, length):  # and a capsule
            return replace(geometry, radius=factor * radius, length=factor * length)
        case Sphere(radius):
            return Sphere(factor * radius)
        case Ellipsoid(half_axes):
            return Ellipsoid(tuple(factor * one for one in half_axes))
        case Mesh(file, scale):
            return Mesh(file, tuple(factor * one for one in scale))


def _scaled_joint(model: Model, joint: Joint, law: _Law, slides: Mapping[str, bool]) -> Joint:
    origin = _longer(joint.origin, law.length)
    numbers = {key: law.length * value for key, value in joint.numbers.items()}
    ways = {step.motion.slides for step in joint.kind.steps}
    acting = joint.damping or joint.friction or joint.armature or joint.spring_stiffness
    if len(ways) > 1 and acting:
        raise InputError(
            f"{model.source}: joint {joint.name!r} is {joint.type}: its damping, friction and "
            "armature are one number for ways and angles, which scale differently; write it as "
            "joints of one coordinate, or set them to 0 (with_joint) and again afterwards"
        )
    if not ways:
        return replace(joint, origin=origin)
    slide = True in ways
    position, effort = law.position(slide), law.effort(slide)
    limits = replace(
        joint.limits,
        lower=position * joint.limits.lower,
        upper=position * joint.limits.upper,
        velocity=position / law.time * joint.limits.velocity,
        effort=effort * joint.limits.effort,
    )
    mimic = joint.mimic and Mimic(
        joint.mimic.joint,
        joint.mimic.multiplier * position / law.position(slides[joint.mimic.joint]),
        joint.mimic.offset * position,
    )
    return replace(
        joint,
        origin=origin,
        numbers=numbers,
        limits=limits,
        mimic=mimic,
        damping=effort * law.time / position * joint.damping,
        friction=effort * joint.friction,
        armature=effort * law.time**2 / position * joint.armature,
        spring_stiffness=effort / position * joint.spring_stiffness,
        spring_reference=position * joint.spring_reference,
    )


def _scaled_transmission(one: Transmission, law: _Law, slides: Mapping[str, bool]) -> Transmission:
    """Motors turn as before, joints go further."""
    ways = np.array([law.position(slides[joint]) for joint in one.joints])
    return replace(one, rates=one.rates / ways)


def _scaled_coupling(
    model: Model, coupling: Coupling | Combination, law: _Law, slides: Mapping[str, bool]
) -> Coupling | Combination:
    ways = {name: law.position(slides[name]) for name, _ in factors_of(model, coupling)}
    if isinstance(coupling, Coupling):
        inner = [name for name, factor in factors_of(model, coupling) if factor != 1.0]
        outer = [name for name in ways if name not in inner]
        if not inner or not outer:
            return coupling
        return replace(coupling, ratio=coupling.ratio * ways[outer[0]] / ways[inner[0]])
    if coupling.laws:
        raise InputError(
            f"{model.source}: {coupling.name!r} has a motion given in time, which is not scaled; "
            "leave that body out"
        )
    unit = ways[coupling.factors[0][0]]
    factors = tuple((name, factor * unit / ways[name]) for name, factor in coupling.factors)
    powers = tuple(
        (name, tuple(one * unit / ways[name] ** k for k, one in enumerate(more, start=2)))
        for name, more in coupling.powers
    )
    return replace(coupling, factors=factors, offset=coupling.offset * unit, powers=powers)


def _scaled_foreign(one: Foreign, law: _Law, slides: Mapping[str, bool]) -> Foreign:
    """An element for other programs, reductions of simple transmissions as their joints' ways."""
    element, changed = one.element(), False
    for transmission in element.iter("transmission"):
        joints = [joint.get("name", "") for joint in transmission.iterchildren("joint")]
        if len(joints) != 1 or not slides.get(joints[0], False):
            continue
        reduction = next(transmission.iter(*REDUCTIONS), None)
        if reduction is None:
            reduction = etree.SubElement(transmission, REDUCTIONS[0])
        reduction.text = repr(float(reduction.text or 1.0) / law.length)
        changed = True
    return replace(one, text=etree.tostring(element, encoding="unicode")) if changed else one


def _scaled_home(
    home: Mapping[str, float], law: _Law, slides: Mapping[str, bool]
) -> dict[str, float]:
    return {name: law.position(slides[name]) * position for name, position in home.items()}


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
