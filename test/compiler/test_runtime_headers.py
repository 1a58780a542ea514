"""The runtime's text: headers compile by themselves, and no array on a stack is of any length."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from mbdyn_ros.compiler import cache, gcc
from mbdyn_ros.compiler.runtime import library
from mbdyn_ros.compiler.runtime.library import structure
from mbdyn_ros.equations.contact.stepping import BODY
from mbdyn_ros.simulation.stepped.step_in_c import SLOT_SIZE

CONTACT = sorted(path.name for path in (gcc.RUNTIME / "contact").glob("*.hpp"))
COMPLETE = "vector.h", "elementary.h", "tables.h", "rows.h", "program.h"
"""Headers in C that need nothing before them; a program's text completes the others."""

WARNINGS = (
    "-Wall", "-Wextra", "-Wvla", "-Werror", "-Wno-unused-function", "-Wno-unknown-pragmas",
)  # fmt: skip


SHARED = {
    "program.h": ("array", "program"),
    "contact/model.hpp": ("programs", "walls", "motion"),
    "contact/contact_jacobian.hpp": ("mobility",),
    "contact/convex_shapes.hpp": ("solid", "solids"),
    "contact/manifold.hpp": ("touch",),
    "contact/held.hpp": ("held",),
    "contact/cones.hpp": ("Cones",),
    "path_rows.cpp": ("path", "row_limits"),
    "reachability.cpp": ("limits",),
}
"""Structures that Python makes, by the header that declares them."""


def check(toolchain: gcc.Toolchain, *arguments: str) -> None:
    """Let the compiler look at a text, and warn of nothing."""
    words = [*toolchain.command, *toolchain.flags, f"-DLANES={toolchain.lanes}", *WARNINGS]
    words += ["-fsyntax-only", *arguments]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.sparse(of=6)
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
    check(gcc.required_toolchain(), str(gcc.RUNTIME / "dop853.c"))
    steps = "stepping.cpp", "touching.cpp", "rollouts.cpp", "events.cpp"
    for name in (*steps, "reachability.cpp", "path_rows.cpp"):
        check(gcc.toolchain_cpp(), str(Path(gcc.RUNTIME, name)))


def test_python_has_the_structures_of_c(tmp_path: Path) -> None:
    """Every field at its place, as the compiler has it: else memory is overwritten in silence."""
    shared = [structure(header, name) for header, names in SHARED.items() for name in names]
    spelled = [{"Cones": "Cones<double>"}.get(one.__name__, one.__name__) for one in shared]
    places = [
        f"sizeof({c}), " + "".join(f"offsetof({c}, {name}), " for name, *_ in one._fields_)
        for c, one in zip(spelled, shared, strict=True)
    ]
    text = "".join(f'#include "{header}"\n' for header in SHARED)
    text += f"EXPORTED size_t places[];\nsize_t places[] = {{{''.join(places)}BODY, PLANE}};\n"
    cache.compile_library(text, tmp_path / "places.so", gcc.toolchain_cpp())
    ours: list[int] = []
    for one in shared:
        ours += [ctypes.sizeof(one), *(getattr(one, name).offset for name, *_ in one._fields_)]
    ours += [BODY, SLOT_SIZE]
    compiled = ctypes.CDLL(str(tmp_path / "places.so"))
    theirs = (ctypes.c_size_t * len(ours)).in_dll(compiled, "places")
    assert list(theirs) == ours and len(ours) > 150


@pytest.mark.parametrize(
    "text, fields",
    [
        ("const double *q, *v;", {"q": 8, "v": 8}),
        ("double radius, pose[12];  /* (3, 4); m */", {"radius": 8, "pose": 96}),
        ("void (*run)(const void* job, size_t first);", {"run": 8}),
        ("int stages, damped;", {"stages": 4, "damped": 4}),
    ],
)
def test_declarations_are_read(
    text: str, fields: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.h").write_text(f"/* struct x {{ int no; }} */\nstruct x {{\n  {text}\n}};\n")
    monkeypatch.setattr(library, "RUNTIME", tmp_path)
    found = library.structure.__wrapped__("a.h", "x")
    assert {name: ctypes.sizeof(kind) for name, kind in found._fields_} == fields
