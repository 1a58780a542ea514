"""Examples in docstrings: where there are none, and how they run by day."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestItem, DoctestModule
from interpreting import COMPILED, interpreting_by_day

PROMPT = b">>> "


class Examples:
    """A plugin, since a conftest speaks for the files of its own folder only."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        """Leave out the doctests of a file in which there are none, and do not import it."""
        found = yield
        if file_path.suffix != ".py" or PROMPT in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]

    @pytest.fixture(autouse=True)
    def interpreted_examples(self, request: pytest.FixtureRequest) -> Iterator[None]:
        """Interpret by day what takes no steps."""
        item = request.node
        if not isinstance(item, DoctestItem) or COMPILED.search(item.dtest.docstring or ""):
            yield
            return
        with interpreting_by_day():
            yield
