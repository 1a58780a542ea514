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

// ParameterGate: between the parameters of a node, which may be set at any time by any thread, and
// what they are set on, which comes and goes.
#ifndef MBDYN_ROS_CONTROLLERS__PARAMETER_GATE_HPP_
#define MBDYN_ROS_CONTROLLERS__PARAMETER_GATE_HPP_

#include <memory>
#include <mutex>
#include <utility>

namespace mbdyn_ros_controllers {

// Callbacks of parameters hold the gate, and the session while they use it.
template <class Session>
class ParameterGate {
 public:
  std::shared_ptr<Session> session() const {
    const std::lock_guard<std::mutex> alone(lock_);
    return session_;
  }

  void lead_to(std::shared_ptr<Session> session) {
    const std::lock_guard<std::mutex> alone(lock_);
    session_.swap(session);
  }

  // From now on parameters are refused, before their listener, which is about to go, sees them.
  void close() {
    const std::lock_guard<std::mutex> alone(lock_);
    closed_ = true;
  }
  bool closed() const {
    const std::lock_guard<std::mutex> alone(lock_);
    return closed_;
  }

 private:
  mutable std::mutex lock_;
  std::shared_ptr<Session> session_;
  bool closed_ = false;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__PARAMETER_GATE_HPP_
