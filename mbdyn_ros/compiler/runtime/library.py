"""The runtime library of this process, compiled once for all programs, and the structures of C."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any

from ...program.program import UNIT_TOLERANCE
from ..cache import cached_library
from ..gcc import RUNTIME, CompilationError, Toolchain, toolchain_cpp

TYPES: dict[str, Any] = {
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
}
"""ctypes of what a field may be, besides pointers and arrays of these."""


@functools.cache
def structure(header: str, name: str) -> type[ctypes.Structure]:
    """`struct name` of a header of the runtime, with the fields, order and types that C has."""
    text = re.sub(r"/\*.*?\*/", "", (RUNTIME / header).read_text(encoding="ascii"), flags=re.S)
    (body,) = re.findall(rf"^struct {name} \{{(.*?)^\}};", text, flags=re.S | re.M)
    fields = [field for line in body.split(";") if line.strip() for field in _fields(line)]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _fields(line: str) -> list[tuple[str, Any]]:
    """The fields of one declaration, such as `const double *q, *v` or `double radius, pose[12]`."""
    if function := re.search(r"\(\*(\w+)\)", line):
        return [(function[1], ctypes.c_void_p)]
    kind, names = re.fullmatch(r"\s*(?:const\s+)?(?:struct\s+)?(\w+)(.*)", line, re.S).groups()  # type: ignore[union-attr]
    fields: list[tuple[str, Any]] = []
    for name in names.split(","):
        field, count = re.search(r"(\w+)(?:\[(\d+)\])?\s*$", name).groups()  # type: ignore[union-attr]
        if "*" in name:
            fields.append((field, ctypes.c_char_p if kind == "char" else ctypes.c_void_p))
        else:
            fields.append((field, TYPES[kind] * int(count) if count else TYPES[kind]))
    return fields


SOURCE = f"""#define UNIT_TOLERANCE {UNIT_TOLERANCE!r}
#include "runtime.c"
"""


DOP853 = '#include "dop853.c"\n'
STEPPING, TOUCHING, ROLLOUTS, EVENTS = (
    f'#include "{name}.cpp"\n' for name in ("stepping", "touching", "rollouts", "events")
)
REACHABILITY = '#include "path_rows.cpp"\n#include "reachability.cpp"\n'


@functools.cache
def runtime() -> ctypes.CDLL:
    """The library, from the cache or compiled into it.

    Raises
    ------
    CompilationError
        It does not compile, or what was compiled does not load.
    """
    library = _library("runtime", SOURCE)
    place, size = ctypes.c_void_p, ctypes.c_size_t
    library.rollout.argtypes = (
        place, place, size, size, *(place, size) * 4,
        ctypes.c_double, ctypes.c_int, ctypes.c_int, place, place, place, ctypes.c_int,
    )  # fmt: skip
    return library


@functools.cache
def dop853() -> ctypes.CDLL:
    """The library of adaptive steps; see `runtime`."""
    return _library("dop853", DOP853)


@functools.cache
def stepping() -> ctypes.CDLL:
    """The library of steps among walls, in C++; see `runtime`."""
    return _library("stepping", STEPPING, toolchain_cpp())


@functools.cache
def touching() -> ctypes.CDLL:
    """The library of convex shapes that touch, in C++; see `runtime`."""
    return _library("touching", TOUCHING, toolchain_cpp())


@functools.cache
def rollouts() -> ctypes.CDLL:
    """The library of many motions among walls, in C++; see `runtime`."""
    return _library("rollouts", ROLLOUTS, toolchain_cpp())


@functools.cache
def events() -> ctypes.CDLL:
    """The library of the contact solver for events, in C++; see `runtime`."""
    library = _library("events", EVENTS, toolchain_cpp())
    place, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double
    library.room_of_impulses.argtypes, library.room_of_impulses.restype = (size, size), size
    library.solve_impulses.argtypes = place, number, place
    library.impact_impulses.argtypes = place, place, place, place, number, number, place
    library.solve_impulses.restype = library.impact_impulses.restype = number
    return library


@functools.cache
def reachability() -> ctypes.CDLL:
    """The library of reachability analysis along a path, in C++; see `runtime`."""
    library = _library("reachability", REACHABILITY, toolchain_cpp())
    library.pass_limits.restype, library.path_states.restype = ctypes.c_ssize_t, None
    return library


def can_step() -> bool:
    """Whether there is a C++ compiler for `stepping`."""
    try:
        return toolchain_cpp().command != ()
    except CompilationError:
        return False


def _library(name: str, source: str, toolchain: Toolchain | None = None) -> ctypes.CDLL:
    path = cached_library(name, source, lambda: source, toolchain)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        path.unlink(missing_ok=True)
        raise CompilationError(f"the compiled {name} does not load: {error}") from error
