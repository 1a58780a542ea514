"""The C++ header of a robot: constants, and a class around its C."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..names import in_c_comment, in_c_string
from .c_model import CModel


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
        driven="true" if model.function("inverse_dynamics") else "false",
        solid="true" if model.function("forward_dynamics") else "false",
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
