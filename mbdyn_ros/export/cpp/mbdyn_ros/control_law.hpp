/* ControlLaw: the laws of control of a robot, for the thread of a control loop. */
#ifndef MBDYN_ROS_CONTROL_LAW_HPP
#define MBDYN_ROS_CONTROL_LAW_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/admittance.hpp"
#include "mbdyn_ros/latest.hpp"
#include "mbdyn_ros/model.hpp"
#include "mbdyn_ros/payload.hpp"

namespace mbdyn_ros {

/* Reference of the independent joints: nv numbers each. */
struct Reference {
  const double *q, *v, *a;
};

/* Reference of a link in world axes: place, quaternion x y z w, twist and its rate, linear before
   angular. */
struct PoseReference {
  std::array<double, 3> place{};
  std::array<double, 4> turn{0.0, 0.0, 0.0, 1.0};
  std::array<double, 6> twist{}, twist_rate{};
};

/* What a supervisor may change while the loop runs. Vectors keep their sizes. */
struct Settings {
  std::size_t mode = 0;                 /* place in the table's modes */
  bool friction = true;                 /* compensate friction, at the reference's velocity */
  std::vector<double> gains;            /* of all modes, one after the other: `place_of_gain` */
  std::vector<double> effort_limit;     /* efforts each; infinite: none */
  std::vector<double> parameters;       /* of the robot, payloads included */
};

/* The laws are those of the robot's library, the same programs as in Python (docs/control.md); this
   adds limits, payloads, and changes without a jump.

   Made and set outside the loop; `update` is for the loop's thread, and neither allocates, locks
   nor throws. One thread may set while another one updates: a cycle has all of the old settings or
   all of the new ones. After a change the efforts fade over `blend` seconds from what they were, by
   the polynomial of degree 5 without slope and curvature at its ends. */
class ControlLaw {
 public:
  /* Why a robot has no such laws; empty where it has. */
  static std::string refusal(const mbdyn_ros_model &table) {
    if (table.q.count != table.v.count) {
      return std::string(table.robot) +
             ": positions with quaternions (a floating base, a ball joint) have no error that "
             "gains multiply";
    }
    if (table.inverse_dynamics == nullptr || table.mode_count == 0) {
      return std::string(table.robot) + ": its actuated joints do not determine its motion";
    }
    return {};
  }

  /* Of a table that has no `refusal`. */
  explicit ControlLaw(const mbdyn_ros_model &table, double blend = 0.0)
      : model_(table),
        set_(defaults(table)),
        settings_(set_),
        blend_(blend),
        wanted_(3 * table.v.count),
        posture_(table.v.count),
        rub_(table.effort.count),
        fading_(table.effort.count),
        before_(table.effort.count),
        yielded_(table.v.count) {
    std::size_t first = 0, most = wanted_.size();
    for (std::size_t k = 0; k < table.mode_count; ++k) {
      gains_from_.push_back(first);
      yields_from_.push_back(none);
      for (std::size_t j = 0; j < table.modes[k].gain_count; ++j) {
        if (std::string_view("admittance_inertia") == table.modes[k].gains[j].name) {
          yields_from_.back() = first; /* and damping, stiffness and dead zone after it */
        }
        first += table.modes[k].gains[j].count;
      }
      if (table.modes[k].wanted_count > most) most = table.modes[k].wanted_count;
    }
    wanted_.resize(most);
  }

  /* Place of a mode among the table's; their count where it has none of that name. */
  static std::size_t place_of_mode(const mbdyn_ros_model &table, std::string_view name) noexcept {
    std::size_t k = 0;
    while (k < table.mode_count && name != table.modes[k].name) ++k;
    return k;
  }

