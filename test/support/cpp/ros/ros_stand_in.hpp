/* What the plugins ask of ROS 2 and ros2_control, as small as it can be with the same threads:
   callbacks are taken by shared pointers and run outside of all locks, parameters are set under one
   recursive lock by callbacks that are kept weakly (the newest first), an interface is only tried,
   never waited for. */
#ifndef ROS_STAND_IN_HPP
#define ROS_STAND_IN_HPP

#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace given {  // the robot of the test

inline std::string library;
inline const std::vector<std::string> joints{"joint"};
inline std::string reaction = "none";
inline std::vector<double> stiffness{50.0};

}  // namespace given

namespace stand_in {

struct Log {
  std::mutex lock;
  std::vector<std::string> lines;
};
inline Log &said() {
  static Log all;
  return all;
}
inline void write(const char *format, ...) {
  char text[2000];
  va_list given;
  va_start(given, format);
  std::vsnprintf(text, sizeof text, format, given);
  va_end(given);
  const std::lock_guard<std::mutex> alone(said().lock);
  if (said().lines.size() < 100000) said().lines.emplace_back(text);
}

}  // namespace stand_in

namespace rcl_interfaces::msg {
struct SetParametersResult {
  bool successful = true;
  std::string reason;
};
}  // namespace rcl_interfaces::msg

namespace rclcpp {

class Time {
 public:
  explicit Time(std::int64_t nanoseconds = 0) : nanoseconds_(nanoseconds) {}
  std::int64_t nanoseconds() const { return nanoseconds_; }

 private:
  std::int64_t nanoseconds_;
};
class Duration {
 public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }

 private:
  double seconds_;
};
class Clock {
 public:
  using SharedPtr = std::shared_ptr<Clock>;
  Time now() const {
    return Time(std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count());
  }
};
class Logger {};
#define RCLCPP_ERROR(logger, ...) ((void)(logger), stand_in::write(__VA_ARGS__))
#define RCLCPP_WARN(logger, ...) ((void)(logger), stand_in::write(__VA_ARGS__))
#define RCLCPP_INFO(logger, ...) ((void)(logger), stand_in::write(__VA_ARGS__))
#define RCLCPP_WARN_THROTTLE(logger, clock, pause, ...) \
  ((void)(clock), (void)(pause), RCLCPP_WARN(logger, __VA_ARGS__))

struct ParameterTypeException : std::runtime_error {
  using std::runtime_error::runtime_error;
};
class Parameter {
 public:
  using Value = std::variant<bool, double, std::string, std::vector<double>,
                             std::vector<std::string>>;
  Parameter(std::string name, Value value) : name_(std::move(name)), value_(std::move(value)) {}
  const std::string &get_name() const { return name_; }
  const Value &value() const { return value_; }
  bool as_bool() const { return as<bool>(); }
  double as_double() const { return as<double>(); }
  const std::string &as_string() const { return as<std::string>(); }
  const std::vector<double> &as_double_array() const { return as<std::vector<double>>(); }

 private:
  template <class T>
  const T &as() const {
    if (const T *value = std::get_if<T>(&value_)) return *value;
    throw ParameterTypeException(name_ + " has another type");
  }
  std::string name_;
  Value value_;
};

namespace node_interfaces {
struct OnSetParametersCallbackHandle {
  using SharedPtr = std::shared_ptr<OnSetParametersCallbackHandle>;
  std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<Parameter> &)> callback;
};
struct PostSetParametersCallbackHandle {
  using SharedPtr = std::shared_ptr<PostSetParametersCallbackHandle>;
  std::function<void(const std::vector<Parameter> &)> callback;
};
}  // namespace node_interfaces

struct SystemDefaultsQoS {};
class QoS {
 public:
  explicit QoS(std::size_t) {}
  QoS &transient_local() { return *this; }
};
struct SensorDataQoS {};
class SubscriptionBase {
 public:
  using SharedPtr = std::shared_ptr<SubscriptionBase>;
  explicit SubscriptionBase(std::string topic) : topic_(std::move(topic)) {}
  virtual ~SubscriptionBase() = default;
  const char *get_topic_name() const { return topic_.c_str(); }
  std::size_t get_publisher_count() const { return 1; }

 private:
  std::string topic_;
};
template <class Message>
struct Subscription : SubscriptionBase {
  Subscription(const std::string &topic, std::function<void(const Message &)> taken)
      : SubscriptionBase(topic), callback(std::move(taken)) {}
  std::function<void(const Message &)> callback;
};
template <class Message>
struct Publisher {
  std::atomic<long> sent{0};
};
struct TimerBase {
  using SharedPtr = std::shared_ptr<TimerBase>;
  std::function<void()> callback;
};

}  // namespace rclcpp

