"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples_of_code import Examples
from heard_signals import let_children_hear
from hypothesis import settings
from interpreting import compiling, interpreting, interpreting_by_day
from night import thin_out
from pendulum import forget

from mbdyn_ros.compiler import cache, gcc
from mbdyn_ros.compiler.runtime.library import runtime

# `nohup make test` and tests of a background job: what they start hears signals all the same.
let_children_hear()

# Modules and the tests in them stay: the collector of garbage looks for them in vain, in every
# process of the tests again.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Choose the examples of the package, too, and how they run."""
    config.pluginmanager.register(Examples())


def pytest_collection_finish() -> None:
    """What is there by now is not looked at again, and what is new less often."""
    gc.freeze()
    gc.set_threshold(5000, 20, 20)
    gc.enable()


@pytest.fixture(scope="module")
def without_collector() -> Iterator[None]:
    """No collector of garbage, for a module whose objects all stay."""
    gc.disable()
    yield
    gc.enable()


# A cache of compiled programs of the tests' own: never the user's. Programs are known by their C
# text, so it may stay from run to run; `make clean` removes it.
_cache = Path(__file__).parent.parent / ".venv" / "test-cache"
os.environ["XDG_CACHE_HOME"] = str(_cache)


# Nodes and browsers are processes of their own: one that the machine left without a core for
# seconds is not a fault of what is tested. Such a test gets a second go, named in the summary; what
# is wrong fails twice.
OTHER_PROCESSES = "test_ros_", "test_page", "test_mechanism_page", "test_interrupts"


@pytest.hookimpl(tryfirst=True)  # before marks are selected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Thin out sparse tests, and give tests of other processes their second go."""
    thin_out(items)
    for item in items:
        if item.path.name.startswith(OTHER_PROCESSES):
            item.add_marker(pytest.mark.flaky(reruns=1))


# A busy machine is not a fault of what is tested: examples have no deadline.
settings.register_profile("short", deadline=None)
settings.register_profile("long", deadline=None)  # see `random_robots.explore`
settings.load_profile("short")


@pytest.fixture
def interpreted() -> Iterator[None]:
    """Run programs in the interpreter: the same equations without the compiler's seconds."""
    with interpreting():
        yield


@pytest.fixture
def interpreted_by_day() -> Iterator[None]:
    """The same, except in `make test-all`."""
    with interpreting_by_day():
        yield


@pytest.fixture
def compiled(interpreted: None) -> Iterator[None]:
    """Compile all the same what another fixture would have interpreted: steps are compiled."""
    with compiling():
        yield


@pytest.fixture(scope="module")
def interpreted_module() -> Iterator[None]:
    """The same for all tests of a module, and for the robots that they share."""
    with interpreting():
        yield


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, and nothing remembered; gives the folder of compiled programs.

    The runtime library is there from before, except for other processes.
    """
    runtime()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    forget()
    yield tmp_path / "cache" / "mbdyn_ros"
    monkeypatch.undo()
    forget()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The targets of all compilations from now on."""
    targets: list[Path] = []
    compile_library = cache.compile_library

    def spy(source: str, target: Path, *toolchain: gcc.Toolchain) -> None:
        targets.append(target)
        compile_library(source, target, *toolchain)

    monkeypatch.setattr(cache, "compile_library", spy)
    return targets
