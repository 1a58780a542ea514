"""Where kernels come from: the cache, else the compiler, else the interpreter."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import casadi as ca
import numpy as np

from ..array import Array, memory
from ..errors import CompilerWarning, warn
from ..program.continuation import reach
from ..program.program import Closing, Program, digest_of_folder
from ..program.symbols import lasting, serialized
from .block import Lane
from .c_loops import walk_source
from .cache import cached_library
from .gcc import CompilationError, toolchain
from .kernel import (
    Bound,
    CompiledKernel,
    CompiledLoops,
    CompiledProgram,
    CompiledTerms,
    Kernel,
    snapshot,
)
from .options import STANDARD, Options
from .pipeline import c_source, terms_source
from .runtime.library import runtime

Built = TypeVar("Built")
Loaded = TypeVar("Loaded", CompiledProgram, CompiledLoops, CompiledTerms)


class _Background(Generic[Built]):
    """Something that is built in a thread of its own from now on, which ends with the process."""

    def __init__(self, build: Callable[[], Built]) -> None:
        self._build, self._built, self._problem = build, list[Built](), list[BaseException]()
        self._thread = threading.Thread(target=self._run, name="compiler", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._built.append(self._build())
        except BaseException as error:  # whoever asks for the result meets it
            self._problem.append(error)

    def result(self) -> Built:
        """The thing built, once it is; raises the error that building it raised."""
        self._thread.join()
        for error in self._problem:
            raise error
        return self._built[0]


def load_kernel(program: Program, home: Array | None = None, options: Options = STANDARD) -> Kernel:
    """The kernel of a program: from the cache, else compiled into it, else interpreted.

    home : see `Kernel.home`; default that of the program's loops, without parameters.
    options : for the compiler.
    """
    start = program.subject.closing.home if home is None else home
    if options.interpreted:
        return interpret(program, start)
    if toolchain() is None:
        _notice_interpreter(
            "no C compiler was found ($CC, cc, gcc or clang). Install a C compiler (Debian and "
            "Ubuntu: gcc) or name one in $CC"
        )
        return interpret(program, start)
    try:
        single = _load(program, Lane.SINGLE, options)
        return CompiledKernel(
            program, single, start, lambda: load_vectors(program, options), options.worth_a_thread
        )
    except CompilationError as error:
        _notice_interpreter(str(error))
    except MemoryError:
        _notice_interpreter("there was not enough memory to compile them")
    return interpret(program, start)


def load_vectors(program: Program, options: Options = STANDARD) -> CompiledProgram | None:
    """A program for a vector of states; None, with a warning, where it does not compile."""
    try:
        return _load(program, Lane.VECTOR, options)
    except CompilationError as error:
        _notice_slow_batches(str(error))
        return None


def _load(program: Program, lane: Lane, options: Options) -> CompiledProgram:
    """A compiled program: from the cache, else compiled into it.

    Raises
    ------
    CompilationError
        It does not compile, or what was compiled does not load.
    """

    walks = program.subject.closing.nz > 0
    given = walks and lane is Lane.SINGLE and not program.declaration.differentiated

    @serialized
    def written() -> str:
        return c_source(replace(program, given=given), lane, options)  # what is traced is not kept

    name = program.name if lane is Lane.SINGLE else f"{program.name}-batch"
    key = "".join((name, program.key, digest_of_folder("compiler"), repr(options)))
    if not walks:
        return _built(name, key, written, CompiledProgram)
    _Background(runtime)  # in a new cache it is compiled meanwhile
    loops = _Background(lambda: _of_loops(program, walk_source, CompiledLoops))
    terms = _Background(lambda: _of_loops(program, terms_source, CompiledTerms)) if given else None

    def loaded(path: Path) -> CompiledProgram:
        return CompiledProgram(path, loops.result(), terms.result() if terms else None)

    return _built(name, key, written, loaded)


def _of_loops(
    program: Program, source: Callable[[Closing], str], loaded: Callable[[Path], Loaded]
) -> Loaded:
    """A library about the loops of a program's robot, one for all of its programs."""
    name = source.__name__.removesuffix("_source")
    key = "".join((name, program.loops_key, digest_of_folder("compiler")))

    @serialized
    def written() -> str:
        return source(program.subject.closing)

    return _built(f"loops-{name}", key, written, loaded)


def _built(
    name: str, key: str, source: Callable[[], str], loaded: Callable[[Path], Loaded]
) -> Loaded:
    """Content of a library of the cache; one that is damaged is built again."""
    path = cached_library(name, key, source)
    try:
        return loaded(path)
    except CompilationError:
        path.unlink(missing_ok=True)
        return loaded(cached_library(name, key, source))


@serialized
def interpret(program: Program, home: Array | None = None) -> Kernel:
    """The kernel of a program in CasADi's interpreter."""
    closing = program.subject.closing
    start, core = closing.home if home is None else home, _function(program)
    if not closing.nz:
        return InterpretedKernel(program, core, start)
    sparsities = {core.name_in(i): core.sparsity_in(i) for i in range(core.n_in())}
    walker = LoopSolver(closing, sparsities["q"].numel(), start)
    names = [name for name in sparsities if name != "z"]
    inputs = [ca.MX.sym(name, sparsities[name]) for name in names]
    result = core(inputs[0], walker(inputs[0]), *inputs[1:])
    function = ca.Function("program", inputs, [result], names, ["result"])
    return InterpretedKernel(program, lasting(function), start, walker)


