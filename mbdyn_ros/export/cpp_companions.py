"""Companions of the C++ class of a robot: a CMake package, and an example of a control loop."""

from __future__ import annotations

from .c_model import CModel


def cmake_package(model: CModel) -> str:
    """A package that another project finds, with a library to link and one to open."""
    return CMAKE.format(name=model.library.prefix)


def example_loop(model: CModel) -> str:
    """A program with a loop of 1 kHz."""
    name, solid = model.library.prefix, model.function("forward_dynamics") is not None
    numbers, machine = "", ""
    if model.function("inverse_dynamics") is None:
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
