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

#include "mbdyn_ros_controllers/dynamics_controller.hpp"

#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

#include "mbdyn_ros_controllers/gain_parameters.hpp"
#include "mbdyn_ros_controllers/names.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> wanted_kinds{
    hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY,
    hardware_interface::HW_IF_ACCELERATION};

}  // namespace

DynamicsController::~DynamicsController() {
  if (!gate_) return;
  // The listener goes with the controller, and a thread of the executor may just set parameters:
  // the gate refuses them before they reach it, and this call waits for one that is on its way.
  gate_->close();
  (void)get_node()->has_parameter("mode");
}

DynamicsController::Return DynamicsController::on_init() {
  try {
    listener_ = std::make_shared<dynamics_controller::ParamListener>(get_node());
  } catch (const std::exception &error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return Return::ERROR;
  }
  gate_ = std::make_shared<ParameterGate<Session>>();
  // Later than the listener's, and so asked first. The listener ends before the gate and these
  // callbacks: what comes until then is refused.
  checking_ = get_node()->add_on_set_parameters_callback(
      [gate = gate_, listener = listener_.get()](const std::vector<rclcpp::Parameter> &given) {
        rcl_interfaces::msg::SetParametersResult result;
        if (gate->closed()) {
          result.reason = "this controller is being unloaded";
        } else {
          Params next = listener->get_params();
          result.reason = read_into(next, given);
          const auto session = gate->session();
          if (result.reason.empty()) {
            result.reason = session ? session->refusal(next) : Session::refusal_of_gains(next);
          }
        }
        result.successful = result.reason.empty();
        return result;
      });
  applying_ = get_node()->add_post_set_parameters_callback(
      [gate = gate_, listener = listener_.get()](const std::vector<rclcpp::Parameter> &) {
        if (const auto session = gate->session()) session->apply(listener->get_params());
      });
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_configure(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  const Params params = listener_->get_params();
  RobotRequest request;
  request.description = get_robot_description();
  request.independent = params.joints;
  request.variable = params.variable;
  request.link = params.link;
  request.file = params.library;
  request.timeout = params.build_timeout;
  const RobotLibrary robot = robot_library(request);
  std::string words;
  session_ = Session::make(
      robot, params, {get_update_rate(), get_node()->get_logger(), get_node()->get_clock()}, words);
  if (!session_) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
    return Return::FAILURE;
  }
  const auto session = session_;
  gate_->lead_to(session);
  session->apply(listener_->get_params());  // what was set meanwhile
  if (!reference_) listen(params);
  state_ = ControllerState();
  if (publisher_) {
    const std::size_t n = session->joints().count, m = session->actuated().count;
    for (std::size_t k = 0; k < n; ++k) state_.joint_names.push_back(session->joints().names[k]);
    for (auto *point : {&state_.reference, &state_.feedback, &state_.error}) {
      point->positions.assign(n, 0.0);
      point->velocities.assign(n, 0.0);
    }
    state_.reference.accelerations.assign(n, 0.0);
    state_.output.effort.assign(m, 0.0);
  }
  RCLCPP_INFO(get_node()->get_logger(), "%s: follows %s by efforts of %s, with the library %s",
              session->table().robot, listed(session->joints()).c_str(),
              listed(session->actuated()).c_str(), robot.file.c_str());
  return Return::SUCCESS;
}

