"""Programs in the interpreter: the same equations without the compiler's seconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def interpreting() -> Iterator[None]:
    """Interpret what is loaded meanwhile. A robot like an earlier one is not traced again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBDYN_INTERPRET", "1")
        yield


@contextmanager
def compiling() -> Iterator[None]:
    """Compile meanwhile, in a test that interprets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MBDYN_INTERPRET", raising=False)
        yield
