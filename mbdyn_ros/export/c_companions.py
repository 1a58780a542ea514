"""Companions of the C99 library of a robot: a test program, a CMake project, a Python module."""

from __future__ import annotations

from ..compiler.printers.operations import number
from ..names import in_python_string
from .c_library import CLibrary

TEST_TOLERANCES = {"double": 1e-9, "single": 1e-3}
"""Largest relative difference that the test program allows: other compilers round otherwise."""


def test_program(described: CLibrary) -> str:
    """A program that compares every function with recorded values."""
    parts = [
        f'#include "{described.prefix}.h"\n\n#include <math.h>\n#include <stdio.h>\n',
        COMPARE.replace("TOLERANCE", number(TEST_TOLERANCES[described.precision])),
    ]
    calls = []
    for function in described.functions:
        output, size = function.arguments[-1]
        columns = list(zip(*function.records, strict=True))
        rows = []
        for (name, length), column in zip(function.arguments, columns, strict=True):
            table = ",\n".join(
                "      {" + ", ".join(number(x) for x in row) + "}" for row in column
            )
            stored = "expected" if name == output else name
            rows.append(f"  static const double {stored}[{len(column)}][{length}] = {{\n{table}}};")
        given = ", ".join(f"{name}[k]" for name, _ in function.arguments[:-1])
        home = ""
        if described.closing is not None:
            rows.append(f"  {described.prefix}_loops loops;")
            given, home = f"&loops, {given}", f"  {described.prefix}_home(&loops);\n"
        parts.append(
            f"static int test_{function.name}(void) {{\n"
            + "\n".join(rows)
            + f"\n  double {output}[{size}];\n  int k, bad = 0;\n{home}"
            f"  for (k = 0; k < {len(function.records)}; ++k) {{\n"
            f"    bad |= {function.name}({given}, {output});\n"
            f"    bad |= differ({output}, expected[k], {size});\n  }}\n"
            f'  printf("%s {function.name}\\n", bad ? "WRONG" : "ok   ");\n  return bad;\n}}\n'
        )
        calls.append(f"  bad |= test_{function.name}();")
    parts.append("int main(void) {\n  int bad = 0;\n" + "\n".join(calls) + "\n  return bad;\n}\n")
    return "\n".join(parts)


COMPARE = """/* 1 where numbers differ by more than a share of the largest of them, else 0. */
static int differ(const double *x, const double *expected, int n) {
  double largest = 1e-6;
  int i;
  for (i = 0; i < n; ++i) largest = fmax(largest, fabs(expected[i]));
  for (i = 0; i < n; ++i) {
    if (!(fabs(x[i] - expected[i]) <= TOLERANCE * largest)) return 1;
  }
  return 0;
}
"""


def cmake_lists(described: CLibrary) -> str:
    """A target for the library, and the test."""
    name = described.prefix
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# -DBUILD_SHARED_LIBS=ON for {name}.py
add_library({name} {name}.c)
set_target_properties({name} PROPERTIES
  C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
  POSITION_INDEPENDENT_CODE ON WINDOWS_EXPORT_ALL_SYMBOLS ON)
target_include_directories({name} PUBLIC
  $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}> $<INSTALL_INTERFACE:include>)
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()

enable_testing()
add_executable(test_{name} test_{name}.c)
set_target_properties(test_{name} PROPERTIES
  C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_link_libraries(test_{name} PRIVATE {name})
add_test(NAME {name} COMMAND test_{name})

install(TARGETS {name} ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
install(FILES {name}.h DESTINATION include)
"""


def python_loader(described: CLibrary) -> str:
    """A module that calls the shared library; needs NumPy alone."""
    rows = []
    for function in described.functions:
        inputs = ", ".join(f'("{name}", {size})' for name, size in function.arguments[:-1])
        short = function.name.removeprefix(f"{described.prefix}_")
        rows.append(f'    "{short}": (({inputs},), {function.shape}),')
    return LOADER.format(
        name=described.prefix,
        robot=in_python_string(described.robot),
        programs="\n".join(rows),
        memory=described.remembered,
        dtype="float32" if described.precision == "single" else "float64",
        positions=repr(tuple(name for name, _ in described.positions)),
        velocities=repr(tuple(name for name, _, _ in described.velocities)),
        efforts=repr(tuple(name for name, _ in described.efforts)),
    )


LOADER = '''"""Dynamics of the robot {robot}: calls the shared library made of {name}.c.

    cmake -B build -DBUILD_SHARED_LIBS=ON && cmake --build build

    from {name} import load
    robot = load()
    robot.mass_matrix(q)

Methods are named as the functions in {name}.h, which says units and orders.
"""

import ctypes
from pathlib import Path

import numpy as np

POSITIONS = {positions}
VELOCITIES = {velocities}
EFFORTS = {efforts}

PROGRAMS = {{
{programs}
}}
"""Inputs of every function (name, number of elements), and the shape of its result."""


LOOPS = {memory}
"""How many numbers say where loops without closed form were closed last."""


class Library:
    """The functions of a shared library, as methods on arrays; for one thread."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        self._loops = np.zeros(LOOPS, dtype=np.{dtype})
        self._memory = [self._loops.ctypes.data] if LOOPS else []
        self.home()
        for name, (inputs, shape) in PROGRAMS.items():
            setattr(self, name, self._method(name, inputs, shape))

    def home(self):
        """Let loops start from home again."""
        if LOOPS:
            function = self._library.{name}_home
            function.restype, function.argtypes = None, [ctypes.c_void_p]
            function(*self._memory)

    def _method(self, name, inputs, shape):
        function = getattr(self._library, "{name}_" + name)
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p] * (len(self._memory) + len(inputs) + 1)

        def call(*values):
            if len(values) != len(inputs):
                raise TypeError(f"{{name}} takes {{', '.join(one for one, _ in inputs)}}")
            arrays = []
            for (argument, size), value in zip(inputs, values):
                array = np.ascontiguousarray(value, dtype=np.{dtype})
                if array.shape != (size,):
                    raise ValueError(f"{{argument}} has shape {{array.shape}}, not ({{size}},)")
                arrays.append(array)
            result = np.empty(shape, dtype=np.{dtype})
            pointers = [array.ctypes.data for array in [*arrays, result]]
            if function(*self._memory, *pointers):
                raise ValueError(f"{{name}} has no finite answer there")
            return result

        return call


def load(path=None):
    """The robot of a shared library; without a path, of the one next to this file or in build/."""
    if path is None:
        here = Path(__file__).resolve().parent
        names = ("lib{name}.so", "lib{name}.dylib", "{name}.dll")
        places = [folder / name for folder in (here, here / "build") for name in names]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            raise OSError(
                f"there is no {{names[0]}} in {{here}} or its folder build: "
                "cmake -B build -DBUILD_SHARED_LIBS=ON && cmake --build build"
            )
    return Library(path)
'''
