// Copyright 2026 mbdyn_ros developers
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

// Parameters as they would be, before they are set.
#ifndef MBDYN_ROS_CONTROLLERS__PARAMETER_READING_HPP_
#define MBDYN_ROS_CONTROLLERS__PARAMETER_READING_HPP_

#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"

#include "mbdyn_ros_controllers/dynamics_controller_parameters.hpp"

namespace mbdyn_ros_controllers {

// Put what decides about gains into params; why it cannot be read, or empty.
inline std::string read_into(dynamics_controller::Params &params,
                             const std::vector<rclcpp::Parameter> &given) {
  try {
    for (const rclcpp::Parameter &one : given) {
      const std::string &name = one.get_name();
      if (name == "mode") params.mode = one.as_string();
      if (name == "allow_unstable_gains") params.allow_unstable_gains = one.as_bool();
      if (name == "kp") params.kp = one.as_double_array();
      if (name == "kd") params.kd = one.as_double_array();
      if (name == "joint_stiffness") params.joint_stiffness = one.as_double_array();
      if (name == "joint_damping") params.joint_damping = one.as_double_array();
    }
  } catch (const rclcpp::ParameterTypeException &error) {
    return error.what();
  }
  return {};
}

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__PARAMETER_READING_HPP_
