"""A program ready to run: compiled, or interpreted where no C compiler is; with its own arrays."""

from __future__ import annotations

import abc
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from ..array import Array, NoNumbers, as_numbers, memory
from ..errors import InputError
from ..program.program import Program


class Tied(Protocol):
    """A call that is bound to a kernel."""

    def move(self, kernel: Kernel) -> None:
        """Run another kernel of the same program from now on."""
        ...


class Kernel(abc.ABC):
    """One program, ready to run.

    Attributes
    ----------
    program : its program, not traced.
    inputs : shape of every input array by name, in order.
    shape : shape of the result.
    compiled : whether C runs, not the interpreter.
    home : where walks to the positions of loops without closed form start; see
        `Closing.home`. The parameters of the equations follow, where these are not inputs.
        Every call reads it anew.
    bound : the calls that are bound to it and may be bound to another kernel (`Bound.move`).
    farthest : distance (rad or m) from the last positions beyond which calls that are bound from
        now on leave loops open; 0: there is none.
    """

    compiled: bool

    def __init__(
        self,
        program: Program,
        inputs: dict[str, tuple[int, int]],
        shape: tuple[int, int],
        home: Array,
    ) -> None:
        self.program, self.home, self.farthest = program, home, 0.0
        self.bound: weakref.WeakSet[Tied] = weakref.WeakSet()
        self.inputs: dict[str, tuple[int, ...]] = {
            name: (rows, columns) if name == "wrenches" else (rows * columns,)
            for name, (rows, columns) in inputs.items()
        }
        self.shape: tuple[int, ...] = (
            shape if program.declaration.matrix else (shape[0] * shape[1],)
        )
        self._ndim = [len(one) for one in self.inputs.values()]

    @property
    def plain(self) -> Callable[..., Array | None] | None:
        """The plain call, of the inputs alone or of all arguments of the method; see `call`.

        None where programs are interpreted.
        """
        return None

    def batch(
        self,
        arrays: Sequence[Array],
        count: int,
        out: Array | None = None,
        homes: Array | None = None,
        apart: bool = False,
    ) -> Array:
        """Run over N states: inputs of shape (N, ...), or of one state's shape for all.

        Parameters
        ----------
        out : (N, ...) contiguous float64 for the results; default a new array.
        homes : (N, n) contiguous: every state has a home of its own, with its parameters.
        apart : whether every state is run by itself: a vector of states walks from one position.

        Returns
        -------
        The results (N, ...); a row with NaN or infinity has them in its result alone. All rows
        are computed with the parameters that the kernel had when the batch began.

        Raises
        ------
        InputError
            There are not as many homes as states.
        """
        if homes is not None and len(homes) != count:
            raise InputError(
                f"a batch of {count} states needs as many rows of parameters; got {len(homes)}"
            )
        arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
        result = np.empty((count, *self.shape)) if out is None else out
        if result.size:
            self._fill(arrays, result, homes, apart)
        return result

    @abc.abstractmethod
    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """A call of the program on arrays that stay, and what must stay with it."""

    @abc.abstractmethod
    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """A call of the program over the states of arrays (N, ...), which the caller keeps."""

    @abc.abstractmethod
    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = False,
    ) -> None:
        """Run over all states of contiguous arrays."""


def snapshot(home: Array) -> Array:
    """A copy of numbers that other threads may set meanwhile: all of them before, or all after."""
    return np.frombuffer(bytes(memory(home))) if home.size else home  # under the GIL throughout


def fixed_zeros(*shape: int) -> Array:
    """An array for code that keeps its address: it cannot be resized."""
    return np.zeros(shape)[...]


class Bound(functools.partial):  # type: ignore[type-arg]
    """A kernel with preallocated arrays: fill the inputs, call, read the output.

    The arrays are attributes named as the method's arguments (`q`, `v`, `a`, `effort`,
    `wrenches`), the output also as `result`. They stay where they are: an assignment copies
    numbers of the same shape into them. A call checks nothing, returns nothing and allocates
    nothing; one `Bound` serves one thread. A copy has arrays of its own, with the same numbers.

    Raises
    ------
    InputError
        What is assigned does not fit, or the program has no such array. A pickle is asked for.
    """

    arguments: tuple[Array, ...]
    result: Array

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array: ...

    def __new__(cls, kernel: Kernel) -> Bound:
        """Allocate the arrays and tie the program to them."""
        arguments = tuple(fixed_zeros(*shape) for shape in kernel.inputs.values())
        result = fixed_zeros(*kernel.shape)
        call, kept = kernel.tie(arguments, result)
        self = super().__new__(cls, call)
        own: dict[str, object] = dict(zip(kernel.inputs, arguments, strict=True))
        own[kernel.program.declaration.output] = own["result"] = result
        vars(self).update(own, arguments=arguments, _kernel=kernel, _kept=kept)
        kernel.bound.add(self)
        return self

    def move(self, kernel: Kernel) -> None:
        """Run another kernel of the same program from now on, on the same arrays."""
        call, kept = kernel.tie(self.arguments, self.result)
        vars(self).update(_kernel=kernel, _kept=kept)
        super().__setstate__((call, (), {}, vars(self)))  # type: ignore[misc]
        kernel.bound.add(self)

    def __setattr__(self, name: str, value: object) -> None:
        arrays = {key: one for key, one in vars(self).items() if isinstance(one, np.ndarray)}
        if name not in arrays:
            raise InputError(f"{self._program} has no array {name!r}; it has {', '.join(arrays)}")
        try:
            given = as_numbers(value)
        except NoNumbers as error:
            raise InputError(f"{name} of {self._program} must be numbers: {error}") from None
        if given.shape != arrays[name].shape:
            raise InputError(
                f"{name} of {self._program} has shape {arrays[name].shape}; the assigned value "
                f"has shape {given.shape}"
            )
        arrays[name][...] = given

    def __copy__(self) -> Bound:
        other = Bound(vars(self)["_kernel"])
        for theirs, ours in zip(other.arguments, self.arguments, strict=True):
            theirs[...] = ours
        other.result[...] = self.result
        return other

    def __deepcopy__(self, memo: object) -> Bound:
        return self.__copy__()

    def __repr__(self) -> str:
        kernel = vars(self)["_kernel"]
        inputs = ", ".join(f"{name} {array.shape}" for name, array in
                           zip(kernel.inputs, self.arguments, strict=True))  # fmt: skip
        output = kernel.program.declaration.output
        return f"<Bound {kernel.program.name}: {inputs} -> {output} {self.result.shape}>"

    def __reduce__(self) -> NoReturn:
        raise InputError(
            f"{self._program} is bound to memory of this process and cannot be pickled: "
            "pickle the robot, and bind it again where it arrives"
        )

    @property
    def _program(self) -> str:
        """The program in words."""
        return f"the bound {vars(self)['_kernel'].program.name}"


class BoundBatch:
    """A kernel with arrays for N states: fill `arguments` in place, call, read `result`.

    Attributes
    ----------
    arguments : the inputs, (N, ...) each. result : (N, ...).
    """

    def __init__(self, kernel: Kernel, count: int) -> None:
        self.arguments = tuple(fixed_zeros(count, *shape) for shape in kernel.inputs.values())
        self.result = fixed_zeros(count, *kernel.shape)
        self._kernel, self._call = kernel, kernel.tie_batch(self.arguments, self.result)

    def __call__(self) -> None:
        """Run it."""
        self._call()