  /* First number of a gain among `Settings::gains`, and how many it has; none: count 0. */
  struct Gain {
    std::size_t first = 0, count = 0, mode = 0;
  };
  static Gain place_of_gain(const mbdyn_ros_model &table, std::string_view name) noexcept {
    Gain place;
    for (std::size_t k = 0; k < table.mode_count; ++k) {
      for (std::size_t j = 0; j < table.modes[k].gain_count; ++j) {
        const mbdyn_ros_gain &one = table.modes[k].gains[j];
        if (name == one.name) return {place.first, one.count, k};
        place.first += one.count;
      }
    }
    return {};
  }

  /* Put a gain into settings: none (zeros), one for all, or one for each number; words, and
     nothing changed, where there is no such gain or it has other numbers. */
  static std::string set_gain(const mbdyn_ros_model &table, Settings &settings,
                              std::string_view name, const std::vector<double> &values) {
    const Gain place = place_of_gain(table, name);
    if (place.count == 0) {
      std::string known;
      for (std::size_t k = 0; k < table.mode_count; ++k) {
        for (std::size_t j = 0; j < table.modes[k].gain_count; ++j) {
          known += (known.empty() ? "" : ", ") + std::string(table.modes[k].gains[j].name);
        }
      }
      return "there is no gain '" + std::string(name) + "'; there are " + known;
    }
    if (values.size() > 1 && values.size() != place.count) {
      return std::string(name) + " has " + std::to_string(values.size()) +
             " numbers; expected none, one for all, or " + std::to_string(place.count);
    }
    for (const double x : values) {
      if (!std::isfinite(x) || x < 0.0) {
        return std::string(name) + " has the number " + std::to_string(x) +
               "; expected 0 or more, and finite";
      }
    }
    for (std::size_t k = 0; k < place.count; ++k) {
      settings.gains[place.first + k] =
          values.empty() ? 0.0 : values[values.size() == 1 ? 0 : k];
    }
    return {};
  }

  /* The first mode, gains of zero, the limits and parameters of the description. */
  static Settings defaults(const mbdyn_ros_model &table) {
    Settings settings;
    std::size_t count = 0;
    for (std::size_t k = 0; k < table.mode_count; ++k) {
      for (std::size_t j = 0; j < table.modes[k].gain_count; ++j) {
        count += table.modes[k].gains[j].count;
      }
    }
    settings.gains.assign(count, 0.0);
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
    std::string words;
    if (settings.mode >= table.mode_count) words = "there is no such mode";
    if (words.empty()) words = wrong(settings.gains, "gains", set_.gains.size(), false);
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
    Settings next = set_;
    const std::string words = mbdyn_ros::set_payload(model_.table(), link, body, next.parameters);
    return words.empty() ? set(next) : words;
  }

  static constexpr double farthest = 0.1; /* rad or m in a cycle */

  /* Start again: loops from home, without fading. */
  void reset() noexcept {
    model_.start();
    left_ = 0.0;
    first_ = true;
    yielded_.rest();
  }

