"""The programs of a robot, built when first asked for, and the call that takes any arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arguments import (
    Wrenches,
    body_wrenches,
    broadcast_count,
    checked_flag,
    coordinate_array,
    require_finite,
    require_out,
    require_unit_quaternions,
    whole_efforts,
)
from ..array import Array, memory
from ..assembly.closure_gap import positions_text, unreachable
from ..compiler.kernel import Bound, Kernel
from ..compiler.loading import interpret, load_kernel
from ..compiler.options import STANDARD, Options
from ..equations.actuation import LEAST_SHARE, joint_rates, least_share
from ..equations.entries import Entries
from ..equations.geometry import reframed
from ..equations.loops.planar_figure import PlanarFigure
from ..equations.loops.planar_reach import PositionRange
from ..equations.system import System
from ..equations.variable import ParameterLayout, with_symbols, without
from ..errors import DeadPointError, InputError, SingularMassMatrixError, brief
from ..locks import Lock
from ..program.continuation import FARTHEST
from ..program.program import Declaration, Program, offered
from ..program.symbols import serialized
from .closed_home import homes_closed, require_closed

SPOKEN_ARGUMENTS = {"q": "position", "v": "velocity", "a": "acceleration", "effort": "effort"}
"""Words for the arguments in messages."""

TOO_LARGE = 1e100
"""Size of an argument that is the cause where results are not finite."""

NEXT_TO_NOTHING = 1e-6
"""Gap (m or rad), found by least squares, of a loop that closes."""

NEARLY_DEAD = 1e-3
"""Share in the motion of a loop under which an actuator explains that there are no efforts."""


class PlainCalls:
    """The plain call of every program by its name (`plain_call`); None until it is compiled.

    of_links : those of programs of links, by name, link, and axes where there are some.
    """

    def __init__(self) -> None:
        self.of_links: dict[tuple[str, ...], Callable[..., Array | None]] = {}
        self.clear()

    def clear(self) -> None:
        """Leave all arguments to the general calls, until they take the short way again."""
        self.of_links.clear()
        for name in (*offered(), *offered(long=True)):
            setattr(self, name, _not_compiled)

    def take(self, program: Declaration, about: object, call: Callable[..., Array | None]) -> None:
        """Keep the plain call of a program, about a link or about nothing else."""
        if about is None:
            setattr(self, program.name, call)
        elif program.about in ("link", "frame"):
            names = about if isinstance(about, tuple) else (about,)
            self.of_links[(program.name, *names)] = call

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., Array | None]: ...


def _not_compiled(*_: object) -> None:
    """Return None, as a plain call does that leaves its arguments to the general call."""


class Rows(NamedTuple):
    """Numbers that each row of a batch has of its own.

    numbers : (N, n) that programs read: home, and parameters or what follows from them.
    parameters : (N, p).
    """

    numbers: Array
    parameters: Array


class Calls:
    """Kernels of one system; may be used from several threads.

    plain : the short way to call each program once it is compiled.
    home : where all of them start walks to the positions of loops; see `Kernel.home`.
    parameters : what is variable, (p,).
    changes : how often these were set.
    rows : of batches; None where all rows have the same parameters.
    options : of the compiler, for those that it has not made yet.
    """

    def __init__(
        self,
        system: System,
        source: str,
        layout: ParameterLayout | None = None,
        values: Array | None = None,
    ) -> None:
        self._described, self._source, self._layout = system, source, layout or ParameterLayout()
        self._system = system
        self._entries: Entries | None = None
        if self._layout:
            self._symbolic = with_symbols(without(system, self._layout), self._layout)
            origins = self._layout.origins
            self._entries = Entries(reframed(self._symbolic) if origins else self._symbolic)
            self._system = self._entries.symbols() if origins else self._symbolic
        start, kept = self._system.closing.home, self._system.parameters
        self._numbers = np.concatenate([start, np.zeros(0 if kept is None else kept.numel())])
        self.home, self._behind_home = np.split(self._numbers, [len(start)])
        self._by_parameters = self._numbers
        if self._layout.origins:
            self._by_parameters = np.concatenate([start, np.zeros(self._layout.size)])
        self.parameters = self._closed_at = np.zeros(self._layout.size)
        self.rows: Rows | None = None
        self.changes = 0
        self.options = STANDARD
        self._kernels: dict[tuple[Declaration, object, bool, bool, bool], Kernel] = {}
        self._building: dict[tuple[object, ...], Lock] = {}
        self.plain = PlainCalls()
        if values is not None and self._layout:
            self._closed_at = values if values.ndim == 1 else values[0]
            self.set_parameters(self._closed_at)
            if values.ndim > 1:
                self.set_parameters(values)

    def __getstate__(self) -> tuple[System, str, Options, ParameterLayout, Array, Array]:
        """Arguments for a copy or a pickle, which loads its programs from the cache."""
        rows = self.rows
        values = self.parameters if rows is None else rows.parameters
        return self._described, self._source, self.options, self._layout, self._closed_at, values

    def __setstate__(
        self, state: tuple[System, str, Options, ParameterLayout, Array, Array]
    ) -> None:
        system, source, options, layout, closed_at, values = state
        self.__init__(system, source, layout, closed_at)  # type: ignore[misc]
        self.options = options
        if self._layout:
            self.set_parameters(values)

    def set_parameters(self, values: Array) -> None:
        """Take other parameters (p,), or (N, p) for the rows of batches, from the next call on.

        Calls that are bound keep the last (p,) while rows have their own. A call in another thread
        runs with all of the old numbers or with all of the new ones.

        Raises
        ------
        InputError
            Loops cannot be closed with these parameters; all stays as it was.
        """
        numbers = self._numbers_at(np.ascontiguousarray(values, dtype=np.float64))
        self.changes += 1
        if values.ndim == 1:
            self.parameters = np.array(values, dtype=np.float64)
            memory(self._numbers)[:] = memory(numbers)  # NumPy would let go of the GIL
            if self._by_parameters is not self._numbers:
                self._by_parameters[:] = np.concatenate([numbers[: len(self.home)], values])
            self.rows = None
        else:
            self.rows = Rows(numbers, values)
            self.plain.clear()

    def _numbers_at(self, values: Array) -> Array:
        """Home and the numbers that follow it at parameters: (n,), or (N, n) for rows of them."""
        behind, entries = values, self._entries
        if self._layout.origins and entries is not None:
            require_closed(entries, values, self._source)
            behind = entries.values(values)
        if not self._system.closing.kept:
            homes = np.broadcast_to(self.home, (*behind.shape[:-1], len(self.home)))
        else:
            assert entries is not None
            homes = homes_closed(self._system, entries, self._closed_at, values, self._source)
        return np.ascontiguousarray(np.concatenate([homes, behind], axis=-1))

    def _by_parameters_of(self, rows: Rows) -> Array:
        """Rows of home and parameters, for programs that differentiate by these."""
        if not self._layout.origins:
            return rows.numbers
        return np.concatenate([rows.numbers[:, : len(self.home)], rows.parameters], axis=1)

    def take_over(self, old: Calls) -> None:
        """Run what is bound to the kernels of `old`, whose parameters were others."""
        for (program, about, *how), kernel in list(old._kernels.items()):
            for bound in list(kernel.bound):
                bound.move(self.kernel(program, about, *how))

    @property
    def traced(self) -> System:
        """The system that programs are traced for, with symbols for what is variable."""
        return self._system

    @serialized
    def system(self) -> System:
        """The system in the numbers that hold now."""
        if self._entries is None:
            return self._system
        return replace(self._entries.at(self.parameters), home=self.tree_home())

    def tree_home(self) -> Array:
        """Tree positions (nq_tree,) of home, its loops closed with the numbers that hold now."""
        if self._entries is None:
            return self._system.home
        return self._entries.home(self.parameters, self.home[self._system.closing.ny :])

    def reach(self) -> dict[int, PositionRange]:
        """How far the given joints of loops of closed form go, by body: numbers, or arrays (N,)
        where rows have their own lengths."""
        forms = (one.closed_form for one in self._system.linkages)
        figures = [form for form in forms if isinstance(form, PlanarFigure)]
        found = {
            body: one
            for form in figures
            for body, one in zip(form.given_bodies, form.reach, strict=True)
        }
        if self._layout.origins and self._entries is not None:
            rows = self.rows
            found |= self._entries.reach(self.parameters if rows is None else rows.parameters)
        return found

    def labels(self, name: str) -> tuple[str, ...]:
        """Names of the coordinates of an argument."""
        coordinates = self._system.coordinates
        if name == "q":
            return coordinates.position_labels
        return coordinates.effort_labels if name == "effort" else coordinates.velocity_labels

    def load(self, *wanted: tuple[Any, ...]) -> list[Kernel]:
        """Load or compile programs, several at once; each by the arguments of `kernel`."""
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(lambda arguments: self.kernel(*arguments), wanted))

    def has(self, program: Declaration) -> bool:
        """Whether a program has been loaded or compiled, without wrenches and with friction."""
        return (program, None, False, True, True) in self._kernels

    def call(
        self,
        program: Declaration,
        values: tuple[object, ...],
        wrenches: Wrenches | None = None,
        friction: bool = True,
        about: object = None,
        out: Array | None = None,
    ) -> Array:
        """Run a program on any arguments, or say what is wrong with them.

        The short programs of single links are interpreted for single states, unless compiled for
        something else: users ask for many links once, and compiling takes longer than that.
        """
        with brief:
            if friction is not True:
                friction = checked_flag("friction", friction) or not self._system.has_friction
            arrays = {
                key: (self._array(key, value), 1)
                for key, value in zip(program.inputs, values, strict=True)
            }
            rows = self.rows  # read once: other threads may set others meanwhile
            if wrenches is not None:
                arrays["wrenches"] = (self._on_bodies(wrenches, rows), 2)
            if "q" in arrays:
                require_unit_quaternions(self._system.coordinates, arrays["q"][0])
            numbers = None
            if rows is not None:
                differentiates = "variables" in program.needs
                numbers = self._by_parameters_of(rows) if differentiates else rows.numbers
            own = {} if numbers is None else {"parameters": (numbers, 1)}
            count = broadcast_count({**arrays, **own})
            variant = program, about, wrenches is not None, friction
            compiled = about is None or bool(count) or (*variant, True) in self._kernels
            kernel = self.kernel(*variant, compiled)
            shape = kernel.shape if count is None else (count, *kernel.shape)
            if out is not None:
                out = require_out(out, shape)
            if count is not None:
                given = [array for array, _ in arrays.values()]
                if out is not None:
                    given = [x.copy() if np.may_share_memory(x, out) else x for x in given]
                return kernel.batch(given, count, out, numbers)
            for key, (array, _) in arrays.items():
                if key != "wrenches":
                    require_finite(SPOKEN_ARGUMENTS.get(key, key), array, self.labels(key))
            given = [array for array, _ in arrays.values()]
            result = kernel.plain(*(array.ravel() for array in given)) if kernel.plain else None
            if result is None:
                result = self._run(kernel, given, arrays["q"][0])
            if kernel.plain and variant == (program, about, False, True):
                self.plain.take(program, about, kernel.plain)  # the next call takes the short way
                if self.rows is not None:  # set meanwhile
                    self.plain.clear()
            if out is None:
                return result
            out[...] = result
            return out

    def _on_bodies(self, wrenches: Wrenches, rows: Rows | None) -> Array:
        """Wrenches on links as wrenches on their bodies, where the links are now."""
        tree = self._system.tree
        if self._layout.origins:
            if rows is not None:
                raise InputError(
                    f"{self._source}: wrenches act on links, and each row has these elsewhere: set "
                    "one origin for all rows, or call row by row"
                )
            tree = self.system().tree
        return body_wrenches(tree, wrenches, self._source)

    def _array(self, key: str, value: object) -> Array:
        """An argument as numbers; efforts may be those of the motors alone."""
        labels = self.labels(key)
        given = whole_efforts(value, labels) if key == "effort" else value
        return coordinate_array(SPOKEN_ARGUMENTS.get(key, key), given, labels)

    def along(
        self,
        program: Declaration,
        values: Sequence[Array],
        homes: Array,
        friction: bool = True,
    ) -> Array:
        """The results (N, ...) at N states of a motion, each reached from a home (N, n) of its own.

        NaN where loops cannot be closed.
        """
        if self.rows is not None and not self._system.nz:
            return self.call(program, tuple(values), friction=friction)
        kernel = self.kernel(program, friction=friction or not self._system.has_friction)
        if not self._system.nz:
            return kernel.batch(values, len(values[0]))
        behind = np.broadcast_to(self._behind_home, (len(homes), len(self._behind_home)))
        whole = np.ascontiguousarray(np.concatenate([homes, behind], axis=1))
        return kernel.batch(values, len(homes), homes=whole, apart=True)

    def _run(self, kernel: Kernel, arrays: Sequence[Array], q: Array) -> Array:
        """The result for finite numbers; an error says why there is none."""
        bound = Bound(kernel)
        for argument, array in zip(bound.arguments, arrays, strict=True):
            argument[...] = array
        bound()
        if not np.isfinite(bound.result).all():
            self._require_closed(q)
            self._require_moderate(kernel, arrays)
            if kernel.program.name not in ("forward_dynamics", "forward_dynamics_derivatives"):
                self._require_alive(kernel.program.name, q)
            why = "the mass matrix is singular there, or a number is too large"
            if kernel.program.name == "operational_inertia":
                why = "the link cannot be moved in all six directions there; use its mobility"
            raise SingularMassMatrixError(
                f"{self._source}: {kernel.program.name.replace('_', ' ')} has no finite answer at "
                f"q = {q.tolist()}: {why}"
            )
        return bound.result

    def _require_moderate(self, kernel: Kernel, arrays: Sequence[Array]) -> None:
        """Raise `InputError` where an argument is so large that its products are infinite."""
        for name, array in zip(kernel.inputs, arrays, strict=True):
            if np.abs(array).max(initial=0.0) > TOO_LARGE:
                k = int(np.abs(array).argmax())
                where = f" of {self.labels(name)[k]}" if name in SPOKEN_ARGUMENTS else ""
                raise InputError(
                    f"{self._source}: {kernel.program.name.replace('_', ' ')} has no finite "
                    f"answer: {SPOKEN_ARGUMENTS.get(name, name)}{where} is {array.flat[k]:g}, too "
                    "large for its products to be numbers"
                )

    def kernel(
        self,
        program: Declaration,
        about: object = None,
        wrenches: bool = False,
        friction: bool = True,
        compiled: bool = True,
    ) -> Kernel:
        """A program, built when first asked for; see `Program` for the arguments."""
        key = program, about, wrenches, friction, compiled
        if key not in self._kernels:
            with self._building.setdefault(key, Lock()):  # one thread builds it
                if key not in self._kernels:
                    system, numbers = self._system, self._numbers
                    if "variables" in program.needs:
                        system, numbers = self._symbolic, self._by_parameters
                    made = Program(program, system, about, wrenches, friction)
                    self._kernels[key] = (
                        load_kernel(made, numbers, self.options)
                        if compiled
                        else interpret(made, numbers)
                    )
        return self._kernels[key]

    def short(self, program: Declaration, about: object = None) -> Bound:
        """A short program, bound: interpreted, unless it is compiled, or walks to positions."""
        compiled = bool(self._system.nz) or (program, about, False, True, True) in self._kernels
        return Bound(self.kernel(program, about, compiled=compiled))

    def _require_alive(self, name: str, q: Array) -> None:
        """Raise `DeadPointError` where an actuator is at a dead point at q."""
        bound = Bound(self.kernel(joint_rates, compiled=False))
        bound.arguments[0][...] = q
        bound()
        if not np.isfinite(bound.result).all():
            return
        nearest = least_share(self._system, bound.result)
        if nearest is not None and nearest[1] < NEARLY_DEAD:
            raise DeadPointError(
                f"{self._source}: {name.replace('_', ' ')} has no answer at q = {q.tolist()}: the "
                f"actuator of {self._system.coordinates.effort_labels[nearest[0]]} is at a dead "
                f"point: the loop can move while this actuator barely does (its share of the "
                f"motion is {nearest[1]:.2g}; efforts are only computed above {LEAST_SHARE:g}; see "
                "actuation_condition)"
            )

    def _require_closed(self, q: Array) -> None:
        """Raise `InputError` where the loops cannot be closed at q."""
        problem = unreachable(self.system(), q)
        if problem is not None:
            why = f": a gap of {problem.gap} is left"
            if problem.gap.largest < NEXT_TO_NOTHING:
                why = " without being taken apart: a singularity lies between there and home"
                if np.abs(problem.wanted - problem.nearest).max() > FARTHEST:
                    why = f": it is farther than {FARTHEST:g} (rad or m) from home"
            raise InputError(
                f"{self._source}: loop {problem.loop!r} cannot be closed at "
                f"{positions_text(problem.joints, problem.wanted)}{why}; on the way from home the "
                f"nearest that can be reached is {positions_text(problem.joints, problem.nearest)}"
            )
