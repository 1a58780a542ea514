"""A program ready to run: compiled, or interpreted where no C compiler is; with its own arrays.

A compiled program is a library with a description of itself (`struct program`), whose calls are
functions of CPython's own kind (runtime/call.c).
"""

from __future__ import annotations

import _ctypes
import abc
import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import numpy as np

from ..array import Array, NoNumbers, as_numbers, memory
from ..errors import InputError
from ..program.program import Program
from .gcc import CompilationError
from .runtime.library import runtime, structure
from .threads import threads_for


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


MANY = 256
"""States from which on a program for many at once is compiled."""


class CompiledKernel(Kernel):
    """A program in C.

    Parameters
    ----------
    scalar : for one state.
    vectors : gives that for a vector of states when first needed; None where it cannot.
    worth_a_thread : see `Options.worth_a_thread`.
    """

    compiled = True

    def __init__(
        self,
        program: Program,
        scalar: CompiledProgram,
        home: Array,
        vectors: Callable[[], CompiledProgram | None],
        worth_a_thread: int,
    ) -> None:
        super().__init__(program, scalar.inputs, scalar.shape, home)
        self.scalar, self._made, self._runtime = scalar, vectors, runtime()
        self.worth_a_thread = worth_a_thread
        self._home, self._keeps_numbers = address(home), bool(program.kept)
        self._addresses = ctypes.c_void_p * (len(self.inputs) + 1)
        self._steps = ctypes.c_size_t * (len(self.inputs) + 1)

    @functools.cached_property
    def plain(self) -> Callable[..., Array | None]:  # type: ignore[override]
        """The plain call: of the inputs alone, or with wrenches and friction, and out."""
        others = (None, True, None) if self.program.declaration.loaded else (None,)
        return plain_call(self.scalar, self.shape, self.home, others)

    @functools.cached_property
    def vectors(self) -> CompiledProgram | None:
        """The program for a vector of states, made when first needed."""
        return self._made()

    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """Arrays and program stay with the call, which follows a motion."""
        return bound_call(self.scalar, (*arguments, self.home, self.memory(), result)), None

    def memory(self) -> Array:
        """Memory for a caller that follows a motion; see `close` in runtime/program.h."""
        memory = np.zeros(self.scalar.memory)
        memory[:1] = self.farthest
        return memory

    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """State by state; the caller keeps the arrays."""
        addressed = self._addressed(arguments, result, self.home)
        return functools.partial(self._runtime.batch_of_few, self.scalar.address, *addressed)

    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = False,
    ) -> None:
        """From `MANY` states on several at once, in vectors and on `threads()`."""
        home = homes
        if home is None:
            home = snapshot(self.home) if self._keeps_numbers else self.home
        addressed = self._addressed(arrays, result, home)  # which stays until this returns
        vectors = self.vectors if len(result) >= MANY and not apart else None
        if vectors is None:
            self._runtime.batch_of_few(self.scalar.address, *addressed)
        else:
            threads = threads_for(len(result) * vectors.operations, self.worth_a_thread)
            self._runtime.batch(vectors.address, *addressed, threads)

    def _addressed(self, arrays: Sequence[Array], result: Array, home: Array) -> tuple[object, ...]:
        """Number of states, where inputs and home are, their steps, and where the result is."""
        count = len(result)
        place, own = self._home, 0  # of the homes, and from one to the next
        if home is not self.home:
            place, own = address(home), home.shape[1] if home.ndim > 1 else 0
        start = self._addresses(*map(address, arrays), place)
        steps = (
            x.size // count if x.ndim > n else 0 for x, n in zip(arrays, self._ndim, strict=True)
        )
        step = self._steps(*steps, own)
        return ctypes.c_size_t(count), start, step, ctypes.c_void_p(address(result))


def bound_call(program: CompiledProgram, arrays: Sequence[Array]) -> Callable[[], None]:
    """The bound call of a program on arrays: its inputs, home, memory, and the result."""
    addresses = program.address.value, *(array.ctypes.data for array in arrays)
    block = np.array(addresses, dtype=np.uintp)
    call: Callable[[], None] = _maker("new_bound_call")((block, program, *arrays))  # kept alive
    return call


