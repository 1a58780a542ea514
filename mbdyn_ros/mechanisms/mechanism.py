"""A mechanism: a design with its motion and the efforts that it requires, and as a robot.

Joints count as in `Mechanism.joint_state`, angles in the parent part; `<home>` says where the
mechanism closes. A loop that a URDF cannot say is a <loop>.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..equations import programs
from ..model.model import Array, Combination, Inertia, Joint, Limits, Link, Loop, Mimic, Model, Pose
from ..model.pose import rotation_onto
from ..model.shapes import Box, Cylinder, Visual
from ..model.write.urdf import urdf_text
from ..program.program import Declaration
from ..robot import Robot
from .design import Design
from .layout import GROUND, MechanismLayout, Part, mesh_factors, wheel_radii
from .link import Bar, Block, Piece, Point, Wheel
from .parametric import run
from .pose import MechanismPose
from .toggles import home, reach, require_reach

COLORS = {
    "steel": (0.62, 0.64, 0.67, 1.0),
    "orange": (0.90, 0.42, 0.12, 1.0),
    "yellow": (0.95, 0.70, 0.10, 1.0),
    "green": (0.25, 0.60, 0.38, 1.0),
    "blue": (0.16, 0.42, 0.68, 1.0),
    "violet": (0.50, 0.36, 0.62, 1.0),
    "dark": (0.20, 0.22, 0.25, 1.0),
}
PARTS = tuple(COLORS)[1:]
"""Colours of the parts, one after the other."""

SLENDER = 0.08
"""Width of a link that has none of its own, as a share of the shortest length."""

OUT_OF_PLANE = np.array([0.0, -1.0, 0.0])
"""The axis of turns: the plane's y axis is the world's z axis."""

FARTHEST = Limits(-1e3, 1e3, velocity=1e3, effort=1e6)
"""Bounds of slides, for readers of URDF that want some."""


def robot_description(mechanism: Mechanism) -> Model:
    """A mechanism as URDF+ says it; its loops are closed first at its `home`."""
    layout = mechanism.layout()
    (at_home,) = mechanism.solved(mechanism.home[None]).joint_positions()
    drawing = _Drawing(layout)
    ground = Link(GROUND, visuals=tuple(drawing.ground()))
    links = [Link(one.name, _inertia(one.piece), visuals=tuple(drawing.part(one)))
             for one in layout.parts]  # fmt: skip
    follows = {
        one.driven: Mimic(f"{one.driver}_joint", -float(mesh_factors(layout, one)[one.driver]))
        for one in layout.gears
    }
    joints = [
        Joint(
            one.joint, "prismatic" if one.slides else "continuous", one.parent, one.name,
            _pose(one.at, 1j if one.across else 1.0), np.eye(3)[0] if one.slides else OUT_OF_PLANE,
            FARTHEST if one.slides else Limits(), mimic=follows.get(one.name),
        )
        for one in layout.parts
    ]  # fmt: skip
    loops = [
        Loop(one.name, "revolute", one.first, one.second, _pose(one.at_first),
             _pose(one.at_second), OUT_OF_PLANE)
        for one in layout.pins if not follows
    ]  # fmt: skip
    couplings = []
    for mesh in layout.meshes:
        factors = mesh_factors(layout, mesh).items()
        by_joint = tuple((f"{name}_joint", float(factor)) for name, factor in factors)
        couplings.append(Combination(mesh.name, by_joint, float(mesh.phase)))
    driven = tuple(one.joint for one in layout.parts if one.name in mechanism.inputs)
    closed = dict(zip(mechanism.joint_names, at_home.tolist(), strict=True))
    return Model(
        mechanism.name, GROUND, (ground, *links), tuple(joints), loops=tuple(loops),
        couplings=tuple(couplings), independent=driven, home=closed,
    )  # fmt: skip


def _pose(at: Point, direction: complex = 1.0, depth: float = 0.0) -> Pose:
    """The frame at a point of the plane whose x axis has a direction in it."""
    c, s = direction.real, direction.imag
    return Pose(
        np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]), np.array([at[0], depth, at[1]])
    )


def _inertia(piece: Piece) -> Inertia:
    """Mass and inertia, as of an even sheet in the plane."""
    moment, (x, y) = float(piece.moment), piece.middle
    moments = np.diag([moment / 2, moment, moment / 2])
    return Inertia(float(piece.mass), np.array([x, 0.0, y]), moments)


class _Drawing:
    """Shapes for eyes alone: links in layers one before the other."""

    def __init__(self, layout: MechanismLayout) -> None:
        self.layout = layout
        lengths = [float(part.piece.length) for part in layout.parts if isinstance(part.piece, Bar)]
        radii = wheel_radii(layout)
        lengths += [2 * radius for radius in radii.values()]
        self.radii = radii
        self.longest = max(lengths)
        self.width = SLENDER * max(min(lengths), 0.3 * self.longest)
        self.layers = layout.order

    def ground(self) -> Iterator[Visual]:
        """A pivot under every part on the ground, a rail under every slide."""
        for part in self.layout.parts:
            if part.parent != GROUND:
                continue
            if part.slides:
                size = (3 * self.longest, self.width / 4, self.width / 2)
                yield _box(part.at, 1.0, size, "dark", 1.5 * self.width)
            else:
                yield self._pin(part.at, 1.2 * self.width, "dark", self.width)

    def part(self, part: Part) -> Iterator[Visual]:
        """Bars between the pins of a part, with an eye on each."""
        layer = self.layers[part.name]
        color, depth = PARTS[layer % len(PARTS)], -layer * self.width / 2
        piece = part.piece
        if isinstance(piece, Block):
            size = (3 * self.width, self.width / 2, 2 * self.width)
            yield _box((0.0, 0.0), 1.0, size, color, depth)
            return
        if isinstance(piece, Wheel):
            radius = self.radii.get(part.name, self.width)
            yield self._pin((0.0, 0.0), radius, color, depth)
            spoke = (0.9 * radius, self.width / 2.2, 0.3 * self.width)
            yield _box((0.45 * radius, 0.0), 1.0, spoke, "dark", depth - 0.1 * self.width)
            return
        points, width = piece.pins, float(getattr(piece, "width", 0.0)) or self.width
        for k, start in enumerate(points):
            yield self._pin(start, 0.7 * width, color, depth)
            end = points[(k + 1) % len(points)]
            if k < len(points) - 1 or len(points) > 2:
                way = complex(end[0] - start[0], end[1] - start[1])
                middle = (start[0] + way.real / 2, start[1] + way.imag / 2)
                size = (abs(way), self.width / 2.2, width)
                yield _box(middle, way / abs(way), size, color, depth)

    def _pin(self, at: Point, radius: float, color: str, depth: float) -> Visual:
        shape = Cylinder(*_written((radius, self.width / 2.2)))
        place = _pose(at, depth=depth) @ Pose(rotation_onto(OUT_OF_PLANE))
        return Visual(shape, place, color=COLORS[color], material=color)


def _box(
    at: Point, direction: complex, size: tuple[float, ...], color: str, depth: float
) -> Visual:
    place = _pose(at, direction, depth)
    return Visual(Box(_written(size)), place, color=COLORS[color], material=color)


def _written(sizes: tuple[float, ...]) -> tuple[float, ...]:
    """Sizes of shapes with six digits, so that files are short."""
    return tuple(float(f"{one:.6g}") for one in sizes)


class Mechanism(Design):
    """A planar mechanism: a `Design` and its answers, by the programs that all designs share.

    Positions q, velocities v and accelerations a are the angles of the driven links (`inputs`)
    in the plane: arrays (n,) or, for N states at once, (N, n).
    """

    def pose(self, q: ArrayLike) -> MechanismPose:
        """The places of its parts at N states q (N, n).

        Raises
        ------
        InputError
            It cannot be assembled at one of them; the words give the limiting angle.
        """
        states = self.states("q", q)
        require_reach(self, states)
        return self.solved(states)

    def joint_state(
        self, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> tuple[Array, Array | None, Array | None]:
        """Positions, velocities and accelerations (N, joints) of all joints, `joint_names`.

        Positions are angles in the parent part, continuous from state to state, and slides.
        """
        states = self.states("q", q)
        position = self.pose(states).joint_positions()
        velocity = acceleration = None
        if v is not None:
            velocity = self._run(programs.joint_velocity, states, v=v)
        if a is not None:
            rate = np.zeros_like(states) if v is None else v
            acceleration = self._run(programs.joint_acceleration, states, v=rate, a=a)
        return position, velocity, acceleration

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Driving torques (N, n), N m, of a motion of the inputs.

        Parameters
        ----------
        q, v, a : (N, n) rad, rad/s, rad/s^2; a single row serves for all.

        Raises
        ------
        InputError
            It cannot be assembled at one of the positions, with the limiting angle.

        Examples
        --------
        >>> import numpy as np
        >>> from mbdyn_ros.mechanisms import FourBar
        >>> q = np.linspace(0, 2 * np.pi, 360)[:, None]
        >>> FourBar().inverse_dynamics(q, [10.0], [0.0]).shape
        (360, 1)
        """
        return self._run(programs.inverse_dynamics, self.states("q", q), v=v, a=a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, effort: ArrayLike) -> Array:
        """Accelerations (N, n), rad/s^2, of the inputs under driving torques (N, n)."""
        return self._run(programs.forward_dynamics, self.states("q", q), v=v, effort=effort)

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Kinetic and potential energy (N,), J, the latter zero at the height of the origin."""
        kinetic, potential = self._run(programs.energy, self.states("q", q), v=v).T
        return kinetic, potential

    def _run(self, program: Declaration, q: Array, **others: ArrayLike) -> Array:
        """A compiled program at states (N, n)."""
        require_reach(self, q)
        arrays = [q, *(self.states(key, value) for key, value in others.items())]
        count = max(map(len, arrays))
        for key, array in zip(("q", *others), arrays, strict=True):
            if len(array) not in (1, count):
                raise self.refusal(f"{key} has {len(array)} rows where others have {count}")
        shape = (count, len(self.inputs))
        return run(self, program, *(np.broadcast_to(array, shape) for array in arrays))

    @property
    def home(self) -> Array:
        """Angles (n,) of the inputs at the home of `robot` and `urdf`.

        Zero where the mechanism can be assembled there, else where it is farthest from a toggle.
        """
        return home(self)

    @functools.cached_property
    def range(self) -> tuple[float, float]:
        """Interval of its only input's angle around home, rad; infinite where it turns fully."""
        return reach(self)

    @property
    def stroke(self) -> tuple[float, float]:
        """The same, a turn around zero where it turns fully."""
        return self.range if math.isfinite(self.range[0]) else (-math.pi, math.pi)

    def all_over(self, points: int, samples: int, inside: float = 0.0) -> Array:
        """Positions (N, n) all over what the inputs can do: `points` of one, `samples` of each.

        inside : distance from both ends of the stroke, as a share of it.
        """
        if len(self.inputs) > 1:
            q = self.all_around(samples)
            return q[self.margin(q) >= 0]
        low, high = self.stroke
        room = inside * (high - low)
        return np.linspace(low + room, high - room, points)[:, None]

    def model(self) -> Model:
        """Its description as a robot's."""
        return robot_description(self)

    def urdf(self) -> str:
        """URDF+ text: what `mbdyn_ros.load` reads back with the same dynamics."""
        return urdf_text(self.model())

    def robot(self) -> Robot:
        """The `Robot`: its q is the inputs' angles, its joints are those of `joint_state`."""
        return Robot(self.model(), gravity=(0.0, 0.0, -float(self.gravity)))
