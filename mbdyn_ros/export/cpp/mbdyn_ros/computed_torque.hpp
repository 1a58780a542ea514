/* ComputedTorque: control laws on the equations of a robot, for the thread of a control loop. */
#ifndef MBDYN_ROS_COMPUTED_TORQUE_HPP
#define MBDYN_ROS_COMPUTED_TORQUE_HPP

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros/model.hpp"
#include "mbdyn_ros/payload.hpp"

namespace mbdyn_ros {

/* With the error e = q_ref - q and e' = v_ref - v, the efforts are
   gravity_compensation: those that hold the robot at rest; it can be moved by hand.
   computed_torque: ID(q, v, a_ref + K e + D e'), Luh, Walker, Paul (1980): e'' + D e' + K e = 0
     whatever the robot's inertia, K in 1/s^2 and D in 1/s.
   joint_impedance: ID(q, v, a_ref) and those that do the work of K e + D e', springs and dampers
     at the independent joints, K in N m/rad or N/m and D in N m s/rad or N s/m. */
enum class Mode { gravity_compensation, computed_torque, joint_impedance };

/* Reference of the independent joints: nv numbers each. */
struct Reference {
  const double *q, *v, *a;
};

/* What a supervisor may change while the loop runs. Vectors keep their sizes. */
struct Settings {
  Mode mode = Mode::gravity_compensation;
  bool friction = true;                   /* compensate friction, at the reference's velocity */
  std::vector<double> stiffness, damping; /* K and D: nv each */
  std::vector<double> effort_limit;       /* efforts each; infinite: none */
  std::vector<double> parameters;         /* of the robot, payloads included */
};

/* Made and set outside the loop; `update` is for the loop's thread, and neither allocates, locks
   nor throws. One thread may set while another one updates: a cycle has all of the old settings or
   all of the new ones. After a change the efforts fade over `blend` seconds from what they were. */
class ComputedTorque {
 public:
  /* Why a robot has no such laws; empty where it has. */
  static std::string refusal(const mbdyn_ros_model &table) {
    if (table.inverse_dynamics == nullptr) {
      return std::string(table.robot) + ": its actuated joints do not determine its motion";
    }
    if (table.q.count != table.v.count) {
      return std::string(table.robot) +
             ": positions with quaternions (a floating base, a ball joint) have no error that "
             "gains multiply";
    }
    return {};
  }

  /* Of a table that has no `refusal`. */
  explicit ComputedTorque(const mbdyn_ros_model &table, double blend = 0.0)
      : model_(table),
        set_(defaults(table)),
        settings_(set_),
        blend_(blend),
        command_(table.v.count),
        force_(table.v.count),
        part_(table.effort.count),
        fading_(table.effort.count),
        before_(table.effort.count) {}

  /* Gains of zero, the limits and parameters of the description. */
  static Settings defaults(const mbdyn_ros_model &table) {
    Settings settings;
    settings.stiffness.assign(table.v.count, 0.0);
    settings.damping.assign(table.v.count, 0.0);
    settings.effort_limit.assign(table.effort_limit, table.effort_limit + table.effort.count);
    settings.parameters.assign(table.parameter_values,
                               table.parameter_values + table.parameters.count);
    return settings;
  }

  /* The settings that were made last. */
  const Settings &settings() const noexcept { return set_; }

  /* Let settings hold from the next cycle on; words, and nothing changed, where they cannot. */
  std::string set(const Settings &settings) {
    const mbdyn_ros_model &table = model_.table();
    const auto wrong = [](const std::vector<double> &values, const char *what, std::size_t size,
                          bool infinite) -> std::string {
      if (values.size() != size) {
        return std::string(what) + " has " + std::to_string(values.size()) + " numbers, not " +
               std::to_string(size);
      }
      for (const double x : values) {
        if (std::isnan(x) || x < 0.0 || (!infinite && std::isinf(x))) {
          return std::string(what) + " has the number " + std::to_string(x) +
                 (infinite ? "; expected 0 or more" : "; expected 0 or more, and finite");
        }
      }
      return {};
    };
    std::string words = wrong(settings.stiffness, "stiffness", table.v.count, false);
    if (words.empty()) words = wrong(settings.damping, "damping", table.v.count, false);
    if (words.empty()) {
      words = wrong(settings.effort_limit, "effort_limit", table.effort.count, true);
    }
    if (words.empty() && settings.parameters.size() != table.parameters.count) {
      words = "parameters has " + std::to_string(settings.parameters.size()) + " numbers, not " +
              std::to_string(table.parameters.count);
    }
    for (const double x : settings.parameters) {
      if (words.empty() && !std::isfinite(x)) words = "parameters are not all finite";
    }
    if (words.empty()) {
      set_ = settings;
      settings_.set(set_);
    }
    return words;
  }

