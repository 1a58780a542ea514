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
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mbdyn_ros_controllers/carried_reference.hpp"
#include "mbdyn_ros_controllers/gain_parameters.hpp"
#include "mbdyn_ros_controllers/names.hpp"
#include "mbdyn_ros_controllers/payload_message.hpp"
#include "mbdyn_ros_controllers/sampled_loop.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double unsaid = std::numeric_limits<double>::quiet_NaN();
constexpr int pause = 1000;                // between warnings of refused messages, ms
constexpr double slow_growth = 1.0;        // 1/s, as control/sampled.py has it
constexpr const char *holding = "joint_impedance", *yielding = "gravity_compensation";
constexpr double leeway = 1e-3;            // part of a velocity or effort limit, as the nodes have

// A description gives a velocity limit of 0 where it is unknown.
double speed_limit(double given) {
  return given > 0.0 ? given : std::numeric_limits<double>::infinity();
}

}  // namespace

std::shared_ptr<DynamicsSession> DynamicsSession::make(const RobotLibrary &robot,
                                                       const Params &params, const Frame &frame,
                                                       std::string &words) {
  words = robot.error;
  if (words.empty()) words = unfit(*robot.library.table(), params);
  if (words.empty()) {
    words = mbdyn_ros::Observer::refusal(*robot.library.table(), params.observer_time_constant,
                                         1.0 / std::fmax(frame.rate, 1.0));
  }
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
      targets(Target()),
      posture(std::vector<double>(joints().count, unsaid)),
      measured({joints().names, joints().names + joints().count}),
      observer(*given.library.table(), params.observer_time_constant,
               mbdyn_ros::ObserverOrder::second, true),
      detector(thresholds_of(params)),
      reaction(mbdyn_ros::Reaction::kind_of(params.reaction), joints().count, frame.rate),
      dependent(*given.library.table()),
      frame_(frame),
      dependent_(*given.library.table()) {
  const std::size_t n = joints().count, m = actuated().count;
  for (auto *one : {&posture_wanted, &next_q, &next_v, &wanted_q, &held_q, &wanted_v, &wanted_a}) {
    one->assign(n, unsaid);
  }
  for (auto *one : {&added, &effort}) one->assign(m, 0.0);
}

mbdyn_ros::Thresholds DynamicsSession::thresholds_of(const Params &params) {
  return {params.thresholds, params.centers, params.threshold_in_all};
}

std::string DynamicsSession::unfit(const mbdyn_ros_model &table, const Params &params) {
  const std::string words = mbdyn_ros::ControlLaw::refusal(table);
  if (!words.empty()) return words;
  if (table.independent.count != table.q.count || table.actuated.count != table.effort.count) {
    return std::string(table.robot) + " has joints with several positions, for which ros2_control "
                                      "has no interfaces";
  }
  const std::string unseen = thresholds_of(params).refusal(table);
  if (!unseen.empty()) return "parameters of contacts: " + unseen;
  if (params.reaction != "none" && params.thresholds.empty()) {
    return "reaction is " + params.reaction + ", but there are no thresholds by which a contact is "
           "seen: learn them from a free motion with ~/learn of computed_torque, or with mbdyn "
           "observe --learn";
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
  for (const GainParameter &gain : gain_parameters()) {
    for (const double x : params.*gain.values) {
      if (!std::isfinite(x) || x < 0.0 || x > largest_number) {
        return std::string(gain.name) + " has " + text_of(x) + "; expected 0 to " +
               text_of(largest_number);
      }
    }
  }
  return {};
}

std::string DynamicsSession::settings_of(const Params &params, mbdyn_ros::Settings &next) const {
  next.mode = mbdyn_ros::ControlLaw::place_of_mode(table(), params.mode);
  if (next.mode == table().mode_count) {
    std::string known;
    for (std::size_t k = 0; k < table().mode_count; ++k) {
      known += (known.empty() ? "" : ", ") + std::string(table().modes[k].name);
    }
    return "mode is " + params.mode + ", but the library has only " + known +
           (params.link.empty() ? "; cartesian_impedance needs the parameter link" : "");
  }
  next.friction = params.friction;
  for (const GainParameter &gain : gain_parameters()) {
    if (mbdyn_ros::ControlLaw::place_of_gain(table(), gain.name).count == 0) continue;
    const std::string words =
        mbdyn_ros::ControlLaw::set_gain(table(), next, gain.name, params.*gain.values);
    if (!words.empty()) return words + ", for " + listed(joints());
  }
  return {};
}

std::string DynamicsSession::refusal(const Params &params) {
  std::string words = refusal_of_gains(params);
  if (!words.empty()) return words;
  const std::lock_guard<std::mutex> alone(setting_);
  mbdyn_ros::Settings next = law.settings();
  words = settings_of(params, next);
  if (words.empty()) words = unfit_reaction(params, next);
  return words.empty() && !params.allow_unstable_gains ? unstable(params) : words;
}

std::string DynamicsSession::unfit_reaction(const Params &params,
                                            const mbdyn_ros::Settings &next) const {
  if (params.reaction != "stop" && params.reaction != "retract") return {};
  for (const char *name : {"joint_stiffness", "joint_damping"}) {
    const auto gain = mbdyn_ros::ControlLaw::place_of_gain(table(), name);
    for (std::size_t k = 0; k < gain.count; ++k) {
      if (!(next.gains[gain.first + k] > 0.0)) {
        return "reaction " + params.reaction + " holds the joints by joint_impedance: give " +
               joints().names[k] + " " + name + " above 0";
      }
    }
  }
  return {};
}

void DynamicsSession::apply(const Params &params) {
  const std::lock_guard<std::mutex> alone(setting_);
  mbdyn_ros::Settings next = law.settings();
  std::string words = settings_of(params, next);
  const std::size_t mode = law.settings().mode;
  if (words.empty()) words = law.set(next);
  if (mode != law.settings().mode) resumes = true;
  if (!words.empty()) RCLCPP_ERROR(frame_.logger, "%s", words.c_str());
  unstable_ = false;
  timeout = params.reference_timeout;
  tolerance = params.following_tolerance;
  start_tolerance = params.start_tolerance;
  check_limits = params.check_limits;
  lead = params.lead;
  watch_gains();  // a mode may have others
}

// The rate (1/s) at which the loop grows that is sampled at the rate of the cycles, with efforts
// one cycle late, at a pose where the robot is held at rest; negative where all dies out.
double DynamicsSession::growth(const mbdyn_ros::Settings &given,
                               const std::vector<double> &at) const {
  const mbdyn_ros_model &robot_table = table();
  const std::size_t n = joints().count, m = actuated().count, states = 2 * n;
  if (frame_.rate == 0 || robot_table.forward_dynamics == nullptr || n == 0) return -INFINITY;
  mbdyn_ros::ControlLaw held(robot_table);
  mbdyn_ros::Settings unlimited = given;
  unlimited.effort_limit.assign(m, INFINITY);
  if (!held.set(unlimited).empty()) return -INFINITY;
  constexpr double creep = 1e-3, step = 1e-6;  // dry friction has one sign for all steps
  std::vector<double> x(states, creep), effort(m), some(m), a(n);
  const std::vector<double> rest(n, 0.0), slow(n, creep);
  std::copy(at.begin(), at.end(), x.begin());
  const mbdyn_ros::Reference wanted{at.data(), slow.data(), rest.data()};
  mbdyn_ros::PoseReference pose;
  const mbdyn_ros::PoseReference *led = nullptr;
  if (robot_table.modes[given.mode].follows == MBDYN_ROS_POSE) {
    std::array<double, 7> now{};
    if (held.model().link_pose(at.data(), now.data()) != mbdyn_ros::Status::ok) return -INFINITY;
    std::copy(now.begin(), now.begin() + 3, pose.place.begin());
    std::copy(now.begin() + 3, now.end(), pose.turn.begin());
    led = &pose;
  }
  const auto law_at = [&](std::vector<double> &result) {
    return held.update(x.data(), x.data() + n, wanted, 1.0, result.data(), led, at.data()) ==
           mbdyn_ros::Status::ok;
  };
  const double *numbers = given.parameters.data();
  mbdyn_ros::Model model(robot_table);
  if (!law_at(effort)) return -INFINITY;  // the loop reports it
  std::vector<double> flow(states * (states + m), 0.0), feedback(m * states, 0.0);
  for (std::size_t j = 0; j < states + m; ++j) {
    for (const double sign : {1.0, -1.0}) {
      double &moved = j < states ? x[j] : effort[j - states];
      const double before = moved;
      const double by = j < states ? step : step * std::fmax(1.0, std::fabs(moved));
      moved += sign * by;
      const bool known = model.forward_dynamics(x.data(), x.data() + n, effort.data(), numbers,
                                                a.data()) == mbdyn_ros::Status::ok;
      for (std::size_t i = 0; i < n; ++i) {
        flow[(n + i) * (states + m) + j] += sign * a[i] / (2.0 * by);
      }
      const bool answered = j >= states || law_at(some);
      for (std::size_t i = 0; j < states && i < m; ++i) {
        feedback[i * states + j] += sign * some[i] / (2.0 * by);
      }
      moved = before;
      if (!known || !answered) return -INFINITY;
    }
  }
  for (std::size_t i = 0; i < n; ++i) flow[i * (states + m) + n + i] = 1.0;
  return growth_of_loop(flow, feedback, states, m, 1.0 / frame_.rate);
}

std::string DynamicsSession::unstable(const Params &params) {
  const std::vector<double> &measured = posture.get();
  const bool known = !measured.empty() && !std::isnan(measured[0]);
  const std::vector<double> home(table().home_q, table().home_q + joints().count);
  mbdyn_ros::Settings next = law.settings();
  std::string words = settings_of(params, next);
  std::string mode = params.mode;
  double grows = words.empty() ? growth(next, known ? measured : home) : -INFINITY;
  if (words.empty() && !(grows > slow_growth) && params.reaction != "none") {
    mode = params.reaction == "float" ? yielding : holding;
    next.mode = mbdyn_ros::ControlLaw::place_of_mode(table(), mode);
    grows = growth(next, known ? measured : home);
  }
  if (!(grows > slow_growth)) return words;
  return "the gains of " + mode + " are unstable at " + std::to_string(frame_.rate) +
         " Hz: with efforts one cycle late, errors grow by e in " + text_of(1.0 / grows) + " s " +
         (known ? "where the robot is now" : "at its home position") +
         "; lower damping or stiffness, or set allow_unstable_gains";
}

void DynamicsSession::watch_gains() {
  const std::vector<double> &at = posture.get();
  if (at.empty() || std::isnan(at[0])) return;  // nothing was measured yet
  const double grows = growth(law.settings(), at);
  const bool was = std::exchange(unstable_, grows > slow_growth);
  if (unstable_ && !was) {
    RCLCPP_WARN(frame_.logger,
                "the gains are unstable at %u Hz: with efforts one cycle late, errors grow by e in "
                "%g s where the robot is now; lower damping or stiffness",
                frame_.rate, 1.0 / grows);
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
  const std::vector<double> home(robot_table.home_q, robot_table.home_q + n);
  const bool known = !std::isnan(measured[0]);
  const std::size_t joint =
      dependent_.passed(values.data(), known ? measured.data() : home.data());
  if (joint != dependent_.none()) {
    return outside("position", robot_table.joint_position.names[joint], dependent_.position(joint),
                   robot_table.position_lower[joint], robot_table.position_upper[joint]);
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
  if (most <= 0.0) return {};
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
  } else if (reacts) {
    words = "this controller reacts to a contact: activate it again, or set another mode";
  } else if (chained) {
    words = "a controller is in front of this one, and is followed";
  } else if (mode_set().follows != MBDYN_ROS_JOINTS) {
    words = std::string("the mode is ") + mode_set().name + ", which follows no joints";
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

std::string DynamicsSession::far_from_link(const Target &target,
                                           const std::vector<double> &measured) {
  const double most = start_tolerance > 0.0 ? std::fmax(start_tolerance, tolerance) : 0.0;
  if (most <= 0.0) return {};
  if (std::isnan(measured[0])) return "no state was measured since the controller was activated";
  mbdyn_ros::Model model(table());
  std::array<double, 6> left{};
  if (model.link_error(measured.data(), target.place.data(), target.turn.data(), left.data()) !=
      mbdyn_ros::Status::ok) {
    return "it cannot be compared with the link's pose: a loop is open where the robot is measured";
  }
  const double apart = std::hypot(left[0], left[1], left[2]);
  const double turned = std::hypot(left[3], left[4], left[5]);
  if (apart <= most && turned <= most) return {};
  return "the link is " + text_of(apart) + " m and " + text_of(turned) +
         " rad from it: more than following_tolerance or start_tolerance (" + text_of(most) +
         "); lead it there in steps";
}

void DynamicsSession::take_target(const geometry_msgs::msg::PoseStamped &message) {
  const std::lock_guard<std::mutex> alone(setting_);
  const auto &place = message.pose.position;
  const auto &turn = message.pose.orientation;
  Target next{0, {place.x, place.y, place.z}, {turn.x, turn.y, turn.z, turn.w}};
  double square = 0.0;
  for (const double x : next.turn) square += x * x;
  std::string words;
  const std::string &in = message.header.frame_id;
  if (!active) {
    words = "this controller is not active";
  } else if (reacts) {
    words = "this controller reacts to a contact: activate it again, or set another mode";
  } else if (mode_set().follows != MBDYN_ROS_POSE) {
    words = std::string("the mode is ") + mode_set().name + ", which follows no target";
  } else if (!in.empty() && in != table().root) {
    words = "it is in frame " + in + "; give it in that of the root link " + table().root;
  } else if (!(std::fabs(std::sqrt(square) - 1.0) <= 1e-3)) {
    words = "its orientation has length " + text_of(std::sqrt(square)) +
            "; expected a unit quaternion";
  }
  for (const double x : next.place) {
    if (words.empty() && !(std::fabs(x) <= largest_number)) {
      words = "its position has " + text_of(x) + "; expected at most " + text_of(largest_number);
    }
  }
  for (double &x : next.turn) x /= std::sqrt(square);
  if (words.empty()) words = far_from_link(next, posture.get());
  if (!words.empty()) {
    RCLCPP_WARN_THROTTLE(frame_.logger, *frame_.clock, pause, "target refused: %s", words.c_str());
    return;
  }
  next.number = ++messages_;
  targets.set(next);
}

void DynamicsSession::take_state(const sensor_msgs::msg::JointState &message) {
  const std::lock_guard<std::mutex> alone(setting_);
  measured.take(message);
}

void DynamicsSession::take_payload(const geometry_msgs::msg::InertiaStamped &message) {
  const std::lock_guard<std::mutex> alone(setting_);
  const std::string words = law.set_payload(message.header.frame_id, payload_of(message));
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
                "state_topic: no node publishes %s, so the age of measured states is unknown; name "
                "the topic that the hardware listens to", topic);
  }
  const bool unmatched = topic != nullptr && measured.age.unmatched() && active;
  if (unmatched && !std::exchange(unmatched_, true)) {
    RCLCPP_WARN(frame_.logger,
                "state_topic: no message of %s has the positions that the hardware reports, so the "
                "age of measured states is unknown and states that stop are not noticed by it; "
                "name the topic that the hardware listens to", topic);
  }
  unmatched_ = unmatched;
  const double off = measured.age.off();
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
    case Trouble::stopped:
      words = "the reference would take " + name(table().joint_position) +
              ", which other joints determine, beyond its limits, and was held where it was";
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
    case Trouble::far_link:
      words = "the link was farther than following_tolerance from its target: efforts are zero, "
              "and the controller ends";
      break;
    case Trouble::hit:
      words = "a contact, of which " + name(joints()) + " shows most";
      if (reaction.kind() != mbdyn_ros::ReactionKind::none) {
        words += "; the controller reacts until it is activated again or gets another mode";
      }
      break;
    case Trouble::busy: words = "an interface was locked by another thread"; break;
  }
  RCLCPP_WARN(frame_.logger, "%s", words.c_str());
}

void DynamicsSession::feel(std::int64_t time, bool zero) noexcept {
  const double now = 1e-9 * static_cast<double>(time - origin);
  if (zero) {
    observer.restart();
    detector.forget();
    return;
  }
  if (law.applied() != felt_with) {
    felt_with = law.applied();
    observer.set_parameters(felt_with->parameters.data());
  }
  if (observer.cycle(now, measured.q.data(), measured.v.data(), effort.data()) !=
      mbdyn_ros::Status::ok) {
    return;
  }
  const bool hits = detector.update(now, observer.external.data());
  if (hits) trouble(Trouble::hit, detector.joint());
  if (reaction.acts()) return;
  if (!hits) {
    if (!detector.touches()) reaction.remember(now, measured.q.data());
    return;
  }
  reaction.begin(now, measured.q.data());
  reacts = reaction.acts();
  if (reacts) {
    const bool yields = reaction.kind() == mbdyn_ros::ReactionKind::yielding;
    law.force_mode(mbdyn_ros::ControlLaw::place_of_mode(table(), yields ? yielding : holding));
  }
}

void DynamicsSession::end_reaction() noexcept {
  resumes = reacts = false;
  reaction.end();
  law.force_mode(mbdyn_ros::ControlLaw::none);
  begun = false;
  for (double &x : held_q) x = unsaid;
  for (double &x : wanted_q) x = unsaid;
}

void DynamicsSession::start() noexcept {
  law.reset();
  end_reaction();
  observer.restart();
  detector.forget();
  for (double &x : wanted_q) x = unsaid;
  for (double &x : held_q) x = unsaid;
  posture.set(held_q);
  seen = received.get().number;
  mode = nullptr;
  followed = begun = false;
  follows = false;
}

}  // namespace mbdyn_ros_controllers
