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

#include "mbdyn_ros_controllers/external_effort_broadcaster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "pluginlib/class_list_macros.hpp"

#include "mbdyn_ros_controllers/payload_message.hpp"

namespace mbdyn_ros_controllers {

namespace {

mbdyn_ros::Thresholds thresholds_of(const external_effort_broadcaster::Params &params) {
  return {params.thresholds, params.centers, params.threshold_in_all};
}

}  // namespace

ExternalEffortSession::ExternalEffortSession(const RobotLibrary &given, const Params &params,
                                             Node &node)
    : robot_(given),
      logger_(node.get_logger()),
      measured_({table().independent.names,
                 table().independent.names + table().independent.count}),
      effort_(table().actuated.count),
      before_(effort_),
      observer_(table(), params.time_constant,
                params.order == 1 ? mbdyn_ros::ObserverOrder::first
                                  : mbdyn_ros::ObserverOrder::second),
      detector_(thresholds_of(params)),
      set_(table().parameter_values, table().parameter_values + table().parameters.count),
      numbers_(set_),
      hit_(table().v.count) {
  state_.name.assign(table().v.names, table().v.names + table().v.count);
  state_.effort.assign(table().v.count, 0.0);
  state_.header.frame_id = table().root;
  states_ = std::make_shared<realtime_tools::RealtimePublisher<JointState>>(
      node.create_publisher<JointState>("~/external_effort", rclcpp::SystemDefaultsQoS()));
  contacts_ = std::make_shared<realtime_tools::RealtimePublisher<Bool>>(
      node.create_publisher<Bool>("~/contact", rclcpp::QoS(1).transient_local()));
  if (params.link.empty()) return;
  const std::array<double, 3> point{params.point[0], params.point[1], params.point[2]};
  wrench_.emplace_back(table(), params.link, point, params.moment);
  force_.header.frame_id = params.link;
  forces_ = std::make_shared<realtime_tools::RealtimePublisher<Wrench>>(
      node.create_publisher<Wrench>("~/external_wrench", rclcpp::SystemDefaultsQoS()));
}

std::shared_ptr<ExternalEffortSession> ExternalEffortSession::make(const std::string &description,
                                                                   const Params &params,
                                                                   unsigned rate, Node &node,
                                                                   std::string &words) {
  RobotRequest request;
  request.description = description;
  request.independent = params.joints;
  request.variable = params.variable;
  if (!params.link.empty()) request.felt.push_back(params.link);
  request.file = params.library;
  request.timeout = params.build_timeout;
  const RobotLibrary robot = robot_library(request);
  words = robot.error;
  if (!words.empty()) return nullptr;
  const mbdyn_ros_model &table = *robot.library.table();
  words = mbdyn_ros::Observer::refusal(table, params.time_constant, 1.0 / std::fmax(rate, 1.0));
  if (words.empty() && (table.independent.count != table.q.count ||
                        table.actuated.count != table.effort.count)) {
    words = std::string(table.robot) +
            " has joints with several positions, for which ros2_control has no interfaces";
  }
  if (words.empty()) words = thresholds_of(params).refusal(table);
  if (words.empty() && !params.link.empty()) {
    words = mbdyn_ros::ExternalWrench::refusal(table, params.link);
  }
  if (words.empty() && params.point.size() != 3) {
    words = "point has " + std::to_string(params.point.size()) + " numbers; expected x, y, z";
  }
  if (!words.empty()) return nullptr;
  return std::shared_ptr<ExternalEffortSession>(new ExternalEffortSession(robot, params, node));
}

void ExternalEffortSession::listen(
    Node &node, const std::shared_ptr<ParameterGate<ExternalEffortSession>> &gate,
    std::vector<rclcpp::SubscriptionBase::SharedPtr> &subscriptions) {
  subscriptions.push_back(node.create_subscription<geometry_msgs::msg::InertiaStamped>(
      "~/payload", rclcpp::SystemDefaultsQoS(),
      [gate](const geometry_msgs::msg::InertiaStamped &message) {
        if (const auto session = gate->session()) session->take_payload(message);
      }));
}

std::string ExternalEffortSession::activate(const StateInterfaces &interfaces) {
  const std::vector<std::string> driven(table().actuated.names,
                                        table().actuated.names + table().actuated.count);
  measured_.find(interfaces);
  efforts_.find(interfaces, driven, "effort");
  const auto lacking = [](const std::string &joint, const char *kind) {
    return std::string("the ") + kind + " of " + joint +
           " is not measured: the hardware has no state interface " + joint + "/" + kind;
  };
  const Sensors &positions = measured_.positions(), &velocities = measured_.velocities();
  if (!positions.complete()) return lacking(measured_.joints[positions.missing()], "position");
  if (!velocities.complete()) return lacking(measured_.joints[velocities.missing()], "velocity");
  if (!efforts_.complete()) return lacking(driven[efforts_.missing()], "effort");
  observer_.restart();
  detector_.forget();
  touched_ = reported_ = false;
  unchanged_ = 0.0;
  origin_ = 0;
  return {};
}

ExternalEffortSession::Trouble ExternalEffortSession::read(const StateInterfaces &interfaces,
                                                           double period) noexcept {
  bool finite = measured_.read(interfaces, period), same = true;
  for (std::size_t k = 0; k < effort_.size(); ++k) {
    effort_[k] = efforts_.read(interfaces, k);
    finite = finite && std::isfinite(effort_[k]);
    same = same && effort_[k] == before_[k];
    before_[k] = effort_[k];
  }
  if (!finite) return Trouble::not_finite;
  const double speed = std::fabs(measured_.v[measured_.fastest()]);
  unchanged_ = same && speed > moves ? unchanged_ + period : 0.0;
  if (measured_.frozen()) return Trouble::frozen;
  return unchanged_ > longest ? Trouble::constant : Trouble::none;
}

ExternalEffortSession::Trouble ExternalEffortSession::feel(const rclcpp::Time &time) noexcept {
  const std::vector<double> &numbers = numbers_.get();
  if (&numbers != used_) {
    used_ = &numbers;
    observer_.set_parameters(numbers.data());
    for (auto &one : wrench_) one.set_parameters(numbers.data());
  }
  if (origin_ == 0) origin_ = time.nanoseconds();
  const double now = 1e-9 * static_cast<double>(time.nanoseconds() - origin_);
  const double *q = measured_.q.data(), *external = observer_.external.data();
  mbdyn_ros::Status status = observer_.cycle(now, q, measured_.v.data(), effort_.data());
  if (status == mbdyn_ros::Status::ok && !wrench_.empty()) {
    status = wrench_[0].update(q, external);
  }
  if (status != mbdyn_ros::Status::ok) {
    return status == mbdyn_ros::Status::open ? Trouble::open : Trouble::no_answer;
  }
  if (detector_.update(now, external)) hit_ = detector_.joint();
  return Trouble::none;
}

void ExternalEffortSession::update(const StateInterfaces &interfaces, const rclcpp::Time &time,
                                   double period) noexcept {
  Trouble met = read(interfaces, period);
  if (met == Trouble::none) met = feel(time);
  if (met != Trouble::none) {
    trouble_ = met;
    observer_.restart();  // nothing is felt out of nothing
    detector_.forget();
    return;
  }
  state_.header.stamp = force_.header.stamp = time;
  state_.effort = observer_.external;  // of the same size: nothing is allocated
  (void)states_->try_publish(state_);
  if (!wrench_.empty()) {
    const auto &six = wrench_[0].wrench;
    force_.wrench.force.x = six[0];
    force_.wrench.force.y = six[1];
    force_.wrench.force.z = six[2];
    force_.wrench.torque.x = six[3];
    force_.wrench.torque.y = six[4];
    force_.wrench.torque.z = six[5];
    (void)forces_->try_publish(force_);
  }
  if (reported_ && detector_.touches() == touched_) return;
  Bool touches;
  touches.data = detector_.touches();
  if (contacts_->try_publish(touches)) {  // else in the next cycle
    touched_ = touches.data;
    reported_ = true;
  }
}

void ExternalEffortSession::take_payload(const geometry_msgs::msg::InertiaStamped &message) {
  const std::lock_guard<std::mutex> alone(setting_);
  const std::string words =
      mbdyn_ros::set_payload(table(), message.header.frame_id, payload_of(message), set_);
  if (!words.empty()) {
    RCLCPP_WARN(logger_, "payload refused: %s", words.c_str());
    return;
  }
  numbers_.set(set_);
}

void ExternalEffortSession::report() {
  const std::size_t joint = hit_.exchange(table().v.count);
  if (joint < table().v.count) {
    RCLCPP_INFO(logger_, "a contact, of which %s shows most", table().v.names[joint]);
  }
  const char *why = nullptr;
  switch (trouble_.exchange(Trouble::none)) {
    case Trouble::none: return;
    case Trouble::not_finite: why = "a measured position, velocity or effort is not finite"; break;
    case Trouble::open: why = "the measured positions leave a loop open"; break;
    case Trouble::no_answer: why = "a number is too large, or the robot is at a dead point"; break;
    case Trouble::frozen: why = "positions stand still although velocities do not"; break;
    case Trouble::constant:
      why = "no effort has changed for 1 s while the robot moves: they are not measured";
      break;
  }
  RCLCPP_WARN(logger_, "no external efforts: %s", why);
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::ExternalEffortBroadcaster,
                       controller_interface::ControllerInterface)
