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

// Broadcaster: the life of a controller that publishes what it makes of the state interfaces.
#ifndef MBDYN_ROS_CONTROLLERS__BROADCASTER_HPP_
#define MBDYN_ROS_CONTROLLERS__BROADCASTER_HPP_

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "rclcpp/rclcpp.hpp"

#include "mbdyn_ros_controllers/parameter_gate.hpp"

namespace mbdyn_ros_controllers {

// A Session is what there is from one configuration to the next cleanup: `make` makes it of the
// parameters, null with the reason in words; `activate` begins, or says why it cannot; `update`
// reads and publishes, in the loop; `report` logs what the loop met, in the executor. The timer
// holds it: a report that the executor took before a cleanup ends on the session that it began
// with. Its parameters are read only.
template <class Session, class Listener>
class Broadcaster : public controller_interface::ControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;

  ~Broadcaster() override {
    if (!gate_) return;
    gate_->close();
    (void)get_node()->has_parameter("library");  // waits for parameters that are being set
  }

  Return on_init() override {
    try {
      listener_ = std::make_shared<Listener>(get_node());
    } catch (const std::exception &error) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
      return Return::ERROR;
    }
    gate_ = std::make_shared<ParameterGate<Session>>();
    checking_ = get_node()->add_on_set_parameters_callback(  // asked before the listener
        [gate = gate_](const std::vector<rclcpp::Parameter> &) {
          rcl_interfaces::msg::SetParametersResult result;
          result.successful = !gate->closed();
          if (!result.successful) result.reason = "this broadcaster is being unloaded";
          return result;
        });
    return Return::SUCCESS;
  }

  Return on_configure(const State &) override {
    const std::lock_guard<std::mutex> alone(transition_);
    std::string words;
    session_ = Session::make(get_robot_description(), listener_->get_params(), get_update_rate(),
                             *get_node(), words);
    if (!session_) {
      RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
      return Return::FAILURE;
    }
    gate_->lead_to(session_);
    if (!listens_) Session::listen(*get_node(), gate_, subscriptions_);
    listens_ = true;
    reporting_ = get_node()->create_wall_timer(std::chrono::seconds(1),
                                               [session = session_] { session->report(); });
    return Return::SUCCESS;
  }

  Return on_activate(const State &) override {
    const std::lock_guard<std::mutex> alone(transition_);
    const std::string words = session_->activate(state_interfaces_);
    active_ = words.empty();
    if (active_) return Return::SUCCESS;
    RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
    return Return::ERROR;
  }

  Return on_deactivate(const State &) override {
    const std::lock_guard<std::mutex> alone(transition_);
    active_ = false;
    return Return::SUCCESS;
  }

  Return on_cleanup(const State &) override { return clear(); }
  Return on_shutdown(const State &) override { return clear(); }
  Return on_error(const State &) override { return clear(); }

  controller_interface::InterfaceConfiguration command_interface_configuration() const override {
    return {controller_interface::interface_configuration_type::NONE, {}};
  }
  controller_interface::InterfaceConfiguration state_interface_configuration() const override {
    return {controller_interface::interface_configuration_type::ALL, {}};
  }

  controller_interface::return_type update(const rclcpp::Time &time,
                                           const rclcpp::Duration &period) override {
    const std::unique_lock<std::mutex> alone(transition_, std::try_to_lock);
    if (alone && active_) session_->update(state_interfaces_, time, period.seconds());
    return controller_interface::return_type::OK;
  }

 private:
  Return clear() {
    const std::lock_guard<std::mutex> alone(transition_);
    active_ = false;
    if (gate_) gate_->lead_to(nullptr);
    reporting_.reset();
    session_.reset();
    return Return::SUCCESS;
  }

  std::shared_ptr<ParameterGate<Session>> gate_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checking_;
  std::shared_ptr<Listener> listener_;  // ends before those that keep parameters from it
  std::mutex transition_;  // the loop skips a cycle while another thread has it
  std::shared_ptr<Session> session_;
  bool active_ = false, listens_ = false;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions_;
  rclcpp::TimerBase::SharedPtr reporting_;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__BROADCASTER_HPP_
