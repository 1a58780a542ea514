"""The plugins of ros2_control in every state of their lives, under messages and parameters.

ROS 2's own libraries are not asked for: `cpp/ros/ros_stand_in.hpp` has what the plugins use of
them, with the same threads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from cpp_tools import CXX, INCLUDE, SOURCES, command, library_of, needs_cxx
from plugin_tools import PACKAGE, stand_in_headers, watched

import mbdyn_ros

TYPES = {
    "string": "std::string", "double": "double", "bool": "bool", "int": "std::int64_t",
    "double_array": "std::vector<double>", "string_array": "std::vector<std::string>",
}  # fmt: skip
ARM = """<robot name="arm"><link name="base"/>
  <joint name="joint" type="revolute"><axis xyz="0 1 0"/><parent link="base"/><child link="rod"/>
    <limit lower="-2" upper="2" velocity="3" effort="50"/><dynamics damping="0.1"/></joint>
  <link name="rod"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="gear" type="revolute"><axis xyz="0 1 0"/><parent link="base"/><child link="wheel"/>
    <limit lower="-0.7" upper="9" velocity="9" effort="9"/>
    <mimic joint="joint" multiplier="-2"/></joint><link name="wheel"/></robot>"""

LISTENER = """#ifndef {guard}
#define {guard}
#include "ros_stand_in.hpp"
namespace {space} {{
struct Params {{
{fields}
}};
class ParamListener {{
 public:
  explicit ParamListener(const std::shared_ptr<rclcpp_lifecycle::LifecycleNode> &node) {{
    params_.library = given::library;
{more}
    handle_ = node->add_on_set_parameters_callback(
        [this](const std::vector<rclcpp::Parameter> &list) {{ return update(list); }});
  }}
  Params get_params() const {{
    const std::lock_guard<std::mutex> alone(lock_);
    return params_;
  }}

 private:
  rcl_interfaces::msg::SetParametersResult update(const std::vector<rclcpp::Parameter> &list) {{
    const std::lock_guard<std::mutex> alone(lock_);
    for (const rclcpp::Parameter &one : list) {{
{sets}
    }}
    return {{}};
  }}
  mutable std::mutex lock_;
  Params params_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr handle_;
}};
}}
#endif
"""


def literal(value: object) -> str:
    """A default of a parameter, in C++."""
    if isinstance(value, list):
        return "{" + ", ".join(map(literal, value)) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def listener(file: Path, more: str) -> str:
    """The header that generate_parameter_library makes of a file, for the stand-in."""
    [(space, parameters)] = yaml.safe_load(file.read_text()).items()
    fields, sets = [], []
    for name, one in parameters.items():
        kind = TYPES[one["type"]]
        fields.append(f"  {kind} {name} = {literal(one['default_value'])};")
        if not one.get("read_only"):
            sets.append(
                f'      if (one.get_name() == "{name}") '
                f"params_.{name} = std::get<{kind}>(one.value());"
            )
    return LISTENER.format(
        guard=f"{space.upper()}_PARAMETERS_HPP", space=space, fields="\n".join(fields),
        more=more, sets="\n".join(sets) or "      (void)one;",
    )  # fmt: skip


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every header of ROS that the plugins include, and those of parameters."""
    folder = stand_in_headers(tmp_path_factory.mktemp("headers"))
    place = folder / PACKAGE.name
    place.mkdir()
    for file in (PACKAGE / "src").glob("*.yaml"):
        more = "    params_.build_timeout = 0.0;\n"
        if file.stem == "dynamics_controller":
            more += '    params_.state_topic = "states";\n    params_.variable = {"rod"};\n'
            more += """    params_.link = "rod";
    params_.reaction = given::reaction;
    if (given::reaction != "none") params_.thresholds = {0.5};
    params_.joint_stiffness = given::stiffness;
    params_.joint_damping = {5.0};
"""
        if file.stem == "external_effort_broadcaster":
            more += '    params_.link = "rod";\n    params_.variable = {"rod"};\n'
            more += "    params_.thresholds = {2.0};\n"
        (place / f"{file.stem}_parameters.hpp").write_text(listener(file, more))
    return folder


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The library and the description of an arm."""
    folder = tmp_path_factory.mktemp("robot")
    urdf = folder / "arm.urdf"
    urdf.write_text(ARM)
    arm = mbdyn_ros.load(urdf)
    written = arm.generate_cpp(folder / "code", parameters=["rod"], control_link="rod",
                               felt_links=["rod"])  # fmt: skip
    return library_of(written), urdf


@needs_cxx
@pytest.mark.long
@pytest.mark.parametrize("sanitizer", ["thread", "address"])
def test_nothing_fails_in_any_state(
    sanitizer: str, tmp_path: Path, headers: Path, robot: tuple[Path, Path]
) -> None:
    """Configured, activated, deactivated, cleaned up and unloaded under callbacks and cycles."""
    sources = ["dynamics_controller", "dynamics_loop", "dynamics_session", "robot_library",
               "external_effort_broadcaster", "loop_state_broadcaster", "sampled_loop"]  # fmt: skip
    whole = tmp_path / "whole.cpp"  # one unit: the headers are read once
    included = [*(PACKAGE / "src" / f"{one}.cpp" for one in sources), SOURCES / "lifecycle.cpp"]
    whole.write_text("".join(f'#include "{one}"\n' for one in included))
    program = tmp_path / "lives"
    command(CXX, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            *watched(sanitizer),
            '-DMBDYN_ROS_VERSION="test"', "-I", headers, "-I", SOURCES / "ros", "-I", SOURCES,
            "-I", PACKAGE / "include", "-I", INCLUDE, whole, "-o", program, "-ldl", "-pthread"
            )  # fmt: skip
    said = command(program, robot[0], robot[1], "rod", 1000).decode()
    for plugin in ("DynamicsController", "LoopStateBroadcaster", "ExternalEffortBroadcaster"):
        assert f"{plugin}: 1000 lives" in said
