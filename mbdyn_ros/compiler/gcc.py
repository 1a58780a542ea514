"""The system's C compiler, and the libraries that it makes for this machine."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ALL_FLAGS = (
    "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread", "-fPIC", "-shared",
    "--param=lra-max-considered-reload-pseudos=50",
)  # fmt: skip
"""Flags for compilers. GCC's allocator of registers looks at 500 values before it spills one;
in long straight lines that takes half of all its time, and 50 serve as well."""

FLAGS = (
    *ALL_FLAGS, "--param=max-cselib-memory-locations=20",
    "--param=sccvn-max-alias-queries-per-access=20", "--param=max-combine-insns=2",
)  # fmt: skip
"""The same for C. In straight lines with many results GCC is as well served by 20 of 500 places in
memory that it compares, and of 1000 stores that it looks back over, and by two instructions of four
that may be one: it saves up to a half of its time."""

FLAGS_CPP = (
    *ALL_FLAGS, "-fno-gcse", "-fno-expensive-optimizations", "-fno-tree-vectorize",
    "-fno-tree-vrp", "-fno-ipa-cp-clone", "--param=inline-unit-growth=5",
    "-ffp-contract=off", "-std=c++17", "-fno-exceptions", "-fno-rtti",
)  # fmt: skip
"""The same for C++, which needs no library of its own. Loops that gain from vectors have them: to
look for more is a third of GCC's time, and to look twice for common expressions a tenth. What is
small is inlined, or called once: a growth by 40 % by more of it, copies of functions for arguments
that are known, and ranges of numbers are a sixth of GCC's time, and make steps no faster. Products
and sums are not fused: the numbers of a motion are the same alone and in a vector."""

RUNTIME = Path(__file__).parent / "runtime"
"""The folder of the C that programs include."""

LONGEST_COMPILATION = 600.0
"""Seconds after which a program is taken to be too long for its compiler."""

MOST_PRINTED = 1 << 20
"""Bytes that a compiler may print, on either stream; one that prints more is ended."""

LONGEST_ANSWER = 30.0
"""Seconds after which a compiler that is only asked for its version is taken to hang."""

WIDTHS = {"__AVX512DQ__": 8, "__AVX__": 4}
"""Numbers in a vector by the macro that says the processor has such vectors; others have 2."""


class CompilationError(Exception):
    """The compiler failed; the message is the compiler's."""


