"""Bodies whose motion is given as a function of time: elevators, shaking tables, press plates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arguments import single_vector
from ..array import Array, NoNumbers, as_numbers
from ..errors import InputError, shown
from ..model.model import GIVEN, Combination, Joint, Link, Model
from ..model.motion_law import MotionLaw, Rise, Sine
from ..model.pose import constant
from ..model.shapes import Box, Collision, Cylinder, Ellipsoid, Geometry, Sphere, Visual
from ..robot import Robot
from .contact.surfaces import XYZ, number_within

STEPS_A_TURN = 8
"""Steps that a period, or the way from one waypoint to the next, takes at least."""


@dataclass(frozen=True, eq=False)
class GivenMotion:
    """A given motion along or about an axis through the origin of a body (rheonomic constraint).

    Make it by `steady`, `sine` or `waypoints`. Each takes `along`, the direction (3,) of a slide,
    or `about`, the axis (3,) of a turn, in the axes in which the body is put into its world;
    without both it slides along z.

    axis : (3,), a unit vector. turns : whether the body turns about it.
    start, speed : position (m or rad) at time 0 and steady velocity. laws : of time, added to that.

    Examples
    --------
    >>> import mbdyn_ros
    >>> from mbdyn_ros.model.shapes import Box
    >>> world = mbdyn_ros.World()
    >>> lift = mbdyn_ros.GivenMotion.waypoints([0, 2], [0, 1.5])
    >>> world.add("lift", Box((1, 1, 0.1)), motion=lift)
    >>> world.add("box", Box((0.2, 0.2, 0.2)), mass=3, xyz=(0, 0, 0.15))
    >>> stepper = world.stepper(1e-3)
    >>> stepper.advance(2000)
    >>> print(round(world.robot.frame_pose(stepper.q, "box")[2, 3], 6))
    1.65
    """

    axis: Array
    turns: bool
    start: float = 0.0
    speed: float = 0.0
    laws: tuple[MotionLaw, ...] = ()

    @classmethod
    def steady(
        cls, speed: float, along: Sequence[float] | None = None,
        about: Sequence[float] | None = None,
    ) -> GivenMotion:  # fmt: skip
        """At a constant velocity (m/s or rad/s)."""
        motion = _at_rest(along, about)
        return replace(motion, speed=float(_numbers("speed", speed)))

    @classmethod
    def sine(
        cls, amplitude: float, frequency: float, phase: float = 0.0,
        along: Sequence[float] | None = None, about: Sequence[float] | None = None,
    ) -> GivenMotion:  # fmt: skip
        """amplitude sin(2 pi frequency t + phase), of m or rad, Hz and rad."""
        motion, most = _at_rest(along, about), np.inf
        rate = 2 * np.pi * number_within("frequency", frequency, most, "of Hz, 0 or more")
        size, start = float(_numbers("amplitude", amplitude)), float(_numbers("phase", phase))
        return replace(motion, laws=(Sine(size, rate, start),))

    @classmethod
    def waypoints(
        cls, times: Sequence[float], positions: Sequence[float],
        along: Sequence[float] | None = None, about: Sequence[float] | None = None,
    ) -> GivenMotion:  # fmt: skip
        """From rest to rest between positions (m or rad) at rising times (s), with least jerk."""
        motion = _at_rest(along, about)
        t, x = _numbers("times", times, 1), _numbers("positions", positions, 1)
        if len(t) != len(x) or not len(t):
            raise InputError(f"there are {len(t)} times and {len(x)} positions; give pairs")
        for one, next_one in pairwise(t.tolist()):
            if next_one <= one:
                raise InputError(f"times must rise; {next_one:g} s comes after {one:g} s")
        rises = zip(np.diff(x).tolist(), t.tolist(), np.diff(t).tolist(), strict=False)
        return replace(motion, start=float(x[0]), laws=tuple(Rise(*one) for one in rises if one[0]))


def _at_rest(along: Sequence[float] | None, about: Sequence[float] | None) -> GivenMotion:
    if along is not None and about is not None:
        raise InputError("a motion is along an axis or about it; give one of both")
    what, given = ("along", along) if about is None else ("about", about)
    axis = single_vector(what, (0.0, 0.0, 1.0) if given is None else given, XYZ)
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise InputError(f"{what} is {axis.tolist()}: it has no direction")
    return GivenMotion(constant(axis / length, (3,)), about is not None)


def _numbers(what: str, value: object, axes: int = 0) -> Array:
    """Finite numbers: one, or a list of them."""
    try:
        numbers = as_numbers(value)
    except NoNumbers:
        numbers = np.zeros((0, 0))
    if numbers.ndim != axes or not np.isfinite(numbers).all():
        kind = "a list of finite numbers" if axes else "a finite number"
        raise InputError(f"{what} must be {kind}; it is {shown(value)}")
    return numbers


def moving_body(name: str, shape: Geometry, motions: Sequence[GivenMotion]) -> Model:
    """The model of a body of one shape that makes given motions, outwards, one after the other.

    Its one independent coordinate is the time (s) of the motions, `NAME_time`, whose velocity
    nothing changes: 1 where they go on as given.
    """
    clock, root = f"{name}_time", f"{name}_base"
    links, joints, couplings = [Link(root), Link(clock)], [], []
    joints.append(Joint(clock, "prismatic", root, clock, armature=GIVEN))
    for k, motion in enumerate(motions, start=1):
        if not motion.speed and not motion.laws:
            raise InputError(f"{name}: motion {k} stays where it is; place the shape there instead")
        last = k == len(motions)
        way, child = f"{name}_motion_{k}", name if last else f"{name}_{k}"
        kind = "continuous" if motion.turns else "prismatic"
        joints.append(Joint(way, kind, links[-1].name if k > 1 else root, child, axis=motion.axis))
        links.append(Link(child))
        laws = tuple((clock, law.scaled(-1.0)) for law in motion.laws)
        factors = ((way, 1.0), (clock, -motion.speed))
        couplings.append(Combination(way, factors, motion.start, laws=laws))
    links[-1] = Link(name, collisions=(Collision(shape),), visuals=(Visual(shape),))
    return Model(name, root, tuple(links), tuple(joints), couplings=tuple(couplings), actuated=())


def refuse_unseen(robot: Robot, step: float) -> None:
    """Refuse given motions that are too fast to be seen in steps of this length (s).

    Raises
    ------
    InputError
        A body moves further in a step than it is thick, or to and fro in a few steps; by name.
    """
    model = robot.model
    speeds: dict[str, float] = {}
    for coupling in model.couplings:
        if not isinstance(coupling, Combination):
            continue
        factors = {model.joint(name): factor for name, factor in coupling.factors}
        clocks = [joint for joint in factors if joint.armature >= GIVEN]
        if len(clocks) != 1 or len(factors) != 2:
            continue
        ((way, own),) = (one for one in factors.items() if one[0] is not clocks[0])
        shortest = min((law.shortest for _, law in coupling.laws), default=np.inf)
        if STEPS_A_TURN * step > shortest:
            raise InputError(
                f"{model.source}: {coupling.name!r} goes to and fro, or from rest to rest, in "
                f"{shortest:g} s: faster than steps of {step:g} s can see; take steps of at most "
                f"{shortest / STEPS_A_TURN:g} s"
            )
        shapes = _carried(model, way.child)
        arm = max((_size(one)[1] for one in shapes), default=0.0) if way.type != "prismatic" else 1
        fastest = abs(factors[clocks[0]]) + sum(law.fastest for _, law in coupling.laws)
        clock = clocks[0].name
        speeds[clock] = speeds.get(clock, 0.0) + arm * fastest / abs(own)
        thick = min((_size(one)[0] for one in shapes), default=np.inf)
        if speeds[clock] * step > thick:
            raise InputError(
                f"{model.source}: {coupling.name!r} moves a wall that is {thick:g} m thick by up "
                f"to {speeds[clock] * step:g} m in a step of {step:g} s: faster than a step can "
                f"see; take steps of at most {thick / speeds[clock]:.3g} s"
            )


def _carried(model: Model, link: str) -> list[Geometry]:
    """The shapes of a link and of those that it carries."""
    shapes = [one.geometry for one in model.link(link).collisions if one.geometry]
    for joint in model.joints:
        if joint.parent == link:
            shapes += _carried(model, joint.child)
    return shapes


def _size(shape: Geometry) -> tuple[float, float]:
    """The least thickness of a shape about its centre (m), and its reach from there."""
    if isinstance(shape, Box):
        return min(shape.size), float(np.linalg.norm(shape.size)) / 2
    if isinstance(shape, Cylinder):
        return min(2 * shape.radius, shape.length), shape.radius + shape.length / 2
    if isinstance(shape, Sphere):
        return 2 * shape.radius, shape.radius
    if isinstance(shape, Ellipsoid):
        return 2 * min(shape.half_axes), max(shape.half_axes)
    return np.inf, 0.0
