// What DynamicsController takes from topics, and what it says.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics_controller.hpp"
#include "lifecycle_msgs/msg/state.hpp"
#include "mbdyn_ros/payload.hpp"
#include "names.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double unsaid = std::numeric_limits<double>::quiet_NaN();
constexpr int pause = 1000;  // between warnings of refused messages, ms

}  // namespace

void DynamicsController::take_reference(const Trajectory &message) {
  const std::size_t n = joints().count, m = actuated().count;
  std::string words;
  Received next;
  next.values.assign(3 * n + m, unsaid);
  const auto fill = [&](const char *what, const std::vector<double> &given,
                        const mbdyn_ros_names &names, std::size_t start) {
    if (given.empty()) return;
    if (given.size() != message.joint_names.size()) {
      words = std::string(what) + " has " + std::to_string(given.size()) + " numbers for " +
              std::to_string(message.joint_names.size()) + " joints";
      return;
    }
    for (std::size_t k = 0; k < given.size(); ++k) {
      const std::size_t at = mbdyn_ros::place(names, message.joint_names[k]);
      if (at == names.count) continue;
      if (!std::isfinite(given[k])) {
        words = std::string(what) + " of " + message.joint_names[k] + " is not finite";
      }
      next.values[start + at] = given[k];
    }
  };
  if (message.points.size() != 1) {
    words = "it has " + std::to_string(message.points.size()) +
            " points; expected one: a trajectory is for joint_trajectory_controller";
  } else {
    const auto &point = message.points[0];
    fill("positions", point.positions, joints(), 0);
    fill("velocities", point.velocities, joints(), n);
    fill("accelerations", point.accelerations, joints(), 2 * n);
    fill("effort", point.effort, actuated(), 3 * n);
  }
  for (const std::string &name : message.joint_names) {
    if (std::count(message.joint_names.begin(), message.joint_names.end(), name) > 1) {
      words = "joint '" + name + "' is named twice";
    }
    if (mbdyn_ros::place(joints(), name) == n && mbdyn_ros::place(actuated(), name) == m) {
      words = "there is no joint '" + name + "'; there are " + listed(joints());
    }
  }
  if (get_lifecycle_id() != lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
    words = "this controller is not active";
  } else if (is_in_chained_mode()) {
    words = "a controller is in front of this one, and is followed";
  }
  for (std::size_t k = 0; k < n && words.empty(); ++k) {
    if (!std::isnan(next.values[k])) continue;
    words = std::string("it has no position of ") + joints().names[k];
  }
  const std::int64_t now = get_node()->now().nanoseconds();
  const auto &stamp = message.header.stamp;
  next.stamp = 1'000'000'000 * static_cast<std::int64_t>(stamp.sec) + stamp.nanosec;
  if (next.stamp == 0) next.stamp = now;
  const double age = 1e-9 * static_cast<double>(now - next.stamp), timeout = timeout_;
  if (words.empty() && timeout > 0.0 && std::fabs(age) > timeout) {
    words = "it is stamped " + std::to_string(std::fabs(age)) + " s " +
            (age > 0.0 ? "behind" : "ahead of") + " this controller's time, more than "
            "reference_timeout (" + std::to_string(timeout) + " s)";
  }
  if (!words.empty()) {
    RCLCPP_WARN_THROTTLE(get_node()->get_logger(), *get_node()->get_clock(), pause,
                         "reference refused: %s", words.c_str());
    return;
  }
  next.number = ++messages_;
  received_->set(next);
}

void DynamicsController::take_state(const sensor_msgs::msg::JointState &message) {
  double sum = 0.0;  // in the order in which the loop adds
  for (std::size_t k = 0; k < joints().count; ++k) {
    const auto found = std::find(message.name.begin(), message.name.end(), joints().names[k]);
    const auto place = static_cast<std::size_t>(found - message.name.begin());
    if (place >= message.position.size()) return;
    sum += message.position[place];
  }
  const auto &stamp = message.header.stamp;
  state_age_->add(sum, 1'000'000'000 * static_cast<std::int64_t>(stamp.sec) + stamp.nanosec);
}

void DynamicsController::take_payload(const geometry_msgs::msg::InertiaStamped &message) {
  const auto &body = message.inertia;
  const mbdyn_ros::Payload payload{body.m,
                                   {body.com.x, body.com.y, body.com.z},
                                   {body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz}};
  const std::lock_guard<std::mutex> alone(setting_);
  const std::string words = law_->set_payload(message.header.frame_id, payload);
  if (!words.empty()) {
    RCLCPP_WARN_THROTTLE(get_node()->get_logger(), *get_node()->get_clock(), pause,
                         "payload refused: %s", words.c_str());
  }
}

void DynamicsController::report() {
  watch_gains();
  if (states_ && states_->get_publisher_count() == 0) {
    RCLCPP_WARN(get_node()->get_logger(),
                "state_topic: nobody publishes %s, so the age of measured states is not known anew; "
                "name the topic that the hardware listens to",
                states_->get_topic_name());
  }
  const double off = state_age_->off();
  if (off != 0.0 && !misdated_) {
    RCLCPP_WARN(get_node()->get_logger(),
                "state_topic: measured states are stamped %g s %s this controller's time, so that "
                "their stamps do not tell how old they are; let the hardware and the controller "
                "manager go by the same clock (use_sim_time)",
                std::fabs(off), off > 0.0 ? "behind" : "ahead of");
  }
  misdated_ = off != 0.0;
  const Trouble kind = trouble_.exchange(Trouble::none);
  if (kind == Trouble::none) return;
  const std::size_t which = troubled_;
  const auto name = [which](const mbdyn_ros_names &names) {
    return which < names.count ? names.names[which] : "?";
  };
  std::string words;
  switch (kind) {
    case Trouble::none: return;
    case Trouble::not_finite: words = "a measured state is not finite: efforts are zero"; break;
    case Trouble::stale:
      words = "measured states are stamped more than 0.1 s from now: efforts are zero";
      break;
    case Trouble::open:
      words = "the measured positions leave a loop open: efforts are zero";
      break;
    case Trouble::no_answer:
      words = "an actuator is at a dead point, or a number is too large: efforts are zero";
      break;
    case Trouble::saturated:
      words = std::string("the effort of ") + name(actuated()) + " was limited";
      break;
    case Trouble::far:
      words = name(joints());
      words += " was further than following_tolerance from its reference: efforts are zero, and "
               "the controller ends";
      break;
    case Trouble::busy: words = "an interface was locked by another thread"; break;
  }
  RCLCPP_WARN(get_node()->get_logger(), "%s", words.c_str());
}

}  // namespace mbdyn_ros_controllers
