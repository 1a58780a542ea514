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

// ExternalEffortBroadcaster: what acts on the robot from outside, from measured efforts.
#ifndef MBDYN_ROS_CONTROLLERS__EXTERNAL_EFFORT_BROADCASTER_HPP_
#define MBDYN_ROS_CONTROLLERS__EXTERNAL_EFFORT_BROADCASTER_HPP_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/wrench_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "std_msgs/msg/bool.hpp"

#include "mbdyn_ros/contact.hpp"
#include "mbdyn_ros/external_wrench.hpp"
#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros/observer.hpp"
#include "mbdyn_ros_controllers/broadcaster.hpp"
#include "mbdyn_ros_controllers/external_effort_broadcaster_parameters.hpp"
#include "mbdyn_ros_controllers/measured_state.hpp"
#include "mbdyn_ros_controllers/robot_library.hpp"

namespace mbdyn_ros_controllers {

class ExternalEffortSession {
 public:
  using Params = external_effort_broadcaster::Params;
  using Node = rclcpp_lifecycle::LifecycleNode;

  static std::shared_ptr<ExternalEffortSession> make(const std::string &description,
                                                     const Params &params, unsigned rate,
                                                     Node &node, std::string &words);
  static void listen(Node &node, const std::shared_ptr<ParameterGate<ExternalEffortSession>> &gate,
                     std::vector<rclcpp::SubscriptionBase::SharedPtr> &subscriptions);
  std::string activate(const StateInterfaces &interfaces);
  void update(const StateInterfaces &interfaces, const rclcpp::Time &time, double period) noexcept;
  void report();
  void take_payload(const geometry_msgs::msg::InertiaStamped &message);

 private:
  using JointState = sensor_msgs::msg::JointState;
  using Wrench = geometry_msgs::msg::WrenchStamped;
  using Bool = std_msgs::msg::Bool;
  template <class Message>
  using Publisher = std::shared_ptr<realtime_tools::RealtimePublisher<Message>>;
  enum class Trouble : int { none, not_finite, open, no_answer, frozen, constant };

  static constexpr double moves = 0.01;    // rad/s or m/s from which the robot moves
  static constexpr double longest = 1.0;   // s in which efforts of a moving robot have to change

  ExternalEffortSession(const RobotLibrary &robot, const Params &params, Node &node);
  Trouble read(const StateInterfaces &interfaces, double period) noexcept;
  Trouble feel(const rclcpp::Time &time) noexcept;
  const mbdyn_ros_model &table() const noexcept { return *robot_.library.table(); }

  const RobotLibrary robot_;
  const rclcpp::Logger logger_;
  MeasuredState measured_;
  Sensors efforts_;
  std::vector<double> effort_, before_;  // of the actuated joints
  double unchanged_ = 0.0;               // s
  std::int64_t origin_ = 0;              // ns, of the observer's time
  mbdyn_ros::Observer observer_;
  mbdyn_ros::ContactDetector detector_;
  std::vector<mbdyn_ros::ExternalWrench> wrench_;  // one, or none
  bool touched_ = false, reported_ = false;

  std::mutex setting_;
  std::vector<double> set_;  // numbers of the robot, with payloads
  mbdyn_ros::Latest<std::vector<double>> numbers_;
  const std::vector<double> *used_ = nullptr;

  JointState state_;
  Wrench force_;
  Publisher<JointState> states_;
  Publisher<Wrench> forces_;
  Publisher<Bool> contacts_;
  std::atomic<Trouble> trouble_{Trouble::none};
  std::atomic<std::size_t> hit_;
};

class ExternalEffortBroadcaster
    : public Broadcaster<ExternalEffortSession, external_effort_broadcaster::ParamListener> {};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__EXTERNAL_EFFORT_BROADCASTER_HPP_