_functions: dict[str, ca.Function] = {}
"""Functions of programs by their keys, the last used ones last."""

FUNCTIONS_KEPT = 128


def _function(program: Program) -> ca.Function:
    """The function of a program; another one of the same key is not traced again."""
    key = program.key
    # expressions are not kept
    function = _functions.pop(key, None) or lasting(replace(program).function)
    _functions[key] = function
    if len(_functions) > FUNCTIONS_KEPT:
        del _functions[next(iter(_functions))]
    return function


@functools.cache
def _notice_interpreter(reason: str) -> None:
    """Say once, for each reason, that programs are interpreted."""
    warn(
        f"programs run in CasADi's interpreter, about ten times slower than compiled: {reason}.",
        CompilerWarning,
    )


@functools.cache
def _notice_slow_batches(reason: str) -> None:
    """Say once, for each reason, that batches run one state at a time."""
    warn(
        f"batches run one state at a time: {reason}. GCC and Clang compile them for several.",
        CompilerWarning,
    )


class InterpretedKernel(Kernel):
    """A program as CasADi's function, of inputs alone; its result is stored row by row.

    loops : what the function finds the positions of loops with, where it does.
    """

    compiled = False

    def __init__(
        self, program: Program, function: ca.Function, home: Array, loops: LoopSolver | None = None
    ) -> None:
        inputs = {
            function.name_in(i): (function.size2_in(i), function.size1_in(i))
            for i in range(function.n_in())
            if function.name_in(i) in program.called_with
        }
        super().__init__(program, inputs, (function.size2_out(0), function.size1_out(0)), home)
        self._function, self._loops = function, loops

    def tie(self, arguments: Sequence[Array], result: Array) -> tuple[Callable[[], Any], object]:
        """The call holds a bare pointer into CasADi's buffer."""
        buffer: Any
        buffer, evaluate = self._function.buffer()
        for i, array in enumerate(arguments):
            buffer.set_arg(i, memory(array))
        if len(arguments) < self._function.n_in():
            parameters = self.home[-self._function.size1_in("parameters") :]
            buffer.set_arg(len(arguments), memory(parameters))
        buffer.set_res(0, memory(result))
        return evaluate, (buffer, self._loops)

    def tie_batch(self, arguments: Sequence[Array], result: Array) -> Callable[[], Any]:
        """State by state."""
        return functools.partial(self._fill, arguments, result)

    def _fill(
        self,
        arrays: Sequence[Array],
        result: Array,
        homes: Array | None = None,
        apart: bool = True,
    ) -> None:
        """State by state."""
        home = snapshot(self.home).copy()
        own = InterpretedKernel(self.program, self._function, home, self._loops)
        bound = Bound(own)
        for k in range(len(result)):
            for one, array, n in zip(bound.arguments, arrays, self._ndim, strict=True):
                one[...] = array[k] if array.ndim > n else array
            if homes is not None:
                home[:] = homes[k]
            if self._loops is None:
                bound()
            else:
                with self._loops.starting_at(home):
                    bound()
            result[k] = bound.result


class LoopSolver(ca.Callback):
    """Dependent positions z of loops as a CasADi function of q, for the interpreter.

    nq : numbers in q.
    home : see `Closing.home`; the walks start there, also when its numbers are changed.
    """

    def __init__(self, closing: Closing, nq: int, home: Array) -> None:
        super().__init__()
        self._closing, self._nq, self._home = closing, nq, home
        self._own = threading.local()
        self._equations = closing.equations()
        self.construct("loops", {})

    @contextlib.contextmanager
    def starting_at(self, home: Array) -> Iterator[None]:
        """Let walks in this thread start at another home meanwhile."""
        self._own.home = home
        try:
            yield
        finally:
            del self._own.home

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        """q (nq, 1)."""
        return ca.Sparsity.dense(self._nq, 1)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        """z (nz, 1)."""
        return ca.Sparsity.dense(self._closing.nz, 1)

    def eval(self, arg: Sequence[ca.DM]) -> list[ca.DM]:
        """Walk every loop from home; NaN where it cannot close."""
        y = np.array(arg[0]).ravel()[list(self._closing.places)]
        home = getattr(self._own, "home", self._home)
        ends = np.cumsum([len(y), self._closing.nz, self._closing.kept])
        home_y, home_z, p, _ = np.split(home, ends)
        z = np.full(self._closing.nz, np.nan)
        iy = iz = 0
        for loop, (ny, nz) in zip(self._equations, self._closing.counts, strict=True):
            here, there = slice(iy, iy + ny), slice(iz, iz + nz)
            iy, iz = here.stop, there.stop
            walk = reach(loop, (home_y[here], home_z[there]), y[here], p)
            if walk.arrived:
                z[there] = walk.dependent
        return [ca.DM(z)]
