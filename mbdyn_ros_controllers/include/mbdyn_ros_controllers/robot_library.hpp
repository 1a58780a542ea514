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

// A robot's equations as a shared library: given, found in the cache, or built for it.
#ifndef MBDYN_ROS_CONTROLLERS__ROBOT_LIBRARY_HPP_
#define MBDYN_ROS_CONTROLLERS__ROBOT_LIBRARY_HPP_

#include <string>
#include <vector>

#include "mbdyn_ros/library.hpp"

namespace mbdyn_ros_controllers {

// What a robot's library is made of.
struct RobotRequest {
  std::string description;               // the URDF's text
  std::vector<std::string> independent;  // joints of q, v and a; none: the robot's own choice
  std::vector<std::string> variable;     // links whose payload may change
  std::string link;                      // that cartesian_impedance leads; empty: none
  std::vector<std::string> imus;           // links with inertial measurement units
  std::vector<std::string> force_torques;  // joints with force-torque sensors
  std::vector<std::string> felt;           // links at which external wrenches are felt
  std::string file;                      // the library; empty: that of the cache
  std::string command = "mbdyn";         // what writes the equations
  double timeout = 120.0;                // of building it, s; 0: it is not built
};

struct RobotLibrary {
  mbdyn_ros::Library library;
  std::string file;
  std::string error;  // why there is no library, in words; else empty
};

// The library that the request names, or that of the cache, where it is built if it is not there.
// Takes seconds then: not for a real-time thread.
RobotLibrary robot_library(const RobotRequest &request);

// Where the library of a request lies in the cache.
std::string cached_file(const RobotRequest &request);

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__ROBOT_LIBRARY_HPP_
