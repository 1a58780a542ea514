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

// Lists of names, as messages for people have them.
#ifndef MBDYN_ROS_CONTROLLERS__NAMES_HPP_
#define MBDYN_ROS_CONTROLLERS__NAMES_HPP_

#include <cstddef>
#include <cstdio>
#include <string>

#include "mbdyn_ros/model.h"

namespace mbdyn_ros_controllers {

inline std::string listed(const mbdyn_ros_names &names) {
  std::string text;
  for (std::size_t k = 0; k < names.count; ++k) {
    if (k > 0) text += ", ";
    text += names.names[k];
  }
  return text;
}

inline std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__NAMES_HPP_
