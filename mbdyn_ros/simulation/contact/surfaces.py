"""Walls: any function of a world point that is positive in free space."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...arguments import Sealed, single_vector
from ...array import Array, NoNumbers, as_number
from ...equations.algebra.spatial import SX, constant
from ...equations.contact.signed_distance import (
    Ball,
    Differentiated,
    face_of,
    from_distance,
    from_face,
    length,
    level,
)
from ...equations.contact.steepness import Steepness, steepness_of
from ...errors import InputError, brief
from ...model.pose import rotation_onto
from ...program.symbols import serialized

XYZ = ("x", "y", "z")

NO_LAWS = (0.0,) * 9
"""Of a wall that is rigid, stands still, and does not resist turning."""

RESTITUTION, FRICTION = 0.0, 0.8
"""Of walls and links for which nothing is said: they do not bounce, and they are rough."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Appearance of a wall.

    kind : plane (across its z axis), sphere, cylinder (along its z axis) or box.
    size : (3,) m along its own axes; infinite where it has no end.
    center, axes : (3,) m, and (3, 3) whose columns are its axes, in the world.
    """

    kind: str
    size: Array
    center: Array
    axes: Array


class Surface(Sealed):
    """A wall, given by a function that is positive in free space.

    Parameters
    ----------
    g : function of a world point, a CasADi SX (3,) in m, that returns an expression: positive
        in free space, zero on the wall, where it must have a gradient. Its unit is free. Several
        expressions (`casadi.vertcat`, or a list) are the faces of a wall with edges: free space
        is where all are positive, and a point in a corner touches several faces at once.
    restitution : e of Newton's law, 0 to 1: normal velocity after an impact = -e times before.
        Default: 0, nothing bounces.
    friction : coefficient of Coulomb's law, of impulses and of forces, 0 or more. Default: 0.8.
    name : for messages and results.
    shape : what it looks like, for those who draw it; the constructors by name give it.
    distance : like g, but the distance from the wall in m, where it has a closed form. Balls of a
        robot need it; without it, their deepest points are found by Newton's method.

    Raises
    ------
    InputError
        g is not an expression of the point, or a number is out of its range.

    Examples
    --------
    A dome over the origin, and the same wall by name:

    >>> import mbdyn_ros
    >>> dome = mbdyn_ros.Surface(lambda x: 4 - x[0]**2 - x[1]**2 - x[2]**2, restitution=0.8)
    >>> dome.value([0.0, 0.0, 1.0])
    array([3.])
    >>> mbdyn_ros.Surface.sphere(radius=2.0, restitution=0.8).value([0.0, 0.0, 1.0])
    array([0.75])
    """

    @brief
    def __init__(
        self,
        g: Callable[[SX], Any],
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "wall",
        shape: Shape | None = None,
        distance: Callable[[SX], Any] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a surface must be text, not {name!r}")
        self.name = name
        self._steepness: Steepness | None = None
        self.restitution = checked_restitution(f"surface {name!r}", restitution)
        self.friction = number_within(f"surface {name!r}: friction", friction, np.inf, "0 or more")
        self.faces = self._faces(g)
        self._distances = None if distance is None else self._faces(distance)
        self.shape = shape
        self.laws: tuple[float, ...] = NO_LAWS
        self.seal()

    @serialized
    def _faces(self, g: Callable[[SX], Any]) -> tuple[ca.Function, ...]:
        x = SX.sym("x", 3)
        try:
            value = g(x)
            if isinstance(value, Differentiated):
                self._steepness = value.steepness
                return (face_of(value, x),)
            parts = value if isinstance(value, (list, tuple)) else [value]
            column = ca.vertcat(SX(0, 1), *parts)
        except Exception as error:  # whatever a user's function does
            raise InputError(
                f"surface {self.name!r}: g must turn a CasADi point (3,) into an expression, such "
                f"as lambda x: x[2]; it raises {type(error).__name__}: {error}"
            ) from error
        faces = []
        for k in range(column.numel()):
            if not ca.depends_on(column[k], x):
                raise InputError(
                    f"surface {self.name!r}: g does not depend on the point; it is {column[k]}, "
                    "and must be positive in free space and zero on the wall, as x[2] on a floor"
                )
            faces.append(face_of(column[k], x))
        if not faces:
            raise InputError(f"surface {self.name!r}: g returns nothing")
        return tuple(faces)

    @functools.cached_property
    def levels(self) -> tuple[ca.Function, ...]:
        """|grad g|, normal (3, 1) and H / |grad g| (3, 3) of every face, as functions."""
        return tuple(map(level, self.faces))

    @functools.cached_property
    def signed(self) -> tuple[Ball, ...]:
        """The meetings of balls with every face."""
        if self._distances is None:
            given = self._steepness
            return tuple(from_face(face, given or steepness_of(face)) for face in self.faces)
        return tuple(map(from_distance, self._distances))

    def __repr__(self) -> str:
        return f"Surface({self.name!r}, restitution={self.restitution}, friction={self.friction})"

    def yielding(
        self, stiffness: float, damping: float = 0.0, dissipation: float = 0.0,
        exponent: float = 1.0,
    ) -> Surface:  # fmt: skip
        """The same wall, but soft: F = k x^n (1 + c x') + d x' at a depth x, and never a pull.

        Nothing hits it: its restitution is that of the law. The law is solved with everything else,
        in any length of step.

        Parameters
        ----------
        stiffness, exponent : k (N/m^n) and n: 1 a spring, 1.5 a ball on a plane (Hertz).
        damping : d (N s/m), as Kelvin and Voigt have it.
        dissipation : c (s/m), as Hunt and Crossley have it.

        Raises
        ------
        InputError
            A number is negative, the stiffness is 0, or the exponent is not from 1 to 4.

        Examples
        --------
        >>> import mbdyn_ros
        >>> mat = mbdyn_ros.Surface.plane(name="mat").yielding(stiffness=2e4, damping=150.0)
        """
        what = f"surface {self.name!r}"
        k = number_within(f"{what}: stiffness", stiffness, np.inf, "of N/m above 0")
        n = number_within(f"{what}: exponent", exponent, 4.0, "from 1 to 4")
        if k == 0 or n < 1:
            raise InputError(
                f"{what}: stiffness is {k:g} and exponent {n:g}; give above 0 and 1 to 4"
            )
        d = number_within(f"{what}: damping", damping, np.inf, "of N s/m, 0 or more")
        c = number_within(f"{what}: dissipation", dissipation, np.inf, "of s/m, 0 or more")
        return self._with_laws(0, k, n, d, c)

    def moving(self, velocity: Sequence[float]) -> Surface:
        """The same wall, whose surface moves along itself like a belt: (3,) m/s in the world.

        What leads out of the wall or into it does not count: the wall stays where it is.

        Raises
        ------
        InputError
            Not three finite numbers.
        """
        what = f"surface {self.name!r}: velocity"
        return self._with_laws(4, *single_vector(what, velocity, XYZ).tolist())

    def resisting(self, rolling: float = 0.0, torsion: float = 0.0) -> Surface:
        """The same wall, with friction against what rolls and what turns about the normal.

        Moments are at most these coefficients (m) times the normal force, and against the motion,
        as Coulomb's law has it.

        Raises
        ------
        InputError
            One is negative or not finite.
        """
        what = f"surface {self.name!r}"
        words = "of metres, 0 or more"
        about = number_within(f"{what}: torsion", torsion, np.inf, words)
        return self._with_laws(7, about, number_within(f"{what}: rolling", rolling, np.inf, words))

    def _with_laws(self, first: int, *numbers: float) -> Surface:
        other = copy.copy(self)
        laws = (*self.laws[:first], *numbers, *self.laws[first + len(numbers) :])
        object.__setattr__(other, "laws", laws)
        return other

    def value(self, point: Array | Sequence[float]) -> Array:
        """g of every face at a world point (3,)."""
        x = single_vector("point", point, XYZ)
        return np.array([float(face(x)[0]) for face in self.faces])

    @classmethod
    def plane(
        cls,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "plane",
    ) -> Surface:
        """A plane through a point (m); its normal points into free space. Default: the floor."""
        p = single_vector(f"surface {name!r}: point", point, XYZ)
        n = _direction(f"surface {name!r}: normal", normal)
        shape = Shape("plane", np.array([np.inf, np.inf, 0.0]), p, rotation_onto(n))

        def g(x: SX) -> SX:
            return ca.dot(constant(n), x - constant(p))

        return cls(g, restitution, friction, name, shape, g)

    @classmethod
    def sphere(
        cls,
        radius: float,
        center: Sequence[float] = (0.0, 0.0, 0.0),
        inside: bool = True,
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "sphere",
    ) -> Surface:
        """A sphere (m); free space is inside, or else outside."""
        r = _length(f"surface {name!r}: radius", radius)
        c = single_vector(f"surface {name!r}: center", center, XYZ)
        shape = Shape("sphere", np.full(3, 2 * r), c, np.eye(3))
        g, distance = _round(r, c, np.eye(3), inside)
        return cls(g, restitution, friction, name, shape, distance)

    @classmethod
    def cylinder(
        cls,
        radius: float,
        center: Sequence[float] = (0.0, 0.0, 0.0),
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        inside: bool = True,
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "cylinder",
    ) -> Surface:
        """An endless cylinder (m); free space is inside, or else outside."""
        r = _length(f"surface {name!r}: radius", radius)
        c = single_vector(f"surface {name!r}: center", center, XYZ)
        d = _direction(f"surface {name!r}: axis", axis)
        across = np.eye(3) - np.outer(d, d)
        shape = Shape("cylinder", np.array([2 * r, 2 * r, np.inf]), c, rotation_onto(d))
        g, distance = _round(r, c, across, inside)
        return cls(g, restitution, friction, name, shape, distance)

    @classmethod
    def elliptic_cylinder(
        cls,
        semi_axes: Sequence[float],
        center: Sequence[float] = (0.0, 0.0, 0.0),
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        major: Sequence[float] = (1.0, 0.0, 0.0),
        inside: bool = True,
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "elliptic cylinder",
    ) -> Surface:
        """An endless elliptic cylinder (m); the first semi-axis lies along `major`."""
        what = f"surface {name!r}: semi_axes"
        lengths = single_vector(what, semi_axes, ("first", "second"))
        one, two = (_length(what, length) for length in lengths)
        c = single_vector(f"surface {name!r}: center", center, XYZ)
        d = _direction(f"surface {name!r}: axis", axis)
        m = single_vector(f"surface {name!r}: major", major, XYZ)
        first = _direction(f"surface {name!r}: major across the axis", m - d * (d @ m))
        rows = np.array([first / one, np.cross(d, first) / two])
        scale = (1.0 if inside else -1.0) * min(one, two) / 2

        def g(x: SX) -> SX:
            return scale * (1 - ca.sumsqr(constant(rows) @ (x - constant(c))))

        axes = np.column_stack([first, np.cross(d, first), d])
        shape = Shape("cylinder", np.array([2 * one, 2 * two, np.inf]), c, axes)
        return cls(g, restitution, friction, name, shape)

    @classmethod
    def box(
        cls,
        size: Sequence[float],
        center: Sequence[float] = (0.0, 0.0, 0.0),
        restitution: float = RESTITUTION,
        friction: float = FRICTION,
        name: str = "box",
    ) -> Surface:
        """The inside of a box (m) along the world's axes: six faces.

        A point in an edge touches two faces, in a corner three; they are solved together.
        """
        what = f"surface {name!r}: size"
        half = np.array([_length(what, one) / 2 for one in single_vector(what, size, XYZ)])
        c = single_vector(f"surface {name!r}: center", center, XYZ)

        def g(x: SX) -> SX:
            y = x - constant(c)
            return ca.vertcat(*(half[k] - s * y[k] for k in range(3) for s in (1, -1)))

        shape = Shape("box", 2 * half, c, np.eye(3))
        return cls(g, restitution, friction, name, shape, g)


def _round(
    radius: float, center: Array, across: Array, inside: bool
) -> tuple[Callable[[SX], SX], Callable[[SX], SX]]:
    """g and distance of a round wall about a place; `across` (3, 3) takes the way along it off."""
    sign = 1.0 if inside else -1.0

    def offset(x: SX) -> SX:
        return constant(across) @ (x - constant(center))

    def g(x: SX) -> SX:
        return sign * (radius * radius - ca.sumsqr(offset(x))) / (2 * radius)

    def distance(x: SX) -> SX:
        return sign * (radius - length(offset(x)))

    return g, distance


def checked_restitution(what: str, value: float) -> float:
    """A coefficient of restitution, from 0 to 1; anything else is refused."""
    return number_within(f"{what}: restitution", value, 1.0, "from 0 (dead) to 1 (elastic)")


def number_within(what: str, value: float, most: float, words: str) -> float:
    """A finite number from 0 to `most`."""
    try:
        number = value = as_number(value)
    except NoNumbers:
        number = np.nan
    if not (np.isfinite(number) and 0 <= number <= most):
        raise InputError(f"{what} is {value!r}; it must be a number {words}")
    return number


def _length(what: str, value: float) -> float:
    number = number_within(what, value, np.inf, "of metres above 0")
    if number == 0:
        raise InputError(f"{what} is 0; it must be a number of metres above 0")
    return number


def _direction(what: str, vector: Sequence[float] | Array) -> Array:
    numbers = single_vector(what, vector, XYZ)
    length = float(np.linalg.norm(numbers))
    if length < 1e-9:
        raise InputError(f"{what} is {numbers.tolist()}: it has no direction")
    unit: Array = numbers / length
    return unit
