/* The plugins through their lives, while messages, parameters and cycles go on in other threads:
   lifecycle LIBRARY DESCRIPTION LINK CYCLES. It returns 1 where something is not as it should be. */
#include "check.hpp"

#include <fstream>
#include <iterator>
#include <random>

#include "mbdyn_ros_controllers/dynamics_controller.hpp"
#include "mbdyn_ros_controllers/external_effort_broadcaster.hpp"
#include "mbdyn_ros_controllers/loop_state_broadcaster.hpp"

namespace {

using hardware_interface::Handle;
using hardware_interface::Loaned;
using mbdyn_ros_controllers::DynamicsController;
using mbdyn_ros_controllers::ExternalEffortBroadcaster;
using mbdyn_ros_controllers::LoopStateBroadcaster;
using controller_interface::CallbackReturn;
const rclcpp_lifecycle::State any;
const rclcpp::Duration period(0.001);

rclcpp::Time now() { return rclcpp::Clock().now(); }

// The interfaces of hardware that stands where it stands.
struct Hardware {
  std::vector<Handle::SharedPtr> commands, states;

  static std::shared_ptr<Handle> handle(const std::string &name) {
    const auto slash = name.rfind('/');
    return std::make_shared<Handle>(name.substr(0, slash), name.substr(slash + 1));
  }
  void offer(const std::vector<std::string> &of_commands, const std::vector<std::string> &of_states) {
    for (const auto &name : of_commands) commands.push_back(handle(name));
    for (const auto &name : of_states) states.push_back(handle(name));
    for (const auto &one : states) (void)one->set_value(0.0);
  }
  template <class Controller>
  void lend(Controller &controller) const {
    std::vector<Loaned> lent, seen;
    for (const auto &one : commands) lent.emplace_back(one);
    for (const auto &one : states) seen.emplace_back(one);
    controller.assign_interfaces(std::move(lent), std::move(seen));
  }
  // An interface is only tried, never waited for: the other thread may have it.
  static double value(const Handle &one) {
    std::optional<double> found;
    while (!(found = one.get_optional())) std::this_thread::yield();
    return *found;
  }
  bool all_zero() const {
    for (const auto &one : commands) {
      if (const double now = value(*one); now > 0.0 || now < 0.0 || now != now) return false;
    }
    return true;
  }
  bool any_effort() const {
    for (const auto &one : commands) {
      if (std::fabs(value(*one)) > 0.0) return true;
    }
    return false;
  }
};

// A controller, the thread of its loop, which switches it, and its executor's threads.
template <class Controller>
class Rig {
 public:
  Rig(const std::string &library, const std::string &description, const std::string &link)
      : library_(library), description_(description), link_(link) {
    load();
    threads_.emplace_back([this] { loop(); });
    for (int k = 0; k < 3; ++k) threads_.emplace_back([this, k] { execute(k); });
  }
  ~Rig() {
    ends_ = true;
    for (std::thread &one : threads_) one.join();
  }
  void load() {
    auto made = std::make_shared<Controller>();
    given::library = library_;
    CHECK(made->init("controller", description_, 1000) == CallbackReturn::SUCCESS);
    const std::lock_guard<std::mutex> alone(lock_);
    controller_ = made;
  }
  void unload() {  // callbacks that hold the node or a session go on
    std::shared_ptr<Controller> gone;
    {
      const std::lock_guard<std::mutex> alone(lock_);
      gone = std::move(controller_);
    }
    while (gone.use_count() > 1) std::this_thread::yield();  // the loop does not call it any more
    (void)gone->on_shutdown(any);
  }
  void life() {
    const std::shared_ptr<Controller> controller = held();
    CHECK(controller->on_configure(any) == CallbackReturn::SUCCESS);
    if (hardware_.states.empty()) offer(*controller);
    export_references(*controller);
    ask(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ask(-1);
    CHECK(hardware_.all_zero());
    CHECK(controller->on_cleanup(any) == CallbackReturn::SUCCESS);
  }
  long cycles() const { return cycles_; }
  long callbacks() const { return callbacks_; }
  long driven() const { return driven_; }

 private:
  std::shared_ptr<Controller> held() {
    const std::lock_guard<std::mutex> alone(lock_);
    return controller_;
  }
  static void export_references(DynamicsController &one) { (void)one.export_reference_interfaces(); }
  static void export_references(controller_interface::ControllerInterface &) {}
  void offer(DynamicsController &one) {
    hardware_.offer(one.command_interface_configuration().names,
                    one.state_interface_configuration().names);
    for (const auto &name : one.state_interface_configuration().names) {
      if (name.find("/position") != name.npos) joints_.push_back(name.substr(0, name.rfind('/')));
    }
  }
  void offer(controller_interface::ControllerInterface &) {
    hardware_.offer({}, {"joint/position", "joint/velocity", "joint/effort"});
  }
  // Let the loop switch, as a controller manager does; back when it has.
  void ask(int what) {
    asked_ = what;
    while (asked_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void loop() {
    bool lent = false;
    while (!ends_) {
      {
        const std::shared_ptr<Controller> controller = held();
        const int asked = asked_;
        if (controller && asked > 0) {
          hardware_.lend(*controller);
          CHECK(controller->on_activate(any) == CallbackReturn::SUCCESS);
        }
        if (controller) (void)controller->update(now(), period);  // in every state
        lent = lent || asked > 0;
        if (lent && hardware_.any_effort()) ++driven_;
        if (controller && asked < 0) {
          CHECK(controller->on_deactivate(any) == CallbackReturn::SUCCESS);
          controller->release_interfaces();
        }
        if (asked != 0) asked_ = 0;
        ++cycles_;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  void execute(int which) {
    std::mt19937 random(static_cast<unsigned>(which));
    while (!ends_) {
      std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node;
      std::vector<std::string> joints;
      if (const auto controller = held()) node = controller->get_node();
      if (node) call(*node, random() % 7, 1e-3 * static_cast<double>(random() % 50));
      node.reset();
      ++callbacks_;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    }
  }
  void call(rclcpp_lifecycle::LifecycleNode &node, unsigned what, double x) {
    trajectory_msgs::msg::JointTrajectory reference;
    geometry_msgs::msg::InertiaStamped payload;
    sensor_msgs::msg::JointState state;
    geometry_msgs::msg::PoseStamped target;
    switch (what) {
      case 0:
      case 1:
        reference.joint_names = given::joints;
        reference.points.resize(1);
        reference.points[0].positions.assign(given::joints.size(), x);
        (void)node.deliver("~/reference", reference);
        break;
      case 2:
        payload.header.frame_id = link_;
        payload.inertia.m = 10.0 * x;
        (void)node.deliver("~/payload", payload);
        break;
      case 3:
        state.header.stamp = now();
        state.name = given::joints;
        state.position.assign(given::joints.size(), 0.0);
        (void)node.deliver("states", state);
        break;
      case 4: node.fire(); break;
      case 5:
        target.pose.position.x = x;
        (void)node.deliver("~/target", target);
        break;
      default:
        (void)node.set_parameters_atomically({{"kp", std::vector<double>{1000.0 * x}}});
        (void)node.set_parameters_atomically({{"mode", std::string(x > 0.03   ? "gravity_compensation"
                                                          : x > 0.015 ? "cartesian_impedance"
                                                                      : "computed_torque")}});
    }
  }

  const std::string library_, description_, link_;
  std::mutex lock_;
  std::shared_ptr<Controller> controller_;
  Hardware hardware_;
  std::vector<std::string> joints_;
  std::atomic<int> asked_{0};
  std::atomic<bool> ends_{false};
  std::atomic<long> cycles_{0}, callbacks_{0}, driven_{0};
  std::vector<std::thread> threads_;
};

template <class Controller>
void live(char **arguments, const char *what, bool drives) {
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string description(std::istreambuf_iterator<char>(file), {});
  Rig<Controller> rig(arguments[1], description, arguments[3]);
  const int cycles = std::atoi(arguments[4]);
  for (int cycle = 1; cycle <= cycles; ++cycle) {
    rig.life();
    if (cycle % 20 == 0) {
      rig.unload();
      rig.load();
    }
  }
  std::printf("%s: %d lives, %ld cycles, %ld of them with efforts, %ld callbacks\n", what, cycles,
              rig.cycles(), rig.driven(), rig.callbacks());
  CHECK(!drives || rig.driven() > cycles / 10);
}

// What is taken as a reference of a controller that holds a robot at rest at zero.
void references(char **arguments) {
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string description(std::istreambuf_iterator<char>(file), {});
  given::library = arguments[1];
  Hardware hardware;
  DynamicsController controller;
  CHECK(controller.init("controller", description, 1000) == CallbackReturn::SUCCESS);
  CHECK(controller.on_configure(any) == CallbackReturn::SUCCESS);
  const auto &inputs = controller.export_reference_interfaces();
  hardware.offer(controller.command_interface_configuration().names,
                 controller.state_interface_configuration().names);
  hardware.lend(controller);
  const auto node = controller.get_node();
  const std::size_t n = given::joints.size();
  const auto send = [&](double q, double v, double effort) {
    trajectory_msgs::msg::JointTrajectory message;
    message.joint_names = given::joints;
    message.points.resize(1);
    message.points[0].positions.assign(n, q);
    message.points[0].velocities.assign(n, v);
    message.points[0].effort.assign(n, effort);
    stand_in::said().lines.clear();
    CHECK(node->deliver("~/reference", message));
    return stand_in::said().lines.empty() ? std::string() : stand_in::said().lines.back();
  };
  CHECK(has(send(0.05, 0.0, 0.0), "not active"));
  CHECK(controller.on_activate(any) == CallbackReturn::SUCCESS);
  CHECK(has(send(0.05, 0.0, 0.0), "no state was measured"));
  const auto cycle = [&] { return controller.update(now(), period); };
  const auto good = controller_interface::return_type::OK;
  CHECK(cycle() == good);
  CHECK(has(send(50.0, 0.0, 0.0), "outside its limits"));
  CHECK(has(send(0.4, 0.0, 0.0), "position of gear is -0.8, outside its limits -0.7 to 9"));
  CHECK(has(send(1e300, 0.0, 0.0), "more than 1e+12"));
  CHECK(has(send(0.05, 1e9, 0.0), "the velocity of"));
  CHECK(has(send(0.05, 0.0, 1e11), "the effort of"));
  CHECK(has(send(0.3, 0.0, 0.0), "more than start_tolerance (0.1)"));
  CHECK(send(0.05, 0.1, 0.0).empty());
  CHECK(cycle() == good && hardware.any_effort());
  CHECK(send(0.15, 0.0, 0.0).empty());  // it follows: within following_tolerance
  CHECK(has(send(0.3, 0.0, 0.0), "more than following_tolerance (0.2)"));

  const auto set = [&](const char *name, rclcpp::Parameter::Value value) {
    return node->set_parameters_atomically({{name, std::move(value)}}).reason;
  };
  CHECK(has(set("kd", std::vector<double>{1e300}), "kd has 1e+300; expected 0 to 1e+12"));
  CHECK(has(set("kd", std::vector<double>{-1.0}), "kd has -1"));
  CHECK(has(set("kp", std::vector<double>{1e9}), "unstable at 1000 Hz"));
  CHECK(set("allow_unstable_gains", true).empty() && set("kp", std::vector<double>{1e9}).empty());
  CHECK(set("kp", std::vector<double>{100.0}).empty());
  CHECK(set("following_tolerance", 0.04).empty());
  CHECK(cycle() == controller_interface::return_type::ERROR && hardware.all_zero());
  CHECK(set("following_tolerance", 0.2).empty());

  // Every mode, from one to the next without a jump; the link is led in steps.
  CHECK(has(set("mode", std::string("nonsense")), "mode is nonsense, but the library has only"));
  const auto effort = [&] { return hardware.commands[0]->get_optional().value_or(0.0); };
  CHECK(send(0.05, 0.0, 0.0).empty());
  for (int k = 0; k < 400; ++k) (void)cycle();
  double last = effort(), largest = 0.0;
  for (const char *mode : {"joint_impedance", "virtual_decomposition", "cartesian_impedance",
                           "gravity_compensation", "computed_torque", "cartesian_impedance"}) {
    CHECK(set("mode", std::string(mode)).empty());
    for (int k = 0; k < 300; ++k) {
      CHECK(cycle() == good);
      largest = std::fmax(largest, std::fabs(effort() - last));
      last = effort();
    }
  }
  CHECK(largest < 0.1 && std::fabs(last) > 1.0);
  CHECK(has(send(0.05, 0.0, 0.0), "the mode is cartesian_impedance, which follows no joints"));
  const auto aim = [&](double x, double z, double w, const char *frame) {
    geometry_msgs::msg::PoseStamped message;
    message.header.frame_id = frame;
    message.pose.position.x = x;
    message.pose.position.z = z;
    message.pose.orientation.w = w;
    stand_in::said().lines.clear();
    CHECK(node->deliver("~/target", message));
    return stand_in::said().lines.empty() ? std::string() : stand_in::said().lines.back();
  };
  CHECK(has(aim(0.0, 0.0, 1.0, "camera"), "it is in frame camera"));
  CHECK(has(aim(0.0, 0.0, 0.5, ""), "a unit quaternion"));
  CHECK(has(aim(1e300, 0.0, 1.0, ""), "expected at most 1e+12"));
  CHECK(has(aim(0.5, 0.0, 1.0, ""), "lead it there in steps"));
  CHECK(set("link_stiffness", std::vector<double>{100.0}).empty());
  for (int k = 0; k < 300; ++k) CHECK(cycle() == good);
  last = effort();
  CHECK(aim(0.0, 0.1, 1.0, "base").empty() && cycle() == good);
  CHECK(set("link_stiffness", std::vector<double>{1.0, 2.0}) != "");
  CHECK(set("mode", std::string("computed_torque")).empty() && cycle() == good);

  // Behind another controller: held to the limits, ended by nonsense and by a far start.
  CHECK(controller.set_chained_mode(true));
  const auto lead = [&](std::size_t k, double value) { CHECK(inputs[k]->set_value(value)); };
  const auto again = [&] {
    CHECK(controller.on_deactivate(any) == CallbackReturn::SUCCESS && hardware.all_zero());
    CHECK(controller.on_activate(any) == CallbackReturn::SUCCESS);
    for (std::size_t k = 0; k < n; ++k) lead(k, 0.05);
  };
  again();
  CHECK(cycle() == good);
  CHECK(has(send(0.05, 0.0, 0.0), "a controller is in front"));
  lead(0, 0.3);
  CHECK(cycle() == controller_interface::return_type::ERROR && hardware.all_zero());
  again();
  lead(0, 0.15);  // more than start_tolerance
  CHECK(cycle() == controller_interface::return_type::ERROR && hardware.all_zero());
  again();
  CHECK(cycle() == good && set("following_tolerance", 1.0).empty());
  lead(0, 0.4);  // the gear would turn beyond its limit
  CHECK(cycle() == good);
  stand_in::said().lines.clear();
  node->fire();
  CHECK(!stand_in::said().lines.empty() &&
        has(stand_in::said().lines.back(), "gear, which other joints determine"));
  CHECK(set("following_tolerance", 0.2).empty());
  again();
  lead(n, 1e300);
  CHECK(cycle() == controller_interface::return_type::ERROR && hardware.all_zero());
  again();
  lead(n, 1e9);
  CHECK(cycle() == good);
  stand_in::said().lines.clear();
  node->fire();
  const auto &lines = stand_in::said().lines;
  CHECK(!lines.empty() && (has(lines.back(), "was limited") || has(lines.back(), "held to them")));

  // States that stand still while they move; of the topic, none of the hardware's.
  lead(n, 0.0);
  again();
  for (const auto &one : hardware.states) {
    if (has(one->get_name(), "/velocity")) CHECK(one->set_value(0.3));
  }
  bool held = true;
  for (int k = 0; k < 150; ++k) held = held && cycle() == good;
  CHECK(held && hardware.all_zero());
  stand_in::said().lines.clear();
  sensor_msgs::msg::JointState state;
  state.header.stamp = now();
  state.name = given::joints;
  state.position.assign(n, 0.7);
  CHECK(node->deliver("states", state) && cycle() == good);
  node->fire();
  std::string all;
  for (const auto &line : stand_in::said().lines) all += line + "\n";
  CHECK(has(all, "positions stand still although"));
  CHECK(has(all, "no message of states has the positions that the hardware reports"));
  CHECK(controller.on_deactivate(any) == CallbackReturn::SUCCESS && hardware.all_zero());
}

// What the controller does about an arm that is blocked while a reference leads it away.
void contacts(char **arguments, const char *kind) {
  std::ifstream file(arguments[2], std::ios::binary);
  const std::string description(std::istreambuf_iterator<char>(file), {});
  given::library = arguments[1];
  given::reaction = kind;
  Hardware hardware;
  DynamicsController controller;
  CHECK(controller.init("controller", description, 1000) == CallbackReturn::SUCCESS);
  given::stiffness = {};
  if (std::string("float") != kind) {
    DynamicsController slack;
    stand_in::said().lines.clear();
    CHECK(slack.init("controller", description, 1000) == CallbackReturn::SUCCESS);
    CHECK(slack.on_configure(any) == CallbackReturn::FAILURE);
    CHECK(has(stand_in::said().lines.back(), "give joint joint_stiffness above 0"));
  }
  given::stiffness = {50.0};
  CHECK(controller.on_configure(any) == CallbackReturn::SUCCESS);
  (void)controller.export_reference_interfaces();
  hardware.offer(controller.command_interface_configuration().names,
                 controller.state_interface_configuration().names);
  hardware.lend(controller);
  CHECK(controller.on_activate(any) == CallbackReturn::SUCCESS);
  const auto node = controller.get_node();
  std::int64_t time = now().nanoseconds();
  const auto state = [&](double q, double v) {
    for (const auto &one : hardware.states) {
      CHECK(one->set_value(has(one->get_name(), "/position") ? q : v));
    }
  };
  const auto cycle = [&] {
    time += 1'000'000;
    CHECK(controller.update(rclcpp::Time(time), period) == controller_interface::return_type::OK);
    return hardware.commands[0]->get_optional().value_or(0.0);
  };
  const auto send = [&](double q, double v = 0.0) {
    trajectory_msgs::msg::JointTrajectory message;
    message.header.stamp = rclcpp::Time(time);
    message.joint_names = given::joints;
    message.points.resize(1);
    message.points[0].positions.assign(1, q);
    message.points[0].velocities.assign(1, v);
    stand_in::said().lines.clear();
    CHECK(node->deliver("~/reference", message));
    return stand_in::said().lines.empty() ? std::string() : stand_in::said().lines.back();
  };
  CHECK(node->set_parameters_atomically({{"reference_timeout", 0.0}}).successful);
  const double slope = 0.2, hold = 6.0 * 0.981;  // rad/s; N m of the weight at 0
  for (int k = 0; k < 400; ++k) {
    const double q = slope * 1e-3 * (k - 400);
    state(q, slope);
    if (k > 0) CHECK(send(q, slope).empty());
    (void)cycle();
  }
  state(0.0, 0.0);
  CHECK(send(0.09).empty());  // it does not move any more
  for (int k = 0; k < 60; ++k) (void)cycle();
  stand_in::said().lines.clear();
  node->fire();
  CHECK(!stand_in::said().lines.empty() &&
        has(stand_in::said().lines.back(), "a contact, of which joint shows most"));
  CHECK(has(send(0.09), "reacts to a contact"));
  double effort = 0.0, least = 100.0;
  for (int k = 0; k < 1500; ++k) least = std::fmin(least, effort = cycle());
  // What is stiff holds the weight where the arm is; what retracts pulls it back by 50 N m/rad.
  const double back = std::string("retract") == kind ? 50.0 * slope * 0.4 : 0.0;
  CHECK(std::fabs(-effort - hold - back) < 0.2 || std::fabs(effort - hold + back) < 0.2);
  CHECK(node->set_parameters_atomically({{"mode", std::string("gravity_compensation")}})
            .successful);
  (void)cycle();
  CHECK(node->set_parameters_atomically({{"mode", std::string("computed_torque")}}).successful);
  (void)cycle();
  CHECK(send(0.01).empty());
  CHECK(controller.on_deactivate(any) == CallbackReturn::SUCCESS && hardware.all_zero());
  given::reaction = "none";
}

}  // namespace

int main(int, char **arguments) {
  references(arguments);
  for (const char *kind : {"stop", "float", "retract"}) contacts(arguments, kind);
  given::reaction = "retract";
  live<DynamicsController>(arguments, "DynamicsController", true);
  live<LoopStateBroadcaster>(arguments, "LoopStateBroadcaster", false);
  live<ExternalEffortBroadcaster>(arguments, "ExternalEffortBroadcaster", false);
  return failures != 0;
}
