"""The system's C compiler."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from pathlib import Path

FLAGS = (
    "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread", "-fPIC", "-shared"
)  # fmt: skip

LONGEST = 900.0
"""Seconds after which a compiler is taken to hang."""


@functools.cache
def find_compiler() -> tuple[str, ...] | None:
    """The command of the C compiler: $CC, else cc, gcc or clang; None where there is none."""
    try:
        command = shlex.split(os.environ.get("CC", ""))
    except ValueError:  # a quotation mark without its partner
        return None
    if command:
        return tuple(command) if shutil.which(command[0]) else None
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return (path,)
    return None


@functools.cache
def toolchain_digest() -> str:
    """Hash of what a compiled program depends on besides its source: compiler, flags, processor.

    The compiler is known by its file, since asking it for its version takes longer than
    everything else.
    """
    command = find_compiler() or ("none",)
    content = hashlib.sha256(repr((command, FLAGS, platform.machine())).encode())
    if path := shutil.which(command[0]):
        status = Path(path).resolve().stat()
        content.update(f"{Path(path).resolve()} {status.st_size} {status.st_mtime_ns}".encode())
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
        flags = [line for line in text.splitlines() if line.startswith(("flags", "Features"))]
        content.update(flags[0].encode() if flags else b"")
    except OSError:
        content.update(platform.processor().encode())
    return content.hexdigest()


class CompilationError(Exception):
    """The compiler failed; the message is the compiler's."""


def compile_text(source: str, target: Path) -> None:
    """Compile C source text into the shared library `target`, in a folder that is there."""
    compiler = find_compiler()
    if compiler is None:
        raise CompilationError("no C compiler was found ($CC, cc, gcc, clang)")
    text = target.with_suffix(".c")
    try:
        text.write_text(source, encoding="ascii")
        command = [*compiler, *FLAGS, str(text), "-o", str(target), "-lm"]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        raise CompilationError(f"{compiler[0]}: not done after {LONGEST:g} s") from None
    except OSError as error:
        raise CompilationError(f"{compiler[0]}: {error}") from error
    if done.returncode:
        reason = done.stderr.strip() or f"exit status {done.returncode}"
        raise CompilationError(f"{compiler[0]}: {reason}")
