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

#include "mbdyn_ros_controllers/dynamics_session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mbdyn_ros/payload.hpp"
#include "mbdyn_ros_controllers/carried_reference.hpp"
#include "mbdyn_ros_controllers/names.hpp"
#include "mbdyn_ros_controllers/sampled_loop.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double unsaid = std::numeric_limits<double>::quiet_NaN();
constexpr int pause = 1000;                // between warnings of refused messages, ms
constexpr double still_stable = 1.0 + 1e-4;  // growth in a cycle, with rounding
constexpr double leeway = 1e-3;            // part of a velocity or effort limit, as the nodes have

// Each mode has gains of its own, for their units differ.
constexpr std::pair<const char *, std::vector<double> dynamics_controller::Params::*>
    gain_parameters[] = {{"kp", &dynamics_controller::Params::kp},
                         {"kd", &dynamics_controller::Params::kd},
                         {"joint_stiffness", &dynamics_controller::Params::joint_stiffness},
                         {"joint_damping", &dynamics_controller::Params::joint_damping}};

mbdyn_ros::Mode mode_of(const std::string &name) {
  if (name == "gravity_compensation") return mbdyn_ros::Mode::gravity_compensation;
  return name == "computed_torque" ? mbdyn_ros::Mode::computed_torque
                                   : mbdyn_ros::Mode::joint_impedance;
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

// A description gives a velocity limit of 0 where nobody knew one.
double speed_limit(double given) {
  return given > 0.0 ? given : std::numeric_limits<double>::infinity();
}

}  // namespace

std::shared_ptr<DynamicsSession> DynamicsSession::make(const RobotLibrary &robot,
                                                       const Params &params, const Frame &frame,
                                                       std::string &words) {
  words = robot.error;
  if (words.empty()) words = unfit(*robot.library.table(), params);
  if (!words.empty()) return nullptr;
  std::shared_ptr<DynamicsSession> made(new DynamicsSession(robot, params, frame));
  words = made->refusal(params);
  if (!words.empty()) return nullptr;
  made->apply(params);
  return made;
}

DynamicsSession::DynamicsSession(const RobotLibrary &given, const Params &params,
                                 const Frame &frame)
    : robot(given),
      law(*given.library.table(), params.blend),
      received({0, 0, std::vector<double>(3 * joints().count + actuated().count, unsaid)}),
      posture(std::vector<double>(joints().count, unsaid)),
      frame_(frame) {
  const std::size_t n = joints().count, m = actuated().count;
  for (auto *one : {&q, &v, &last_q, &next_q, &next_v, &wanted_q, &wanted_v, &wanted_a}) {
    one->assign(n, unsaid);
  }
  for (auto *one : {&added, &effort}) one->assign(m, 0.0);
}

std::string DynamicsSession::unfit(const mbdyn_ros_model &table, const Params &params) {
  const std::string words = mbdyn_ros::ComputedTorque::refusal(table);
  if (!words.empty()) return words;
  if (table.independent.count != table.q.count || table.actuated.count != table.effort.count) {
    return std::string(table.robot) + " has joints with several positions, for which ros2_control "
                                      "has no interfaces";
  }
  std::string asked = params.joints.empty() ? "" : "joints are not those of the library: ";
  if (params.joints.size() == table.independent.count) {
    asked.clear();
    for (const std::string &joint : params.joints) {
      if (mbdyn_ros::place(table.independent, joint) == table.independent.count) {
        asked = "joints has '" + joint + "', which the library does not have: ";
      }
    }
  }
  if (!asked.empty()) return asked + "its independent joints are " + listed(table.independent);
  for (const std::string &link : params.variable) {
    if (mbdyn_ros::place_of_link(table.parameters, link) == table.parameters.count) {
      return "variable has '" + link + "', but the library has no such link with a variable "
             "inertia: write it with mbdyn codegen --cpp --variable " + link;
    }
  }
  return {};
}

std::string DynamicsSession::refusal_of_gains(const Params &params) {
  for (const auto &[name, member] : gain_parameters) {
    for (const double x : params.*member) {
      if (!std::isfinite(x) || x < 0.0 || x > largest_number) {
        return std::string(name) + " has " + text_of(x) + "; expected 0 to " +
               text_of(largest_number);
      }
    }
  }
  return {};
}

std::string DynamicsSession::refusal(const Params &params) {
  const std::size_t n = joints().count;
  std::string words = refusal_of_gains(params);
  if (!words.empty()) return words;
  for (const auto &[name, member] : gain_parameters) {
    const std::vector<double> &given = params.*member;
    if (given.size() <= 1 || given.size() == n) continue;
    return std::string(name) + " has " + std::to_string(given.size()) +
           " numbers; expected none, one, or one for each of " + listed(joints());
  }
  const std::lock_guard<std::mutex> alone(setting_);
  return params.allow_unstable_gains ? "" : unstable(params);
}

