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

#include "mbdyn_ros_controllers/simulated_robot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mbdyn_ros/least_squares.hpp"
#include "mbdyn_ros_controllers/names.hpp"

namespace mbdyn_ros_controllers {

namespace {

using mbdyn_ros::Status;

constexpr double pi = 3.14159265358979323846;
constexpr double stopping = 0.5;         // share of the spare effort that braking is planned with
constexpr double least_spare = 0.05;     // of the effort limit, where gravity takes all of it
constexpr double widest_stride = 0.05;   // rad or m in a cycle: farther is a step, not a motion
constexpr double dependent = 1e-12;      // share of a column that is none
constexpr int sweeps = 100;              // of the stops' impulses
constexpr double settled = 1e-12;        // relative change at which they end
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

std::string SimulatedRobot::refusal(const mbdyn_ros_model &table) {
  const std::string robot = table.robot;
  if (table.q.count != table.v.count) {
    return robot + " has positions with quaternions (a floating base, a ball joint), which "
                   "SimulatedSystem does not integrate: use the node simulator as hardware over "
                   "topics";
  }
  if (table.forward_dynamics == nullptr) {
    return robot + " has links without mass that move, so its accelerations are not determined: "
                   "give them an <inertial>";
  }
  if (table.effort.count == 0 || table.actuator_response == nullptr) {
    return robot + " has no actuated joint";
  }
  return {};
}

SimulatedRobot::SimulatedRobot(const mbdyn_ros_model &table, const SimulationSettings &settings)
    : commands(table.effort.count),
      model_(table),
      settings_(settings),
      q_(table.home_q, table.home_q + table.q.count),
      position_(table.joint_position.count),
      stops_(table.joint_position.count),
      targets_(table.effort.count) {
  const std::size_t n = table.v.count, m = table.effort.count, all = table.joint_velocity.count;
  for (auto *one : {&v_, &a_, &mean_, &next_q_, &next_v_, &zero_}) one->assign(n, 0.0);
  velocity_.assign(all, 0.0);
  acceleration_.assign(all, 0.0);
  effort_.assign(m, 0.0);
  response_.assign(m * (m + 1), 0.0);
  wanted_.assign(m, 0.0);
  matrix_.assign(m * m, 0.0);
  numbers_.assign(m, 0.0);
  found_.assign(m, 0.0);
  followed_.reserve(m);
  for (std::size_t k = 0; k < m; ++k) {
    at_q_.push_back(mbdyn_ros::place(table.joint_position, table.effort.names[k]));
    at_v_.push_back(mbdyn_ros::place(table.joint_velocity, table.effort.names[k]));
  }
  (void)start(q_);
}

std::string SimulatedRobot::start(const std::vector<double> &q) {
  const mbdyn_ros_model &table = model_.table();
  model_.start();
  if (state_at(q, zero_) != Status::ok) {
    const char *loop = nullptr;
    const double gap = model_.gap(q.data(), &loop);
    return std::string(table.robot) + ": loop " + (loop ? loop : "?") + " stays open by " +
           text_of(gap) + " m or rad at the initial positions";
  }
  q_ = q;
  v_ = mean_ = zero_;
  std::fill(effort_.begin(), effort_.end(), 0.0);
  for (std::size_t k = 0; k < position_.size(); ++k) {  // beyond a limit there is no stop
    stops_[k] = static_cast<unsigned char>((position_[k] >= table.position_lower[k] ? 1 : 0) +
                                           (position_[k] <= table.position_upper[k] ? 2 : 0));
  }
  for (std::size_t k = 0; k < targets_.size(); ++k) hold(k);
  return {};
}

void SimulatedRobot::hold(std::size_t actuated) noexcept {
  const std::size_t at = at_q_[actuated];
  targets_[actuated] = {};
  targets_[actuated].held = at < position_.size() ? position_[at] : 0.0;
}

bool SimulatedRobot::follows(std::size_t k) const noexcept {
  const JointCommand &one = commands[k];
  return !one.driven && (one.placed || one.moved || settings_.hold) &&
         at_q_[k] < position_.size() && at_v_[k] < velocity_.size();
}

Status SimulatedRobot::state_at(const std::vector<double> &q,
                                const std::vector<double> &v) noexcept {
  return model_.joint_state(q.data(), v.data(), a_.data(), position_.data(), velocity_.data(),
                            acceleration_.data());
}

Status SimulatedRobot::advance(double period) noexcept {
  if (!(period > 0.0)) return Status::ok;
  const double count = std::ceil(period / settings_.step * (1.0 - 1e-9)), h = period / count;
  aim(period);
  for (double k = 0.0; k < count; ++k) {
    Status status = drive(h, period - k * h);
    if (status == Status::ok) status = step(h);
    if (status != Status::ok) return status;
  }
  return Status::ok;
}

// Where the joints that follow shall be when this period ends, and how fast: by the command, or the
// difference from the one before.
void SimulatedRobot::aim(double period) noexcept {
  const mbdyn_ros_model &table = model_.table();
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    if (!follows(k)) continue;
    Target &target = targets_[k];
    const JointCommand &given = commands[k];
    const Target last = target;
    target.placed = given.placed && std::isfinite(given.position);
    target.moved = given.moved && std::isfinite(given.velocity);
    const bool known = last.placed || last.moved;
    if (target.placed) {
      const std::size_t at = at_q_[k];
      target.position =
          std::clamp(given.position, std::min(table.position_lower[at], position_[at]),
                     std::max(table.position_upper[at], position_[at]));
    } else {
      target.position = target.held;
    }
    target.velocity = 0.0;
    if (target.moved) {
      target.velocity = given.velocity;
    } else if (target.placed && last.placed &&
               std::fabs(target.position - last.position) < widest_stride) {
      target.velocity = (target.position - last.position) / period;
    }
    const double fastest = table.velocity_limit[at_v_[k]];
    target.velocity = std::clamp(target.velocity, -fastest, fastest);
    target.acceleration = known ? (target.velocity - last.velocity) / period : 0.0;
    if (target.placed || target.moved) target.held = position_[at_q_[k]];
  }
}

// Efforts of the followed joints that give the wanted accelerations, the others' as they are.
bool SimulatedRobot::solve_followed(const std::vector<double> &wanted) noexcept {
  const std::size_t m = effort_.size(), n = followed_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double *row = &response_[followed_[i] * (m + 1)];
    numbers_[i] = wanted[followed_[i]] - row[m];
    for (std::size_t k = 0; k < m; ++k) numbers_[i] -= row[k] * effort_[k];
    for (std::size_t j = 0; j < n; ++j) {
      matrix_[i + n * j] = row[followed_[j]];
      numbers_[i] += row[followed_[j]] * effort_[followed_[j]];
    }
  }
  return mbdyn_ros::least_squares(matrix_.data(), numbers_.data(), n, n, dependent, found_.data());
}