  /* Fasten a body to a link instead of what was fastened there; words where that cannot be. */
  std::string set_payload(std::string_view link, const Payload &body) {
    const mbdyn_ros_model &table = model_.table();
    const std::size_t place = place_of_link(table.parameters, link);
    if (place == table.parameters.count) {
      return std::string(table.robot) + ": the inertia of link '" + std::string(link) +
             "' is not variable; write the library with --variable " + std::string(link);
    }
    if (const char *why = mbdyn_ros::refusal(body)) return why;
    Settings next = set_;
    for (std::size_t k = 0; k < numbers_of_a_link; ++k) {
      next.parameters[place + k] = table.parameter_values[place + k];
    }
    fasten(body, &next.parameters[place]);
    return set(next);
  }

  static constexpr double farthest = 0.1; /* rad or m in a cycle */

  /* Start again: loops from home, without fading. */
  void reset() noexcept {
    model_.start();
    left_ = 0.0;
    first_ = true;
  }

  /* Efforts at the measured state (q, v), within their limits; zeros where there is no answer.
     Searched loops are walked to at first; then a q that is farther than `farthest` from the last
     one is refused, which keeps the time of a cycle bounded, until `reset`.
     period: since the last cycle, s. */
  Status update(const double *q, const double *v, const Reference &reference, double period,
                double *effort) noexcept {
    const Settings &now = settings_.get();
    const Status status = law(now, q, v, reference, effort);
    const std::size_t count = before_.size();
    saturated_ = count;
    if (status != Status::ok) {
      for (std::size_t k = 0; k < count; ++k) effort[k] = 0.0;
      first_ = true;
      return status;
    }
    if (first_) model_.limit_jumps(farthest);
    if (&now != seen_ && !first_ && blend_ > 0.0) {
      for (std::size_t k = 0; k < count; ++k) fading_[k] = before_[k] - effort[k];
      left_ = blend_;
    }
    if (left_ > 0.0 && !first_) {
      for (std::size_t k = 0; k < count; ++k) effort[k] += fading_[k] * left_ / blend_;
      left_ = std::fmax(0.0, left_ - period);
    }
    seen_ = &now;
    first_ = false;
    for (std::size_t k = 0; k < count; ++k) {
      const double most = now.effort_limit[k];
      if (std::fabs(effort[k]) > most) {
        effort[k] = std::copysign(most, effort[k]);
        if (saturated_ == count) saturated_ = k;
      }
      before_[k] = effort[k];
    }
    return status;
  }

  /* The first effort that was limited in the last cycle; the number of efforts where none was. */
  std::size_t saturated() const noexcept { return saturated_; }

  /* The equations with the loops of this law: for its thread. */
  Model &model() noexcept { return model_; }

 private:
  Status law(const Settings &now, const double *q, const double *v, const Reference &reference,
             double *effort) noexcept {
    const double *parameters = now.parameters.data();
    if (now.mode == Mode::gravity_compensation) {
      return model_.gravity_effort(q, parameters, effort);
    }
    const std::size_t count = command_.size();
    for (std::size_t k = 0; k < count; ++k) {
      force_[k] = now.stiffness[k] * (reference.q[k] - q[k]) +
                  now.damping[k] * (reference.v[k] - v[k]);
      command_[k] = reference.a[k];
      if (now.mode == Mode::computed_torque) command_[k] += force_[k];
      if (!std::isfinite(force_[k])) return Status::not_finite;
    }
    Status status = model_.inverse_dynamics(q, v, command_.data(), parameters, effort);
    if (status == Status::ok && model_.has_friction()) {  /* that at the measured v is in it */
      status = add(model_.friction_effort(q, v, parameters, part_.data()), -1.0, effort);
      if (status == Status::ok && now.friction) {
        status = add(model_.friction_effort(q, reference.v, parameters, part_.data()), 1.0, effort);
      }
    }
    if (status == Status::ok && now.mode == Mode::joint_impedance) {
      status = add(model_.actuated_effort(q, force_.data(), part_.data()), 1.0, effort);
    }
    return status;
  }

  /* Add the efforts in part_, with a sign, where they have a status of ok. */
  Status add(Status status, double sign, double *effort) const noexcept {
    for (std::size_t k = 0; k < part_.size(); ++k) effort[k] += sign * part_[k];
    return status;
  }

  Model model_;
  Settings set_;
  Latest<Settings> settings_;
  double blend_, left_ = 0.0;
  bool first_ = true;
  const Settings *seen_ = nullptr;
  std::vector<double> command_, force_, part_, fading_, before_;
  std::size_t saturated_ = 0;
};

}  // namespace mbdyn_ros

#endif