std::vector<double> DynamicsSession::gains(const std::vector<double> &given) const {
  if (given.size() > 1) return given;
  return std::vector<double>(joints().count, given.empty() ? 0.0 : given[0]);
}

mbdyn_ros::Settings DynamicsSession::settings(const Params &params) const {
  mbdyn_ros::Settings next = law.settings();
  next.mode = mode_of(params.mode);
  next.friction = params.friction;
  const bool physical = next.mode == mbdyn_ros::Mode::joint_impedance;
  next.stiffness = gains(physical ? params.joint_stiffness : params.kp);
  next.damping = gains(physical ? params.joint_damping : params.kd);
  return next;
}

void DynamicsSession::apply(const Params &params) {
  const std::lock_guard<std::mutex> alone(setting_);
  const mbdyn_ros::Settings next = settings(params);
  const std::string words = law.set(next);
  if (!words.empty()) RCLCPP_ERROR(frame_.logger, "%s", words.c_str());
  unstable_ = false;
  mode_ = params.mode;
  by_hand = next.mode == mbdyn_ros::Mode::gravity_compensation;
  timeout = params.reference_timeout;
  tolerance = params.following_tolerance;
  start_tolerance = params.start_tolerance;
  check_limits = params.check_limits;
  lead = params.lead;
  watch_gains();  // a mode may have others
}

double DynamicsSession::growth(const mbdyn_ros::Settings &now, const std::vector<double> &at) {
  const std::size_t n = joints().count;
  if (now.mode == mbdyn_ros::Mode::gravity_compensation || frame_.rate == 0) return 0.0;
  std::vector<double> mass(n * n, 0.0);
  if (now.mode == mbdyn_ros::Mode::joint_impedance) {
    mbdyn_ros::Model model(table());
    if (model.mass_matrix(at.data(), now.parameters.data(), mass.data()) !=
        mbdyn_ros::Status::ok) {
      return 0.0;  // the loop reports it
    }
  } else {
    for (std::size_t k = 0; k < n; ++k) mass[k * n + k] = 1.0;
  }
  return growth_of_errors(mass, now.stiffness, now.damping, 1.0 / frame_.rate);
}

std::string DynamicsSession::unstable(const Params &params) {
  const std::vector<double> &measured = posture.get();
  const bool known = !measured.empty() && !std::isnan(measured[0]);
  const std::vector<double> home(table().home_q, table().home_q + joints().count);
  const double grows = growth(settings(params), known ? measured : home);
  if (!(grows > still_stable)) return {};
  return "the gains of " + params.mode + " are unstable at " + std::to_string(frame_.rate) +
         " Hz: with efforts one cycle late, errors grow by " + text_of(grows) + " a cycle " +
         (known ? "where the robot is now" : "at its home position") +
         "; lower damping or stiffness, or set allow_unstable_gains";
}

void DynamicsSession::watch_gains() {
  const std::vector<double> &at = posture.get();
  if (at.empty() || std::isnan(at[0])) return;  // nothing was measured yet
  const double grows = growth(law.settings(), at);
  const bool was = std::exchange(unstable_, grows > still_stable);
  if (unstable_ && !was) {
    RCLCPP_WARN(frame_.logger,
                "the gains are unstable at %u Hz: with efforts one cycle late, errors grow by %g a "
                "cycle where the robot is now; lower damping or stiffness", frame_.rate, grows);
  }
}

// ---- messages -------------------------------------------------------------------------------

std::string DynamicsSession::read(const trajectory_msgs::msg::JointTrajectory &message,
                                  Received &next) {
  const std::size_t n = joints().count, m = actuated().count;
  std::string words;
  next.values.assign(3 * n + m, unsaid);
  if (message.points.size() != 1) {
    return "it has " + std::to_string(message.points.size()) +
           " points; expected one: a trajectory is for joint_trajectory_controller";
  }
  if (message.joint_names.size() > n + m) {
    return "it names " + std::to_string(message.joint_names.size()) + " joints; there are " +
           listed(joints());
  }
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
      } else if (std::fabs(given[k]) > largest_number) {
        words = std::string(what) + " of " + message.joint_names[k] + " is " + text_of(given[k]) +
                ": more than " + text_of(largest_number);
      }
      next.values[start + at] = given[k];
    }
  };
  const auto &point = message.points[0];
  fill("positions", point.positions, joints(), 0);
  fill("velocities", point.velocities, joints(), n);
  fill("accelerations", point.accelerations, joints(), 2 * n);
  fill("effort", point.effort, actuated(), 3 * n);
  for (const std::string &name : message.joint_names) {
    if (std::count(message.joint_names.begin(), message.joint_names.end(), name) > 1) {
      words = "joint '" + name + "' is named twice";
    }
    if (mbdyn_ros::place(joints(), name) == n && mbdyn_ros::place(actuated(), name) == m) {
      words = "there is no joint '" + name + "'; there are " + listed(joints());
    }
  }
  for (std::size_t k = 0; k < n && words.empty(); ++k) {
    if (std::isnan(next.values[k])) {
      words = std::string("it has no position of ") + joints().names[k];
    }
  }
  return words;
}

