"""What all mechanisms share: their numbers, checked, and their position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..equations import programs
from ..equations.algebra.complex_plane import Complex
from ..errors import InputError, suggestion
from ..model.model import Array
from ..program.declaration import Declaration
from .layout import Layout, Solved
from .link import PIECES, Number, piece_numbers, piece_of
from .pose import Pose
from .settings import piece_settings, problem_of, stands_in, with_setting

if TYPE_CHECKING:
    from ..robot import Robot

M = TypeVar("M", bound="Mechanism")

SAMPLES = 720
"""Crank angles in a turn at which it is asked whether the mechanism closes."""

@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A planar mechanism: lengths, masses, centres of mass, inertias.

    The plane is x to the right and y upwards, against gravity; angles count counter-clockwise
    from x. Positions q, velocities v and accelerations a are the angles of the driven links
    (`inputs`) in that plane: arrays (n,) or, for N states at once, (N, n).

    gravity : m/s^2, downwards. branch : which of the two ways to assemble it, 1 or -1.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]] = ("crank",)
    output: ClassVar[str]

    gravity: Number = 9.81
    branch: Number = 1

    @abstractmethod
    def layout(self) -> Layout:
        """Its parts and pins."""

    @abstractmethod
    def solve(self, turns: Sequence[Complex]) -> Solved:
        """Its position, in closed form, at the directions of the inputs."""

    def __post_init__(self) -> None:
        self._check()
        if not self._closes():
            raise self.refusal(self._explain_open())

    # -- numbers -------------------------------------------------------------------------------

    def numbers(self) -> dict[str, Number]:
        """All that its equations depend on, by name: the order of a program's parameters."""
        result: dict[str, Number] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, PIECES):
                parts = piece_numbers(value)
                result.update({f"{one.name}_{key}": number for key, number in parts.items()})
            else:
                result[one.name] = value
        return result

    def vector(self) -> Array:
        """`numbers` as an array (p,), or (N, p) of N designs."""
        columns = np.broadcast_arrays(*self.numbers().values())
        return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=-1)

    @classmethod
    def of_numbers(cls: type[M], numbers: Mapping[str, Number]) -> M:
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
    def _unchecked(cls: type[M], values: Mapping[str, Any]) -> M:
        result = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(result, name, value)
        return result

    @property
    def settings(self) -> dict[str, Number]:
        """All that can be set, by flat names such as `ground`, `coupler_mass`, `rocker_length`."""
        result: dict[str, Number] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, PIECES):
                for key, number in piece_settings(value).items():
                    result[f"{one.name}_{key}"] = number
            else:
                result[one.name] = value
        return result

    def replaced(self: M, **settings: Number) -> M:
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
        return replace(self, **self._values(settings))

    def designs(self: M, **settings: Array) -> M:
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
                raise self.refusal(
                    f"there is no setting {name!r}{suggestion(name, known)}; there are "
                    f"{', '.join(known)}"
                )
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
        for name, value in self.settings.items():
            try:
                numbers = np.atleast_1d(np.asarray(value, dtype=np.float64))
            except (TypeError, ValueError):
                raise self.refusal(f"{name} is {value!r}; give a number") from None
            for number in numbers[[numbers.argmin(), numbers.argmax()]].tolist():
                if problem := problem_of(name, number):
                    raise self.refusal(problem)

    def _closes(self) -> bool:
        """Whether it can be assembled at any angle of its inputs."""
        turn = np.linspace(-np.pi, np.pi, SAMPLES, endpoint=False)
        if len(self.inputs) > 1:
            turn = turn[:: SAMPLES // 36]
        grid = np.meshgrid(*[turn] * len(self.inputs))
        return bool((self.margin(np.stack([one.ravel() for one in grid], axis=1)) >= 0).any())

    def _explain_open(self) -> str:
        return "the lengths cannot close at any angle; make the longest shorter"

    # -- position ------------------------------------------------------------------------------

    def solved(self, q: Array) -> Solved:
        """Its position as numbers, at q (..., n); NaN where it cannot be assembled."""
        angles = np.moveaxis(np.asarray(q, dtype=np.float64), -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.solve([Complex(np.cos(one), np.sin(one)) for one in angles])

    def margins(self, q: Array) -> Array:
        """Squared sine of every dyad's transmission angle, (..., dyads).

        Zero at a toggle, negative or NaN where it cannot be assembled.
        """
        dyads = self.solved(q).dyads
        shape = np.shape(q)[:-1]
        if not dyads:
            return np.ones((*shape, 1))
        return np.stack([np.broadcast_to(one.margin, shape) for one in dyads], axis=-1)

    def margin(self, q: Array) -> Array:
        """The least of the margins; negative where one is NaN."""
        return np.nan_to_num(self.margins(q), nan=-1.0).min(axis=-1)

    def pose(self, q: ArrayLike) -> Pose:
        """Where its parts are at N states q (N, n).

        Raises
        ------
        InputError
            It cannot be assembled at one of them; the words give the limiting angle.
        """
        from .reach import require_reach

        states = self.states("q", q)
        require_reach(self, states)
        return Pose.of(self.layout(), self.solved(states), len(states))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints of all parts, in the order of `joint_state`."""
        return tuple(part.joint for part in self.layout().parts)

    # -- dynamics ------------------------------------------------------------------------------

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
        q, v, a : (N, n) rad, rad/s, rad/s^2; rows that stand alone serve for all.

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
        from .programs import run
        from .reach import require_reach

        require_reach(self, q)
        arrays = [q, *(self.states(key, value) for key, value in others.items())]
        count = max(map(len, arrays))
        for key, array in zip(("q", *others), arrays, strict=True):
            if len(array) not in (1, count):
                raise self.refusal(f"{key} has {len(array)} rows where others have {count}")
        shape = (count, len(self.inputs))
        return run(self, program, *(np.broadcast_to(array, shape) for array in arrays))

    def states(self, name: str, values: ArrayLike) -> Array:
        """An argument as states (N, n)."""
        try:
            array = np.atleast_2d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise self.refusal(f"{name} must be numbers: {error}") from None
        if array.ndim != 2 or array.shape[1] != len(self.inputs):
            raise self.refusal(
                f"{name} has shape {np.shape(values)}; give (N, {len(self.inputs)}), one column "
                f"for each of {', '.join(self.inputs)}"
            )
        if not np.isfinite(array).all():
            raise self.refusal(f"{name} holds NaN or infinity")
        return array

    # -- the robot -----------------------------------------------------------------------------

    @property
    def home(self) -> Array:
        """Angles (n,) of the inputs where all joints of `robot` and `urdf` are at zero.

        Zero where the mechanism can be assembled there, else where it is farthest from a toggle.
        """
        from .reach import home

        return home(self)

    def urdf(self) -> str:
        """URDF+ text: what `mbdyn_ros.load` reads back with the same dynamics."""
        from .urdf import write_urdf

        return write_urdf(self, self.home)

    def robot(self) -> Robot:
        """The `Robot`: its q is the inputs' angles less `home`."""
        from ..robot import load

        return load(self.urdf(), gravity=(0.0, 0.0, -float(self.gravity)))
