"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from interpreting import interpreting

# A cache of compiled programs of the tests' own: never the user's. Programs are known by their C
# text, so it may stay from run to run; `make clean` removes it.
_cache = Path(__file__).parent.parent / ".venv" / "test-cache"
os.environ["XDG_CACHE_HOME"] = str(_cache)


# A busy machine is no fault of what is tested: examples have no deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("long", deadline=None)  # see `random_robots.explore`
settings.load_profile("short")


@pytest.fixture
def interpreted() -> Iterator[None]:
    """Run programs in the interpreter: the same equations without the compiler's seconds."""
    with interpreting():
        yield


@pytest.fixture(scope="module")
def interpreted_module() -> Iterator[None]:
    """The same for all tests of a module, and for the robots that they share."""
    with interpreting():
        yield