namespace rclcpp_lifecycle {

class State {};

class LifecycleNode {
 public:
  explicit LifecycleNode(std::string name) : name_(std::move(name)) {}
  const char *get_name() const { return name_.c_str(); }
  rclcpp::Logger get_logger() const { return {}; }
  rclcpp::Clock::SharedPtr get_clock() const { return clock_; }

  template <class Message, class Quality, class Callback>
  std::shared_ptr<rclcpp::Subscription<Message>> create_subscription(const std::string &topic,
                                                                     Quality, Callback callback) {
    auto made = std::make_shared<rclcpp::Subscription<Message>>(topic, callback);
    const std::lock_guard<std::mutex> alone(lock_);
    subscriptions_.push_back(made);
    return made;
  }
  template <class Message, class Quality>
  std::shared_ptr<rclcpp::Publisher<Message>> create_publisher(const std::string &, Quality) {
    return std::make_shared<rclcpp::Publisher<Message>>();
  }
  template <class Callback>
  rclcpp::TimerBase::SharedPtr create_wall_timer(std::chrono::seconds, Callback callback) {
    auto made = std::make_shared<rclcpp::TimerBase>();
    made->callback = callback;
    const std::lock_guard<std::mutex> alone(lock_);
    timers_.push_back(made);
    return made;
  }

  // The executor: what is there now, held while its callback runs.
  template <class Message>
  bool deliver(const std::string &topic, const Message &message) {
    std::shared_ptr<rclcpp::Subscription<Message>> taken;
    {
      const std::lock_guard<std::mutex> alone(lock_);
      subscriptions_.remove_if([](const auto &one) { return one.expired(); });
      for (const auto &one : subscriptions_) {
        const auto held = one.lock();
        if (held && topic == held->get_topic_name()) {
          taken = std::dynamic_pointer_cast<rclcpp::Subscription<Message>>(held);
        }
      }
    }
    if (!taken) return false;
    std::this_thread::yield();
    taken->callback(message);
    return true;
  }
  void fire() {
    std::vector<rclcpp::TimerBase::SharedPtr> taken;
    {
      const std::lock_guard<std::mutex> alone(lock_);
      timers_.remove_if([](const auto &one) { return one.expired(); });
      for (const auto &one : timers_) {
        if (auto held = one.lock()) taken.push_back(std::move(held));
      }
    }
    for (const auto &one : taken) one->callback();
  }

  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
      std::function<rcl_interfaces::msg::SetParametersResult(
          const std::vector<rclcpp::Parameter> &)> callback) {
    auto made = std::make_shared<rclcpp::node_interfaces::OnSetParametersCallbackHandle>();
    made->callback = std::move(callback);
    const std::lock_guard<std::recursive_mutex> alone(parameters_);
    checks_.emplace_front(made);
    return made;
  }
  rclcpp::node_interfaces::PostSetParametersCallbackHandle::SharedPtr
  add_post_set_parameters_callback(
      std::function<void(const std::vector<rclcpp::Parameter> &)> callback) {
    auto made = std::make_shared<rclcpp::node_interfaces::PostSetParametersCallbackHandle>();
    made->callback = std::move(callback);
    const std::lock_guard<std::recursive_mutex> alone(parameters_);
    ends_.emplace_front(made);
    return made;
  }
  bool has_parameter(const std::string &) {
    const std::lock_guard<std::recursive_mutex> alone(parameters_);
    return true;
  }
  rcl_interfaces::msg::SetParametersResult set_parameters_atomically(
      const std::vector<rclcpp::Parameter> &given) {
    const std::lock_guard<std::recursive_mutex> alone(parameters_);
    for (auto one = checks_.begin(); one != checks_.end();) {
      if (const auto held = one->lock()) {
        const auto result = held->callback(given);
        if (!result.successful) return result;
        ++one;
      } else {
        one = checks_.erase(one);
      }
    }
    for (auto one = ends_.begin(); one != ends_.end();) {
      if (const auto held = one->lock()) {
        held->callback(given);
        ++one;
      } else {
        one = ends_.erase(one);
      }
    }
    return {};
  }

 private:
  const std::string name_;
  const rclcpp::Clock::SharedPtr clock_ = std::make_shared<rclcpp::Clock>();
  std::mutex lock_;
  std::list<std::weak_ptr<rclcpp::SubscriptionBase>> subscriptions_;
  std::list<std::weak_ptr<rclcpp::TimerBase>> timers_;
  std::recursive_mutex parameters_;
  std::list<std::weak_ptr<rclcpp::node_interfaces::OnSetParametersCallbackHandle>> checks_;
  std::list<std::weak_ptr<rclcpp::node_interfaces::PostSetParametersCallbackHandle>> ends_;
};

}  // namespace rclcpp_lifecycle

