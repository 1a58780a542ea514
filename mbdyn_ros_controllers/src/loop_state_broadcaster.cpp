#include "loop_state_broadcaster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pluginlib/class_list_macros.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

LoopStateBroadcaster::Return LoopStateBroadcaster::on_init() {
  try {
    listener_ = std::make_shared<loop_state_broadcaster::ParamListener>(get_node());
  } catch (const std::exception &error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return Return::ERROR;
  }
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_configure(const State &) {
  params_ = listener_->get_params();
  measured_.reset();
  RobotRequest request;
  request.description = get_robot_description();
  request.file = params_.library;
  request.timeout = params_.build_timeout;
  robot_ = robot_library(request);
  const mbdyn_ros_model *table = robot_.library.table();
  std::string words = robot_.error;
  if (words.empty() && table->joints.count != table->joint_position.count) {
    words = std::string(table->robot) +
            " has joints with several positions, for which ros2_control has no interfaces";
  }
  if (words.empty()) {
    joints_ = params_.joints;
    if (joints_.empty()) {
      joints_.assign(table->independent.names, table->independent.names + table->independent.count);
    }
    std::vector<double> deviations = params_.deviations;
    if (deviations.empty()) deviations.assign(joints_.size(), 1.0);
    words = mbdyn_ros::MeasuredJoints::refusal(*table, joints_, deviations);
    if (words.empty()) {
      measured_ = std::make_unique<mbdyn_ros::MeasuredJoints>(*table, joints_, deviations);
    } else {
      words = "parameter joints or deviations: " + words;
    }
  }
  if (!words.empty()) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
    return Return::FAILURE;
  }
  const std::size_t all = table->joints.count;
  for (auto *one : {&q_, &v_}) one->assign(joints_.size(), 0.0);
  state_ = JointState();
  state_.header.frame_id = params_.frame_id;
  state_.name.assign(table->joints.names, table->joints.names + all);
  state_.position.assign(all, 0.0);
  publisher_ = std::make_shared<realtime_tools::RealtimePublisher<JointState>>(
      get_node()->create_publisher<JointState>(
          params_.use_local_topics ? "~/joint_states" : "joint_states",
          rclcpp::SystemDefaultsQoS()));
  reporting_ = get_node()->create_wall_timer(std::chrono::seconds(1), [this] { report(); });
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_activate(const State &) {
  const mbdyn_ros_model &table = *robot_.library.table();
  const std::vector<std::string> all(table.joints.names, table.joints.names + table.joints.count);
  q_from_ = places(joints_, "position");
  v_from_ = places(joints_, "velocity");
  position_from_ = places(all, "position");
  effort_from_ = places(all, "effort");
  for (std::size_t k = 0; k < q_from_.size(); ++k) {
    if (q_from_[k] != nowhere) continue;
    RCLCPP_ERROR(get_node()->get_logger(),
                 "the position of %s is not measured: the hardware has no interface %s/position; "
                 "name the joints that are measured in the parameter joints",
                 joints_[k].c_str(), joints_[k].c_str());
    return Return::ERROR;
  }
  const auto is_there = [](std::size_t place) { return place != nowhere; };
  moving_ = std::all_of(v_from_.begin(), v_from_.end(), is_there);
  const bool pushed = std::any_of(effort_from_.begin(), effort_from_.end(), is_there);
  state_.velocity.assign(moving_ ? state_.name.size() : 0, unknown);
  state_.effort.assign(pushed ? state_.name.size() : 0, unknown);
  return Return::SUCCESS;
}

LoopStateBroadcaster::Return LoopStateBroadcaster::on_cleanup(const State &) {
  reporting_.reset();
  publisher_.reset();
  measured_.reset();
  robot_ = {};
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
                                                               const rclcpp::Duration &) {
  for (std::size_t k = 0; k < q_.size(); ++k) {
    q_[k] = measured(q_from_[k]);
    if (moving_) v_[k] = measured(v_from_[k]);
  }
  const mbdyn_ros::Status status = measured_->update(q_.data(), moving_ ? v_.data() : nullptr);
  if (status != mbdyn_ros::Status::ok) {
    status_ = static_cast<int>(status);
    return controller_interface::return_type::OK;  // nothing false is published
  }
  state_.position = measured_->position();  // of the same size: nothing is allocated
  if (moving_) state_.velocity = measured_->velocity();
  compare();
  state_.header.stamp = time;
  for (std::size_t k = 0; k < state_.effort.size(); ++k) {
    state_.effort[k] = measured(effort_from_[k]);
  }
  (void)publisher_->try_publish(state_);
  return controller_interface::return_type::OK;
}

std::vector<std::size_t> LoopStateBroadcaster::places(const std::vector<std::string> &names,
                                                      const char *kind) const {
  std::vector<std::size_t> found(names.size(), nowhere);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string wanted = names[k] + "/" + kind;
    for (std::size_t i = 0; i < state_interfaces_.size(); ++i) {
      if (state_interfaces_[i].get_name() == wanted) found[k] = i;
    }
  }
  return found;
}

double LoopStateBroadcaster::measured(std::size_t interface) const noexcept {
  if (interface == nowhere) return unknown;
  return state_interfaces_[interface].get_optional().value_or(unknown);
}

void LoopStateBroadcaster::compare() noexcept {
  double widest = params_.tolerance;
  for (std::size_t k = 0; k < position_from_.size(); ++k) {
    const double gap = std::fabs(measured(position_from_[k]) - state_.position[k]);
    if (gap > widest) {
      widest = gap;
      gap_ = gap;
      astray_ = k;
    }
  }
}

void LoopStateBroadcaster::report() {
  const auto status = mbdyn_ros::Status(status_.exchange(0));
  const std::size_t joint = astray_.exchange(nowhere);
  if (status != mbdyn_ros::Status::ok) {
    RCLCPP_WARN(get_node()->get_logger(), "no joint states: %s", mbdyn_ros::text(status));
  }
  if (joint != nowhere) {
    RCLCPP_WARN(get_node()->get_logger(),
                "the measured position of %s disagrees by %g rad or m with that which follows from "
                "the closed loops", state_.name[joint].c_str(), gap_.load());
  }
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::LoopStateBroadcaster,
                       controller_interface::ControllerInterface)