  /* For the loop's thread: the mode of the next cycle, which `update` then has. */
  const mbdyn_ros_mode &mode() noexcept {
    next_ = &settings_.get();
    return model_.table().modes[mode_of(*next_)];
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /* For the loop's thread: another mode than that of the settings, such as after a contact; none:
     that of the settings. */
  void force_mode(std::size_t mode) noexcept { forced_ = mode; }

  /* For the loop's thread: the settings of the last `update`. */
  const Settings *applied() const noexcept { return seen_; }

  /* How far the joints give way to external efforts. */
  const Admittance &yielded() const noexcept { return yielded_; }

  /* Efforts at the measured state (q, v), within their limits; zeros where there is no answer.
     Searched loops are walked to at first; then a q that is farther than `farthest` from the last
     one is refused, which keeps the time of a cycle bounded, until `reset`.
     period: since the last cycle, s. pose, posture (nv): what a mode that follows a pose follows,
     and where it draws the joints without moving the link; null: where the link is, at rest.
     external (nv): efforts to which the mode `admittance` gives way; null: none. */
  Status update(const double *q, const double *v, const Reference &reference, double period,
                double *effort, const PoseReference *pose = nullptr,
                const double *posture = nullptr, const double *external = nullptr) noexcept {
    const Settings &now = next_ != nullptr ? *next_ : settings_.get();
    next_ = nullptr;
    const std::size_t mode = mode_of(now);
    const bool changed = mode != mode_;
    mode_ = mode;
    if (changed) yielded_.rest();
    if (yields_from_[mode] != none && external != nullptr && !first_ && period > 0.0) {
      yielded_.advance(external, period, &now.gains[yields_from_[mode]], reference.q,
                       model_.table().q_lower, model_.table().q_upper);
    }
    const Status status = law(now, q, v, reference, pose, posture, effort);
    const std::size_t count = before_.size();
    saturated_ = count;
    if (status != Status::ok) {
      for (std::size_t k = 0; k < count; ++k) effort[k] = 0.0;
      first_ = true;
      return status;
    }
    if (first_) model_.limit_jumps(farthest);
    if ((&now != seen_ || changed) && !first_ && blend_ > 0.0) {
      for (std::size_t k = 0; k < count; ++k) fading_[k] = before_[k] - effort[k];
      left_ = blend_;
    }
    if (left_ > 0.0 && !first_) {
      const double part = 1.0 - left_ / blend_;
      const double share = 1.0 - part * part * part * (10.0 - part * (15.0 - 6.0 * part));
      for (std::size_t k = 0; k < count; ++k) effort[k] += fading_[k] * share;
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
             const PoseReference *pose, const double *posture, double *effort) noexcept {
    const mbdyn_ros_mode &mode = model_.table().modes[mode_];
    const std::size_t n = posture_.size();
    if (mode.follows == MBDYN_ROS_JOINTS) {
      for (std::size_t k = 0; k < n; ++k) {
        wanted_[k] = reference.q[k] + yielded_.y[k] - q[k];
        wanted_[n + k] = reference.v[k] + yielded_.rate[k];
        wanted_[2 * n + k] = reference.a[k] + yielded_.acceleration[k];
      }
    } else if (mode.follows == MBDYN_ROS_POSE) {
      PoseReference here;
      if (pose == nullptr) {
        std::array<double, 7> found{};
        const Status status = model_.link_pose(q, found.data());
        if (status != Status::ok) return status;
        for (std::size_t k = 0; k < 7; ++k) (k < 3 ? here.place[k] : here.turn[k - 3]) = found[k];
        pose = &here;
      }
      double *next = wanted_.data();
      for (const double x : pose->place) *next++ = x;
      for (const double x : pose->turn) *next++ = x;
      for (const double x : pose->twist) *next++ = x;
      for (const double x : pose->twist_rate) *next++ = x;
      for (std::size_t k = 0; k < n; ++k) *next++ = posture == nullptr ? 0.0 : posture[k] - q[k];
    }
    const double *gains = now.gains.data() + gains_from_[mode_];
    const double *parameters = now.parameters.data();
    Status status = model_.control(mode, q, v, wanted_.data(), gains, parameters, effort);
    if (status == Status::ok && mode.follows == MBDYN_ROS_JOINTS && !now.friction &&
        model_.has_friction()) {
      status = model_.friction_effort(q, reference.v, parameters, rub_.data());
      for (std::size_t k = 0; k < rub_.size(); ++k) effort[k] -= rub_[k];
    }
    return status;
  }

  std::size_t mode_of(const Settings &settings) const noexcept {
    return forced_ == none ? settings.mode : forced_;
  }

  Model model_;
  Settings set_;
  Latest<Settings> settings_;
  double blend_, left_ = 0.0;
  bool first_ = true;
  const Settings *seen_ = nullptr, *next_ = nullptr;
  std::vector<double> wanted_, posture_, rub_, fading_, before_;
  Admittance yielded_;
  std::vector<std::size_t> gains_from_, yields_from_; /* of each mode */
  std::size_t mode_ = none, forced_ = none;
  std::size_t saturated_ = 0;
};

}  // namespace mbdyn_ros

#endif
