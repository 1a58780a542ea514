"""The system's C compiler and the folder of compiled programs."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import tempfile
import threading
import warnings
from pathlib import Path

import platformdirs

from ..errors import CompilerWarning

FLAGS = (
    "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread", "-fPIC", "-shared"
)  # fmt: skip


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


def cache_folder() -> Path:
    """The user's folder of compiled programs, for this user alone (mode 0700).

    Where it cannot be made, or is open to others, a fresh folder that lives as long as the
    process takes its place, with a warning: code is loaded from nowhere else.
    """
    with _one_thread:
        return _prepared_folder()


_one_thread = threading.Lock()


@functools.cache
def _prepared_folder() -> Path:
    folder = platformdirs.user_cache_path("mbdyn_ros", appauthor=False)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid != os.getuid():
            raise PermissionError(f"it belongs to user {status.st_uid}")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"others may write to it (mode {status.st_mode & 0o777:o})")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError("it is not writable")
    except OSError as error:
        warnings.warn(
            f"the cache folder {folder} does not serve ({error}); compiled programs are kept "
            "for this process only. Set XDG_CACHE_HOME to a folder of your own.",
            CompilerWarning,
            stacklevel=3,
        )
        return Path(_temporary_folder().name)
    return folder


@functools.cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mbdyn_ros-")


COMPLETE = b"mbdyn_ros: complete"
"""The last bytes of every library in the cache: to load a truncated one kills the process."""


def is_complete(library: Path) -> bool:
    """Whether the library is there, to its last byte."""
    try:
        with library.open("rb") as file:
            file.seek(-len(COMPLETE), os.SEEK_END)
            return file.read() == COMPLETE
    except OSError:
        return False


class CompilationError(Exception):
    """The compiler failed; the message is the compiler's."""


def compile_library(source: str, target: Path) -> None:
    """Compile C source text into the shared library `target`.

    The library appears under its name complete or not at all, so processes that compile the
    same program at once do no harm.
    """
    compiler = find_compiler()
    if compiler is None:
        raise CompilationError("no C compiler was found ($CC, cc, gcc, clang)")
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)  # it may have been deleted meanwhile
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as folder:
            text, built = Path(folder, "program.c"), Path(folder, "program.so")
            text.write_text(source, encoding="ascii")
            command = [*compiler, *FLAGS, str(text), "-o", str(built), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = done.stderr.strip() or f"exit status {done.returncode}"
                raise CompilationError(f"{compiler[0]}: {reason}")
            with built.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(COMPLETE)
                os.fsync(file)
            os.replace(built, target)
    except OSError as error:
        raise CompilationError(f"{compiler[0]}: {error}") from error
