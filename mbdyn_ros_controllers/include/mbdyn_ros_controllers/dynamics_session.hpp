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

// DynamicsSession: what DynamicsController has from one configuration to the next cleanup.
#ifndef MBDYN_ROS_CONTROLLERS__DYNAMICS_SESSION_HPP_
#define MBDYN_ROS_CONTROLLERS__DYNAMICS_SESSION_HPP_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

#include "mbdyn_ros/contact.hpp"
#include "mbdyn_ros/control_law.hpp"
#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros/observer.hpp"
#include "mbdyn_ros_controllers/dependent_limits.hpp"
#include "mbdyn_ros_controllers/dynamics_controller_parameters.hpp"
#include "mbdyn_ros_controllers/measured_state.hpp"
#include "mbdyn_ros_controllers/robot_library.hpp"

namespace mbdyn_ros_controllers {

// The robot, its law, and what the control loop and the callbacks of other threads exchange. Every
// callback holds it: one that the executor took before a cleanup ends on the session that it began
// with. Callbacks may run at the same time as each other and as the loop, which never waits for
// them. It knows no node, so that it may outlive the controller.
class DynamicsSession {
 public:
  using Params = dynamics_controller::Params;

  // One message: NaN where it says nothing.
  struct Received {
    std::uint64_t number = 0;
    std::int64_t stamp = 0;      // ns, the time that it is for
    std::vector<double> values;  // position, velocity, acceleration, effort
  };
  struct Target {
    std::uint64_t number = 0;
    std::array<double, 3> place{};
    std::array<double, 4> turn{0.0, 0.0, 0.0, 1.0};
  };
  // What the loop met; `report` logs it.
  enum class Trouble : int {
    none, not_finite, stale, frozen, open, no_answer, saturated, clamped, stopped, too_large, far,
    far_start, far_link, busy, hit
  };
  struct Frame {  // what a session is made of, besides its robot and parameters
    unsigned rate = 0;  // Hz of the loop
    rclcpp::Logger logger;
    rclcpp::Clock::SharedPtr clock;
  };

  // Null, with the reason in words, where the robot cannot be controlled with these parameters.
  static std::shared_ptr<DynamicsSession> make(const RobotLibrary &robot, const Params &params,
                                               const Frame &frame, std::string &words);

  const mbdyn_ros_model &table() const noexcept { return *robot.library.table(); }
  mbdyn_ros_names joints() const noexcept { return table().independent; }
  mbdyn_ros_names actuated() const noexcept { return table().actuated; }

  // ---- callbacks of other threads -----------------------------------------------------------
  // Why numbers are no gains whatever the robot, or empty.
  static std::string refusal_of_gains(const Params &params);
  // Why parameters cannot be used, or empty.
  std::string refusal(const Params &params);
  void apply(const Params &params);
  void take_reference(const trajectory_msgs::msg::JointTrajectory &message);
  void take_target(const geometry_msgs::msg::PoseStamped &message);
  void take_state(const sensor_msgs::msg::JointState &message);
  void take_payload(const geometry_msgs::msg::InertiaStamped &message);
  // Log what the loop met; topic: that of measured states, where there is one, and its publishers.
  void report(const char *topic, std::size_t publishers);

  // ---- the loop -----------------------------------------------------------------------------
  // Begin anew: follow nothing, and know no state.
  void start() noexcept;
  // Feel what acts from outside under the efforts of a cycle at a time (ns), and begin to react
  // where a contact begins; with efforts of zero nothing is felt.
  void feel(std::int64_t time, bool zero) noexcept;
  void end_reaction() noexcept;
  void trouble(Trouble kind, std::size_t which) noexcept {
    troubled = which;
    trouble_ = kind;
  }

  const RobotLibrary robot;
  mbdyn_ros::ControlLaw law;  // `update` and `reset` are the loop's, all else is guarded
  mbdyn_ros::Latest<Received> received;
  mbdyn_ros::Latest<Target> targets;
  mbdyn_ros::Latest<std::vector<double>> posture;  // as it was measured; NaN: not yet
  MeasuredState measured;  // `read` and `age_at` are the loop's
  mbdyn_ros::Observer observer;  // the loop's, by the efforts that it writes; so are these two
  mbdyn_ros::ContactDetector detector;
  mbdyn_ros::Reaction reaction;
  std::atomic<bool> reacts{false};
  std::atomic<bool> resumes{false};  // another mode was set, which ends a reaction
  std::atomic<bool> active{false}, chained{false}, check_limits{true};
  std::atomic<bool> follows{false};  // a reference that is not too old
  std::atomic<double> timeout{0.0}, tolerance{0.0}, start_tolerance{0.0}, lead{0.0};

  // Of the loop alone.
  std::uint64_t seen = 0, target_seen = 0;
  bool followed = false;  // a message since the activation
  bool begun = false;     // a reference since the activation, near the measured state
  DependentLimits dependent;  // in the references of a controller in front
  std::int64_t origin = 0;  // ns, of the observer's time
  const mbdyn_ros::Settings *felt_with = nullptr;
  double unpublished = 0.0;  // s since a message was published
  const mbdyn_ros_mode *mode = nullptr;  // of the last cycle
  mbdyn_ros::PoseReference pose;         // that the link is led to
  std::vector<double> posture_wanted;
  std::vector<double> next_q, next_v, wanted_q, held_q, wanted_v, wanted_a, added, effort;

 private:
  DynamicsSession(const RobotLibrary &robot, const Params &params, const Frame &frame);

  static mbdyn_ros::Thresholds thresholds_of(const Params &params);
  static std::string unfit(const mbdyn_ros_model &table, const Params &params);
  std::string read(const trajectory_msgs::msg::JointTrajectory &message, Received &next);
  std::string beyond_limits(const std::vector<double> &values, const std::vector<double> &measured);
  std::string away(const std::vector<double> &values, const std::vector<double> &measured);
  const mbdyn_ros_mode &mode_set() const { return table().modes[law.settings().mode]; }
  std::string settings_of(const Params &params, mbdyn_ros::Settings &next) const;
  std::string far_from_link(const Target &target, const std::vector<double> &measured);
  double growth(const mbdyn_ros::Settings &settings, const std::vector<double> &at) const;
  std::string unstable(const Params &params);
  std::string unfit_reaction(const Params &params, const mbdyn_ros::Settings &next) const;
  void watch_gains();

  const Frame frame_;
  std::mutex setting_;     // of all but the loop
  DependentLimits dependent_;  // in those of the topic
  std::uint64_t messages_ = 0;
  bool unstable_ = false;  // the gains, where the robot was; logged
  bool misdated_ = false;  // the stamps of measured states, by another clock; logged
  bool unmatched_ = false;  // measured states by no message of the topic; logged
  std::atomic<Trouble> trouble_{Trouble::none};

 public:
  std::atomic<std::size_t> troubled{0};
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__DYNAMICS_SESSION_HPP_
