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

// DependentLimits: position limits of joints that others determine, in a reference of these.
#ifndef MBDYN_ROS_CONTROLLERS__DEPENDENT_LIMITS_HPP_
#define MBDYN_ROS_CONTROLLERS__DEPENDENT_LIMITS_HPP_

#include <cmath>
#include <cstddef>
#include <vector>

#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros_controllers {

// For one thread; it allocates when it is made, never later.
class DependentLimits {
 public:
  explicit DependentLimits(const mbdyn_ros_model &table)
      : model_(table),
        rest_(table.v.count),
        position_(table.joint_position.count),
        measured_(position_),
        rates_(table.joint_velocity.count),
        unused_(rates_) {
    for (std::size_t k = 0; k < position_.size(); ++k) {
      const bool limited =
          std::isfinite(table.position_lower[k]) || std::isfinite(table.position_upper[k]);
      if (limited && mbdyn_ros::place(table.q, table.joint_position.names[k]) == table.q.count) {
        places_.push_back(k);
      }
    }
    model_.limit_jumps(farthest);
  }

  std::size_t none() const noexcept { return position_.size(); }

  // Place in joint_position of the first joint whose limit the reference passes, unless it comes
  // back from farther out; `none` where there is none, or a loop stays open.
  std::size_t passed(const double *reference, const double *measured) noexcept {
    if (places_.empty() || !close(measured, measured_) || !close(reference, position_)) {
      return none();
    }
    const mbdyn_ros_model &table = model_.table();
    for (const std::size_t k : places_) {
      if (position_[k] < std::fmin(table.position_lower[k], measured_[k]) ||
          position_[k] > std::fmax(table.position_upper[k], measured_[k])) {
        return k;
      }
    }
    return none();
  }

  // Of the last reference.
  double position(std::size_t k) const noexcept { return position_[k]; }

 private:
  static constexpr double farthest = 0.5;  // rad or m that searched loops move at once

  bool close(const double *q, std::vector<double> &all) noexcept {
    return model_.joint_state(q, rest_.data(), rest_.data(), all.data(), rates_.data(),
                              unused_.data()) == mbdyn_ros::Status::ok;
  }

  mbdyn_ros::Model model_;
  std::vector<double> rest_, position_, measured_, rates_, unused_;
  std::vector<std::size_t> places_;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__DEPENDENT_LIMITS_HPP_
