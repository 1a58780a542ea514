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

#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pluginlib/class_list_macros.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

LoopStateBroadcaster::Session::Session(const RobotLibrary &given,
                                       const std::vector<std::string> &names,
                                       const std::vector<double> &deviations,
                                       const rclcpp::Logger &log)
    : robot(given),
      logger(log),
      measured(names),
      complete(*given.library.table(), names, deviations) {
  const mbdyn_ros_names &all = robot.library.table()->joints;
  state.name.assign(all.names, all.names + all.count);
  state.position.assign(all.count, 0.0);
}

LoopStateBroadcaster::~LoopStateBroadcaster() {
  if (!gate_) return;
  gate_->close();
  (void)get_node()->has_parameter("joints");  // waits for parameters that are being set
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_init() {
  try {
    listener_ = std::make_shared<loop_state_broadcaster::ParamListener>(get_node());
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

LoopStateBroadcaster::Return LoopStateBroadcaster::on_configure(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  params_ = listener_->get_params();
  RobotRequest request;
  request.description = get_robot_description();
  request.file = params_.library;
  request.timeout = params_.build_timeout;
  const RobotLibrary robot = robot_library(request);
  const mbdyn_ros_model *table = robot.library.table();
  std::string words = robot.error;
  if (words.empty() && table->joints.count != table->joint_position.count) {
    words = std::string(table->robot) +
            " has joints with several positions, for which ros2_control has no interfaces";
  }
  std::vector<std::string> joints = params_.joints;
  std::vector<double> deviations = params_.deviations;
  if (words.empty()) {
    if (joints.empty()) {
      joints.assign(table->independent.names, table->independent.names + table->independent.count);
    }
    if (deviations.empty()) deviations.assign(joints.size(), 1.0);
    words = mbdyn_ros::MeasuredJoints::refusal(*table, joints, deviations);
    if (!words.empty()) words = "parameter joints or deviations: " + words;
  }
  if (!words.empty()) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
    return Return::FAILURE;
  }
  session_ = std::make_shared<Session>(robot, joints, deviations, get_node()->get_logger());
  session_->state.header.frame_id = params_.frame_id;
  publisher_ = std::make_shared<realtime_tools::RealtimePublisher<JointState>>(
      get_node()->create_publisher<JointState>(
          params_.use_local_topics ? "~/joint_states" : "joint_states",
          rclcpp::SystemDefaultsQoS()));
  reporting_ = get_node()->create_wall_timer(std::chrono::seconds(1),
                                             [session = session_] { session->report(); });
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_activate(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  Session &session = *session_;
  session.measured.find(state_interfaces_);
  session.positions.find(state_interfaces_, session.state.name, "position");
  session.efforts.find(state_interfaces_, session.state.name, "effort");
  if (!session.measured.positions().complete()) {
    const char *joint = session.measured.joints[session.measured.positions().missing()].c_str();
    RCLCPP_ERROR(get_node()->get_logger(),
                 "the position of %s is not measured: the hardware has no interface %s/position; "
                 "name the joints that are measured in the parameter joints", joint, joint);
    return Return::ERROR;
  }
  session.moving = session.measured.velocities().complete();
  session.state.velocity.assign(session.moving ? session.state.name.size() : 0, unknown);
  session.state.effort.assign(session.efforts.any() ? session.state.name.size() : 0, unknown);
  session.active = true;
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_deactivate(const State &) {
  const std::lock_guard<std::mutex> alone(transition_);
  session_->active = false;
  return Return::SUCCESS;
}

void LoopStateBroadcaster::clear() {
  const std::lock_guard<std::mutex> alone(transition_);
  reporting_.reset();
  publisher_.reset();
  session_.reset();
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_cleanup(const State &) {
  clear();
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_shutdown(const State &) {
  clear();
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_error(const State &) {
  clear();
  return Return::SUCCESS;
}

controller_interface::InterfaceConfiguration
LoopStateBroadcaster::command_interface_configuration() const {
  return {controller_interface::interface_configuration_type::NONE, {}};
}

controller_interface::InterfaceConfiguration
LoopStateBroadcaster::state_interface_configuration() const {
  return {controller_interface::interface_configuration_type::ALL, {}};
}

controller_interface::return_type LoopStateBroadcaster::update(const rclcpp::Time &time,
                                                               const rclcpp::Duration &period) {
  const std::unique_lock<std::mutex> alone(transition_, std::try_to_lock);
  if (!alone || !session_ || !session_->active) return controller_interface::return_type::OK;
  Session &session = *session_;
  const bool moving = session.moving;
  (void)session.measured.read(state_interfaces_, period.seconds());
  const mbdyn_ros::Status status = session.complete.update(
      session.measured.q.data(), moving ? session.measured.v.data() : nullptr);
  if (status != mbdyn_ros::Status::ok) {
    session.status = static_cast<int>(status);
    return controller_interface::return_type::OK;  // nothing false is published
  }
  JointState &state = session.state;
  state.position = session.complete.position();  // of the same size: nothing is allocated
  if (moving) state.velocity = session.complete.velocity();
  compare(session);
  state.header.stamp = time;
  for (std::size_t k = 0; k < state.effort.size(); ++k) {
    state.effort[k] = session.efforts.read(state_interfaces_, k);
  }
  (void)publisher_->try_publish(state);
  return controller_interface::return_type::OK;
}

void LoopStateBroadcaster::compare(Session &session) noexcept {
  double widest = params_.tolerance;
  for (std::size_t k = 0; k < session.positions.size(); ++k) {
    const double gap =
        std::fabs(session.positions.read(state_interfaces_, k) - session.state.position[k]);
    if (gap > widest) {
      widest = gap;
      session.gap = gap;
      session.astray = k;
    }
  }
}

void LoopStateBroadcaster::Session::report() {
  const auto met = mbdyn_ros::Status(status.exchange(0));
  const std::size_t joint = astray.exchange(nobody);
  if (met != mbdyn_ros::Status::ok) {
    RCLCPP_WARN(logger, "no joint states: %s", mbdyn_ros::text(met));
  }
  if (joint != nobody) {
    RCLCPP_WARN(logger,
                "the measured position of %s differs by %g rad or m from the one that follows from "
                "the closed loops", robot.library.table()->joints.names[joint], gap.load());
  }
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::LoopStateBroadcaster,
                       controller_interface::ControllerInterface)
