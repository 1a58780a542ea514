"""A robot's equations as a C++17 class and a C interface: a CMake package in a folder.

For a robot named arm: `arm.h` and `arm.c` (the equations), `arm_model.c` (their table, which other
programs open at run time), `arm.hpp` (the class), `mbdyn_ros/` (headers that know no robot),
`test_arm.c`, `example_loop.cpp` and `CMakeLists.txt`.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Sequence

from ..model.read.source_text import XML_DECLARATION
from ..names import in_c_comment, in_c_string
from .c_companions import test_program
from .c_export import MARK, Exported, prepared, write_files
from .c_library import header, library
from .c_model import CModel, model_text
from .headers import INCLUDE

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


def class_header(model: CModel) -> str:
    """The header `NAME.hpp`, whose namespace is robots::NAME: alone, NAME may be a function of
    the C library."""
    library, names = model.library, model.names
    prefix = library.prefix
    sizes = {
        "nq": library.nq,
        "nv": library.nv,
        "efforts": len(library.efforts),
        "joint_positions": len(model.joint_positions),
        "joint_velocities": len(model.joint_velocities),
        "parameters": len(library.parameters),
    }
    lists = {
        "joint_names": ("all that move", names["joints"]),
        "independent_joints": ("those of q, v and a", names["independent"]),
        "actuated_joints": ("those of efforts", names["actuated"]),
        "q_names": ("", names["q"]),
        "v_names": ("", names["v"]),
        "effort_names": ("", names["effort"]),
        "joint_position_names": ("", names["joint_position"]),
        "joint_velocity_names": ("", names["joint_velocity"]),
        "parameter_names": ("", names["parameters"]),
        "link_names": ("those with a Jacobian", tuple(link for link, _ in model.links)),
    }
    numbers = {
        "position_lower_limits": model.q_limits[0],
        "position_upper_limits": model.q_limits[1],
        "velocity_limits": model.v_limits,
        "effort_limits": model.effort_limits,
        "home_position": model.home_q,
    }
    return HEADER.format(
        prefix=prefix,
        upper=prefix.upper(),
        robot=in_c_comment(library.robot),
        name=in_c_string(library.robot),
        description=in_c_string(model.description),
        equations=in_c_string(model.equations),
        sizes=",\n                               ".join(f"{k} = {n}" for k, n in sizes.items()),
        driven="true" if model.library.function("inverse_dynamics") else "false",
        solid="true" if model.library.function("forward_dynamics") else "false",
        memory=f"{prefix}_loops" if library.closing is not None else "mbdyn_ros::NoMemory",
        lists="\n".join(_names(key, *value) for key, value in lists.items()),
        numbers="\n".join(_numbers(key, value) for key, value in numbers.items()),
    )


def _names(key: str, text: str, names: Sequence[str]) -> str:
    kind, values = f"std::array<std::string_view, {len(names)}>", _wrapped(map(in_c_string, names))
    comment = f"/* {text} */\n" if text else ""
    return f"{comment}inline constexpr {kind} {key}{{{values}}};"


def _numbers(key: str, numbers: Sequence[float]) -> str:
    values = _wrapped(map(_number, numbers))
    return f"inline constexpr std::array<double, {len(numbers)}> {key}{{{values}}};"


def _number(x: float) -> str:
    if math.isinf(x):
        return "-unlimited" if x < 0 else "unlimited"
    return repr(float(x))


def _wrapped(given: Iterable[str]) -> str:
    """Items on lines of their own where they are many."""
    items = list(given)
    whole = ", ".join(items)
    if len(whole) < 30:
        return whole
    lines: list[str] = []
    line = ""
    for item in items:
        if line and len(line) + len(item) > 92:
            lines.append(line)
            line = ""
        line += f"{item}, " if line else f"    {item}, "
    return "\n" + "\n".join(one.rstrip() for one in [*lines, line]).removesuffix(",")


HEADER = """/*
 * Dynamics of the robot {robot} in C++17: constants, and robots::{prefix}::Robot.
 * {prefix}.h has the units and the order of all numbers, mbdyn_ros/robot.hpp the functions.
 */
#ifndef {upper}_HPP
#define {upper}_HPP

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>

#include "mbdyn_ros/robot.hpp"
#include "{prefix}.h"

extern "C" const mbdyn_ros_model *{prefix}_model(void);

namespace robots::{prefix} {{

struct Description {{
  static constexpr std::size_t {sizes};
  static constexpr bool is_driven = {driven}, is_solid = {solid};
  using Memory = {memory};
  static const mbdyn_ros_model &table() noexcept {{ return *{prefix}_model(); }}
}};

/* The equations, with the memory that loops need; one for each thread. */
using Robot = mbdyn_ros::Robot<Description>;

inline constexpr std::string_view name = {name};

/* SHA-256 of the description (mbdyn_ros/description.hpp) and of all that is in the equations. */
inline constexpr std::string_view description_hash =
    {description};
inline constexpr std::string_view equations_hash =
    {equations};

/* Names of joints, and of every number of a joint that has several. */
{lists}

/* Where there is no limit. */
inline constexpr double unlimited = std::numeric_limits<double>::infinity();
{numbers}

}}  // namespace robots::{prefix}

