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

// SimulatedSystem: a robot simulated in the process of the controller manager, as its hardware.
#ifndef MBDYN_ROS_CONTROLLERS__SIMULATED_SYSTEM_HPP_
#define MBDYN_ROS_CONTROLLERS__SIMULATED_SYSTEM_HPP_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/handle.hpp"
#include "hardware_interface/hardware_info.hpp"
#include "hardware_interface/system_interface.hpp"
#include "rclcpp/rclcpp.hpp"

#include "mbdyn_ros_controllers/robot_library.hpp"
#include "mbdyn_ros_controllers/simulated_robot.hpp"

namespace mbdyn_ros_controllers {

class SimulatedSystem : public hardware_interface::SystemInterface {
 public:
  using Return = hardware_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;
  using Names = std::vector<std::string>;

  Return on_init(const hardware_interface::HardwareComponentInterfaceParams &params) override;
  Return on_configure(const State &) override;
  Return on_activate(const State &) override;
  Return on_deactivate(const State &) override;
  hardware_interface::return_type prepare_command_mode_switch(const Names &begin,
                                                              const Names &end) override;
  hardware_interface::return_type perform_command_mode_switch(const Names &begin,
                                                              const Names &end) override;
  hardware_interface::return_type read(const rclcpp::Time &,
                                       const rclcpp::Duration &period) override;
  hardware_interface::return_type write(const rclcpp::Time &, const rclcpp::Duration &) override;

 private:
  using StateHandle = hardware_interface::StateInterface::SharedPtr;
  using CommandHandle = hardware_interface::CommandInterface::SharedPtr;
  using Value = const double *;

  struct Shown {  // a state interface: where its number stands
    std::string name;
    Value value;
    StateHandle handle;
  };
  struct Commanded {  // a command interface of the k-th actuated joint
    std::string name;
    std::size_t joint;
    double JointCommand::*value;
    bool JointCommand::*used;
    CommandHandle handle;
  };
  struct Imu {
    const mbdyn_ros_sensor *sensor;
    std::array<double, 13> reading{};
    std::array<double, 3> speed{};
  };
  struct ForceTorque {
    const mbdyn_ros_sensor *sensor;
    std::array<double, 6> reading{};
  };

  std::string read_parameters(RobotRequest &request);
  std::string read_sensors(RobotRequest &request) const;
  std::string read_joints(const mbdyn_ros_model &table);
  std::string show_sensors(const mbdyn_ros_model &table);
  // Command interfaces that are used after a switch; words where they do not go together.
  std::string switched(const Names &begin, const Names &end, std::vector<bool> &used) const;
  bool show(double since) noexcept;

  RobotLibrary library_;
  SimulationSettings settings_;
  std::unique_ptr<SimulatedRobot> robot_;
  std::vector<double> initial_, efforts_;  // efforts of all of joint_velocity
  std::vector<std::size_t> effort_to_;     // place of each actuated joint among them
  std::vector<Shown> shown_;
  std::vector<Commanded> commanded_;
  std::vector<bool> used_;  // of commanded_
  std::vector<Imu> imus_;
  std::vector<ForceTorque> force_torques_;
  std::atomic<bool> active_{false};
  bool begun_ = false;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__SIMULATED_SYSTEM_HPP_
