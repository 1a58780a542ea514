"""What all tests share."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import pytest

# A cache of compiled programs of the tests' own: never the user's. It goes when the tests end.
_cache = tempfile.TemporaryDirectory(prefix="mbdyn-test-cache-", ignore_cleanup_errors=True)
os.environ["XDG_CACHE_HOME"] = _cache.name


INTERPRETED: dict[Any, Any] = {}
"""Mechanisms' programs in the interpreter: tests of the compiled ones must not get them."""


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run programs in the interpreter: the same equations without the compiler's seconds."""
    from mbdyn_ros.compiler import kernel
    from mbdyn_ros.mechanisms import programs

    monkeypatch.setattr(programs, "_kernels", INTERPRETED)
    monkeypatch.setattr(kernel, "find_compiler", lambda: None)
    monkeypatch.setattr(kernel, "_notice_interpreter", lambda reason: None)
