"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A cache of compiled programs of the tests' own: never the user's. Programs are known by their C
# text, so it may stay from run to run; `make clean` removes it.
_cache = Path(__file__).parent.parent / ".venv" / "test-cache"
os.environ["XDG_CACHE_HOME"] = str(_cache)


settings.register_profile("long")  # see `random_robots.explore`


INTERPRETED: dict[Any, Any] = {}
"""Mechanisms' programs in the interpreter: tests of the compiled ones must not get them."""


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run programs in the interpreter: the same equations without the compiler's seconds."""
    from mbdyn_ros.compiler import loading
    from mbdyn_ros.mechanisms import programs

    monkeypatch.setattr(programs, "_kernels", INTERPRETED)
    monkeypatch.setattr(loading, "toolchain", lambda: None)
    monkeypatch.setattr(loading, "_notice_interpreter", lambda reason: None)
