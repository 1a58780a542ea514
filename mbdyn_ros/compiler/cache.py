"""The folder of compiled programs: libraries by their C text, and links to them by program.

A library is named by the hash of its C text and of the toolchain, so what is compiled once serves
whoever writes the same text. A link, named by what the text is made from, spares writing it again.
Each library ends in the hash of its own content: to load a damaged one kills the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

from ..errors import CompilerWarning, warn
from ..locks import Lock
from .gcc import CompilationError, Toolchain, required_toolchain

UNUSED = 90 * 86400.0
"""Seconds after which an unused library is removed."""

LARGEST_CACHE = 1 << 29
"""Bytes of all libraries together above which those that were loaded longest ago are removed."""

ABANDONED = 86400.0
"""Seconds after which a folder of a compilation counts as abandoned."""


def cache_folder() -> Path:
    """The user's folder of compiled programs, for this user alone (mode 0700).

    Where it cannot be made, or is open to others, a fresh folder that lives as long as the
    process takes its place, with a warning: code is loaded from nowhere else.
    """
    with _one_thread:
        return _prepared_folder()


_one_thread = Lock()


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
        warn(
            f"the cache folder {folder} is unusable ({error}); compiled programs are kept "
            "for this process only. Set XDG_CACHE_HOME to a folder of your own.",
            CompilerWarning,
        )
        return Path(_temporary_folder().name)
    return folder


@functools.cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mbdyn_ros-")


SEAL = b"mbdyn_ros:"
"""Mark at the end of every library, before the hash of its content."""


def is_sealed(library: Path) -> bool:
    """Whether the library is there, to its last byte and unchanged."""
    try:
        content = library.read_bytes()
    except OSError:
        return False
    size = len(content) - len(SEAL) - hashlib.sha256().digest_size
    return size > 0 and content[size:] == SEAL + hashlib.sha256(content[:size]).digest()


def cached_library(
    name: str, key: str, source: Callable[[], str], toolchain: Toolchain | None = None
) -> Path:
    """The library of a C text: from the cache, else compiled into it.

    Parameters
    ----------
    name : for people who look into the folder.
    key : hash of all that the text is made from. source : gives the text.
    toolchain : its compiler; default the C compiler of this process.

    Raises
    ------
    CompilationError
        It is not in the cache and does not compile, or cannot be kept.
    """
    toolchain = toolchain or required_toolchain()
    digest = _digest(key, toolchain)
    link = cache_folder() / f"{name}-{digest}"
    with _one_builder.setdefault(link, Lock()):
        return _linked_library(name, link, source, toolchain)


_one_builder: dict[Path, Lock] = {}
"""Who builds the library of a link; other threads wait for it."""


def _linked_library(name: str, link: Path, source: Callable[[], str], toolchain: Toolchain) -> Path:
    """See `cached_library`."""
    try:
        library = link.resolve()
        if link.is_symlink() and is_sealed(library):
            if time.time() - library.stat().st_mtime > ABANDONED:
                os.utime(library)  # it is in use
            return library
        with waiting_for(name.replace("_", " ")):
            library = text_library(source(), toolchain)
        _point(link, library)
        return library
    except OSError as error:
        raise CompilationError(f"{link}: {error}") from error


def text_library(source: str, toolchain: Toolchain | None = None) -> Path:
    """The library of a text itself."""
    toolchain = toolchain or required_toolchain()
    library = cache_folder() / f"{_digest(source, toolchain)}.so"
    if not is_sealed(library):
        with _one_process(library, toolchain.longest):
            if not is_sealed(library):
                compile_library(source, library, toolchain)
    return library


@contextlib.contextmanager
def _one_process(library: Path, longest: float) -> Iterator[None]:
    """Wait while another process builds the library, at most `longest` seconds.

    Where it takes longer, or files cannot be locked, both build it, which takes time and no more.
    """
    place, end = library.with_suffix(".lock"), time.monotonic() + longest
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file = stack.enter_context(place.open("w"))
            while time.monotonic() < end:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    stack.callback(fcntl.flock, file, fcntl.LOCK_UN)  # a fork may hold it too
                    stack.callback(place.unlink, missing_ok=True)
                    break
                time.sleep(0.02)
        yield


def _digest(text: str, toolchain: Toolchain) -> str:
    return hashlib.sha256((text + toolchain.digest).encode()).hexdigest()[:32]


def compile_library(source: str, target: Path, toolchain: Toolchain | None = None) -> None:
    """Compile C source text into the shared library `target`, by default as for this process.

    The library appears under its name complete or not at all, so processes that compile the
    same text at once do no harm.

    Raises
    ------
    CompilationError
        No library was made, or it cannot be kept.
    """
    chain = toolchain or required_toolchain()
    try:
        target.parent.mkdir(mode=0o700, exist_ok=True)  # it may have been deleted meanwhile
        _sweep(target.parent)
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=".build-", ignore_cleanup_errors=True
        ) as folder:
            built = Path(folder, "program.so")
            chain.compile(source, built)
            content = built.read_bytes()
            with built.open("ab") as file:
                file.write(SEAL + hashlib.sha256(content).digest())
                os.fsync(file)
            os.replace(built, target)
    except OSError as error:
        raise CompilationError(f"{target}: {error}") from error


def _point(link: Path, library: Path) -> None:
    """Make the link, complete or not at all."""
    with tempfile.TemporaryDirectory(dir=link.parent, prefix=".build-") as folder:
        made = Path(folder, "link")
        made.symlink_to(library.name)
        os.replace(made, link)


@functools.cache
def _sweep(folder: Path) -> None:
    """Remove libraries that were not loaded for long or are too many, once a process."""
    now = time.time()
    total = 0
    with contextlib.suppress(OSError):  # another process may sweep too
        for path in folder.iterdir():
            age = now - path.lstat().st_mtime
            if path.name.startswith(".build-") and age > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix == ".so" and age > UNUSED:
                path.unlink(missing_ok=True)
        libraries = [(path, path.stat()) for path in folder.glob("*.so") if not path.is_symlink()]
        for path, status in sorted(libraries, key=lambda one: one[1].st_mtime, reverse=True):
            total += status.st_size
            if total > LARGEST_CACHE:
                path.unlink(missing_ok=True)
        for path in folder.iterdir():
            if path.is_symlink() and not path.exists():
                path.unlink(missing_ok=True)


UNNOTICED = 1.0
"""Seconds after which a compilation is reported."""

LOG = logging.getLogger("mbdyn_ros.compiler")
"""Log of compilations (INFO) where there is no terminal; nodes pass it on to that of ROS."""


@contextlib.contextmanager
def waiting_for(what: str, patience: float = UNNOTICED) -> Iterator[None]:
    """Say on a terminal what is compiled, once this lasts; elsewhere in the log."""
    screen = getattr(sys.stderr, "rich_proxied_file", sys.stderr)  # behind a bar
    text = f"compiling {what}, once; next time it is there at once"

    def say() -> None:
        if screen.isatty():
            print(f"mbdyn_ros: {text}", file=sys.stderr, flush=True)
        else:
            LOG.info(text)

    timer = threading.Timer(patience, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