namespace hardware_interface {

inline constexpr char HW_IF_POSITION[] = "position", HW_IF_VELOCITY[] = "velocity",
                      HW_IF_ACCELERATION[] = "acceleration", HW_IF_EFFORT[] = "effort";

class Handle {
 public:
  using SharedPtr = std::shared_ptr<Handle>;
  Handle(const std::string &prefix, const std::string &kind) : name_(prefix + "/" + kind) {}
  const std::string &get_name() const { return name_; }
  [[nodiscard]] bool set_value(double value) {
    const std::unique_lock<std::mutex> alone(lock_, std::try_to_lock);
    if (alone) value_ = value;
    return alone.owns_lock();
  }
  [[nodiscard]] std::optional<double> get_optional() const {
    const std::unique_lock<std::mutex> alone(lock_, std::try_to_lock);
    return alone ? std::optional<double>(value_) : std::nullopt;
  }

 private:
  const std::string name_;
  mutable std::mutex lock_;
  double value_ = std::numeric_limits<double>::quiet_NaN();
};
using CommandInterface = Handle;
using StateInterface = Handle;

class Loaned {
 public:
  explicit Loaned(Handle::SharedPtr handle) : handle_(std::move(handle)) {}
  const std::string &get_name() const { return handle_->get_name(); }
  [[nodiscard]] bool set_value(double value, unsigned tries = 10) {
    for (; tries > 0; --tries) {
      if (handle_->set_value(value)) return true;
      std::this_thread::yield();
    }
    return false;
  }
  [[nodiscard]] std::optional<double> get_optional(unsigned tries = 10) const {
    for (; tries > 0; --tries) {
      if (const auto value = handle_->get_optional()) return value;
      std::this_thread::yield();
    }
    return std::nullopt;
  }

 private:
  Handle::SharedPtr handle_;
};
using LoanedCommandInterface = Loaned;
using LoanedStateInterface = Loaned;

// What hardware knows of itself, and the interfaces that are made from that.
enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class CallbackReturn : std::uint8_t { SUCCESS, FAILURE, ERROR };
struct InterfaceInfo {
  std::string name, initial_value;
};
struct ComponentInfo {
  std::string name;
  std::vector<InterfaceInfo> command_interfaces, state_interfaces;
  std::unordered_map<std::string, std::string> parameters;
};
struct HardwareInfo {
  std::string name, original_xml;
  std::unordered_map<std::string, std::string> hardware_parameters;
  std::vector<ComponentInfo> joints, sensors;
};
struct HardwareComponentInterfaceParams {
  HardwareInfo hardware_info;
};
class SystemInterface {
 public:
  virtual ~SystemInterface() = default;
  virtual CallbackReturn on_init(const HardwareComponentInterfaceParams &params) {
    info_ = params.hardware_info;
    for (const auto *components : {&info_.joints, &info_.sensors}) {
      for (const ComponentInfo &one : *components) {
        for (const InterfaceInfo &kind : one.state_interfaces) offer(states_, one.name, kind.name);
        for (const InterfaceInfo &kind : one.command_interfaces) {
          offer(commands_, one.name, kind.name);
        }
      }
    }
    return CallbackReturn::SUCCESS;
  }
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual return_type prepare_command_mode_switch(const std::vector<std::string> &,
                                                  const std::vector<std::string> &) = 0;
  virtual return_type perform_command_mode_switch(const std::vector<std::string> &,
                                                  const std::vector<std::string> &) = 0;
  virtual return_type read(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  virtual return_type write(const rclcpp::Time &, const rclcpp::Duration &) = 0;
  rclcpp::Logger get_logger() const { return {}; }
  const Handle::SharedPtr &get_state_interface_handle(const std::string &name) const {
    return states_.at(name);
  }
  const Handle::SharedPtr &get_command_interface_handle(const std::string &name) const {
    return commands_.at(name);
  }
  bool set_state(const Handle::SharedPtr &handle, double value, bool) {
    return handle->set_value(value);
  }
  bool get_command(const Handle::SharedPtr &handle, double &value, bool) const {
    const auto found = handle->get_optional();
    if (found) value = *found;
    return found.has_value();
  }

 protected:
  HardwareInfo info_;

 private:
  using Handles = std::unordered_map<std::string, Handle::SharedPtr>;
  static void offer(Handles &handles, const std::string &prefix, const std::string &kind) {
    handles[prefix + "/" + kind] = std::make_shared<Handle>(prefix, kind);
  }
  Handles states_, commands_;
};

}  // namespace hardware_interface

namespace controller_interface {

enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class CallbackReturn : std::uint8_t { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type : std::uint8_t { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
};

class ControllerInterface {
 public:
  using State = rclcpp_lifecycle::State;

  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_cleanup(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_shutdown(const State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_error(const State &) { return CallbackReturn::SUCCESS; }
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;

  CallbackReturn init(const std::string &name, const std::string &description, unsigned rate) {
    description_ = description;
    rate_ = rate;
    node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>(name);
    return on_init();
  }
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  const std::string &get_robot_description() const { return description_; }
  unsigned get_update_rate() const { return rate_; }
  void assign_interfaces(std::vector<hardware_interface::Loaned> &&commands,
                         std::vector<hardware_interface::Loaned> &&states) {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }
  void release_interfaces() {
    command_interfaces_.clear();
    state_interfaces_.clear();
  }

 protected:
  std::vector<hardware_interface::Loaned> command_interfaces_, state_interfaces_;

 private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_;
  std::string description_;
  unsigned rate_ = 0;
};

class ChainableControllerInterface : public ControllerInterface {
 public:
  return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) final {
    if (!chained_) (void)update_reference_from_subscribers(time, period);
    return update_and_write_commands(time, period);
  }
  bool is_in_chained_mode() const { return chained_; }
  bool set_chained_mode(bool chained) {
    chained_ = chained;
    return on_set_chained_mode(chained);
  }
  const std::vector<hardware_interface::Handle::SharedPtr> &export_reference_interfaces() {
    ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
    return ordered_exported_reference_interfaces_;
  }

 protected:
  virtual std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() = 0;
  virtual bool on_set_chained_mode(bool) { return true; }
  virtual return_type update_reference_from_subscribers(const rclcpp::Time &,
                                                        const rclcpp::Duration &) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time &,
                                                const rclcpp::Duration &) = 0;
  std::vector<hardware_interface::CommandInterface::SharedPtr>
      ordered_exported_reference_interfaces_;

 private:
  std::atomic<bool> chained_{false};
};

}  // namespace controller_interface

namespace realtime_tools {
template <class Message>
class RealtimePublisher {
 public:
  explicit RealtimePublisher(std::shared_ptr<rclcpp::Publisher<Message>> publisher)
      : publisher_(std::move(publisher)) {}
  bool try_publish(const Message &message) {
    const std::unique_lock<std::mutex> alone(lock_, std::try_to_lock);
    if (alone) message_ = message;
    ++publisher_->sent;
    return alone.owns_lock();
  }

