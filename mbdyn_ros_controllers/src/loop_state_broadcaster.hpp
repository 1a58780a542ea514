// LoopStateBroadcaster: joint states of all joints from those that are measured.
#ifndef LOOP_STATE_BROADCASTER_HPP
#define LOOP_STATE_BROADCASTER_HPP

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "rclcpp/rclcpp.hpp"
#include "realtime_tools/realtime_publisher.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

#include "mbdyn_ros/measured_joints.hpp"
#include "mbdyn_ros_controllers/loop_state_broadcaster_parameters.hpp"
#include "robot_library.hpp"

namespace mbdyn_ros_controllers {

class LoopStateBroadcaster : public controller_interface::ControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;
  using State = rclcpp_lifecycle::State;

  Return on_init() override;
  Return on_configure(const State &) override;
  Return on_activate(const State &) override;
  Return on_cleanup(const State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::return_type update(const rclcpp::Time &,
                                           const rclcpp::Duration &) override;

 private:
  using JointState = sensor_msgs::msg::JointState;

  // Where the number of a joint is measured: no interface for most.
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::vector<std::size_t> places(const std::vector<std::string> &names, const char *kind) const;
  double measured(std::size_t interface) const noexcept;
  void compare() noexcept;
  void report();

  std::shared_ptr<loop_state_broadcaster::ParamListener> listener_;
  loop_state_broadcaster::Params params_;
  RobotLibrary robot_;
  std::unique_ptr<mbdyn_ros::MeasuredJoints> measured_;
  std::shared_ptr<realtime_tools::RealtimePublisher<JointState>> publisher_;
  rclcpp::TimerBase::SharedPtr reporting_;

  std::vector<std::size_t> q_from_, v_from_, position_from_, effort_from_;
  bool moving_ = false;              // velocities of all of them are measured
  std::vector<std::string> joints_;  // that are measured
  std::vector<double> q_, v_;        // of them
  JointState state_;

  std::atomic<int> status_{0};
  std::atomic<std::size_t> astray_{nowhere};
  std::atomic<double> gap_{0.0};
};

}  // namespace mbdyn_ros_controllers

#endif
