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

// A reference between its messages.
#ifndef MBDYN_ROS_CONTROLLERS__CARRIED_REFERENCE_HPP_
#define MBDYN_ROS_CONTROLLERS__CARRIED_REFERENCE_HPP_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mbdyn_ros_controllers {

constexpr double largest_number = 1e12;  // of references and gains: beyond it are mistakes
constexpr double longest_carry = 0.1;  // s, for which a reference moves on by itself

// The k-th of positions, velocities and accelerations, n each, `age` seconds after the time that
// they are for: constant accelerations for `longest_carry`, before that time too; beyond it stands.
// NaN where nothing is said; what follows the 3 n numbers stays as it is.
inline double carried(const std::vector<double> &values, std::size_t n, std::size_t k,
                      double age) noexcept {
  const auto said = [&values](std::size_t place) {
    return std::isnan(values[place]) ? 0.0 : values[place];
  };
  const double since = std::clamp(age, -longest_carry, longest_carry);
  if (k < n) return values[k] + since * (said(n + k) + since * said(2 * n + k) / 2.0);
  if (k >= 3 * n) return values[k];
  if (since != age) return 0.0;
  return k < 2 * n ? values[k] + since * said(n + k) : values[k];
}

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__CARRIED_REFERENCE_HPP_