// Once in the controller's life, for what decides about it cannot change: rcl lets no subscription
// be made while another thread ends one, as the executor does with one dropped in its callback.
void DynamicsController::listen(const Params &params) {
  const auto node = get_node();
  const auto taken_by = [gate = gate_](auto take) {
    return [gate, take](const auto &message) {
      if (const auto session = gate->session()) (session.get()->*take)(message);
    };
  };
  reference_ = node->create_subscription<trajectory_msgs::msg::JointTrajectory>(
      "~/reference", rclcpp::SystemDefaultsQoS(),
      [take = taken_by(&Session::take_reference)](
          const trajectory_msgs::msg::JointTrajectory &message) { take(message); });
  payload_ = node->create_subscription<geometry_msgs::msg::InertiaStamped>(
      "~/payload", rclcpp::SystemDefaultsQoS(),
      [take = taken_by(&Session::take_payload)](
          const geometry_msgs::msg::InertiaStamped &message) { take(message); });
  if (!params.link.empty()) {
    target_ = node->create_subscription<geometry_msgs::msg::PoseStamped>(
        "~/target", rclcpp::SystemDefaultsQoS(),
        [take = taken_by(&Session::take_target)](
            const geometry_msgs::msg::PoseStamped &message) { take(message); });
  }
  if (!params.state_topic.empty()) {
    states_ = node->create_subscription<sensor_msgs::msg::JointState>(
        params.state_topic, rclcpp::SensorDataQoS(),
        [take = taken_by(&Session::take_state)](
            const sensor_msgs::msg::JointState &message) { take(message); });
  }
  reporting_ = node->create_wall_timer(
      std::chrono::seconds(1), [gate = gate_, states = std::weak_ptr(states_)] {
        const auto session = gate->session();
        const auto topic = states.lock();
        if (!session) return;
        session->report(topic ? topic->get_topic_name() : nullptr,
                        topic ? topic->get_publisher_count() : 0);
      });
  publish_rate_ = params.state_publish_rate;
  if (publish_rate_ > 0.0) {
    publisher_ = std::make_shared<realtime_tools::RealtimePublisher<ControllerState>>(
        node->create_publisher<ControllerState>("~/controller_state",
                                                rclcpp::SystemDefaultsQoS()));
  }
}

DynamicsController::Return DynamicsController::on_activate(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  session_->measured.find(state_interfaces_);
  session_->start();
  for (auto &one : ordered_exported_reference_interfaces_) (void)one->set_value(none);
  session_->chained = is_in_chained_mode();
  session_->active = true;
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_deactivate(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  session_->active = false;
  write(*session_, true);
  return Return::SUCCESS;
}

void DynamicsController::clear() {
  const std::lock_guard<std::mutex> alone(transition_);
  if (gate_) gate_->lead_to(nullptr);
  if (session_) {
    session_->active = false;
    if (!command_interfaces_.empty()) write(*session_, true);
  }
  session_.reset();
}

DynamicsController::Return DynamicsController::on_cleanup(const State &) {
  clear();
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_shutdown(const State &) {
  clear();
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_error(const State &) {
  clear();
  return Return::SUCCESS;
}

bool DynamicsController::on_set_chained_mode(bool chained) {
  const std::lock_guard<std::mutex> alone(transition_);
  if (session_) session_->chained = chained;
  return true;
}

controller_interface::InterfaceConfiguration
DynamicsController::command_interface_configuration() const {
  const auto session = gate_ ? gate_->session() : nullptr;
  controller_interface::InterfaceConfiguration asked{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (std::size_t k = 0; session && k < session->actuated().count; ++k) {
    asked.names.push_back(std::string(session->actuated().names[k]) + "/effort");
  }
  return asked;
}

controller_interface::InterfaceConfiguration
DynamicsController::state_interface_configuration() const {
  const auto session = gate_ ? gate_->session() : nullptr;
  controller_interface::InterfaceConfiguration asked{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const char *kind : {"/position", "/velocity"}) {
    for (std::size_t k = 0; session && k < session->joints().count; ++k) {
      asked.names.push_back(session->joints().names[k] + std::string(kind));
    }
  }
  return asked;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
DynamicsController::on_export_reference_interfaces_list() {
  std::vector<hardware_interface::CommandInterface::SharedPtr> list;
  const auto session = gate_->session();
  const std::string before = std::string(get_node()->get_name()) + "/";
  const auto add = [&](const mbdyn_ros_names &names, const std::string &kind) {
    for (std::size_t k = 0; k < names.count; ++k) {
      list.push_back(std::make_shared<hardware_interface::CommandInterface>(
          before + names.names[k], kind));
      (void)list.back()->set_value(none);
    }
  };
  for (const std::string &kind : wanted_kinds) add(session->joints(), kind);
  add(session->actuated(), hardware_interface::HW_IF_EFFORT);
  return list;
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::DynamicsController,
                       controller_interface::ChainableControllerInterface)
