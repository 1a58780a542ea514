#include "dynamics_controller.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

#include "names.hpp"
#include "sampled_loop.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double grows = 1.0 + 1e-4;  // beyond rounding
const std::vector<std::string> wanted_kinds{
    hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY,
    hardware_interface::HW_IF_ACCELERATION};

// Each mode has gains of its own, for their units differ.
constexpr std::pair<const char *, std::vector<double> dynamics_controller::Params::*>
    gain_parameters[] = {{"kp", &dynamics_controller::Params::kp},
                         {"kd", &dynamics_controller::Params::kd},
                         {"joint_stiffness", &dynamics_controller::Params::joint_stiffness},
                         {"joint_damping", &dynamics_controller::Params::joint_damping}};

mbdyn_ros::Mode mode_of(const std::string &name) {
  if (name == "gravity_compensation") return mbdyn_ros::Mode::gravity_compensation;
  return name == "computed_torque" ? mbdyn_ros::Mode::computed_torque
                                   : mbdyn_ros::Mode::joint_impedance;
}

}  // namespace

DynamicsController::Return DynamicsController::on_init() {
  try {
    listener_ = std::make_shared<dynamics_controller::ParamListener>(get_node());
  } catch (const std::exception &error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return Return::ERROR;
  }
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_configure(const State &) {
  params_ = listener_->get_params();
  law_.reset();
  RobotRequest request;
  request.description = get_robot_description();
  request.independent = params_.joints;
  request.variable = params_.variable;
  request.file = params_.library;
  request.timeout = params_.build_timeout;
  robot_ = robot_library(request);
  std::string words = robot_.error;
  if (words.empty()) words = unfit(*robot_.library.table(), params_);
  if (words.empty()) {
    law_ = std::make_unique<mbdyn_ros::ComputedTorque>(*robot_.library.table(), params_.blend);
    words = refusal(params_);
  }
  if (!words.empty()) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
    return Return::FAILURE;
  }
  const std::size_t n = joints().count, m = actuated().count;
  for (auto *one : {&q_, &v_, &next_q_, &next_v_, &wanted_q_, &wanted_v_, &wanted_a_}) {
    one->assign(n, none);
  }
  for (auto *one : {&added_, &effort_}) one->assign(m, 0.0);
  Received empty;
  empty.values.assign(wanted_kinds.size() * n + m, none);
  received_ = std::make_unique<mbdyn_ros::Latest<Received>>(empty);
  posture_ = std::make_unique<mbdyn_ros::Latest<std::vector<double>>>(q_);
  messages_ = 0;
  apply(params_);
  listener_->setUserCallback([this](const Params &params) { apply(params); });
  checked_ = get_node()->add_on_set_parameters_callback(
      [this](const std::vector<rclcpp::Parameter> &given) {
        Params next = listener_->get_params();
        rcl_interfaces::msg::SetParametersResult result;
        try {
          for (const rclcpp::Parameter &one : given) {
            for (const auto &[name, member] : gain_parameters) {
              if (one.get_name() == name) next.*member = one.as_double_array();
            }
          }
          result.reason = refusal(next);
        } catch (const rclcpp::ParameterTypeException &error) {
          result.reason = error.what();
        }
        result.successful = result.reason.empty();
        return result;
      });
  reference_ = get_node()->create_subscription<Trajectory>(
      "~/reference", rclcpp::SystemDefaultsQoS(),
      [this](const Trajectory &message) { take_reference(message); });
  payload_ = get_node()->create_subscription<geometry_msgs::msg::InertiaStamped>(
      "~/payload", rclcpp::SystemDefaultsQoS(),
      [this](const geometry_msgs::msg::InertiaStamped &message) { take_payload(message); });
  state_age_ = std::make_unique<StateAge>();
  states_.reset();
  if (!params_.state_topic.empty()) {
    states_ = get_node()->create_subscription<sensor_msgs::msg::JointState>(
        params_.state_topic, rclcpp::SensorDataQoS(),
        [this](const sensor_msgs::msg::JointState &message) { take_state(message); });
  }
  reporting_ = get_node()->create_wall_timer(std::chrono::seconds(1), [this] { report(); });
  publisher_.reset();
  publish_rate_ = params_.state_publish_rate;
  state_ = ControllerState();
  if (publish_rate_ > 0.0) {
    publisher_ = std::make_shared<realtime_tools::RealtimePublisher<ControllerState>>(
        get_node()->create_publisher<ControllerState>("~/controller_state",
                                                      rclcpp::SystemDefaultsQoS()));
    for (std::size_t k = 0; k < n; ++k) state_.joint_names.push_back(joints().names[k]);
    for (auto *point : {&state_.reference, &state_.feedback, &state_.error}) {
      point->positions.assign(n, 0.0);
      point->velocities.assign(n, 0.0);
    }
    state_.reference.accelerations.assign(n, 0.0);
    state_.output.effort.assign(m, 0.0);
  }
  RCLCPP_INFO(get_node()->get_logger(), "%s: follows %s by efforts of %s, with the library %s",
              robot_.library.table()->robot, listed(joints()).c_str(),
              listed(actuated()).c_str(), robot_.file.c_str());
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_activate(const State &) {
  law_->reset();
  std::fill(wanted_q_.begin(), wanted_q_.end(), none);
  for (auto &one : ordered_exported_reference_interfaces_) (void)one->set_value(none);
  seen_ = received_->get().number;
  followed_ = false;
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_deactivate(const State &) {
  write(true);
  return Return::SUCCESS;
}

DynamicsController::Return DynamicsController::on_cleanup(const State &) {
  listener_->clearUserCallback();
  checked_.reset();
  reference_.reset();
  payload_.reset();
  states_.reset();
  reporting_.reset();
  publisher_.reset();
  law_.reset();
  robot_ = {};
  return Return::SUCCESS;
}

controller_interface::InterfaceConfiguration
DynamicsController::command_interface_configuration() const {
  controller_interface::InterfaceConfiguration asked{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (std::size_t k = 0; law_ && k < actuated().count; ++k) {
    asked.names.push_back(std::string(actuated().names[k]) + "/effort");
  }
  return asked;
}

controller_interface::InterfaceConfiguration
DynamicsController::state_interface_configuration() const {
  controller_interface::InterfaceConfiguration asked{
      controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const char *kind : {"/position", "/velocity"}) {
    for (std::size_t k = 0; law_ && k < joints().count; ++k) {
      asked.names.push_back(joints().names[k] + std::string(kind));
    }
  }
  return asked;
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
DynamicsController::on_export_reference_interfaces_list() {
  std::vector<hardware_interface::CommandInterface::SharedPtr> list;
  const std::string before = std::string(get_node()->get_name()) + "/";
  const auto add = [&](const mbdyn_ros_names &names, const std::string &kind) {
    for (std::size_t k = 0; k < names.count; ++k) {
      list.push_back(std::make_shared<hardware_interface::CommandInterface>(
          before + names.names[k], kind));
      (void)list.back()->set_value(none);
    }
  };
  for (const std::string &kind : wanted_kinds) add(joints(), kind);
  add(actuated(), hardware_interface::HW_IF_EFFORT);
  return list;
}

std::string DynamicsController::unfit(const mbdyn_ros_model &table, const Params &params) {
  const std::string words = mbdyn_ros::ComputedTorque::refusal(table);
  if (!words.empty()) return words;
  if (table.independent.count != table.q.count || table.actuated.count != table.effort.count) {
    return std::string(table.robot) + " has joints with several positions, for which ros2_control "
                                      "has no interfaces";
  }
  std::string asked = params.joints.empty() ? "" : "joints are not those of the library: ";
  if (params.joints.size() == table.independent.count) {
    asked.clear();
    for (const std::string &joint : params.joints) {
      if (mbdyn_ros::place(table.independent, joint) == table.independent.count) {
        asked = "joints has '" + joint + "', but not the library: ";
      }
    }
  }
  if (!asked.empty()) return asked + "its independent joints are " + listed(table.independent);
  for (const std::string &link : params.variable) {
    if (mbdyn_ros::place_of_link(table.parameters, link) == table.parameters.count) {
      return "variable has '" + link + "', which is no link whose inertia the library leaves "
             "variable: write it with mbdyn codegen --cpp --variable " + link;
    }
  }
  return {};
}

std::vector<double> DynamicsController::gains(const std::vector<double> &given) const {
  if (given.size() > 1) return given;
  return std::vector<double>(joints().count, given.empty() ? 0.0 : given[0]);
}

std::string DynamicsController::refusal(const Params &params) const {
  const std::size_t n = joints().count;
  for (const auto &[name, member] : gain_parameters) {
    const std::vector<double> &given = params.*member;
    for (const double x : given) {
      if (!std::isfinite(x) || x < 0.0) {
        return std::string(name) + " has " + std::to_string(x) + "; expected 0 or more";
      }
    }
    if (given.size() <= 1 || given.size() == n) continue;
    return std::string(name) + " has " + std::to_string(given.size()) +
           " numbers; expected none, one, or one for each of " + listed(joints());
  }
  return {};
}

void DynamicsController::apply(const Params &params) {
  std::unique_lock<std::mutex> alone(setting_);
  params_ = params;
  mbdyn_ros::Settings next = law_->settings();
  next.mode = mode_of(params.mode);
  next.friction = params.friction;
  const bool physical = next.mode == mbdyn_ros::Mode::joint_impedance;
  next.stiffness = gains(physical ? params.joint_stiffness : params.kp);
  next.damping = gains(physical ? params.joint_damping : params.kd);
  const std::string words = law_->set(next);
  if (!words.empty()) RCLCPP_ERROR(get_node()->get_logger(), "%s", words.c_str());
  unstable_ = false;
  by_hand_ = next.mode == mbdyn_ros::Mode::gravity_compensation;
  timeout_ = params.reference_timeout;
  tolerance_ = params.following_tolerance;
  lead_ = params.lead;
  alone.unlock();
  watch_gains();  // a mode may have others
}

void DynamicsController::watch_gains() {
  const std::lock_guard<std::mutex> alone(setting_);
  const mbdyn_ros::Settings &now = law_->settings();
  const std::vector<double> &q = posture_->get();
  const std::size_t n = joints().count;
  const unsigned rate = get_update_rate();
  if (now.mode == mbdyn_ros::Mode::gravity_compensation || rate == 0) return;
  if (q.empty() || std::isnan(q[0])) return;  // nothing was measured yet
  std::vector<double> mass(n * n, 0.0);
  if (now.mode == mbdyn_ros::Mode::joint_impedance) {
    mbdyn_ros::Model model(*robot_.library.table());
    if (model.mass_matrix(q.data(), now.parameters.data(), mass.data()) !=
        mbdyn_ros::Status::ok) {
      return;  // the loop reports it
    }
  } else {
    for (std::size_t k = 0; k < n; ++k) mass[k * n + k] = 1.0;
  }
  const double growth = growth_of_errors(mass, now.stiffness, now.damping, 1.0 / rate);
  const bool was = std::exchange(unstable_, growth > grows);
  if (unstable_ && !was) {
    RCLCPP_WARN(get_node()->get_logger(),
                "the gains are unstable at %u Hz: with efforts one cycle late, errors grow by %g a "
                "cycle where the robot is now; lower damping or stiffness", rate, growth);
  }
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::DynamicsController,
                       controller_interface::ChainableControllerInterface)
