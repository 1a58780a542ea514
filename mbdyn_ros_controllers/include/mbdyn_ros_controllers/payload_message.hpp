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

// The payload that a message describes.
#ifndef MBDYN_ROS_CONTROLLERS__PAYLOAD_MESSAGE_HPP_
#define MBDYN_ROS_CONTROLLERS__PAYLOAD_MESSAGE_HPP_

#include "geometry_msgs/msg/inertia_stamped.hpp"

#include "mbdyn_ros/payload.hpp"

namespace mbdyn_ros_controllers {

inline mbdyn_ros::Payload payload_of(const geometry_msgs::msg::InertiaStamped &message) {
  const auto &body = message.inertia;
  return {body.m,
          {body.com.x, body.com.y, body.com.z},
          {body.ixx, body.ixy, body.ixz, body.iyy, body.iyz, body.izz}};
}

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__PAYLOAD_MESSAGE_HPP_