@dataclass(frozen=True)
class Toolchain:
    """A C compiler with its options; another one makes other programs of the same text.

    One that hangs is not called again.

    command : how it is called. flags : its options.
    longest, patience : seconds after which it is ended, of a program and of an answer.
    language : "c", or "cpp" for C++.
    vector : numbers in a vector; 0 for as many as its own have.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...] = FLAGS
    longest: float = LONGEST_COMPILATION
    patience: float = LONGEST_ANSWER
    language: str = "c"
    vector: int = 0
    _hangs: threading.Event = field(default_factory=threading.Event, init=False, compare=False)

    @functools.cached_property
    def lanes(self) -> int:
        """How many float64 a vector of this machine has, asked of the compiler.

        Raises
        ------
        CompilationError
            It does not answer.
        """
        if self.vector:
            return self.vector
        defined = self._macros()
        return next((lanes for macro, lanes in WIDTHS.items() if macro in defined), 2)

    def _macros(self) -> list[str]:
        """The names it defines: a question that any compiler answers at once."""
        try:
            asked = ["-dM", "-E", "-x", {"c": "c", "cpp": "c++"}[self.language], os.devnull]
            return self._run(asked, {}, self.patience).split()
        except subprocess.TimeoutExpired:
            self._hangs.set()
            raise self._hanging() from None

    def _hanging(self) -> CompilationError:
        return CompilationError(
            f"{self.command[0]}: no answer in {self.patience:g} s; it hangs, and will not be "
            "called again"
        )

    @functools.cached_property
    def digest(self) -> str:
        """Hash of what a compiled program depends on besides its source: compiler, processor,
        and the C that it includes.

        The compiler is known by its file, since asking it for its version takes longer than
        everything else.
        """
        known = self.command, self.flags, self.vector, platform.machine()
        content = hashlib.sha256(repr(known).encode())
        # a change of the steps among walls, in C++, leaves all programs as they are
        kinds = "c", "h", "cpp", "hpp"
        for kind in kinds if self.language == "cpp" else kinds[:2]:
            for file in sorted(RUNTIME.rglob(f"*.{kind}")):
                content.update(file.read_bytes())
        if path := shutil.which(self.command[0]):
            status = Path(path).resolve().stat()
            text = f"{Path(path).resolve()} {status.st_size} {status.st_mtime_ns}"
            content.update(text.encode())
        try:
            text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
            flags = [line for line in text.splitlines() if line.startswith(("flags", "Features"))]
            content.update(flags[0].encode() if flags else b"")
        except OSError:
            content.update(platform.processor().encode())
        return content.hexdigest()

    def compile(self, source: str, target: Path) -> None:
        """Compile source text into the shared library `target`, in a folder of its own.

        Raises
        ------
        CompilationError
            No library was made; the message says why.
        """
        text = target.with_suffix(f".{self.language}")
        try:
            text.write_text(source, encoding="ascii")
        except OSError as error:
            raise CompilationError(f"{text}: {error}") from error
        # what the compiler leaves behind goes with the folder
        arguments = [f"-DLANES={self.lanes}", f"-I{RUNTIME}", str(text), "-o", str(target), "-lm"]
        try:
            self._run(arguments, {"TMPDIR": str(target.parent)}, self.longest)
        except subprocess.TimeoutExpired:
            self._macros()  # raises where the compiler is at fault, not the program
            raise CompilationError(
                f"{self.command[0]}: not done after {self.longest:g} s"
            ) from None
        if not target.is_file():
            raise CompilationError(f"{self.command[0]}: it reported success but wrote no library")

    def link(self, files: Sequence[str], target: Path) -> None:
        """Compile files into the shared library `target`.

        Raises
        ------
        CompilationError
            The compiler failed, or took too long.
        """
        arguments = [*files, "-o", str(target), "-lm"]
        try:
            self._run(arguments, {"TMPDIR": str(target.parent)}, self.longest)
        except subprocess.TimeoutExpired:
            raise CompilationError(f"{self.command[0]}: not done in {self.longest:g} s") from None

    def _run(self, arguments: list[str], environment: dict[str, str], longest: float) -> str:
        """Run the compiler, for at most a number of seconds, and return what it prints."""
        if self._hangs.is_set():
            raise self._hanging()
        name = self.command[0]
        try:
            process = subprocess.Popen(
                [*self.command, *self.flags, *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**os.environ, **environment},
                start_new_session=True,  # so that its children can be ended, too
            )  # fmt: skip
        except OSError as error:
            raise CompilationError(f"{name}: {error}") from error
        try:
            printed, complaints = _printed(process, longest)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                stream.close()
            process.wait()
        if printed is None:
            raise CompilationError(f"{name}: printed more than {MOST_PRINTED} bytes and was ended")
        if process.returncode:
            status = process.returncode
            raise CompilationError(f"{name}: {complaints.strip() or f'exit status {status}'}")
        return printed


def _printed(process: subprocess.Popen[bytes], longest: float) -> tuple[str | None, str]:
    """Text that a process prints on both streams until it ends; None where it does not stop.

    Raises
    ------
    subprocess.TimeoutExpired
        It has not ended in time.
    """
    end, texts = time.monotonic() + longest, {1: bytearray(), 2: bytearray()}
    with selectors.DefaultSelector() as streams:
        for number, stream in ((1, process.stdout), (2, process.stderr)):
            assert stream is not None
            streams.register(stream, selectors.EVENT_READ, number)
        while streams.get_map():
            if not (ready := streams.select(max(0.0, end - time.monotonic()))):
                raise subprocess.TimeoutExpired(process.args, longest)
            for key, _ in ready:
                piece = os.read(key.fd, 1 << 16)
                texts[key.data] += piece
                if not piece:
                    streams.unregister(key.fileobj)
                elif len(texts[key.data]) > MOST_PRINTED:
                    os.killpg(process.pid, signal.SIGKILL)
                    return None, ""
    process.wait(max(0.0, end - time.monotonic()))
    printed, complaints = (text.decode("utf-8", "replace") for text in texts.values())
    return printed, complaints


@functools.cache
def toolchain() -> Toolchain | None:
    """The C compiler of this process: $CC, else cc, gcc or clang; None where there is none."""
    command = _command("CC", ("cc", "gcc", "clang"))
    return None if command is None else Toolchain(command)


@functools.cache
def toolchain_cpp() -> Toolchain:
    """The C++ compiler of this process: $CXX, else c++, g++ or clang++.

    It has vectors as long as the C compiler's, whose programs it calls.

    Raises
    ------
    CompilationError
        There is none, or no C compiler.
    """
    lanes = required_toolchain().lanes
    command = _command("CXX", ("c++", "g++", "clang++"))
    if command is None:
        raise CompilationError(
            "no C++ compiler was found ($CXX, c++, g++ or clang++), which steps and contacts need. "
            "Install one (Debian and Ubuntu: g++) or name one in $CXX"
        )
    return Toolchain(command, FLAGS_CPP, language="cpp", vector=lanes)


def _command(variable: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The compiler that the environment names, else the first one that is there."""
    try:
        command = shlex.split(os.environ.get(variable, ""))
    except ValueError:  # a quotation mark without its partner
        return None
    if command:
        return tuple(command) if shutil.which(command[0]) else None
    return next(((path,) for name in names if (path := shutil.which(name))), None)


def required_toolchain() -> Toolchain:
    """The C compiler of this process, where there must be one.

    Raises
    ------
    CompilationError
        There is none.
    """
    found = toolchain()
    if found is None:
        raise CompilationError("no C compiler was found ($CC, cc, gcc, clang)")
    return found