std::string DynamicsSession::beyond_limits(const std::vector<double> &values,
                                           const std::vector<double> &measured) {
  const mbdyn_ros_model &robot_table = table();
  const std::size_t n = joints().count;
  const auto outside = [](const char *what, const char *name, double x, double low, double high) {
    return std::string("the ") + what + " of " + name + " is " + text_of(x) +
           ", outside its limits " + text_of(low) + " to " + text_of(high) +
           " (check_limits: false takes it)";
  };
  for (std::size_t k = 0; k < n; ++k) {  // a joint that is beyond a limit may come back
    const double low = std::fmin(robot_table.q_lower[k], measured[k]);
    const double high = std::fmax(robot_table.q_upper[k], measured[k]);
    if (values[k] < low || values[k] > high) {
      return outside("position", joints().names[k], values[k], low, high);
    }
    const double speed = speed_limit(robot_table.v_limit[k]);
    if (std::fabs(values[n + k]) > (1.0 + leeway) * speed) {
      return outside("velocity", joints().names[k], values[n + k], -speed, speed);
    }
  }
  for (std::size_t k = 0; k < actuated().count; ++k) {
    const double most = robot_table.effort_limit[k];
    if (std::fabs(values[3 * n + k]) > (1.0 + leeway) * most) {
      return outside("effort", actuated().names[k], values[3 * n + k], -most, most);
    }
  }
  return {};
}

std::string DynamicsSession::away(const std::vector<double> &values,
                                  const std::vector<double> &measured) {
  double most = start_tolerance;
  if (by_hand || most <= 0.0) return {};
  if (std::isnan(measured[0])) return "no state was measured since the controller was activated";
  if (follows) {
    if (tolerance <= 0.0) return {};
    most = std::fmax(most, tolerance);
  }
  for (std::size_t k = 0; k < joints().count; ++k) {
    const double apart = std::fabs(values[k] - measured[k]);
    if (apart <= most) continue;
    return std::string("it is ") + text_of(apart) + " from where " + joints().names[k] +
           " is measured, at " + text_of(measured[k]) + ": more than " +
           (follows ? "following_tolerance (" : "start_tolerance (") + text_of(most) +
           "); lead the joint there in steps";
  }
  return {};
}

void DynamicsSession::take_reference(const trajectory_msgs::msg::JointTrajectory &message) {
  const std::lock_guard<std::mutex> alone(setting_);
  std::string words;
  Received next;
  if (!active) {
    words = "this controller is not active";
  } else if (chained) {
    words = "a controller is in front of this one, and is followed";
  } else {
    words = read(message, next);
  }
  const std::vector<double> &measured = posture.get();
  if (words.empty() && check_limits) words = beyond_limits(next.values, measured);
  if (words.empty()) words = away(next.values, measured);
  const std::int64_t now = frame_.clock->now().nanoseconds();
  const auto &stamp = message.header.stamp;
  next.stamp = 1'000'000'000 * static_cast<std::int64_t>(stamp.sec) + stamp.nanosec;
  if (next.stamp == 0) next.stamp = now;
  const double age = 1e-9 * static_cast<double>(now - next.stamp), longest = timeout;
  if (words.empty() && longest > 0.0 && std::fabs(age) > longest) {
    words = "it is stamped " + std::to_string(std::fabs(age)) + " s " +
            (age > 0.0 ? "behind" : "ahead of") + " this controller's time, more than "
            "reference_timeout (" + std::to_string(longest) + " s)";
  }
  if (!words.empty()) {
    RCLCPP_WARN_THROTTLE(frame_.logger, *frame_.clock, pause, "reference refused: %s",
                         words.c_str());
    return;
  }
  next.number = ++messages_;
  received.set(next);
}

