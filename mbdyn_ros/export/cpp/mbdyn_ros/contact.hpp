/* Contacts seen in external efforts, and what a control loop does about them. */
#ifndef MBDYN_ROS_CONTACT_HPP
#define MBDYN_ROS_CONTACT_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/model.h"

namespace mbdyn_ros {

/* External efforts that free motion does not reach, N m or N: `mbdyn observe --learn` and the
   service ~/learn of the nodes find them. No numbers of joints: nothing is ever a contact. */
struct Thresholds {
  std::vector<double> joint, center; /* (nv); no centers: zeros */
  double whole = 1.0;                /* of the norm of (effort - center) / joint */

  /* Why they are none of a robot; empty where they are. */
  std::string refusal(const mbdyn_ros_model &table) const {
    const auto wrong = [&table](const char *name, const std::vector<double> &numbers, bool zero) {
      if (!numbers.empty() && numbers.size() != table.v.count) {
        return std::string(name) + " has " + std::to_string(numbers.size()) + " numbers; " +
               table.robot + " has " + std::to_string(table.v.count) + " velocities";
      }
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (!std::isfinite(numbers[k]) || (!zero && !(numbers[k] > 0.0))) {
          return std::string(name) + " of " + table.v.names[k] + " is " +
                 std::to_string(numbers[k]) + (zero ? "" : ": it must be above 0");
        }
      }
      return std::string();
    };
    std::string words = wrong("thresholds", joint, false);
    if (words.empty()) words = wrong("centers", center, true);
    if (words.empty() && !(whole > 0.0 && std::isfinite(whole))) {
      words = "threshold_in_all is " + std::to_string(whole) + ": it must be above 0";
    }
    return words;
  }
};

/* Python's ContactDetector, without the links that can have been hit. Neither allocates nor throws
   after it is made. */
class ContactDetector {
 public:
  static constexpr double lingering = 0.5, release = 0.05; /* share of thresholds, s below it */

  /* Of thresholds without `refusal`. */
  explicit ContactDetector(const Thresholds &thresholds) : thresholds_(thresholds) {
    thresholds_.center.resize(thresholds_.joint.size());
  }

  /* Look at external efforts (nv) of a time (s): true where a contact begins. */
  bool update(double now, const double *external) noexcept {
    double largest = 0.0, square = 0.0;
    std::size_t most = 0;
    for (std::size_t k = 0; k < thresholds_.joint.size(); ++k) {
      const double y = std::fabs(external[k] - thresholds_.center[k]) / thresholds_.joint[k];
      if (y > largest) most = k;
      largest = std::fmax(largest, y);
      square += y * y;
    }
    const double share = std::fmax(largest, std::sqrt(square) / thresholds_.whole);
    if (touches_) {
      if (share > lingering) {
        seen_ = now;
      } else if (now - seen_ > release || now < seen_) {
        touches_ = false;
      }
      return false;
    }
    if (!(share > 1.0)) return false;
    touches_ = true;
    seen_ = now;
    joint_ = most;
    return true;
  }

  void forget() noexcept { touches_ = false; }

  bool touches() const noexcept { return touches_; }
  std::size_t joint() const noexcept { return joint_; } /* that showed most when it began */

 private:
  Thresholds thresholds_;
  bool touches_ = false;
  double seen_ = 0.0;
  std::size_t joint_ = 0;
};

/* Python's Reaction: what a control loop follows after a contact. stop: the joints stay where they
   are; yielding: they follow nothing (gravity compensation); retract: they go back along their path
   of the last `way` seconds, as slowly again. Neither allocates nor throws after it is made. */
enum class ReactionKind { none, stop, yielding, retract };

class Reaction {
 public:
  static constexpr double way = 0.5;

  /* The kind of a name: none, stop, float or retract. */
  static ReactionKind kind_of(std::string_view name) noexcept {
    return name == "stop"      ? ReactionKind::stop
           : name == "float"   ? ReactionKind::yielding
           : name == "retract" ? ReactionKind::retract
                               : ReactionKind::none;
  }

  /* Of n joints, in a loop of a rate (Hz). */
  Reaction(ReactionKind kind, std::size_t n, double rate)
      : kind_(kind),
        n_(n),
        most_(2 + static_cast<std::size_t>(way * std::fmin(std::fmax(rate, 1.0), 1e4))),
        times_(most_),
        places_(most_ * n),
        held_(n) {}

  ReactionKind kind() const noexcept { return kind_; }
  bool acts() const noexcept { return acts_; }

  /* Keep the measured positions (n) of a cycle without contact, at a time (s). */
  void remember(double now, const double *q) noexcept {
    if (kind_ != ReactionKind::retract || acts_) return;
    last_ = (last_ + 1) % most_;
    count_ = std::min(count_ + 1, most_);
    times_[last_] = now;
    std::copy(q, q + n_, &places_[last_ * n_]);
  }

  /* React from a time (s) on, with the joints at q (n). */
  void begin(double now, const double *q) noexcept {
    acts_ = kind_ != ReactionKind::none;
    begun_ = now;
    std::copy(q, q + n_, held_.begin());
  }

  /* React no more, and know no path. */
  void end() noexcept {
    acts_ = false;
    count_ = 0;
  }

  /* Where the joints are wanted at a time (s), (n) each. */
  void lead(double now, double *q, double *v) const noexcept {
    std::copy(held_.begin(), held_.end(), q);
    std::fill(v, v + n_, 0.0);
    if (kind_ != ReactionKind::retract || count_ < 2) return;
    std::size_t oldest = count_ - 1; /* how many samples ago */
    while (oldest > 1 && time(0) - time(oldest) > way) --oldest;
    const double length = time(0) - time(oldest);
    if (!(length > 0.0)) return;
    const double x = std::fmin((now - begun_) / (2.0 * length), 1.0);
    const double at = time(0) - length * x * x * x * (10.0 - x * (15.0 - 6.0 * x));
    const double pace = 15.0 * x * x * (1.0 - x) * (1.0 - x);
    std::size_t k = 1;
    while (k < oldest && time(k) > at) ++k;
    const double *before = place(k), *after = place(k - 1), span = time(k - 1) - time(k);
    for (std::size_t j = 0; j < n_ && span > 0.0; ++j) {
      const double speed = (after[j] - before[j]) / span;
      q[j] = before[j] + speed * (at - time(k));
      v[j] = -pace * speed;
    }
  }

 private:
  std::size_t slot(std::size_t ago) const noexcept { return (last_ + most_ - ago) % most_; }
  double time(std::size_t ago) const noexcept { return times_[slot(ago)]; }
  const double *place(std::size_t ago) const noexcept { return &places_[slot(ago) * n_]; }

  ReactionKind kind_;
  std::size_t n_, most_, last_ = 0, count_ = 0;
  std::vector<double> times_, places_, held_;
  bool acts_ = false;
  double begun_ = 0.0;
};

}  // namespace mbdyn_ros

#endif