def plain_call(
    program: CompiledProgram, shape: tuple[int, ...], home: Array, others: tuple[object, ...]
) -> Callable[..., Array | None]:
    """The plain call of a program with a result of that shape.

    Its arguments are the program's inputs, followed by either nothing or `others`: all others
    of the method, in order. It may be called from several threads.
    """
    objects = np.empty, shape, np.ndarray
    addresses = (
        *(program.address.value, home.ctypes.data, *map(id, objects)),
        *(len(others), *map(id, others)),
    )
    block = np.array(addresses, dtype=np.uintp)
    call: Callable[..., Array | None] = _maker("new_plain_call")(
        (block, program, home, objects, others)  # all are kept alive
    )
    return call


def _maker(name: str) -> Callable[[tuple[object, ...]], Any]:
    """A function of the runtime that makes a call of its `self`."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)((name, runtime()))


def address(array: Array) -> int:
    """Where the numbers of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        assert array.flags.c_contiguous
        return array.ctypes.data


_Described = TypeVar("_Described", ctypes.c_size_t, ctypes.c_char, ctypes.Structure)


MOST_INPUTS = 20
"""Inputs of a program for which its callers have room; see `MOST_ARGUMENTS` in C."""

_Array = structure("program.h", "array")
_Program = structure("program.h", "program")


class CompiledLoops:
    """The library that closes a robot's loops, for all of its programs (`c_loops.walk_source`).

    Attributes
    ----------
    close : address of `close_all`. memory : number of values that store the last loop positions.

    Raises
    ------
    CompilationError
        The library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library, self.memory = _loaded(path, ctypes.c_size_t, "memory_size")
        self.close = ctypes.cast(self._library.close_all, ctypes.c_void_p)


class CompiledTerms:
    """The library of what a robot's loops are to all of its programs (`source.terms_source`).

    Attributes
    ----------
    find : address of `find_terms`.

    Raises
    ------
    CompilationError
        The library does not load.
    """

    def __init__(self, path: Path) -> None:
        self._library, found = _loaded(path, ctypes.c_char, "find_terms")
        self.find = ctypes.c_void_p(ctypes.addressof(found))


class CompiledProgram:
    """The program in a library.

    Parameters
    ----------
    loops, terms : the library that closes its loops, and that of their terms; None without loops.

    Attributes
    ----------
    inputs : rows and columns of every input array by name, in order.
    shape : rows and columns of the result.
    operations : of one run, about.
    memory : number of values that store the last loop positions.
    address : of its `struct program`, for the runtime library.

    Raises
    ------
    CompilationError
        There is no program in the library.
    """

    def __init__(
        self,
        path: Path,
        loops: CompiledLoops | None = None,
        terms: CompiledTerms | None = None,
    ) -> None:
        self._library, described = _loaded(path, _Program, "program")
        self._closed_by = loops, terms
        if described.inputs > MOST_INPUTS:
            raise CompilationError(f"{path}: a program of {described.inputs} inputs")
        if loops is not None:
            described.close, described.memory = loops.close, loops.memory.value
        if terms is not None:
            described.find_terms = terms.find
        arrays = (_Array * described.inputs).from_address(described.input)
        self.inputs = {one.name.decode(): (one.rows, one.columns) for one in arrays}
        self.shape: tuple[int, int] = described.rows, described.columns
        self.operations: int = described.operations
        self.memory: int = described.memory
        self.address = ctypes.c_void_p(ctypes.addressof(described))


def _loaded(path: Path, kind: type[_Described], name: str) -> tuple[ctypes.CDLL, _Described]:
    """A library, and the object of that name in it."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CompilationError(f"{path}: the library does not load: {error}") from error
    try:
        return library, kind.in_dll(library, name)
    except ValueError as error:
        _ctypes.dlclose(library._handle)  # else its successor of this name is never seen
        raise CompilationError(f"{path}: there is no {name} in it: {error}") from error
