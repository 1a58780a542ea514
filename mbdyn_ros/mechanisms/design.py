"""The design of a planar mechanism: its position, and its numbers, checked and set by name."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import checked_numbers
from ..array import Array, NoNumbers, as_numbers
from ..errors import InputError, unknown
from ..number import LARGEST
from .kinematics import Kinematics
from .layout import MechanismLayout
from .link import (
    AXES,
    PIECES,
    PLACES,
    Bar,
    Link,
    Number,
    Piece,
    piece_numbers,
    piece_of,
)
from .pose import MechanismPose

UNITS = {"mass": "kg", "inertia": "kg m^2", "gravity": "m/s^2", "branch": "",
         "teeth": "1", "ratio": "1", "phase": "rad", "swing": "rad", "limit": "deg",
         "stiffness": "N/m", "preload": "N", "rate": "N m/rad", "moment": "N m",
         "force": "N"}  # fmt: skip
"""Units of settings by the end of their names; all others are lengths."""


ABOVE_ZERO = ("_length", "_mass", "_teeth", "_base_radius", "_lift", "_swing", "_limit")
"""Ends of the names of settings that must be above zero."""

NOT_NEGATIVE = ("_width", "_inertia", "_roller_radius", "_stiffness", "_preload",
                "_torsion_rate", "_preload_moment")  # fmt: skip
"""Ends of the names of settings that may be zero but not negative."""


def problem_of(name: str, number: float) -> str | None:
    """The fault of a number of a setting, in words; None of one without."""
    unit = unit_of(name)
    if not math.isfinite(number):
        return f"{name} is {number}; give a finite number"
    if (name == "ground" or name.endswith(ABOVE_ZERO)) and number <= 0:
        what = {"m": "length", "kg": "mass"}.get(unit, "number")
        return f"{name} is {number:g} {unit}; give a {what} above zero"
    if name.endswith(NOT_NEGATIVE) and number < 0:
        return f"{name} is {number:g} {unit}; it cannot be negative"
    if name.endswith("branch") and number not in (1, -1):
        return f"{name} is {number:g}; the two assembly branches are 1 and -1"
    if abs(number) > LARGEST:
        return f"{name} is {number:g} {unit}; give {LARGEST:g} {unit} at most"
    return None


def unit_of(setting: str) -> str:
    """Unit of a setting."""
    return UNITS.get(setting.rpartition("_")[2], "m")


def with_unit(setting: str) -> str:
    """A setting and its unit, as the head of a column.

    >>> with_unit("coupler_mass")
    'coupler_mass (kg)'
    """
    unit = unit_of(setting)
    return f"{setting} ({unit})" if unit else setting


def length_names(settings: Iterable[str]) -> list[str]:
    """The settings that are lengths of links and between pivots, in order."""
    others = ("_width", "_along", "_across")
    return [name for name in settings if unit_of(name) == "m" and not name.endswith(others)]


SETTINGS = ("length", "mass", "width", *PLACES, "center_along", "center_across", "inertia")
"""The settings of links with two pins or more, in their order."""


def piece_settings(piece: Piece) -> dict[str, Number]:
    """The settings of a link, with their present values."""
    numbers = piece_numbers(piece)
    if isinstance(piece, Link):
        numbers["width"] = piece.width
    names = SETTINGS if isinstance(piece, Bar) else ("teeth", "mass", "inertia")
    return {name: numbers[name] for name in names if name in numbers}


def with_setting(piece: Piece, key: str, number: Number) -> Piece:
    """The link with one setting changed."""
    name, _, axis = key.rpartition("_")
    if axis not in AXES:
        return replace(piece, **{key: number})
    along, across = piece.middle if name == "center" else getattr(piece, name)
    changed: dict[str, Any] = {name: (number, across) if axis == "along" else (along, number)}
    return replace(piece, **changed)


def stands_in(field: str, name: str) -> bool:
    """Whether a setting belongs to a field of a design."""
    return name == field or name.startswith(f"{field}_")


D = TypeVar("D", bound="Design")

TURN_SAMPLES = 720
"""Crank angles in a turn at which it is asked whether the mechanism closes."""

SEVERAL_SAMPLES = 36
"""The same of each of several cranks."""


@dataclass(frozen=True, kw_only=True)
class Design(ABC):
    """Lengths, masses, centres of mass and inertias of a planar mechanism.

    The plane is x to the right and y upwards, against gravity; angles count counter-clockwise
    from x. Positions q, velocities v and accelerations a are the angles of the driven links
    (`inputs`) in that plane: arrays (n,) or, for N states at once, (N, n).

    gravity : m/s^2, downwards. branch : which of the two assembly branches, 1 or -1.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ("crank",)
    output: ClassVar[str]
    branches: ClassVar[tuple[str, ...]] = ("branch",)
    """Settings of the assembly branches of its dyads, in the order in which pins can be closed."""
    unknowns: ClassVar[tuple[str, ...]] = ()
    """Positions that have no closed form: they follow its numbers in programs."""
    twins: ClassVar[Mapping[str, str]] = {}
    """Lengths that equal others in every mechanism of the kind, and those others."""

    gravity: Number = 9.81
    branch: Number = 1

    @abstractmethod
    def layout(self) -> MechanismLayout:
        """Its parts and pins."""

    @classmethod
    def kinematics(cls) -> Kinematics:
        """The positions of all mechanisms of the kind."""
        return _kinematics(cls)

    @classmethod
    def described(cls: type[D]) -> D:
        """The mechanism with the default numbers, unchecked."""
        return cls._unchecked({one.name: one.default for one in fields(cls)})

    def __post_init__(self) -> None:
        self._check()
        if not self._closes():
            raise self.refusal(self._explain_open())

    # -- numbers -------------------------------------------------------------------------------

    def numbers(self) -> dict[str, Number]:
        """All that its equations depend on, by name: the order of a program's parameters."""
        return self._flat(piece_numbers)

    def _flat(self, of_piece: Callable[[Piece], dict[str, Number]]) -> dict[str, Number]:
        """All numbers by flat names, of links those that `of_piece` gives."""
        result: dict[str, Number] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            parts = of_piece(value) if isinstance(value, PIECES) else {"": value}
            for key, number in parts.items():
                result[f"{one.name}_{key}" if key else one.name] = number
        return result

    def vector(self) -> Array:
        """`numbers` as an array (p,), or (N, p) of N designs."""
        columns = np.broadcast_arrays(*self.numbers().values())
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=-1)

    def parameters(self, q: Array) -> Array:
        """Inputs of programs besides states q (N, n): `vector`, and the positions `unknowns`."""
        if not self.unknowns:
            return self.vector()
        found = self.unknown_values(q)
        vector = self.vector()
        shape = np.broadcast_shapes(found.shape[:-1], vector.shape[:-1])
        return np.concatenate(
            [np.broadcast_to(one, (*shape, one.shape[-1])) for one in (vector, found)], axis=-1
        )

    def unknown_values(self, q: Array) -> Array:
        """The positions `unknowns` (..., u) at q (..., n)."""
        return np.empty((*np.shape(q)[:-1], 0))

    @classmethod
    def of_numbers(cls: type[D], numbers: Mapping[str, Number]) -> D:
        """The mechanism with the numbers of `numbers`, be they symbols or arrays; unchecked."""
        values: dict[str, Any] = {}
        for one in fields(cls):
            if isinstance(one.default, PIECES):
                start = f"{one.name}_"
                own = {k[len(start) :]: n for k, n in numbers.items() if k.startswith(start)}
                values[one.name] = piece_of(type(one.default), own)
            else:
                values[one.name] = numbers[one.name]
        return cls._unchecked(values)

    @classmethod
    def _unchecked(cls: type[D], values: Mapping[str, Any]) -> D:
        result = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(result, name, value)
        return result

    @property
    def settings(self) -> dict[str, Number]:
        """All that can be set, by flat names such as `ground`, `coupler_mass`, `rocker_length`."""
        return self._flat(piece_settings)

    def replaced(self: D, **settings: Number) -> D:
        """The mechanism with other settings.

        Raises
        ------
        InputError
            There is no such setting, or no such mechanism; the words say which and why.

        Examples
        --------
        >>> from mbdyn_ros.mechanisms import FourBar
        >>> FourBar().replaced(coupler_mass=2.0).coupler.mass
        2.0
        """
        for name, number in settings.items():
            if isinstance(number, bool) or not isinstance(number, (Real, np.number)):
                raise self.refusal(f"{name} is {number!r}; give a number")
        return replace(self, **self._values(settings))

    def designs(self: D, **settings: Number) -> D:
        """Many mechanisms in one: settings are arrays (N,) or numbers.

        Lengths that do not close are not refused but give NaN where they do not.
        """
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        result = self._unchecked({**values, **self._values(settings)})
        result._check()
        return result

    def _values(self, settings: Mapping[str, Number]) -> dict[str, Any]:
        """Fields with new values."""
        known = self.settings
        values: dict[str, Any] = {}
        for name, number in settings.items():
            if name not in known:
                raise self.refusal(unknown("setting", name, known))
            field = max((f.name for f in fields(self) if stands_in(f.name, name)), key=len)
            value = values.get(field, getattr(self, field))
            if isinstance(value, PIECES):
                value = with_setting(value, name[len(field) + 1 :], number)
            else:
                value = number
            values[field] = value
        return values

    # -- checks --------------------------------------------------------------------------------

    def refusal(self, problem: str) -> InputError:
        """The error that says what is wrong with it."""
        return InputError(f"{self.name}: {problem}")

    def _check(self) -> None:
        """Refuse numbers that no mechanism has."""
        try:
            settings = self.settings
        except OverflowError:  # of an inertia that was not given
            raise self.refusal(f"a length is too large; give {LARGEST:g} m at most") from None
        for name, value in settings.items():
            try:
                numbers = np.atleast_1d(as_numbers(value))
            except NoNumbers:
                raise self.refusal(f"{name} is {value!r}; give a number") from None
            for number in numbers[[numbers.argmin(), numbers.argmax()]].tolist():
                if problem := problem_of(name, number):
                    raise self.refusal(problem)

    def _closes(self) -> bool:
        """Whether it can be assembled at any angle of its inputs."""
        return bool((self.margin(self.all_around()) >= 0).any())

    def all_around(self, samples: int = SEVERAL_SAMPLES) -> Array:
        """Positions (N, n) of the inputs over a turn: `samples` of each, of one alone all."""
        count = len(self.inputs)
        number = samples if count > 1 else TURN_SAMPLES
        turn = np.linspace(-np.pi, np.pi, number, endpoint=False)
        return np.stack([one.ravel() for one in np.meshgrid(*[turn] * count)], axis=1)

    def _explain_open(self) -> str:
        return "the lengths cannot close at any angle; make the longest shorter"

    # -- position ------------------------------------------------------------------------------

    def solved(self, q: Array) -> MechanismPose:
        """The places of its parts at q (..., n); NaN where it cannot be assembled."""
        return self.kinematics().pose(self.layout(), *self._columns(q), shape=np.shape(q)[:-1])

    def transmissions(self, q: Array) -> list[Array]:
        """Cosine (...) of the transmission angle of every dyad, at q (..., n).

        1 or -1 at a toggle, beyond or NaN where it cannot be assembled; 0 where there is no dyad.
        """
        return self.kinematics().transmissions(*self._columns(q)) or [np.zeros(())]

    def _columns(self, q: Array) -> tuple[list[Number], list[Number], list[Number]]:
        """Angles, numbers and unknowns, each a column or a number."""
        angles, unknowns = (
            list(np.moveaxis(one, -1, 0)) for one in (as_numbers(q), self.unknown_values(q))
        )
        return angles, self._numbers, unknowns

    @functools.cached_property
    def _numbers(self) -> list[Number]:
        return list(self.numbers().values())

    def shaft_angle(self, name: str, q: Array) -> Array:
        """Angle (...), rad, of an input, or of a wheel that meshes turn with them, at q (..., n).

        Of N designs at once q is (N, n).
        """
        angle: Array
        (angle,) = self.kinematics().shafts[name]([*np.moveaxis(q, -1, 0)], self._numbers)
        return angle

    def margin(self, q: Array) -> Array:
        """The least squared sine (...) of a dyad's transmission angle at q (..., n).

        Zero at a toggle, negative where a dyad cannot be assembled.
        """
        worst = functools.reduce(np.maximum, map(np.square, self.transmissions(q)))
        margin: Array = np.where(np.isnan(worst), -1.0, 1 - worst)
        shape = np.broadcast_shapes(margin.shape, np.shape(q)[:-1], np.shape(self.branch))
        return np.broadcast_to(margin, shape)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints of all parts, in the order of `joint_state`."""
        return tuple(part.joint for part in self.layout().parts)

    def states(self, name: str, values: ArrayLike) -> Array:
        """An argument as states (N, n)."""
        array = np.atleast_2d(checked_numbers(f"{self.name}: {name}", values))
        if array.ndim != 2 or array.shape[1] != len(self.inputs):
            raise self.refusal(
                f"{name} has shape {np.shape(values)}; give (N, {len(self.inputs)}), one column "
                f"for each of {', '.join(self.inputs)}"
            )
        if not np.isfinite(array).all():
            raise self.refusal(f"{name} holds NaN or infinity")
        return array


@functools.cache
def _kinematics(kind: type[Design]) -> Kinematics:
    """The positions of a kind, traced once."""
    return Kinematics(kind)
