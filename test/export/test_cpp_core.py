"""The headers of C++ that know no robot: their own test programs, without a warning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cpp_tools import CC, INCLUDE, SOURCES, STRICT, command, compiled, needs_cxx

OTHER_INTERFACE = """#include "mbdyn_ros/model.h"
const mbdyn_ros_model *mbdyn_ros_model_of_library(void);
static const mbdyn_ros_model model = {sizeof model, MBDYN_ROS_ABI + 1};
const mbdyn_ros_model *mbdyn_ros_model_of_library(void) { return &model; }
"""


def shared(text: str, target: Path) -> Path:
    """A shared library of one C file."""
    source = target.with_suffix(".c")
    source.write_text(text)
    command(CC, "-shared", "-fPIC", "-I", INCLUDE, source, "-o", target)
    return target


@needs_cxx
def test_laws_do_what_their_equations_say(tmp_path: Path) -> None:
    command(compiled("test_laws.cpp", tmp_path / "laws"))


@needs_cxx
def test_hashes_threads_and_libraries(tmp_path: Path) -> None:
    none = shared("int nothing;", tmp_path / "none.so")
    other = shared(OTHER_INTERFACE, tmp_path / "other.so")
    command(compiled("test_parts.cpp", tmp_path / "parts"), none, other)


@pytest.mark.long
@needs_cxx
def test_the_checks_fail_where_the_laws_are_wrong(tmp_path: Path) -> None:
    """The judge of the first test: a law with the sign of its gains turned round."""
    folder = tmp_path / "mbdyn_ros"
    shutil.copytree(INCLUDE / "mbdyn_ros", folder)
    law = folder / "control_law.hpp"
    text = law.read_text()
    right = "= reference.q[k] + yielded_.y[k] - q[k];"
    assert right in text
    law.write_text(text.replace(right, "= q[k] - reference.q[k];"))
    program = tmp_path / "laws"
    command(shutil.which("g++") or shutil.which("clang++"), "-std=c++17", "-I", tmp_path,
            "-I", SOURCES, SOURCES / "test_laws.cpp", "-o", program)  # fmt: skip
    with pytest.raises(AssertionError, match="test_laws.cpp:.*not so: near"):
        command(program)


@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
@pytest.mark.parametrize("program", ["test_laws", "test_parts", "evaluate", "measured", "control"])
def test_clang_has_nothing_to_say(program: str) -> None:
    command("clang++", *STRICT, "-fsyntax-only", "-I", INCLUDE, "-I", SOURCES,
            SOURCES / f"{program}.cpp")  # fmt: skip


@needs_cxx
@pytest.mark.long
def test_headers_stand_alone(tmp_path: Path) -> None:
    """Each can be the first one; the interface is C99 too."""
    headers = sorted(path.name for path in (INCLUDE / "mbdyn_ros").iterdir())
    assert "model.h" in headers and "control_law.hpp" in headers
    for number, header in enumerate(headers):
        source = tmp_path / f"{number}.cpp"
        source.write_text(f'#include "mbdyn_ros/{header}"\n#include "mbdyn_ros/{header}"\n')
    sources = sorted(tmp_path.glob("*.cpp"))
    assert len(sources) == len(headers)
    command(shutil.which("g++") or shutil.which("clang++"), *STRICT, "-fsyntax-only", "-I",
            INCLUDE, *sources)  # fmt: skip
    command(CC, "-std=c99", "-pedantic", "-Wall", "-Werror", "-fsyntax-only", "-x", "c",
            INCLUDE / "mbdyn_ros" / "model.h")  # fmt: skip