Status SimulatedRobot::drive(double h, double left) noexcept {
  const mbdyn_ros_model &table = model_.table();
  const std::size_t m = effort_.size();
  followed_.clear();
  for (std::size_t k = 0; k < m; ++k) {
    effort_[k] = 0.0;
    if (follows(k)) {
      followed_.push_back(k);
    } else if (commands[k].driven && std::isfinite(commands[k].effort)) {
      const double most = table.effort_limit[k];
      effort_[k] = std::clamp(commands[k].effort, -most, most);
    }
  }
  if (followed_.empty()) return Status::ok;
  const Status status =
      model_.actuator_response(q_.data(), v_.data(), table.parameter_values, response_.data());
  if (status != Status::ok) return status;
  const double pole = std::exp(-2.0 * pi * settings_.frequency * h);
  const double k_rate = (1.0 - pole) * (3.0 + pole) / (2.0 * h);
  const double w = 2.0 * (1.0 - pole) / ((3.0 + pole) * h);
  std::fill(wanted_.begin(), wanted_.end(), 0.0);
  for (const std::size_t k : followed_) {
    const Target &target = targets_[k];
    const double most = table.effort_limit[k];
    double aim = target.velocity - target.acceleration * left;
    if (target.placed || !target.moved) {  // a place to be at now
      const double place =
          target.position - (target.velocity - target.acceleration * left / 2.0) * left;
      const double deviation = position_[at_q_[k]] - place, far = std::fabs(deviation);
      double approach = w * far;
      const double mobility = response_[k * (m + 1) + k];
      if (std::isfinite(most) && mobility > 0.0) {
        const double held = std::fabs(response_[k * (m + 1) + m]) / mobility;
        const double braking =
            stopping * mobility * std::max(most - held, least_spare * most);
        const double linear = braking / (w * w);  // within which w e can be braked
        if (far > linear) approach = std::sqrt(braking * (2.0 * far - linear));
      }
      aim -= std::copysign(approach, deviation);
    }
    const double fastest = table.velocity_limit[at_v_[k]];
    aim = std::clamp(aim, -fastest, fastest);
    wanted_[k] = target.acceleration - k_rate * (velocity_[at_v_[k]] - aim);
  }
  while (!followed_.empty()) {
    if (!solve_followed(wanted_)) return Status::no_answer;
    std::size_t kept = 0;
    bool over = false;
    for (std::size_t i = 0; i < followed_.size(); ++i) {
      const std::size_t k = followed_[i];
      const double most = table.effort_limit[k];
      if (std::fabs(found_[i]) > most) {  // it gives what it can; the others make up for it
        effort_[k] = std::copysign(most, found_[i]);
        over = true;
      } else {
        effort_[k] = found_[i];
        followed_[kept++] = k;
      }
    }
    if (!over) break;
    followed_.resize(kept);
  }
  return Status::ok;
}

