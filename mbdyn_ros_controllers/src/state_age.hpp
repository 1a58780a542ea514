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
  static constexpr double oldest = 0.1;  // s

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
      const bool near = std::fabs(age) <= oldest;
      if (near && age >= 0.0) last_ = age;
      if (near) shared_clock_ = true;
      off_ = near ? 0.0 : age;
      break;
    }
    return last_;
  }

  // That thread: whether that state is too old, by the clock that both were seen to share.
  bool stale() const noexcept { return shared_clock_ && off_ != 0.0; }

  // Any thread: how far (s) the clock of the stamps is behind, where it is another one; else 0.
  double off() const noexcept { return shared_clock_ ? 0.0 : off_.load(); }

 private:
  struct Message {
    double sum = 0.0;
    std::int64_t stamp = 0;  // ns; 0: none
  };
  std::array<Message, 8> kept_{};
  mbdyn_ros::Latest<std::array<Message, 8>> shared_{kept_};
  double last_ = 0.0;
  std::atomic<double> off_{0.0};
  std::atomic<bool> shared_clock_{false};
};

}  // namespace mbdyn_ros_controllers

#endif
