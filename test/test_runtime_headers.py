"""The runtime's text: headers compile by themselves, and no array on a stack is of any length."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mbdyn_ros.compiler import gcc

CONTACT = sorted(path.name for path in (gcc.RUNTIME / "contact").glob("*.hpp"))
COMPLETE = "vector.h", "each.h", "elementary.h", "tables.h", "rows.h", "program.h"
"""Headers in C that need nothing before them; a program's text completes the others."""

WARNINGS = (
    "-Wall", "-Wextra", "-Wvla", "-Werror", "-Wno-unused-function", "-Wno-unknown-pragmas",
)  # fmt: skip


def check(toolchain: gcc.Toolchain, *arguments: str) -> None:
    """Let the compiler look at a text, and warn of nothing."""
    words = [*toolchain.command, *toolchain.flags, f"-DLANES={toolchain.lanes}", *WARNINGS]
    words += ["-fsyntax-only", *arguments]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", CONTACT)
def test_a_header_of_steps_is_self_contained(name: str) -> None:
    header = gcc.RUNTIME / "contact" / name
    check(gcc.toolchain_cpp(), "-x", "c++", "-include", str(header), os.devnull)


@pytest.mark.parametrize("name", COMPLETE)
def test_a_header_of_programs_is_self_contained(name: str) -> None:
    check(gcc.required_toolchain(), "-x", "c", "-include", str(gcc.RUNTIME / name), os.devnull)


def test_the_runtime_has_no_arrays_of_a_robots_size_on_the_stack() -> None:
    """Their length would be any: of a robot of 10000 joints too, on a thread of 128 kB."""
    check(gcc.required_toolchain(), "-DUNIT_TOLERANCE=1e-6", str(gcc.RUNTIME / "runtime.c"))
    check(gcc.toolchain_cpp(), str(Path(gcc.RUNTIME, "stepping.cpp")))
