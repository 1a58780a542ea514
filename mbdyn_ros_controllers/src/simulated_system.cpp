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

#include "mbdyn_ros_controllers/simulated_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

#include "mbdyn_ros_controllers/names.hpp"

namespace mbdyn_ros_controllers {

namespace {

using hardware_interface::ComponentInfo;
using hardware_interface::return_type;

constexpr double largest_position = 1e6;  // rad or m
constexpr double longest_period = 0.1;  // s that are made up for after a pause

const char *const imu_interfaces[] = {
    "orientation.x",         "orientation.y",         "orientation.z",
    "orientation.w",         "angular_velocity.x",    "angular_velocity.y",
    "angular_velocity.z",    "linear_acceleration.x", "linear_acceleration.y",
    "linear_acceleration.z"};
const char *const force_torque_interfaces[] = {"force.x",  "force.y",  "force.z",
                                               "torque.x", "torque.y", "torque.z"};

// Place of a name in an array of them; its size where it is not there.
template <std::size_t size>
std::size_t place_in(const char *const (&names)[size], const std::string &name) {
  return static_cast<std::size_t>(std::find(names, names + size, name) - names);
}

bool is_imu(const ComponentInfo &sensor) {
  return !sensor.state_interfaces.empty() &&
         place_in(imu_interfaces, sensor.state_interfaces[0].name) < std::size(imu_interfaces);
}

// The link or joint that a sensor is on or in: its parameter, else its own name.
std::string where(const ComponentInfo &sensor, const char *parameter) {
  const auto given = sensor.parameters.find(parameter);
  return given == sensor.parameters.end() ? sensor.name : given->second;
}

// A number; words where it is none, or not between two others.
std::string number(const std::string &what, const std::string &text, double least, double most,
                   double &value) {
  char *end = nullptr;
  const double found = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(found >= least && found <= most)) {
    return what + " is '" + text + "'; expected a number from " + text_of(least) + " to " +
           text_of(most);
  }
  value = found;
  return {};
}

}  // namespace

SimulatedSystem::Return SimulatedSystem::on_init(
    const hardware_interface::HardwareComponentInterfaceParams &params) {
  if (hardware_interface::SystemInterface::on_init(params) != Return::SUCCESS) {
    return Return::ERROR;
  }
  RobotRequest request;
  request.description = info_.original_xml;
  std::string words = read_parameters(request);
  if (words.empty()) words = read_sensors(request);
  if (words.empty()) {
    library_ = robot_library(request);
    words = library_.error;
  }
  if (words.empty()) words = SimulatedRobot::refusal(*library_.library.table());
  if (words.empty()) {
    const mbdyn_ros_model &table = *library_.library.table();
    robot_ = std::make_unique<SimulatedRobot>(table, settings_);
    words = read_joints(table);
    if (words.empty()) words = show_sensors(table);
    if (words.empty()) words = robot_->start(initial_);
  }
  if (!words.empty()) {
    RCLCPP_ERROR(get_logger(), "%s: %s", info_.name.c_str(), words.c_str());
    return Return::ERROR;
  }
  return Return::SUCCESS;
}

std::string SimulatedSystem::read_parameters(RobotRequest &request) {
  std::string words;
  for (const auto &[name, text] : info_.hardware_parameters) {
    const std::string what = "hardware parameter " + name;
    if (name == "library") {
      request.file = text;
    } else if (name == "build_timeout") {
      words += number(what, text, 0.0, 3600.0, request.timeout);
    } else if (name == "step") {
      words += number(what, text, 1e-6, 0.01, settings_.step);
    } else if (name == "servo_frequency") {
      words += number(what, text, 0.1, 1000.0, settings_.frequency);
    } else if (name == "hold_joints") {
      if (text != "true" && text != "false") {
        words = what + " is '" + text + "'; expected true or false";
      }
      settings_.hold = text == "true";
    } else {
      words += what + " is unknown; there are library, build_timeout, step, servo_frequency and "
                      "hold_joints";
    }
    if (!words.empty()) return words;
  }
  return words;
}

std::string SimulatedSystem::read_sensors(RobotRequest &request) const {
  for (const ComponentInfo &sensor : info_.sensors) {
    if (is_imu(sensor)) {
      request.imus.push_back(where(sensor, "link"));
    } else {
      request.force_torques.push_back(where(sensor, "joint"));
    }
  }
  return {};
}

