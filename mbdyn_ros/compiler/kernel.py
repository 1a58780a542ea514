"""Compiled programs: generated C in a cache, called without copies.

A `Kernel` is one program ready to run: compiled where a C compiler is, interpreted elsewhere.
A `Bound` is a kernel with arrays of its own; calling it costs the C function and little else.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..array import Array
from ..errors import CompilerWarning
from ..program.program import Program
from ..program.symbols import alone, lasting
from .batch import batch_source
from .cache import cached_library
from .call import bound_call, plain_call
from .gcc import CompilationError, toolchain
from .options import STANDARD, Options
from .source import c_source
from .thread_pool import share_out
from .threads import threads_for
from .walker import Walker

Source = Callable[[Program, Options], str]
"""What writes the C text of a library."""

MANY = 256
"""States from which on a program for many at once is compiled."""


class Kernel:
    """One program, ready to run.

    Attributes
    ----------
    program : what it computes, not traced.
    inputs : shape of every input array by name, in order.
    shape : shape of the result.
    compiled : whether C runs, not the interpreter.
    library : the C, with what else its source has; None if interpreted.
    home : where walks to the positions of loops without closed form start; see
        `Closing.home`. Every call reads it anew.
    """

    def __init__(
        self,
        program: Program,
        function: ca.Function,
        library: Path | None,
        home: Array,
        many: Callable[[], ctypes.CDLL | None] = lambda: None,
    ) -> None:
        self.program = program
        self.function = function
        self.compiled = library is not None
        self.home = home
        self.inputs: dict[str, tuple[int, ...]] = {}
        for i in range(function.n_in()):
            rows, columns = function.size_in(i)
            name = function.name_in(i)
            if name != "home":
                self.inputs[name] = (columns, rows) if name == "wrenches" else (rows * columns,)
        columns, rows = function.size_out(0)
        self.shape = (rows, columns) if program.declaration.matrix else (rows,)
        self._home = home.ctypes.data
        self._ndim = [len(shape) for shape in self.inputs.values()]
        self._addresses = ctypes.c_void_p * (len(self.inputs) + 1)
        self._steps = ctypes.c_size_t * (len(self.inputs) + 1)
        self.walker: Walker | None = None
        self._many = many
        self.library = ctypes.CDLL(str(library)) if library is not None else None

    @functools.cached_property
    def plain(self) -> Callable[..., Array | None] | None:
        """The plain call, of the inputs alone or of all arguments of the method; see `call`."""
        return plain_call(self) if self.compiled else None

    @functools.cached_property
    def _vectors(self) -> ctypes.CDLL | None:
        """The library that runs many states, made when first needed; None if interpreted."""
        return self._many()

    @functools.cached_property
    def _operations(self) -> int:
        """Operations of one state in vectors."""
        assert self._vectors is not None
        return ctypes.c_size_t.in_dll(self._vectors, "operations").value

    def batch(self, arrays: Sequence[Array], count: int, out: Array | None = None) -> Array:
        """Run over N states: inputs of shape (N, ...), or of one state's shape for all.

        From `MANY` states on they run several at once, in vectors and on `threads()`.

        Parameters
        ----------
        out : (N, ...) contiguous float64 for the results; default a new array.

        Returns
        -------
        The results (N, ...); a row with NaN or infinity has them in its result alone.
        """
        arrays = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
        result = np.empty((count, *self.shape)) if out is None else out
        if not result.size:
            return result
        if self.library is None:
            self._interpret(arrays, result)
            return result
        # the last input is read where there are loops to walk
        start = self._addresses(*map(address, arrays), self._home)
        step = self._steps(
            *(x.size // count if x.ndim > n else 0 for x, n in zip(arrays, self._ndim, strict=True))
        )
        states, target = ctypes.c_size_t(count), ctypes.c_void_p(address(result))
        vectors = self._vectors if count >= MANY else None
        if vectors is None:
            self.library.batch_of_few(states, start, step, target)
        else:
            threads = threads_for(count * self._operations)
            vectors.batch(states, start, step, target, share_out(), threads)
        return result

    def _interpret(self, arrays: Sequence[Array], result: Array) -> None:
        """The same state by state."""
        bound = Bound(self)
        for k in range(len(result)):
            for memory, array, n in zip(bound.arguments, arrays, self._ndim, strict=True):
                memory[...] = array[k] if array.ndim > n else array
            bound()
            result[k] = bound.result


class Bound(functools.partial):  # type: ignore[type-arg]
    """A kernel with preallocated arrays: fill the inputs in place, call, read the output.

    The arrays are attributes named as the method's arguments (`q`, `v`, `a`, `effort`,
    `wrenches`), the output also as `result`. A call checks nothing, returns nothing and
    allocates nothing; one `Bound` serves one thread.
    """

    arguments: tuple[Array, ...]
    result: Array
    _buffer: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array: ...

    def __new__(cls, kernel: Kernel) -> Bound:
        """Allocate the arrays and tie the program to them."""
        arguments = tuple(np.zeros(shape) for shape in kernel.inputs.values())
        result = np.zeros(kernel.shape)
        if kernel.library is not None:
            self = super().__new__(cls, bound_call(kernel, (*arguments, kernel.home, result)))
        else:
            buffer: Any
            buffer, evaluate = kernel.function.buffer()
            for i, array in enumerate(arguments):
                buffer.set_arg(i, memory(array))
            buffer.set_res(0, memory(result))
            self = super().__new__(cls, evaluate.func, *evaluate.args)
            self._buffer = buffer  # the partial holds a bare pointer into it
        self.arguments, self.result = arguments, result
        for name, array in zip(kernel.inputs, self.arguments, strict=True):
            setattr(self, name, array)
        setattr(self, kernel.program.declaration.output, self.result)
        return self


class BoundBatch:
    """A kernel with preallocated arrays for N states: fill the inputs, call, read the result.

    arguments : (N, ...) in the order of the kernel's inputs. result : (N, ...).
    """

    def __init__(self, kernel: Kernel, count: int) -> None:
        self._kernel, self._count = kernel, count
        self.arguments = [np.zeros((count, *shape)) for shape in kernel.inputs.values()]
        self.result = np.zeros((count, *kernel.shape))
        if kernel.library is not None:
            arrays = [*self.arguments, kernel.home]
            start = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
            steps = [int(np.prod(shape)) for shape in kernel.inputs.values()]
            step = (ctypes.c_size_t * len(arrays))(*steps, 0)
            self._loop = functools.partial(
                kernel.library.batch_of_few,
                ctypes.c_size_t(count), start, step, ctypes.c_void_p(self.result.ctypes.data),
            )  # fmt: skip

    def __call__(self) -> None:
        """Run it."""
        if self._kernel.library is not None:
            self._loop()
        else:
            self._kernel.batch(self.arguments, self._count, self.result)


def address(array: Array) -> int:
    """Where the numbers of a contiguous array begin."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        return array.ctypes.data


