"""Programs in the interpreter: the same equations without the compiler's seconds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from night import is_night

COMPILED = re.compile(r"([Ss]tepper|rollout|time_optimal)\(")
"""Calls in the text of an example that compiled code alone answers, or answers within seconds."""


@contextmanager
def interpreting() -> Iterator[None]:
    """Interpret what is loaded meanwhile. A robot like an earlier one is not traced again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBDYN_INTERPRET", "1")
        yield


@contextmanager
def interpreting_by_day() -> Iterator[None]:
    """Interpret what `make test-all` compiles, as users do."""
    with nullcontext() if is_night() else interpreting():
        yield


@contextmanager
def compiling() -> Iterator[None]:
    """Compile meanwhile, in a test that interprets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MBDYN_INTERPRET", raising=False)
        yield
