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

// What DynamicsController does in the control loop: nothing here allocates, waits, throws or logs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "mbdyn_ros_controllers/carried_reference.hpp"
#include "mbdyn_ros_controllers/dynamics_controller.hpp"

namespace mbdyn_ros_controllers {

namespace {

using controller_interface::return_type;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned zero_tries = 1000;  // of writing a zero while another thread has the interface

double or_zero(double x) { return std::isnan(x) ? 0.0 : x; }

}  // namespace

return_type DynamicsController::update_reference_from_subscribers(const rclcpp::Time &time,
                                                                  const rclcpp::Duration &) {
  const std::unique_lock<std::mutex> alone(transition_, std::try_to_lock);
  if (!alone || !session_ || !session_->active) return return_type::OK;
  Session &session = *session_;
  const Session::Received &now = session.received.get();
  if (now.number != session.seen) {
    session.seen = now.number;
    session.followed = true;
  }
  const double timeout = session.timeout;
  const double age = 1e-9 * static_cast<double>(time.nanoseconds() - now.stamp);
  const bool holds = session.followed && (timeout <= 0.0 || std::fabs(age) <= timeout);
  session.follows = holds;
  bool written = true;
  for (std::size_t k = 0; k < now.values.size(); ++k) {
    const double value = holds ? carried(now.values, session.measured.q.size(), k, age) : absent;
    written &= ordered_exported_reference_interfaces_[k]->set_value(value);
  }
  if (!written) session.trouble(Trouble::busy, 0);
  return return_type::OK;
}

return_type DynamicsController::update_and_write_commands(const rclcpp::Time &time,
                                                          const rclcpp::Duration &period) {
  const std::unique_lock<std::mutex> alone(transition_, std::try_to_lock);
  if (!alone || !session_ || !session_->active) return return_type::OK;
  Session &session = *session_;
  const std::size_t n = session.measured.q.size();
  const double seconds = period.seconds();
  const bool measured = session.measured.read(state_interfaces_, seconds);
  if (measured) session.posture.set(session.measured.q);
  if (session.origin == 0) session.origin = time.nanoseconds();
  if (session.resumes.exchange(false) && session.reaction.acts()) session.end_reaction();
  if (measured && session.reaction.acts()) {
    lead_back(session, 1e-9 * static_cast<double>(time.nanoseconds() - session.origin));
  } else if (measured && !read_references(session, seconds)) {
    write(session, true);
    return return_type::ERROR;
  }
  const double lead = session.lead + session.measured.age_at(time.nanoseconds());
  const bool frozen = measured && session.measured.frozen();
  if (!measured || frozen || session.measured.age.stale()) {
    session.trouble(!measured ? Trouble::not_finite : frozen ? Trouble::frozen : Trouble::stale,
                    session.measured.fastest());
    session.law.reset();
    session.feel(time.nanoseconds(), true);
    write(session, true);
    return return_type::OK;
  }
  for (std::size_t k = 0; k < n; ++k) {  // to the instant of the reference
    session.next_q[k] = session.measured.q[k] + lead * session.measured.v[k];
    session.next_v[k] = session.measured.v[k] + lead * session.wanted_a[k];
  }
  const mbdyn_ros::Reference wanted{session.wanted_q.data(), session.wanted_v.data(),
                                    session.wanted_a.data()};
  const mbdyn_ros::Status status =
      session.law.update(session.next_q.data(), session.next_v.data(), wanted, seconds,
                         session.effort.data(), &session.pose, session.posture_wanted.data(),
                         session.observer.external.data());
  if (status != mbdyn_ros::Status::ok) {
    session.trouble(status == mbdyn_ros::Status::open        ? Trouble::open
                    : status == mbdyn_ros::Status::no_answer ? Trouble::no_answer
                                                             : Trouble::not_finite,
                    0);
    session.feel(time.nanoseconds(), true);
    write(session, true);
    return return_type::OK;
  }
  const double *most = session.table().effort_limit;
  for (std::size_t k = 0; k < session.effort.size(); ++k) {
    double &effort = session.effort[k];
    effort += session.added[k];
    if (std::fabs(effort) > most[k]) effort = std::copysign(most[k], effort);
    if (std::fabs(effort) >= most[k]) session.trouble(Trouble::saturated, k);
  }
  write(session, false);
  session.feel(time.nanoseconds(), false);
  publish(session, time, seconds);
  return return_type::OK;
}

bool DynamicsController::read_references(Session &session, double period) noexcept {
  const std::size_t n = session.measured.q.size();
  const mbdyn_ros_model &table = session.table();
  const auto value = [this](std::size_t k) {
    return ordered_exported_reference_interfaces_[k]->get_optional().value_or(absent);
  };
  const mbdyn_ros_mode &mode = session.law.mode();
  const bool begins = &mode != std::exchange(session.mode, &mode);
  if (mode.follows == MBDYN_ROS_POSE && !lead_link(session, begins)) return false;
  const bool by_hand = mode.follows != MBDYN_ROS_JOINTS, limited = session.check_limits;
  const auto held = [&session, limited](double x, double low, double high, std::size_t k) {
    if (!limited || !(x < low || x > high)) return x;
    session.trouble(Trouble::clamped, k);
    return x < low ? low : high;
  };
  bool given = false;
  for (std::size_t k = 0; k < 3 * n + session.added.size(); ++k) {
    if (!(std::fabs(or_zero(value(k))) <= largest_number)) {
      session.trouble(Trouble::too_large, k < 3 * n ? k % n : n);
      return false;
    }
    given = given || (k < n && !std::isnan(value(k)));
  }
  const double start = session.start_tolerance, following = session.tolerance;
  const bool starts = given && !session.begun;
  const double tolerance = starts ? start : following;
  for (std::size_t k = 0; k < n; ++k) {
    const double speed = table.v_limit[k] > 0.0 ? table.v_limit[k] : largest_number;
    const double position = value(k), q = session.measured.q[k];
    double &wanted = session.wanted_q[k];
    session.wanted_v[k] = held(or_zero(value(n + k)), -speed, speed, k);
    session.wanted_a[k] = or_zero(value(2 * n + k));
    if (!std::isnan(position)) {
      wanted = position;
    } else if (by_hand || std::isnan(wanted)) {
      wanted = q;
    } else {
      wanted += session.wanted_v[k] * period;
    }
    wanted = held(wanted, std::fmin(table.q_lower[k], q), std::fmax(table.q_upper[k], q), k);
    const double yielded = starts ? 0.0 : session.law.yielded().y[k];
    if (!by_hand && tolerance > 0.0 && !(std::fabs(wanted + yielded - q) <= tolerance)) {
      session.trouble(starts ? Trouble::far_start : Trouble::far, k);
      return false;
    }
  }
  std::size_t joint = session.dependent.none();
  if (limited && !by_hand) {
    joint = session.dependent.passed(session.wanted_q.data(), session.measured.q.data());
  }
  if (joint != session.dependent.none()) {
    session.trouble(Trouble::stopped, joint);
    for (std::size_t k = 0; k < n; ++k) {
      const double held_q = session.held_q[k];
      session.wanted_q[k] = std::isnan(held_q) ? session.measured.q[k] : held_q;
      session.wanted_v[k] = session.wanted_a[k] = 0.0;
    }
  }
  for (std::size_t k = 0; k < n; ++k) session.held_q[k] = session.wanted_q[k];
  session.begun = session.begun || given;
  for (std::size_t k = 0; k < session.added.size(); ++k) {
    session.added[k] = or_zero(value(3 * n + k));
  }
  return true;
}

void DynamicsController::lead_back(Session &session, double now) noexcept {
  (void)session.law.mode();
  session.mode = nullptr;  // tracking restarts after it
  session.reaction.lead(now, session.wanted_q.data(), session.wanted_v.data());
  for (double &x : session.wanted_a) x = 0.0;
  for (double &x : session.added) x = 0.0;
}

bool DynamicsController::lead_link(Session &session, bool begins) noexcept {
  mbdyn_ros::Model &model = session.law.model();
  mbdyn_ros::PoseReference &pose = session.pose;
  const Session::Target &target = session.targets.get();
  if (begins) {  // from where it is
    std::array<double, 7> here{};
    if (model.link_pose(session.measured.q.data(), here.data()) != mbdyn_ros::Status::ok) {
      session.mode = nullptr;  // `update` says why there is no answer
      return true;
    }
    std::copy(here.begin(), here.begin() + 3, pose.place.begin());
    std::copy(here.begin() + 3, here.end(), pose.turn.begin());
    session.posture_wanted = session.measured.q;  // of the same size: nothing is allocated
    session.target_seen = target.number;
  }
  if (target.number != session.target_seen) {
    session.target_seen = target.number;
    pose.place = target.place;
    pose.turn = target.turn;
  }
  std::array<double, 6> left{};
  const double most = session.tolerance;
  const mbdyn_ros::Status status =
      model.link_error(session.measured.q.data(), pose.place.data(), pose.turn.data(), left.data());
  if (status != mbdyn_ros::Status::ok || most <= 0.0) return true;
  if (std::hypot(left[0], left[1], left[2]) <= most &&
      std::hypot(left[3], left[4], left[5]) <= most) {
    return true;
  }
  session.trouble(Trouble::far_link, 0);
  return false;
}

void DynamicsController::write(Session &session, bool zero) noexcept {
  bool written = true;
  for (std::size_t k = 0; k < session.effort.size() && k < command_interfaces_.size(); ++k) {
    if (zero) session.effort[k] = 0.0;
    written &= command_interfaces_[k].set_value(session.effort[k], zero ? zero_tries : 10U);
  }
  if (!written) session.trouble(Trouble::busy, 0);
}

void DynamicsController::publish(Session &session, const rclcpp::Time &time,
                                 double period) noexcept {
  session.unpublished += period;
  if (!publisher_ || session.unpublished * publish_rate_ < 1.0) return;
  session.unpublished = 0.0;
  state_.header.stamp = time;
  for (std::size_t k = 0; k < session.measured.q.size(); ++k) {
    state_.feedback.positions[k] = session.measured.q[k];
    state_.feedback.velocities[k] = session.measured.v[k];
    state_.reference.positions[k] = session.wanted_q[k];
    state_.reference.velocities[k] = session.wanted_v[k];
    state_.reference.accelerations[k] = session.wanted_a[k];
    state_.error.positions[k] = session.wanted_q[k] - session.measured.q[k];
    state_.error.velocities[k] = session.wanted_v[k] - session.measured.v[k];
  }
  for (std::size_t k = 0; k < session.effort.size(); ++k) {
    state_.output.effort[k] = session.effort[k];
  }
  (void)publisher_->try_publish(state_);
}

}  // namespace mbdyn_ros_controllers