void DynamicsSession::take_state(const sensor_msgs::msg::JointState &message) {
  double sum = 0.0;  // in the order in which the loop adds
  for (std::size_t k = 0; k < joints().count; ++k) {
    const auto found = std::find(message.name.begin(), message.name.end(), joints().names[k]);
    const auto place = static_cast<std::size_t>(found - message.name.begin());
    if (place >= message.position.size()) return;
    sum += message.position[place];
  }
  const auto &stamp = message.header.stamp;
  const std::lock_guard<std::mutex> alone(setting_);
  state_age.add(sum, 1'000'000'000 * static_cast<std::int64_t>(stamp.sec) + stamp.nanosec);
}

void DynamicsSession::take_payload(const geometry_msgs::msg::InertiaStamped &message) {
  const auto &body = message.inertia;
  const mbdyn_ros::Payload payload{body.m,
                                   {body.com.x, body.com.y, body.com.z},
                                   {body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz}};
  const std::lock_guard<std::mutex> alone(setting_);
  const std::string words = law.set_payload(message.header.frame_id, payload);
  if (!words.empty()) {
    RCLCPP_WARN_THROTTLE(frame_.logger, *frame_.clock, pause, "payload refused: %s",
                         words.c_str());
  }
}

// ---- reports --------------------------------------------------------------------------------

void DynamicsSession::report(const char *topic, std::size_t publishers) {
  const std::lock_guard<std::mutex> alone(setting_);
  if (active) watch_gains();
  if (topic != nullptr && publishers == 0) {
    RCLCPP_WARN(frame_.logger,
                "state_topic: nobody publishes %s, so the age of measured states is unknown; name "
                "the topic that the hardware listens to", topic);
  }
  const bool unmatched = topic != nullptr && state_age.unmatched() && active;
  if (unmatched && !std::exchange(unmatched_, true)) {
    RCLCPP_WARN(frame_.logger,
                "state_topic: no message of %s has the positions that the hardware reports, so the "
                "age of measured states is unknown and states that stop are not noticed by it; "
                "name the topic that the hardware listens to", topic);
  }
  unmatched_ = unmatched;
  const double off = state_age.off();
  if (off != 0.0 && !misdated_) {
    RCLCPP_WARN(frame_.logger,
                "state_topic: measured states are stamped %g s %s this controller's time, so their "
                "age is unknown; let the hardware and the controller manager use the same clock "
                "(use_sim_time)",
                std::fabs(off), off > 0.0 ? "behind" : "ahead of");
  }
  misdated_ = off != 0.0;
  const Trouble kind = trouble_.exchange(Trouble::none);
  const std::size_t which = troubled;
  const auto name = [which](const mbdyn_ros_names &names) {
    return std::string(which < names.count ? names.names[which] : "?");
  };
  std::string words;
  switch (kind) {
    case Trouble::none: return;
    case Trouble::not_finite: words = "a measured state is not finite: efforts are zero"; break;
    case Trouble::stale:
      words = "measured states are stamped more than 0.1 s from now: efforts are zero";
      break;
    case Trouble::frozen:
      words = "measured positions stand still although " + name(joints()) +
              " is reported to move: states have stopped, and efforts are zero";
      break;
    case Trouble::open:
      words = "the measured positions leave a loop open: efforts are zero";
      break;
    case Trouble::no_answer:
      words = "an actuator is at a dead point, or a number is too large: efforts are zero";
      break;
    case Trouble::saturated: words = "the effort of " + name(actuated()) + " was limited"; break;
    case Trouble::clamped:
      words = "the reference of " + name(joints()) + " was beyond its limits, and was held to them";
      break;
    case Trouble::too_large:
      words = "the reference of " + name(joints()) + " was infinite, or more than " +
              text_of(largest_number) + ": efforts are zero, and the controller ends";
      break;
    case Trouble::far:
      words = name(joints()) + " was farther than following_tolerance from its reference: efforts "
                               "are zero, and the controller ends";
      break;
    case Trouble::far_start:
      words = "the first reference of " + name(joints()) + " was farther than start_tolerance "
              "from where it is measured: efforts are zero, and the controller ends";
      break;
    case Trouble::busy: words = "an interface was locked by another thread"; break;
  }
  RCLCPP_WARN(frame_.logger, "%s", words.c_str());
}

void DynamicsSession::start() noexcept {
  law.reset();
  for (double &x : wanted_q) x = unsaid;
  for (double &x : last_q) x = unsaid;
  posture.set(last_q);
  seen = received.get().number;
  followed = begun = false;
  follows = false;
  still = 0.0;
}

}  // namespace mbdyn_ros_controllers
