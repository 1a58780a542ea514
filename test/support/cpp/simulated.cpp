/* SimulatedSystem as a controller manager runs it: simulated DESCRIPTION, with lines on standard input
   that say what its block holds, and what is done with it. It prints what is asked for, or why it was
   refused. */
#include "check.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "mbdyn_ros_controllers/simulated_system.hpp"

namespace {

using hardware_interface::CallbackReturn;
using hardware_interface::ComponentInfo;
using hardware_interface::return_type;

int refused() {
  const auto &lines = stand_in::said().lines;
  std::cout << "refused: " << (lines.empty() ? "" : lines.back()) << "\n";
  return 0;
}

}  // namespace

int main(int, char **arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  hardware_interface::HardwareComponentInterfaceParams given;
  auto &info = given.hardware_info;
  info.name = "block";
  info.original_xml.assign(std::istreambuf_iterator<char>(file), {});
  const rclcpp_lifecycle::State any;
  const rclcpp::Time now(0);
  mbdyn_ros_controllers::SimulatedSystem system;
  ComponentInfo *last = nullptr;
  std::vector<std::string> shown;
  std::cout.precision(17);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string word, name, value;
    in >> word >> name >> value;
    if (word == "param") info.hardware_parameters[name] = value;
    if (word == "joint") last = &info.joints.emplace_back(ComponentInfo{name, {}, {}, {}});
    if (word == "sensor") last = &info.sensors.emplace_back(ComponentInfo{name, {}, {}, {}});
    if (word == "of") last->parameters[name] = value;
    if (word == "command") last->command_interfaces.push_back({name, ""});
    if (word == "state") {
      last->state_interfaces.push_back({name, value});
      shown.push_back(last->name + "/" + name);
    }
    if (word == "init") {
      if (system.on_init(given) != CallbackReturn::SUCCESS) return refused();
      CHECK(system.on_configure(any) == CallbackReturn::SUCCESS);
      CHECK(system.on_activate(any) == CallbackReturn::SUCCESS);
      CHECK(system.read(now, rclcpp::Duration(5.0)) == return_type::OK);  // of before it was there
    }
    if (word == "begin" || word == "end") {
      std::vector<std::string> begin, end;
      (word == "begin" ? begin : end).push_back(name);
      if (!value.empty()) (word == "begin" ? begin : end).push_back(value);
      if (system.prepare_command_mode_switch(begin, end) != return_type::OK) return refused();
      CHECK(system.perform_command_mode_switch(begin, end) == return_type::OK);
    }
    if (word == "set") (void)system.get_command_interface_handle(name)->set_value(std::stod(value));
    if (word == "cycle") {
      CHECK(system.write(now, rclcpp::Duration(std::stod(name))) == return_type::OK);
      if (system.read(now, rclcpp::Duration(std::stod(name))) != return_type::OK) return refused();
    }
    if (word == "show") {
      for (const auto &one : shown) {
        std::cout << system.get_state_interface_handle(one)->get_optional().value() << " ";
      }
      std::cout << "\n";
    }
  }
  return 0;
}
