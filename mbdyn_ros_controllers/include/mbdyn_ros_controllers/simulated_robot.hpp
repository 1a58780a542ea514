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

// A robot that moves by its exported equations, without ROS.
#ifndef MBDYN_ROS_CONTROLLERS__SIMULATED_ROBOT_HPP_
#define MBDYN_ROS_CONTROLLERS__SIMULATED_ROBOT_HPP_

#include <cstddef>
#include <string>
#include <vector>

#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros_controllers {

// What an actuated joint is commanded by. A joint with a position or a velocity follows it; with an
// effort it gives that; with nothing it is held where it is, or let go.
struct JointCommand {
  bool placed = false, moved = false, driven = false;  // by position, velocity, effort
  double position = 0.0, velocity = 0.0, effort = 0.0;  // NaN: nothing was written yet
};

struct SimulationSettings {
  double step = 1e-3;       // s, the longest of the integration
  double frequency = 50.0;  // natural frequency of joints that follow, Hz
  bool hold = true;         // whether joints that nothing commands are held
};

// The motion between two cycles is integrated by the exported `step`, of Runge and Kutta's method
// of order 4, the efforts constant over each step. Joints that follow are moved by the efforts that
// exact dynamics asks for, with the sampled servo of the node `simulator`
// (mbdyn_ros/simulation/stepped/servo.py): its frequency, limits of velocity and effort, braking.
// Position limits are stops without bounce: impulses J^T p of the violated ones, p >= 0, with
// p (J v) = 0 at their end. It allocates when it is made, and in `stop`, at a limit.
class SimulatedRobot {
 public:
  // Why a robot cannot move so; empty where it can.
  static std::string refusal(const mbdyn_ros_model &table);

  // Of a table that has no `refusal`; at home.
  SimulatedRobot(const mbdyn_ros_model &table, const SimulationSettings &settings);

  // Put the robot somewhere, at rest; words where it cannot be there.
  std::string start(const std::vector<double> &q);

  // Move on by a time, s. Where the status is not ok the state is that of before the step.
  mbdyn_ros::Status advance(double period) noexcept;

  // One for each actuated joint, in the table's order.
  std::vector<JointCommand> commands;
  void hold(std::size_t actuated) noexcept;  // from here on, until a command comes

  // Of all joints, in the order of joint_position and joint_velocity.
  const std::vector<double> &position() const noexcept { return position_; }
  const std::vector<double> &velocity() const noexcept { return velocity_; }
  const std::vector<double> &acceleration() const noexcept { return acceleration_; }
  // Of the actuated joints.
  const std::vector<double> &effort() const noexcept { return effort_; }
  const std::vector<double> &q() const noexcept { return q_; }
  const std::vector<double> &v() const noexcept { return v_; }

  // What an IMU shows now (13), its acceleration the mean since `speed` (3), the velocity when it
  // was read `since` s ago; `speed` becomes that of now.
  mbdyn_ros::Status imu(const mbdyn_ros_sensor &sensor, double since, double *speed,
                        double *reading) noexcept;
  // What a force-torque sensor shows (6), with the mean acceleration of the last step.
  mbdyn_ros::Status force_torque(const mbdyn_ros_sensor &sensor, double *reading) noexcept;

 private:
  struct Target {
    double position = 0.0, velocity = 0.0, acceleration = 0.0;  // at the end of the period
    double held = 0.0;  // where a joint stands that nothing commands
    bool placed = false, moved = false;  // whether there are such numbers
  };

  mbdyn_ros::Status state_at(const std::vector<double> &q, const std::vector<double> &v) noexcept;
  mbdyn_ros::Status step(double h) noexcept;
  mbdyn_ros::Status drive(double h, double left) noexcept;
  mbdyn_ros::Status stop() noexcept;
  void aim(double period) noexcept;
  bool follows(std::size_t k) const noexcept;
  bool solve_followed(const std::vector<double> &wanted) noexcept;

  mbdyn_ros::Model model_;
  SimulationSettings settings_;
  std::vector<double> q_, v_, a_, mean_, position_, velocity_, acceleration_, effort_;
  std::vector<double> response_, wanted_, matrix_, numbers_, found_;
  std::vector<double> next_q_, next_v_, zero_;
  std::vector<std::size_t> at_q_, at_v_, followed_;
  std::vector<unsigned char> stops_;  // of joint_position: 1 below, 2 above
  std::vector<Target> targets_;
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__SIMULATED_ROBOT_HPP_
