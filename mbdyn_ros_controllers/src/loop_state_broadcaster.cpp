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

#include "mbdyn_ros_controllers/loop_state_broadcaster.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "pluginlib/class_list_macros.hpp"

namespace mbdyn_ros_controllers {

LoopStateSession::LoopStateSession(const RobotLibrary &given, const Params &params,
                                   const std::vector<std::string> &names,
                                   const std::vector<double> &deviations, Node &node)
    : robot_(given),
      params_(params),
      logger_(node.get_logger()),
      measured_(names),
      complete_(*given.library.table(), names, deviations) {
  const mbdyn_ros_names &all = robot_.library.table()->joints;
  state_.name.assign(all.names, all.names + all.count);
  state_.position.assign(all.count, 0.0);
  state_.header.frame_id = params.frame_id;
  publisher_ = std::make_shared<realtime_tools::RealtimePublisher<JointState>>(
      node.create_publisher<JointState>(
          params.use_local_topics ? "~/joint_states" : "joint_states",
          rclcpp::SystemDefaultsQoS()));
}

std::shared_ptr<LoopStateSession> LoopStateSession::make(const std::string &description,
                                                         const Params &params, unsigned,
                                                         Node &node, std::string &words) {
  RobotRequest request;
  request.description = description;
  request.file = params.library;
  request.timeout = params.build_timeout;
  const RobotLibrary robot = robot_library(request);
  const mbdyn_ros_model *table = robot.library.table();
  words = robot.error;
  if (words.empty() && table->joints.count != table->joint_position.count) {
    words = std::string(table->robot) +
            " has joints with several positions, for which ros2_control has no interfaces";
  }
  std::vector<std::string> joints = params.joints;
  std::vector<double> deviations = params.deviations;
  if (words.empty()) {
    if (joints.empty()) {
      joints.assign(table->independent.names, table->independent.names + table->independent.count);
    }
    if (deviations.empty()) deviations.assign(joints.size(), 1.0);
    words = mbdyn_ros::MeasuredJoints::refusal(*table, joints, deviations);
    if (!words.empty()) words = "parameter joints or deviations: " + words;
  }
  if (!words.empty()) return nullptr;
  return std::shared_ptr<LoopStateSession>(
      new LoopStateSession(robot, params, joints, deviations, node));
}

std::string LoopStateSession::activate(const StateInterfaces &interfaces) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  measured_.find(interfaces);
  positions_.find(interfaces, state_.name, "position");
  efforts_.find(interfaces, state_.name, "effort");
  if (!measured_.positions().complete()) {
    const std::string &joint = measured_.joints[measured_.positions().missing()];
    return "the position of " + joint + " is not measured: the hardware has no interface " +
           joint + "/position; name the joints that are measured in the parameter joints";
  }
  moving_ = measured_.velocities().complete();
  state_.velocity.assign(moving_ ? state_.name.size() : 0, unknown);
  state_.effort.assign(efforts_.any() ? state_.name.size() : 0, unknown);
  return {};
}

void LoopStateSession::update(const StateInterfaces &interfaces, const rclcpp::Time &time,
                              double period) noexcept {
  (void)measured_.read(interfaces, period);
  const mbdyn_ros::Status status =
      complete_.update(measured_.q.data(), moving_ ? measured_.v.data() : nullptr);
  if (status != mbdyn_ros::Status::ok) {
    status_ = static_cast<int>(status);
    return;  // nothing false is published
  }
  state_.position = complete_.position();  // of the same size: nothing is allocated
  if (moving_) state_.velocity = complete_.velocity();
  compare(interfaces);
  state_.header.stamp = time;
  for (std::size_t k = 0; k < state_.effort.size(); ++k) {
    state_.effort[k] = efforts_.read(interfaces, k);
  }
  (void)publisher_->try_publish(state_);
}

void LoopStateSession::compare(const StateInterfaces &interfaces) noexcept {
  double widest = params_.tolerance;
  for (std::size_t k = 0; k < positions_.size(); ++k) {
    const double gap = std::fabs(positions_.read(interfaces, k) - state_.position[k]);
    if (gap > widest) {
      widest = gap;
      gap_ = gap;
      astray_ = k;
    }
  }
}

void LoopStateSession::report() {
  const auto met = mbdyn_ros::Status(status_.exchange(0));
  const std::size_t joint = astray_.exchange(nobody);
  if (met != mbdyn_ros::Status::ok) {
    RCLCPP_WARN(logger_, "no joint states: %s", mbdyn_ros::text(met));
  }
  if (joint != nobody) {
    RCLCPP_WARN(logger_,
                "the measured position of %s differs by %g rad or m from the one that follows from "
                "the closed loops", robot_.library.table()->joints.names[joint], gap_.load());
  }
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::LoopStateBroadcaster,
                       controller_interface::ControllerInterface)
