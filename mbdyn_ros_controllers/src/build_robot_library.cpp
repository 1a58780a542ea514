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

// build_robot_library: the library of a robot, built where controllers find it.
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "mbdyn_ros_controllers/robot_library.hpp"

int main(int count, char **arguments) {
  using mbdyn_ros_controllers::RobotRequest;
  RobotRequest request;
  std::string urdf;
  for (int k = 1; k < count; ++k) {
    const bool more = k + 1 < count;
    if (more && std::strcmp(arguments[k], "--joint") == 0) {
      request.independent.emplace_back(arguments[++k]);
    } else if (more && std::strcmp(arguments[k], "--variable") == 0) {
      request.variable.emplace_back(arguments[++k]);
    } else if (more && std::strcmp(arguments[k], "--link") == 0) {
      request.link = arguments[++k];
    } else if (more && std::strcmp(arguments[k], "--imu") == 0) {
      request.imus.emplace_back(arguments[++k]);
    } else if (more && std::strcmp(arguments[k], "--force-torque") == 0) {
      request.force_torques.emplace_back(arguments[++k]);
    } else if (more && std::strcmp(arguments[k], "--felt-link") == 0) {
      request.felt.emplace_back(arguments[++k]);
    } else if (urdf.empty() && arguments[k][0] != '-') {
      urdf = arguments[k];
    } else {
      urdf.clear();
      break;
    }
  }
  if (urdf.empty()) {
    std::cerr << "Usage: build_robot_library ROBOT.urdf [--joint NAME]... [--variable LINK]...\n"
                 "                           [--link LINK] [--imu LINK]...\n"
                 "                           [--force-torque JOINT]... [--felt-link LINK]\n"
                 "  the controller's parameters joints (--joint), variable and link; the sensors\n"
                 "  of SimulatedSystem in the order of the <ros2_control> block; the link of\n"
                 "  ExternalEffortBroadcaster (--felt-link)\n";
    return 2;
  }
  std::ifstream in(urdf, std::ios::binary);
  request.description.assign(std::istreambuf_iterator<char>(in), {});
  if (request.description.empty()) {
    std::cerr << urdf << " cannot be read, or is empty\n";
    return 1;
  }
  request.timeout = 3600.0;
  const auto found = mbdyn_ros_controllers::robot_library(request);
  if (!found.error.empty()) {
    std::cerr << found.error << "\n";
    return 1;
  }
  std::cout << found.file << "\n";
  return 0;
}
