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

// Whether gains are stable in a loop that runs in cycles.
#ifndef MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_
#define MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_

#include <vector>

namespace mbdyn_ros_controllers {

// The largest absolute eigenvalue of the error's motion from cycle to cycle, above 1 where it
// grows: M e'' = -(K e + D e'), with forces held over a period and one period late.
//
// mass: M, row by row; stiffness, damping: the diagonals of K and D; period, s.
double growth_of_errors(std::vector<double> mass, const std::vector<double> &stiffness,
                        const std::vector<double> &damping, double period);

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__SAMPLED_LOOP_HPP_