// One step, and the stops.
Status SimulatedRobot::step(double h) noexcept {
  Status status = model_.step(q_.data(), v_.data(), effort_.data(), h,
                              model_.table().parameter_values, next_q_.data(), next_v_.data());
  if (status != Status::ok) return status;
  status = state_at(next_q_, next_v_);
  if (status == Status::ok) status = stop();
  if (status != Status::ok) {
    (void)state_at(q_, v_);
    return status;
  }
  for (std::size_t k = 0; k < v_.size(); ++k) mean_[k] = (next_v_[k] - v_[k]) / h;
  q_ = next_q_;
  v_ = next_v_;
  a_ = mean_;
  return state_at(q_, v_);
}

// Hold joints that are beyond a stop: impulses that take the velocity beyond it, and the position.
Status SimulatedRobot::stop() noexcept {
  const mbdyn_ros_model &table = model_.table();
  const std::size_t n = q_.size();
  std::vector<std::size_t> at;
  std::vector<double> sign, beyond, rows, columns;
  for (std::size_t k = 0; k < position_.size(); ++k) {
    const double low = table.position_lower[k] - position_[k];
    const double high = position_[k] - table.position_upper[k];
    if (((stops_[k] & 1) && low > 0.0) || ((stops_[k] & 2) && high > 0.0)) {
      at.push_back(mbdyn_ros::place(table.joint_velocity, table.joint_position.names[k]));
      sign.push_back(low > 0.0 ? 1.0 : -1.0);
      beyond.push_back(std::max(low, high));
    }
  }
  const std::size_t count = at.size();
  if (count == 0) return Status::ok;
  rows.assign(count * n, 0.0);  // rates of the joints, positive into their range
  std::vector<double> unit(n), mass(n * n), used(n * n), right(n), column(n);
  for (std::size_t j = 0; j < n; ++j) {
    unit[j] = 1.0;
    const Status status = state_at(next_q_, unit);
    unit[j] = 0.0;
    if (status != Status::ok) return status;
    for (std::size_t i = 0; i < count; ++i) rows[i * n + j] = sign[i] * velocity_[at[i]];
  }
  const Status status = model_.mass_matrix(next_q_.data(), table.parameter_values, mass.data());
  if (status != Status::ok) return status;
  for (std::size_t i = 0; i < count; ++i) {
    used = mass;  // symmetric: its rows are its columns
    std::copy_n(&rows[i * n], n, right.begin());
    if (!mbdyn_ros::least_squares(used.data(), right.data(), n, n, dependent, column.data())) {
      return Status::no_answer;
    }
    columns.insert(columns.end(), column.begin(), column.end());
  }
  // p >= 0 with A p + b >= 0 and p (A p + b) = 0, by Gauss and Seidel's projected method.
  const auto push = [&](std::vector<double> &moved, const std::vector<double> &wanted) {
    std::vector<double> sum(count, 0.0);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      double change = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        double rate = -wanted[i], own = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
          rate += rows[i * n + j] * moved[j];
          own += rows[i * n + j] * columns[i * n + j];
        }
        if (!(own > 0.0)) continue;
        const double by = std::max(-sum[i], -rate / own);
        sum[i] += by;
        for (std::size_t j = 0; j < n; ++j) moved[j] += by * columns[i * n + j];
        change = std::max(change, std::fabs(by) / (settled + sum[i]));
      }
      if (change < settled) break;
    }
  };
  push(next_v_, std::vector<double>(count, 0.0));
  std::vector<double> shift(n, 0.0);
  push(shift, beyond);
  for (std::size_t j = 0; j < n; ++j) next_q_[j] += shift[j];
  return state_at(next_q_, next_v_);
}

Status SimulatedRobot::imu(const mbdyn_ros_sensor &sensor, double since, double *speed,
                           double *reading) noexcept {
  double rate[3] = {0.0, 0.0, 0.0};
  Status status = model_.reading(sensor, q_.data(), v_.data(), rate, reading);
  if (status != Status::ok) return status;
  for (int i = 0; i < 3; ++i) {
    if (since > 0.0) rate[i] = (reading[10 + i] - speed[i]) / since;
    speed[i] = reading[10 + i];
  }
  return model_.reading(sensor, q_.data(), v_.data(), rate, reading);
}

Status SimulatedRobot::force_torque(const mbdyn_ros_sensor &sensor, double *reading) noexcept {
  return model_.reading(sensor, q_.data(), v_.data(), mean_.data(), reading);
}

}  // namespace mbdyn_ros_controllers
