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

// Stability of a loop that is sampled, with efforts one period late.
#ifndef MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_
#define MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_

#include <cstddef>
#include <vector>

namespace mbdyn_ros_controllers {

// The rate (1/s) at which x grows at the fastest, negative where all dies out, in
//   x' = flow (x, u),  u = feedback x of the period before, held for a period (s)
// (Astrom and Wittenmark, Computer-controlled systems, 1997, section 3.2), as control/sampled.py
// computes it. flow (states, states + inputs) and feedback (inputs, states) are row by row.
double growth_of_loop(const std::vector<double> &flow, const std::vector<double> &feedback,
                      std::size_t states, std::size_t inputs, double period);

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_
