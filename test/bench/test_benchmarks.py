"""The benchmarks: that each of them finds what it measures."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
MODULES = sorted(
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if path.name != "__main__.py"
)


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_is_imported(name: str) -> None:
    """Renamed functions of the package are noticed before someone measures."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in ("mbdyn_ros", "benchmarks"):
            raise
        pytest.skip(f"needs {error.name}")