std::string SimulatedSystem::read_joints(const mbdyn_ros_model &table) {
  const std::map<std::string, const std::vector<double> *> states{
      {"position", &robot_->position()}, {"velocity", &robot_->velocity()},
      {"acceleration", &robot_->acceleration()}, {"effort", &efforts_}};
  initial_.assign(table.home_q, table.home_q + table.q.count);
  efforts_.assign(table.joint_velocity.count, 0.0);
  for (std::size_t k = 0; k < table.effort.count; ++k) {
    effort_to_.push_back(mbdyn_ros::place(table.joint_velocity, table.effort.names[k]));
  }
  for (const ComponentInfo &joint : info_.joints) {
    const std::string who = "joint '" + joint.name + "'";
    const std::size_t at_q = mbdyn_ros::place(table.joint_position, joint.name);
    const std::size_t at_v = mbdyn_ros::place(table.joint_velocity, joint.name);
    if (at_q == table.joint_position.count || at_v == table.joint_velocity.count) {
      return who + " is not a joint of one coordinate that moves in " + table.robot +
             "; there are " + listed(table.joint_position);
    }
    for (const auto &one : joint.state_interfaces) {
      const auto state = states.find(one.name);
      if (state == states.end()) {
        return who + " has the state interface '" + one.name +
               "'; a simulated joint has position, velocity, acceleration and effort";
      }
      const std::size_t at = one.name == "position" ? at_q : at_v;
      shown_.push_back({joint.name + "/" + one.name, state->second->data() + at, nullptr});
      if (one.initial_value.empty() || one.name != "position") continue;
      const std::size_t free = mbdyn_ros::place(table.q, joint.name);
      if (free == table.q.count) {
        return who + " has an initial_value, but its position follows from the independent "
                     "joints " + listed(table.q) + ": give theirs";
      }
      const std::string words = number("initial_value of " + who, one.initial_value,
                                       -largest_position, largest_position, initial_[free]);
      if (!words.empty()) return words;
    }
    const std::size_t driven = mbdyn_ros::place(table.effort, joint.name);
    for (const auto &one : joint.command_interfaces) {
      if (driven == table.effort.count) {
        return who + " has the command interface '" + one.name +
               "', but is not actuated; the actuated joints are " + listed(table.effort);
      }
      Commanded made{joint.name + "/" + one.name, driven, nullptr, nullptr, nullptr};
      if (one.name == hardware_interface::HW_IF_POSITION) {
        made.value = &JointCommand::position, made.used = &JointCommand::placed;
      } else if (one.name == hardware_interface::HW_IF_VELOCITY) {
        made.value = &JointCommand::velocity, made.used = &JointCommand::moved;
      } else if (one.name == hardware_interface::HW_IF_EFFORT) {
        made.value = &JointCommand::effort, made.used = &JointCommand::driven;
      } else {
        return who + " has the command interface '" + one.name +
               "'; a simulated joint is commanded by position, velocity or effort";
      }
      commanded_.push_back(made);
    }
  }
  used_.assign(commanded_.size(), false);
  return {};
}

std::string SimulatedSystem::show_sensors(const mbdyn_ros_model &table) {
  imus_.reserve(info_.sensors.size());  // states point into them
  force_torques_.reserve(info_.sensors.size());
  for (const ComponentInfo &sensor : info_.sensors) {
    const std::string who = "sensor '" + sensor.name + "'";
    const bool imu = is_imu(sensor);
    const std::string at = where(sensor, imu ? "link" : "joint");
    const mbdyn_ros_sensor *all = imu ? table.imus : table.force_torques;
    const std::size_t count = imu ? table.imu_count : table.force_torque_count;
    std::size_t k = 0;
    while (k < count && at != all[k].name) ++k;
    if (k == count) {
      return who + (imu ? ": the library has no IMU on link '" + at + "'; write it with --imu "
                        : ": the library has no force-torque sensor in joint '" + at +
                              "'; write it with --force-torque ") + at;
    }
    const double *numbers = nullptr;
    if (imu) {
      imus_.push_back({&all[k]});
      numbers = imus_.back().reading.data();
    } else {
      force_torques_.push_back({&all[k]});
      numbers = force_torques_.back().reading.data();
    }
    for (const auto &one : sensor.state_interfaces) {
      const std::size_t place = imu ? place_in(imu_interfaces, one.name)
                                    : place_in(force_torque_interfaces, one.name);
      if (place == (imu ? std::size(imu_interfaces) : std::size(force_torque_interfaces))) {
        return who + " has the state interface '" + one.name + "'; " +
               (imu ? "an IMU has orientation.x to w, angular_velocity.x to z and "
                      "linear_acceleration.x to z"
                    : "a force-torque sensor has force.x to z and torque.x to z; an IMU begins "
                      "with an interface of its own");
      }
      shown_.push_back({sensor.name + "/" + one.name, numbers + place, nullptr});
    }
  }
  return {};
}

