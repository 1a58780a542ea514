"""A robot's equations as a C++17 class and a C interface: a CMake package in a folder.

For a robot named arm: `arm.h` and `arm.c` (the equations), `arm_model.c` (their table, which other
programs open at run time), `arm.hpp` (the class), `mbdyn_ros/` (headers that know no robot),
`test_arm.c`, `example_loop.cpp` and `CMakeLists.txt`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from ..model.read.source_text import XML_DECLARATION
from .c_companions import test_program
from .c_export import MARK, Exported, prepared, write_files
from .c_library import header, library
from .c_model import CModel, model_text
from .cpp_class import class_header
from .cpp_companions import cmake_package, example_loop

INCLUDE = Path(__file__).parent / "cpp"
"""Folder of the headers that know no robot, for a compiler: `#include <mbdyn_ros/model.hpp>`."""

BLANKS = " \t\r\n"
"""Blanks of XML."""


def export_cpp(directory: str | os.PathLike[str], describe: Callable[[], CModel]) -> Exported:
    """Write the package of a robot, described once the folder is known to serve."""
    folder = prepared(directory)
    model = describe()
    library_of = model.library
    name = library_of.prefix
    texts = {
        f"{name}.h": f"/* {name}.h: {MARK} */\n" + header(library_of),
        f"{name}.c": f"/* {name}.c: {MARK} */\n" + library(library_of),
        f"{name}_model.c": f"/* {name}_model.c: {MARK} */\n" + model_text(model),
        f"{name}.hpp": f"/* {name}.hpp: {MARK} */\n" + class_header(model),
        f"test_{name}.c": f"/* test_{name}.c: {MARK} */\n" + test_program(library_of),
        "example_loop.cpp": f"/* example_loop.cpp: {MARK} */\n" + example_loop(model),
        "CMakeLists.txt": f"# CMakeLists.txt: {MARK}\n" + cmake_package(model),
    }
    for path in sorted((INCLUDE / "mbdyn_ros").iterdir()):
        texts[f"mbdyn_ros/{path.name}"] = f"/* {path.name}: {MARK} */\n" + path.read_text("utf-8")
    files = write_files(folder, texts)
    names = tuple(function.name for function in library_of.functions)
    return Exported(files, names, library_of.omitted)


def description_hash(text: str) -> str:
    """SHA-256 of a description, as description.hpp computes it.

    >>> description_hash('<?xml version="1.0"?> <robot/>') == description_hash("<robot/>")
    True
    """
    bare = XML_DECLARATION.sub("", text.lstrip("\ufeff")).strip(BLANKS)
    return hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()
