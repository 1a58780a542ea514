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

// DynamicsController: efforts by the equations of motion, after references of position, velocity
// and acceleration.
#ifndef MBDYN_ROS_CONTROLLERS__DYNAMICS_CONTROLLER_HPP_
#define MBDYN_ROS_CONTROLLERS__DYNAMICS_CONTROLLER_HPP_

#include <memory>
#include <mutex>
#include <vector>

#include "control_msgs/msg/joint_trajectory_controller_state.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"

#include "mbdyn_ros_controllers/dynamics_controller_parameters.hpp"
#include "mbdyn_ros_controllers/dynamics_session.hpp"
#include "mbdyn_ros_controllers/parameter_gate.hpp"

namespace mbdyn_ros_controllers {

class DynamicsController : public controller_interface::ChainableControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;

  ~DynamicsController() override;

  Return on_init() override;
  Return on_configure(const State &) override;
  Return on_activate(const State &) override;
  Return on_deactivate(const State &) override;
  Return on_cleanup(const State &) override;
  Return on_shutdown(const State &) override;
  Return on_error(const State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

 protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
  bool on_set_chained_mode(bool chained) override;
  controller_interface::return_type update_reference_from_subscribers(
      const rclcpp::Time &, const rclcpp::Duration &) override;
  controller_interface::return_type update_and_write_commands(const rclcpp::Time &,
                                                              const rclcpp::Duration &) override;

 private:
  using Params = dynamics_controller::Params;
  using Session = DynamicsSession;
  using ControllerState = control_msgs::msg::JointTrajectoryControllerState;
  using Trouble = Session::Trouble;

  void listen(const Params &params);
  void clear();
  // Of the loop: they neither allocate nor log, and wait for nobody.
  bool read_references(Session &session, double period) noexcept;  // false: it cannot go on
  void lead_back(Session &session, double now) noexcept;  // as a reaction wants it
  bool lead_link(Session &session, bool begins) noexcept;  // false: it cannot go on
  void write(Session &session, bool zero) noexcept;
  void publish(Session &session, const rclcpp::Time &time, double period) noexcept;

  std::shared_ptr<ParameterGate<Session>> gate_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checking_;
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr applying_;
  // ends before those that keep parameters from it
  std::shared_ptr<dynamics_controller::ParamListener> listener_;

  mutable std::mutex transition_;  // the loop skips a cycle while another thread has it
  std::shared_ptr<Session> session_;
  rclcpp::SubscriptionBase::SharedPtr reference_, payload_, target_, states_;
  rclcpp::TimerBase::SharedPtr reporting_;
  std::shared_ptr<realtime_tools::RealtimePublisher<ControllerState>> publisher_;
  double publish_rate_ = 0.0;
  ControllerState state_;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__DYNAMICS_CONTROLLER_HPP_