SimulatedSystem::Return SimulatedSystem::on_configure(const State &) {
  for (Shown &one : shown_) one.handle = get_state_interface_handle(one.name);
  for (Commanded &one : commanded_) one.handle = get_command_interface_handle(one.name);
  (void)robot_->start(initial_);
  return show(0.0) ? Return::SUCCESS : Return::ERROR;
}

SimulatedSystem::Return SimulatedSystem::on_activate(const State &) {
  begun_ = false;
  active_ = true;
  return Return::SUCCESS;
}

SimulatedSystem::Return SimulatedSystem::on_deactivate(const State &) {
  active_ = false;
  return Return::SUCCESS;
}

std::string SimulatedSystem::switched(const Names &begin, const Names &end,
                                      std::vector<bool> &used) const {
  used = used_;
  for (std::size_t k = 0; k < commanded_.size(); ++k) {
    const std::string &name = commanded_[k].name;
    if (std::find(end.begin(), end.end(), name) != end.end()) used[k] = false;
    if (std::find(begin.begin(), begin.end(), name) != begin.end()) used[k] = true;
  }
  for (std::size_t k = 0; k < commanded_.size(); ++k) {
    if (!used[k] || commanded_[k].used != &JointCommand::driven) continue;
    for (std::size_t j = 0; j < commanded_.size(); ++j) {
      if (j != k && used[j] && commanded_[j].joint == commanded_[k].joint) {
        return commanded_[k].name + " and " + commanded_[j].name +
               " cannot be commanded together: a joint gives an effort, or follows";
      }
    }
  }
  return {};
}

return_type SimulatedSystem::prepare_command_mode_switch(const Names &begin, const Names &end) {
  std::vector<bool> used;
  const std::string words = switched(begin, end, used);
  if (words.empty()) return return_type::OK;
  RCLCPP_ERROR(get_logger(), "%s: %s", info_.name.c_str(), words.c_str());
  return return_type::ERROR;
}

return_type SimulatedSystem::perform_command_mode_switch(const Names &begin, const Names &end) {
  std::vector<bool> used;
  if (!switched(begin, end, used).empty()) return return_type::ERROR;
  for (std::size_t k = 0; k < commanded_.size(); ++k) {
    JointCommand &command = robot_->commands[commanded_[k].joint];
    if (used[k] == used_[k]) continue;
    command.*commanded_[k].used = used[k];
    command.*commanded_[k].value = std::nan("");  // until a controller writes
    robot_->hold(commanded_[k].joint);
  }
  used_ = used;
  return return_type::OK;
}

// The state at the end of the time since the last cycle, in which the last commands acted.
return_type SimulatedSystem::read(const rclcpp::Time &, const rclcpp::Duration &period) {
  if (!active_) return return_type::OK;
  if (!begun_) {
    begun_ = true;
    return return_type::OK;
  }
  const double since = std::min(period.seconds(), longest_period);
  const mbdyn_ros::Status status = robot_->advance(since);
  if (status != mbdyn_ros::Status::ok || !show(since)) {
    RCLCPP_ERROR(get_logger(), "%s: the simulation cannot go on: %s", info_.name.c_str(),
                 mbdyn_ros::text(status));
    return return_type::ERROR;
  }
  return return_type::OK;
}

return_type SimulatedSystem::write(const rclcpp::Time &, const rclcpp::Duration &) {
  for (std::size_t k = 0; k < commanded_.size(); ++k) {
    double value = 0.0;
    if (used_[k] && get_command(commanded_[k].handle, value, false)) {
      robot_->commands[commanded_[k].joint].*commanded_[k].value = value;
    }
  }
  return return_type::OK;
}

// Write the state and what the sensors show, `since` s after they were read before.
bool SimulatedSystem::show(double since) noexcept {
  bool known = true;
  for (std::size_t k = 0; k < effort_to_.size(); ++k) {
    if (effort_to_[k] < efforts_.size()) efforts_[effort_to_[k]] = robot_->effort()[k];
  }
  for (Imu &one : imus_) {
    known &= robot_->imu(*one.sensor, since, one.speed.data(), one.reading.data()) ==
             mbdyn_ros::Status::ok;
  }
  for (ForceTorque &one : force_torques_) {
    known &= robot_->force_torque(*one.sensor, one.reading.data()) == mbdyn_ros::Status::ok;
  }
  for (const Shown &one : shown_) (void)set_state(one.handle, *one.value, false);
  return known;
}

}  // namespace mbdyn_ros_controllers

PLUGINLIB_EXPORT_CLASS(mbdyn_ros_controllers::SimulatedSystem, hardware_interface::SystemInterface)