 private:
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
  std::mutex lock_;
  Message message_;
};
}  // namespace realtime_tools

#define PLUGINLIB_EXPORT_CLASS(plugin, base)

/* ---- messages ---- */
namespace builtin_interfaces::msg {
struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  Time &operator=(const rclcpp::Time &time) {
    sec = static_cast<std::int32_t>(time.nanoseconds() / 1'000'000'000);
    nanosec = static_cast<std::uint32_t>(time.nanoseconds() % 1'000'000'000);
    return *this;
  }
};
}  // namespace builtin_interfaces::msg
namespace std_msgs::msg {
struct Header {
  builtin_interfaces::msg::Time stamp;
  std::string frame_id;
};
}  // namespace std_msgs::msg
namespace std_msgs::msg {
struct Bool {
  bool data = false;
};
}  // namespace std_msgs::msg
namespace sensor_msgs::msg {
struct JointState {
  std_msgs::msg::Header header;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;
};
}  // namespace sensor_msgs::msg
namespace trajectory_msgs::msg {
struct JointTrajectoryPoint {
  std::vector<double> positions, velocities, accelerations, effort;
};
struct JointTrajectory {
  std_msgs::msg::Header header;
  std::vector<std::string> joint_names;
  std::vector<JointTrajectoryPoint> points;
};
}  // namespace trajectory_msgs::msg
namespace control_msgs::msg {
struct JointTrajectoryControllerState {
  std_msgs::msg::Header header;
  std::vector<std::string> joint_names;
  trajectory_msgs::msg::JointTrajectoryPoint reference, feedback, error, output;
};
}  // namespace control_msgs::msg
namespace geometry_msgs::msg {
struct Vector3 {
  double x = 0.0, y = 0.0, z = 0.0;
};
struct Point : Vector3 {};
struct Quaternion {
  double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};
struct Pose {
  Point position;
  Quaternion orientation;
};
struct PoseStamped {
  std_msgs::msg::Header header;
  Pose pose;
};
struct Wrench {
  Vector3 force, torque;
};
struct WrenchStamped {
  std_msgs::msg::Header header;
  Wrench wrench;
};
struct Inertia {
  double m = 0.0;
  Vector3 com;
  double ixx = 0.0, ixy = 0.0, ixz = 0.0, iyy = 0.0, iyz = 0.0, izz = 0.0;
};
struct InertiaStamped {
  std_msgs::msg::Header header;
  Inertia inertia;
};
}  // namespace geometry_msgs::msg

#endif
