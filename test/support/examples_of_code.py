"""Modules without examples in their docstrings, which doctest would import and search for some."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>> "


class WithoutExamples:
    """A plugin, since a conftest speaks for the files of its own folder only."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[Any], list[Any]]:
        """Leave out the doctests of a file in which there are none."""
        found = yield
        if file_path.suffix != ".py" or PROMPT in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]