#endif
"""


def cmake_package(model: CModel) -> str:
    """A package that another project finds, with a library to link and one to open."""
    return CMAKE.format(name=model.library.prefix)


def example_loop(model: CModel) -> str:
    """A program with a loop of 1 kHz."""
    name, solid = model.library.prefix, model.library.function("forward_dynamics") is not None
    numbers, machine = "", ""
    if model.library.function("inverse_dynamics") is None:
        command, numbers = FREE, ACCELERATION
    elif model.library.nq != model.library.nv:
        command = HELD
    else:
        command, numbers = TRACKED, GAINS + ACCELERATION * solid
        machine = MACHINE * solid
    parts = {"command": command, "numbers": numbers, "machine": machine}
    return EXAMPLE.format(name=name, **{key: part.format(name=name) for key, part in parts.items()})


CMAKE = """cmake_minimum_required(VERSION 3.14)
project({name} VERSION 1.0.0 LANGUAGES C CXX)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# To link: find_package({name}), target_link_libraries(... {name}::{name}), #include "{name}.hpp"
add_library({name} {name}.c {name}_model.c)
add_library({name}::{name} ALIAS {name})
target_compile_features({name} INTERFACE cxx_std_17)

# To open at run time: mbdyn_ros::Library::open(".../{name}_model.so")
add_library({name}_model MODULE {name}.c {name}_model.c)
target_compile_definitions({name}_model PRIVATE MBDYN_ROS_LIBRARY)
set_target_properties({name}_model PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden)

foreach(target {name} {name}_model)
  set_target_properties(${{target}} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${{target}} PUBLIC
    $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}>
    $<INSTALL_INTERFACE:${{CMAKE_INSTALL_INCLUDEDIR}}/{name}>)
  target_link_libraries(${{target}} PUBLIC $<$<PLATFORM_ID:Linux>:m>)
endforeach()

if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  enable_testing()
  add_executable(test_{name} test_{name}.c)
  set_target_properties(test_{name} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_link_libraries(test_{name} PRIVATE {name})
  add_test(NAME {name} COMMAND test_{name})

  add_executable(example_loop example_loop.cpp)
  set_target_properties(example_loop PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(example_loop PRIVATE {name})
  add_test(NAME example_loop COMMAND example_loop 100)
endif()

install(TARGETS {name} EXPORT {name}Targets)
install(TARGETS {name}_model LIBRARY DESTINATION ${{CMAKE_INSTALL_LIBDIR}})
install(FILES {name}.h {name}.hpp DESTINATION ${{CMAKE_INSTALL_INCLUDEDIR}}/{name})
install(DIRECTORY mbdyn_ros DESTINATION ${{CMAKE_INSTALL_INCLUDEDIR}}/{name})
install(EXPORT {name}Targets NAMESPACE {name}:: FILE {name}Config.cmake
  DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
write_basic_package_version_file({name}ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${{CMAKE_CURRENT_BINARY_DIR}}/{name}ConfigVersion.cmake
  DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
"""

GAINS = """  machine::Robot::Velocities stiffness{{}}, damping{{}};
  stiffness.fill(100.0);
  damping.fill(20.0);
"""

ACCELERATION = """  machine::Robot::Velocities acceleration{{}};
"""

TRACKED = """    /* Errors die out with a natural frequency of 10 rad/s, critically damped. */
    const Status status = robot.computed_torque(q, v, machine::home_position, {{}}, {{}},
                                                stiffness, damping, effort);"""

HELD = """    const Status status = robot.inverse_dynamics(q, v, {{}}, effort);"""

FREE = """    const Status status = robot.forward_dynamics(q, v, effort, acceleration);"""

MACHINE = """
    /* In the place of the machine: its equations of motion, one step of symplectic Euler. */
    if (robot.forward_dynamics(q, v, effort, acceleration) != Status::ok) return 1;
    for (std::size_t k = 0; k < machine::Description::nv; ++k) {{
      v[k] += 1e-3 * acceleration[k];
      q[k] += 1e-3 * v[k];
    }}
"""

EXAMPLE = """/* A loop of 1 kHz with absolute deadlines: example_loop [CYCLES]. */
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "{name}.hpp"

using mbdyn_ros::Status;
namespace machine = robots::{name};

static double seconds_since(const timespec &then) {{
  timespec now{{}};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec - then.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec - then.tv_nsec);
}}

int main(int count, char **arguments) {{
  const long cycles = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 1000;
  machine::Robot robot;
  machine::Robot::Positions q = machine::home_position;
  machine::Robot::Velocities v{{}};
  machine::Robot::Efforts effort{{}};
{numbers}  double longest = 0.0, latest = 0.0;

  timespec deadline{{}};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  for (long cycle = 0; cycle < cycles; ++cycle) {{
    deadline.tv_nsec += 1000000;
    if (deadline.tv_nsec >= 1000000000) {{
      deadline.tv_nsec -= 1000000000;
      ++deadline.tv_sec;
    }}
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) != 0) {{
    }}
    latest = std::max(latest, seconds_since(deadline));
    timespec start{{}};
    clock_gettime(CLOCK_MONOTONIC, &start);

{command}
    longest = std::max(longest, seconds_since(start));
    if (status != Status::ok) {{
      const char *loop = nullptr;
      const double gap = robot.gap(q, &loop);
      std::fprintf(stderr, "%s", text(status));
      if (loop) std::fprintf(stderr, ": %s stays open by %g", loop, gap);
      std::fprintf(stderr, "\\n");
      return 1;
    }}
{machine}  }}
  std::printf("%ld cycles: worst computation %.1f us, worst lateness %.1f us\\n", cycles,
              1e6 * longest, 1e6 * latest);
  return 0;
}}
"""