def memory(array: Array) -> Any:
    """The memory of a contiguous array, as one row of numbers."""
    return memoryview(array.reshape(-1))  # type: ignore[arg-type]


def load_kernel(program: Program, home: Array | None = None, options: Options = STANDARD) -> Kernel:
    """The kernel of a program: from the cache, else compiled into it, else interpreted.

    home : see `Kernel.home`; default that of the program's loops. options : for the compiler.
    """
    start = program.subject.closing.home if home is None else home
    if toolchain() is None:
        _notice_interpreter("no C compiler was found ($CC, cc, gcc or clang)")
        return interpret(program, start)

    def many() -> ctypes.CDLL | None:
        return load_many(program, "batch", batch_source, options)

    def made() -> Kernel:
        library = _library(program, program.name, c_source, options)
        try:
            return Kernel(program, ca.external("program", str(library)), library, start, many)
        except (RuntimeError, OSError, AttributeError):
            library.unlink(missing_ok=True)  # no library of ours: build it again
            raise

    try:
        try:
            return made()
        except (RuntimeError, OSError, AttributeError):
            return made()
    except (CompilationError, RuntimeError, OSError, AttributeError) as error:
        _notice_interpreter(str(error))  # also where what was compiled does not load
        return interpret(program, start)


def load_many(
    program: Program, purpose: str, source: Source, options: Options = STANDARD
) -> ctypes.CDLL | None:
    """A library that runs a program over many states; None, with a warning, where it fails.

    purpose : a word for the way in which it runs them. source : gives its text.
    """
    try:
        share_out()
        return ctypes.CDLL(str(_library(program, f"{program.name}-{purpose}", source, options)))
    except (CompilationError, OSError) as error:
        _notice_slow_batches(str(error))
        return None


def _library(program: Program, name: str, source: Source, options: Options) -> Path:
    """A compiled library of a program: from the cache, else compiled into it."""
    key = "".join((name, program.key, source_digest(), repr(options)))
    return cached_library(name, key, lambda: _written(program, source, options))


@alone
def _written(program: Program, source: Source, options: Options) -> str:
    return source(replace(program), options)  # what is traced is not kept


@alone
def interpret(program: Program, home: Array | None = None) -> Kernel:
    """The kernel of a program in CasADi's interpreter."""
    closing, traced = program.subject.closing, replace(program)
    start, core = closing.home if home is None else home, traced.function
    if not closing.nz:
        return Kernel(program, lasting(core), None, start)
    walker = Walker(closing, traced.sizes["q"], start)
    names = [name for name in traced.symbols if name != "z"]
    inputs = [ca.MX.sym(name, traced.symbols[name].sparsity()) for name in names]
    result = core(inputs[0], walker(inputs[0]), *inputs[1:])
    function = ca.Function("program", inputs, [result], names, ["result"])
    kernel = Kernel(program, lasting(function), None, start)
    kernel.walker = walker  # CasADi does not keep it alive
    return kernel


@functools.cache
def source_digest() -> str:
    """Hash of the compiler's own code: new code makes new texts."""
    content = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        content.update(file.read_bytes())
    return content.hexdigest()


@functools.cache
def _notice_interpreter(reason: str) -> None:
    """Say once, for each reason, that programs are interpreted."""
    warnings.warn(
        f"programs run in CasADi's interpreter, about ten times slower than compiled: {reason}. "
        "Install a C compiler (Debian and Ubuntu: gcc) or name one in $CC.",
        CompilerWarning,
        stacklevel=2,
    )


@functools.cache
def _notice_slow_batches(reason: str) -> None:
    """Say once, for each reason, that batches run one state at a time."""
    warnings.warn(
        f"batches run one state at a time: {reason}. GCC and Clang compile them for several.",
        CompilerWarning,
        stacklevel=2,
    )
