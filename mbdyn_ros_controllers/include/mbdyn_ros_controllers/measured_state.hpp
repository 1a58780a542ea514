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

// The measured state of joints: where it is found, what it is, and how old.
#ifndef MBDYN_ROS_CONTROLLERS__MEASURED_STATE_HPP_
#define MBDYN_ROS_CONTROLLERS__MEASURED_STATE_HPP_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hardware_interface/loaned_state_interface.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

#include "mbdyn_ros_controllers/state_age.hpp"

namespace mbdyn_ros_controllers {

using StateInterfaces = std::vector<hardware_interface::LoanedStateInterface>;

// Numbers of one kind (position, velocity, effort) of joints in the interfaces of the hardware.
class Sensors {
 public:
  // Find those of these joints.
  void find(const StateInterfaces &interfaces, const std::vector<std::string> &joints,
            const char *kind) {
    places_.assign(joints.size(), nowhere);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const std::string wanted = joints[k] + "/" + kind;
      for (std::size_t i = 0; i < interfaces.size(); ++i) {
        if (interfaces[i].get_name() == wanted) places_[k] = i;
      }
    }
  }

  std::size_t size() const noexcept { return places_.size(); }

  // The first joint that has none; the number of joints where all have one.
  std::size_t missing() const noexcept {
    return static_cast<std::size_t>(std::find(places_.begin(), places_.end(), nowhere) -
                                    places_.begin());
  }
  bool complete() const noexcept { return missing() == places_.size(); }
  bool any() const noexcept {
    return std::any_of(places_.begin(), places_.end(), [](auto one) { return one != nowhere; });
  }

  // What the hardware shows now; NaN where it shows none, or another thread holds it.
  double read(const StateInterfaces &interfaces, std::size_t k) const noexcept {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    if (places_[k] >= interfaces.size()) return unknown;
    return interfaces[places_[k]].get_optional().value_or(unknown);
  }

 private:
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::vector<std::size_t> places_;
};

// Positions and velocities of joints, from one cycle of the control loop to the next.
class MeasuredState {
 public:
  explicit MeasuredState(const std::vector<std::string> &names)
      : joints(names),
        q(names.size(), std::numeric_limits<double>::quiet_NaN()),
        v(q),
        last_q_(q) {}

  const std::vector<std::string> joints;
  std::vector<double> q, v;  // as the hardware shows them; NaN: not known
  StateAge age;

  // Find the interfaces of the joints, and restart.
  void find(const StateInterfaces &interfaces) {
    positions_.find(interfaces, joints, "position");
    velocities_.find(interfaces, joints, "velocity");
    for (double &x : last_q_) x = std::numeric_limits<double>::quiet_NaN();
    still_ = 0.0;
  }
  const Sensors &positions() const noexcept { return positions_; }
  const Sensors &velocities() const noexcept { return velocities_; }

  // The loop: read the state after a period (s). Returns whether it is finite.
  bool read(const StateInterfaces &interfaces, double period) noexcept {
    bool finite = positions_.size() == q.size(), same = true;
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      q[k] = positions_.read(interfaces, k);
      v[k] = velocities_.read(interfaces, k);
      finite = finite && std::isfinite(q[k]) && std::isfinite(v[k]);
      same = same && q[k] == last_q_[k];
      last_q_[k] = q[k];
    }
    still_ = same ? still_ + period : 0.0;
    return finite;
  }

  // The joint that is reported to move fastest.
  std::size_t fastest() const noexcept {
    return static_cast<std::size_t>(
        std::max_element(v.begin(), v.end(),
                         [](double a, double b) { return std::fabs(a) < std::fabs(b); }) -
        v.begin());
  }

  // Whether positions stand still although a joint is reported to move: states have stopped.
  bool frozen() const noexcept {
    if (v.empty() || still_ <= StateAge::oldest) return false;
    const double speed = std::fabs(v[fastest()]);
    return speed > moves && speed * still_ > moved;
  }

  // The loop: the age (s) of the state, by the stamp of its message.
  double age_at(std::int64_t now) noexcept {
    double sum = 0.0;
    for (const double x : q) sum += x;
    return age.at(sum, now);
  }

  // Another thread: a message that the hardware may have taken its state from.
  void take(const sensor_msgs::msg::JointState &message) {
    double sum = 0.0;  // in the order in which the loop adds
    for (const std::string &joint : joints) {
      const auto found = std::find(message.name.begin(), message.name.end(), joint);
      const auto place = static_cast<std::size_t>(found - message.name.begin());
      if (place >= message.position.size()) return;
      sum += message.position[place];
    }
    const auto &stamp = message.header.stamp;
    age.add(sum, 1'000'000'000 * static_cast<std::int64_t>(stamp.sec) + stamp.nanosec);
  }

 private:
  static constexpr double moved = 0.01;  // rad or m: what moved so far cannot be where it was
  static constexpr double moves = 0.05;  // rad/s or m/s: not the noise of a velocity
  Sensors positions_, velocities_;
  std::vector<double> last_q_;
  double still_ = 0.0;  // s of equal positions
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__MEASURED_STATE_HPP_
