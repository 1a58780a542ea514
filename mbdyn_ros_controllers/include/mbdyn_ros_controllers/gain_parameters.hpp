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

// The parameters that are gains, and parameters as they would be before they are set.
#ifndef MBDYN_ROS_CONTROLLERS__GAIN_PARAMETERS_HPP_
#define MBDYN_ROS_CONTROLLERS__GAIN_PARAMETERS_HPP_

#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"

#include "mbdyn_ros_controllers/dynamics_controller_parameters.hpp"

namespace mbdyn_ros_controllers {

struct GainParameter {
  const char *name;
  std::vector<double> dynamics_controller::Params::*values;
};

// Those of docs/control.md, by the names that the node computed_torque has for them.
inline const std::vector<GainParameter> &gain_parameters() {
  using Params = dynamics_controller::Params;
  static const std::vector<GainParameter> all{
      {"guiding_damping", &Params::guiding_damping},
      {"kp", &Params::kp},
      {"kd", &Params::kd},
      {"joint_stiffness", &Params::joint_stiffness},
      {"joint_damping", &Params::joint_damping},
      {"required_rate", &Params::required_rate},
      {"body_rate", &Params::body_rate},
      {"required_damping", &Params::required_damping},
      {"admittance_kp", &Params::admittance_kp},
      {"admittance_kd", &Params::admittance_kd},
      {"admittance_inertia", &Params::admittance_inertia},
      {"admittance_damping", &Params::admittance_damping},
      {"admittance_stiffness", &Params::admittance_stiffness},
      {"admittance_dead_zone", &Params::admittance_dead_zone},
      {"link_stiffness", &Params::link_stiffness},
      {"link_damping", &Params::link_damping},
      {"posture_stiffness", &Params::posture_stiffness},
      {"posture_damping", &Params::posture_damping}};
  return all;
}

// Put what decides about gains into params; why it cannot be read, or empty.
inline std::string read_into(dynamics_controller::Params &params,
                             const std::vector<rclcpp::Parameter> &given) {
  try {
    for (const rclcpp::Parameter &one : given) {
      const std::string &name = one.get_name();
      if (name == "mode") params.mode = one.as_string();
      if (name == "allow_unstable_gains") params.allow_unstable_gains = one.as_bool();
      for (const GainParameter &gain : gain_parameters()) {
        if (name == gain.name) params.*gain.values = one.as_double_array();
      }
    }
  } catch (const rclcpp::ParameterTypeException &error) {
    return error.what();
  }
  return {};
}

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__GAIN_PARAMETERS_HPP_
