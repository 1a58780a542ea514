// How old measured states are where hardware takes them from a topic.
#ifndef STATE_AGE_HPP
#define STATE_AGE_HPP

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "mbdyn_ros/latest.hpp"

namespace mbdyn_ros_controllers {

// Hardware hands positions over without their stamps. The last messages are kept here, each by the
// sum of its positions: that of the state which the hardware shows now tells which one it has.
class StateAge {
 public:
  static constexpr double oldest = 0.1;  // s, beyond which the clocks are not the same

  // One thread: a message, by the sum of its positions.
  void add(double sum, std::int64_t stamp) {
    for (std::size_t k = kept_.size() - 1; k > 0; --k) kept_[k] = kept_[k - 1];
    kept_[0] = {sum, stamp};
    shared_.set(kept_);
  }

  // Another thread: the age (s) of the state with this sum; where it is not known, that of before.
  double at(double sum, std::int64_t now) noexcept {
    for (const Message &one : shared_.get()) {  // the newest first
      if (one.stamp == 0 || one.sum != sum) continue;
      const double age = 1e-9 * static_cast<double>(now - one.stamp);
      const bool of_this_clock = std::fabs(age) <= oldest;
      if (of_this_clock && age >= 0.0) last_ = age;
      off_ = of_this_clock ? 0.0 : age;
      break;
    }
    return last_;
  }

  // Any thread: by how much (s) the clock of the stamps is behind, where they tell no age; else 0.
  double off() const noexcept { return off_; }

 private:
  struct Message {
    double sum = 0.0;
    std::int64_t stamp = 0;  // ns; 0: none
  };
  std::array<Message, 8> kept_{};
  mbdyn_ros::Latest<std::array<Message, 8>> shared_{kept_};
  double last_ = 0.0;
  std::atomic<double> off_{0.0};
};

}  // namespace mbdyn_ros_controllers

#endif
