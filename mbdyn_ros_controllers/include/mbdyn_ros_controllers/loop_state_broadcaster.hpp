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
#include <mutex>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

#include "mbdyn_ros/measured_joints.hpp"
#include "mbdyn_ros_controllers/loop_state_broadcaster_parameters.hpp"
#include "mbdyn_ros_controllers/measured_state.hpp"
#include "mbdyn_ros_controllers/parameter_gate.hpp"
#include "mbdyn_ros_controllers/robot_library.hpp"

namespace mbdyn_ros_controllers {

class LoopStateBroadcaster : public controller_interface::ControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;

  ~LoopStateBroadcaster() override;

  Return on_init() override;
  Return on_configure(const State &) override;
  Return on_activate(const State &) override;
  Return on_deactivate(const State &) override;
  Return on_cleanup(const State &) override;
  Return on_shutdown(const State &) override;
  Return on_error(const State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::return_type update(const rclcpp::Time &,
                                           const rclcpp::Duration &) override;

 private:
  using JointState = sensor_msgs::msg::JointState;

  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  // What there is from one configuration to the next cleanup. The timer holds it: a report that the
  // executor took before a cleanup ends on the session that it began with.
  struct Session {
    Session(const RobotLibrary &robot, const std::vector<std::string> &joints,
            const std::vector<double> &deviations, const rclcpp::Logger &logger);
    void report();

    const RobotLibrary robot;
    const rclcpp::Logger logger;
    MeasuredState measured;
    mbdyn_ros::MeasuredJoints complete;  // with them the state of all joints
    Sensors positions, efforts;          // of all joints
    bool active = false;
    bool moving = false;  // velocities of all that are measured are
    JointState state;

    std::atomic<int> status{0};
    std::atomic<std::size_t> astray{nobody};
    std::atomic<double> gap{0.0};
  };

  void clear();
  void compare(Session &session) noexcept;

  std::shared_ptr<loop_state_broadcaster::ParamListener> listener_;
  std::shared_ptr<ParameterGate<Session>> gate_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checking_;
  loop_state_broadcaster::Params params_;
  std::mutex transition_;  // the loop skips a cycle while another thread has it
  std::shared_ptr<Session> session_;
  std::shared_ptr<realtime_tools::RealtimePublisher<JointState>> publisher_;
  rclcpp::TimerBase::SharedPtr reporting_;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__LOOP_STATE_BROADCASTER_HPP_
