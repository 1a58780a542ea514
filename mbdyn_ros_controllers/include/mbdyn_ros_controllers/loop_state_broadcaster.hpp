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

// LoopStateBroadcaster: joint states of all joints from those that are measured.
#ifndef MBDYN_ROS_CONTROLLERS__LOOP_STATE_BROADCASTER_HPP_
#define MBDYN_ROS_CONTROLLERS__LOOP_STATE_BROADCASTER_HPP_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

#include "mbdyn_ros/measured_joints.hpp"
#include "mbdyn_ros_controllers/broadcaster.hpp"
#include "mbdyn_ros_controllers/loop_state_broadcaster_parameters.hpp"
#include "mbdyn_ros_controllers/measured_state.hpp"
#include "mbdyn_ros_controllers/robot_library.hpp"

namespace mbdyn_ros_controllers {

class LoopStateSession {
 public:
  using Params = loop_state_broadcaster::Params;
  using Node = rclcpp_lifecycle::LifecycleNode;

  static std::shared_ptr<LoopStateSession> make(const std::string &description,
                                                const Params &params, unsigned rate, Node &node,
                                                std::string &words);
  static void listen(Node &, const std::shared_ptr<ParameterGate<LoopStateSession>> &,
                     std::vector<rclcpp::SubscriptionBase::SharedPtr> &) {}
  std::string activate(const StateInterfaces &interfaces);
  void update(const StateInterfaces &interfaces, const rclcpp::Time &time, double period) noexcept;
  void report();

 private:
  using JointState = sensor_msgs::msg::JointState;

  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  LoopStateSession(const RobotLibrary &robot, const Params &params,
                   const std::vector<std::string> &joints, const std::vector<double> &deviations,
                   Node &node);
  void compare(const StateInterfaces &interfaces) noexcept;

  const RobotLibrary robot_;
  const Params params_;
  const rclcpp::Logger logger_;
  MeasuredState measured_;
  mbdyn_ros::MeasuredJoints complete_;  // with them the state of all joints
  Sensors positions_, efforts_;         // of all joints
  bool moving_ = false;                 // velocities of all that are measured are
  JointState state_;
  std::shared_ptr<realtime_tools::RealtimePublisher<JointState>> publisher_;
  std::atomic<int> status_{0};
  std::atomic<std::size_t> astray_{nobody};
  std::atomic<double> gap_{0.0};
};

class LoopStateBroadcaster
    : public Broadcaster<LoopStateSession, loop_state_broadcaster::ParamListener> {};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__LOOP_STATE_BROADCASTER_HPP_
