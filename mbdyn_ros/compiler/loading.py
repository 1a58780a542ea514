"""Where kernels come from: the cache, else the compiler, else the interpreter."""

from __future__ import annotations

import functools
import hashlib
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import casadi as ca

from ..equations.system import System
from ..errors import CompilerWarning
from ..model.model import Array
from . import program_text, staged_text, straight_line
from .cache import cached_library
from .compiled_kernel import CompiledKernel
from .compiled_program import CompiledProgram
from .gcc import CompilationError, toolchain
from .interpreted_kernel import InterpretedKernel
from .kernel import Kernel
from .program import Variant, trace
from .source import c_source
from .walker import Walker

_symbols = threading.Lock()
"""Held while symbols are handled: CasADi counts who uses its expressions without any lock, so two
threads that build or drop some at once crash the process."""


def load_kernel(system: System, variant: Variant, home: Array | None = None) -> Kernel:
    """The kernel of a program: from the cache, else compiled into it, else interpreted.

    home : see `Kernel.home`; default that of the system.
    """
    start = system.walk_home if home is None else home
    if toolchain() is None:
        _notice_interpreter("no C compiler was found ($CC, cc, gcc or clang)")
        return interpret(system, variant, start)

    def vectors() -> CompiledProgram | None:
        return load_vectors(
            f"{variant.name}-batch", f"{system.digest()}{variant!r}",
            lambda: c_source(system, trace(system, variant), "v"),
        )  # fmt: skip

    try:
        program = load_program(
            variant.name, f"{system.digest()}{variant!r}",
            lambda: c_source(system, trace(system, variant)),
        )  # fmt: skip
        return CompiledKernel(variant, program, start, vectors)
    except CompilationError as error:
        _notice_interpreter(str(error))
        return interpret(system, variant, start)


def load_vectors(name: str, key: str, text: Callable[[], str]) -> CompiledProgram | None:
    """A program for a vector of states; None, with a warning, where it does not compile."""
    try:
        return load_program(name, key, text)
    except CompilationError as error:
        _notice_slow_batches(str(error))
        return None


def load_program(name: str, key: str, text: Callable[[], str]) -> CompiledProgram:
    """A compiled program: from the cache, else compiled into it.

    Parameters
    ----------
    name : for people who look into the cache.
    key : all that the text depends on but the generator.
    text : gives the C; no other thread handles symbols meanwhile.

    Raises
    ------
    CompilationError
        It does not compile, or what was compiled does not load.
    """

    def written() -> str:
        with _symbols:
            return text()

    whole = "".join((name, key, source_digest(), _settings()))
    path = cached_library(name, whole, written)
    try:
        return CompiledProgram(path)
    except CompilationError:
        path.unlink(missing_ok=True)  # no library of ours: build it again
        return CompiledProgram(cached_library(name, whole, written))


def interpret(system: System, variant: Variant, home: Array | None = None) -> Kernel:
    """The kernel of a program in CasADi's interpreter."""
    start = system.walk_home if home is None else home
    with _symbols:
        program = trace(system, variant)
        if not system.nz:
            return InterpretedKernel(variant, program.function, start)
        core, walker = program.function, Walker(system, start)
        names = [name for name in program.symbols if name != "z"]
        inputs = [ca.MX.sym(name, program.symbols[name].sparsity()) for name in names]
        result = core(inputs[0], walker(inputs[0]), *inputs[1:])
        function = ca.Function("program", inputs, [result], names, ["result"])
        return InterpretedKernel(variant, function, start, walker)


@functools.cache
def source_digest() -> str:
    """Hash of the formulations and of the code generator: new code makes new programs."""
    content = hashlib.sha256(ca.CasadiMeta.version().encode())
    package = Path(__file__).parent.parent
    for folder in ("model", "program", "equations", "compiler"):
        for file in sorted((package / folder).rglob("*.py")):
            content.update(file.read_bytes())
    return content.hexdigest()


def _settings() -> str:
    """What the generator is told."""
    told = straight_line.BLOCK, straight_line.WHOLE, program_text.SHORT, staged_text.FEW
    return repr(told)


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
