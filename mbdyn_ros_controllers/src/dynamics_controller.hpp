// DynamicsController: efforts by the equations of motion, after references of position, velocity
// and acceleration.
#ifndef DYNAMICS_CONTROLLER_HPP
#define DYNAMICS_CONTROLLER_HPP

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control_msgs/msg/joint_trajectory_controller_state.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/inertia_stamped.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "sensor_msgs/msg/joint_state.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

#include "mbdyn_ros/computed_torque.hpp"
#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros_controllers/dynamics_controller_parameters.hpp"
#include "robot_library.hpp"
#include "state_age.hpp"

namespace mbdyn_ros_controllers {

class DynamicsController : public controller_interface::ChainableControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;

  Return on_init() override;
  Return on_configure(const State &) override;
  Return on_activate(const State &) override;
  Return on_deactivate(const State &) override;
  Return on_cleanup(const State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

 protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
  controller_interface::return_type update_reference_from_subscribers(
      const rclcpp::Time &, const rclcpp::Duration &) override;
  controller_interface::return_type update_and_write_commands(const rclcpp::Time &,
                                                              const rclcpp::Duration &) override;

 private:
  using Params = dynamics_controller::Params;
  using Trajectory = trajectory_msgs::msg::JointTrajectory;
  using ControllerState = control_msgs::msg::JointTrajectoryControllerState;

  // One message: NaN where it says nothing.
  struct Received {
    std::uint64_t number = 0;
    std::int64_t stamp = 0;      // ns, the time that it is for
    std::vector<double> values;  // position, velocity, acceleration, effort
  };
  // What the loop met; a timer says it.
  enum class Trouble : int { none, not_finite, stale, open, no_answer, saturated, far, busy };

  // Why a robot cannot be controlled so, and why gains cannot be used, in words.
  static std::string unfit(const mbdyn_ros_model &table, const Params &params);
  std::string refusal(const Params &params) const;
  std::vector<double> gains(const std::vector<double> &given) const;
  void apply(const Params &params);
  void take_reference(const Trajectory &message);
  void take_state(const sensor_msgs::msg::JointState &message);
  void take_payload(const geometry_msgs::msg::InertiaStamped &message);
  void watch_gains();
  void report();
  bool measure() noexcept;
  bool read_references(double period) noexcept;  // false: a joint is too far from its reference
  void write(bool zero) noexcept;
  void trouble(Trouble kind, std::size_t which) noexcept;
  void publish(const rclcpp::Time &time, double period) noexcept;
  mbdyn_ros_names joints() const noexcept { return robot_.library.table()->independent; }
  mbdyn_ros_names actuated() const noexcept { return robot_.library.table()->actuated; }

  std::shared_ptr<dynamics_controller::ParamListener> listener_;
  Params params_;
  RobotLibrary robot_;
  std::unique_ptr<mbdyn_ros::ComputedTorque> law_;
  std::mutex setting_;      // of those who set the law; the loop does not take it
  bool unstable_ = false;   // its gains, where the robot was; said
  bool misdated_ = false;   // the stamps of measured states, by another clock; said
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checked_;
  rclcpp::Subscription<Trajectory>::SharedPtr reference_;
  rclcpp::Subscription<geometry_msgs::msg::InertiaStamped>::SharedPtr payload_;
  rclcpp::Subscription<sensor_msgs::msg::JointState>::SharedPtr states_;
  rclcpp::TimerBase::SharedPtr reporting_;
  std::shared_ptr<realtime_tools::RealtimePublisher<ControllerState>> publisher_;

  // From other threads to the loop, and back.
  std::unique_ptr<mbdyn_ros::Latest<Received>> received_;
  std::unique_ptr<mbdyn_ros::Latest<std::vector<double>>> posture_;  // as it was measured
  std::unique_ptr<StateAge> state_age_;
  std::uint64_t messages_ = 0;
  std::atomic<bool> by_hand_{false};
  std::atomic<double> timeout_{0.0}, tolerance_{0.0}, lead_{0.0};
  std::atomic<Trouble> trouble_{Trouble::none};
  std::atomic<std::size_t> troubled_{0};

  // Of the loop alone.
  std::uint64_t seen_ = 0;
  bool followed_ = false;  // a message since the activation
  double unpublished_ = 0.0, publish_rate_ = 0.0;
  std::vector<double> q_, v_, next_q_, next_v_, wanted_q_, wanted_v_, wanted_a_, added_, effort_;
  ControllerState state_;
};

}  // namespace mbdyn_ros_controllers

#endif
