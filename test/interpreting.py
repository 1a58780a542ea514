"""Programs in the interpreter: the same equations without the compiler's seconds."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import casadi as ca
import pytest

from mbdyn_ros.compiler import gcc, loading
from mbdyn_ros.program.program import Program

_MECHANISMS: dict[Any, Any] = {}
"""Kernels of mechanisms in the interpreter: tests of the compiled ones must not get them."""

_trace = Program.__dict__["function"].func


class _Traced:
    """A program that is known by its key, as compiled ones are in the cache of libraries."""

    def __init__(self, program: Program) -> None:
        self.program, self._key = program, program.key

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Traced) and self._key == other._key


@functools.lru_cache(256)
def _function(traced: _Traced) -> ca.Function:
    function: ca.Function = _trace(traced.program)
    del traced.program  # with its expressions
    return function


@contextmanager
def interpreting() -> Iterator[None]:
    """Interpret what is loaded meanwhile. A robot like an earlier one is not traced again."""
    from mbdyn_ros.mechanisms import programs  # slow to import, and few tests need it

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_kernels", _MECHANISMS)
        patch.setattr(loading, "toolchain", lambda: None)
        patch.setattr(loading, "_notice_interpreter", lambda reason: None)
        patch.setattr(Program, "function", property(lambda self: _function(_Traced(self))))
        yield


@contextmanager
def compiling() -> Iterator[None]:
    """Compile meanwhile, in a test that interprets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "toolchain", gcc.toolchain)
        yield
