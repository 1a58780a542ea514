"""A mechanism: a design with its motion and the efforts that it requires, and as a URDF.

Joints count as in `Mechanism.joint_state`, angles in the parent part; `<home>` says where the
mechanism closes. A loop that a URDF cannot say is a <loop>.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree
from numpy.typing import ArrayLike

from ..equations import programs
from ..model.model import Array
from ..program.declaration import Declaration
from ..robot import Robot, load
from .design import Design
from .layout import GROUND, MechanismLayout, Part, mesh_factors, wheel_radii
from .link import Bar, Block, Link, Point, Wheel
from .parametric import run
from .pose import MechanismPose
from .toggles import home, reach, require_reach

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


COLORS = {
    "steel": "0.62 0.64 0.67 1",
    "orange": "0.90 0.42 0.12 1",
    "yellow": "0.95 0.70 0.10 1",
    "green": "0.25 0.60 0.38 1",
    "blue": "0.16 0.42 0.68 1",
    "violet": "0.50 0.36 0.62 1",
    "dark": "0.20 0.22 0.25 1",
}
PARTS = tuple(COLORS)[1:]
"""Colours of the parts, one after the other."""

SLENDER = 0.08
"""Width of a link that has none of its own, as a share of the shortest length."""


def write_urdf(mechanism: Design, home: Array) -> str:
    """The text. home : (n,) angles of the inputs at which the loops are closed first."""
    layout = mechanism.layout()
    (at_home,) = mechanism.solved(home[None]).joint_positions()
    robot = etree.Element("robot", name=mechanism.name)
    for name, color in COLORS.items():
        etree.SubElement(etree.SubElement(robot, "material", name=name), "color", rgba=color)
    drawing = _Drawing(layout)
    drawing.ground(etree.SubElement(robot, "link", name=GROUND))
    for part in layout.parts:
        link = etree.SubElement(robot, "link", name=part.name)
        drawing.part(link, part)
        _inertial(link, part)
    factors = {one.driven: (one, mesh_factors(layout, one)) for one in layout.gears}
    for part in layout.parts:
        driven = "true" if part.name in mechanism.inputs else "false"
        joint = etree.SubElement(
            robot, "joint", name=part.joint,
            type="prismatic" if part.slides else "continuous", independent=driven,
        )  # fmt: skip
        etree.SubElement(joint, "parent", link=part.parent)
        etree.SubElement(joint, "child", link=part.name)
        _origin(joint, part.at, math.pi / 2 if part.across else 0.0)
        etree.SubElement(joint, "axis", xyz="1 0 0" if part.slides else "0 -1 0")
        if part.slides:
            bounds = {"lower": "-1e3", "upper": "1e3", "effort": "1e6", "velocity": "1e3"}
            etree.SubElement(joint, "limit", bounds)
        if part.name in factors:
            mesh, by = factors[part.name]
            multiplier = _number(-by[mesh.driver])
            etree.SubElement(joint, "mimic", joint=f"{mesh.driver}_joint", multiplier=multiplier)
    for pin in layout.pins if not factors else ():
        loop = etree.SubElement(robot, "loop", name=pin.name, type="revolute")
        ends = ((pin.first, pin.at_first), (pin.second, pin.at_second))
        for tag, (name, at) in zip(("predecessor", "successor"), ends, strict=True):
            _origin(etree.SubElement(loop, tag, link=name), at)
        etree.SubElement(loop, "axis", xyz="0 -1 0")
    for mesh in layout.meshes:
        coupling = etree.SubElement(robot, "coupling", name=mesh.name)
        for name, factor in mesh_factors(layout, mesh).items():
            etree.SubElement(coupling, "joint", name=f"{name}_joint", factor=_number(factor))
        if mesh.phase:
            coupling.set("offset", _number(mesh.phase))
    closed = etree.SubElement(robot, "home")
    for part, position in zip(layout.parts, at_home.tolist(), strict=True):
        etree.SubElement(closed, "joint", name=part.joint, position=_number(position))
    etree.indent(robot)
    text: str = etree.tostring(robot, encoding="unicode")
    return f'<?xml version="1.0"?>\n{text}\n'


def _number(value: float) -> str:
    return repr(float(value) + 0.0)  # no -0.0


def _origin(
    element: Element, at: Iterable[float], turn: float = 0.0, depth: float = 0.0
) -> Element:
    x, y = at
    place = {"xyz": f"{_number(x)} {_number(depth)} {_number(y)}"}
    if turn:
        place["rpy"] = f"0 {_number(-turn)} 0"
    return etree.SubElement(element, "origin", place)


def _inertial(link: Element, part: Part) -> None:
    """Mass and inertia, as of an even sheet in the plane."""
    inertial = etree.SubElement(link, "inertial")
    _origin(inertial, part.piece.middle)
    etree.SubElement(inertial, "mass", value=_number(part.piece.mass))
    moment = part.piece.moment
    half = _number(moment / 2)
    etree.SubElement(
        inertial, "inertia", ixx=half, iyy=_number(moment), izz=half, ixy="0", ixz="0", iyz="0"
    )


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

    def ground(self, link: Element) -> None:
        """A pivot under every part on the ground, a rail under every slide."""
        for part in self.layout.parts:
            if part.parent != GROUND:
                continue
            if part.slides:
                size = (3 * self.longest, self.width / 4, self.width / 2)
                self._box(link, part.at, 0.0, size, "dark", 1.5 * self.width)
            else:
                self._pin(link, part.at, 1.2 * self.width, "dark", self.width)

    def part(self, link: Element, part: Part) -> None:
        """Bars between the pins of a part, with an eye on each."""
        layer = self.layers[part.name]
        color, depth = PARTS[layer % len(PARTS)], -layer * self.width / 2
        piece = part.piece
        if isinstance(piece, Block):
            size = (3 * self.width, self.width / 2, 2 * self.width)
            self._box(link, (0.0, 0.0), 0.0, size, color, depth)
            return
        if isinstance(piece, Wheel):
            radius = self.radii.get(part.name, self.width)
            self._pin(link, (0.0, 0.0), radius, color, depth)
            spoke = (0.9 * radius, self.width / 2.2, 0.3 * self.width)
            self._box(link, (0.45 * radius, 0.0), 0.0, spoke, "dark", depth - 0.1 * self.width)
            return
        points, width = piece.pins, self.width
        if isinstance(piece, Link) and piece.width:
            width = float(piece.width)
        for k, start in enumerate(points):
            self._pin(link, start, 0.7 * width, color, depth)
            end = points[(k + 1) % len(points)]
            if k < len(points) - 1 or len(points) > 2:
                direction = complex(end[0] - start[0], end[1] - start[1])
                middle = (start[0] + direction.real / 2, start[1] + direction.imag / 2)
                turn = math.atan2(direction.imag, direction.real)
                self._box(
                    link, middle, turn, (abs(direction), self.width / 2.2, width), color, depth
                )

    def _box(
        self, link: Element, at: Point, turn: float, size: Sequence[float], color: str, depth: float
    ) -> None:
        visual = etree.SubElement(link, "visual")
        _origin(visual, at, turn, depth)
        sizes = {"size": " ".join(f"{one:.6g}" for one in size)}
        _draw(visual, "box", sizes, color)

    def _pin(self, link: Element, at: Point, radius: float, color: str, depth: float) -> None:
        visual = etree.SubElement(link, "visual")
        _origin(visual, at, 0.0, depth).set("rpy", f"{_number(math.pi / 2)} 0 0")
        sizes = {"radius": f"{radius:.6g}", "length": f"{self.width / 2.2:.6g}"}
        _draw(visual, "cylinder", sizes, color)


def _draw(visual: Element, shape: str, sizes: dict[str, str], color: str) -> None:
    etree.SubElement(etree.SubElement(visual, "geometry"), shape, sizes)
    etree.SubElement(visual, "material", name=color)


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

    def urdf(self) -> str:
        """URDF+ text: what `mbdyn_ros.load` reads back with the same dynamics."""
        return write_urdf(self, self.home)

    def robot(self) -> Robot:
        """The `Robot`: its q is the inputs' angles, its joints are those of `joint_state`."""
        return load(self.urdf(), gravity=(0.0, 0.0, -float(self.gravity)))
