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

// How old measured states are where hardware takes them from a topic.
#ifndef MBDYN_ROS_CONTROLLERS__STATE_AGE_HPP_
#define MBDYN_ROS_CONTROLLERS__STATE_AGE_HPP_

#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "mbdyn_ros/latest.hpp"

namespace mbdyn_ros_controllers {

// Hardware hands positions over without their stamps. The last messages are kept here, each by the
// sum of its positions: that of the state which the hardware shows now identifies it. The
// hardware may have a message before it is here, in every cycle where the phases of two loops are
// so: how old such a state was is seen when its message comes, and said of the next one.
class StateAge {
 public:
  static constexpr double oldest = 0.1;  // s

  // One thread: a message, by the sum of its positions.
  void add(double sum, std::int64_t stamp) {
    for (std::size_t k = kept_.size() - 1; k > 0; --k) kept_[k] = kept_[k - 1];
    kept_[0] = {sum, stamp};
    shared_.set(kept_);
    came_ = true;
  }

  // Another thread: the age (s) of the state with this sum; where its message is not here yet, that
  // of the last such state, or of the last one that is known.
  double at(double sum, std::int64_t now) noexcept {
    const auto &messages = shared_.get();
    const auto stamp_of = [&messages](double one) {
      for (const Message &kept : messages) {  // the newest first
        if (kept.stamp != 0 && kept.sum == one) return kept.stamp;
      }
      return std::int64_t{0};
    };
    const auto since = [](std::int64_t then, std::int64_t stamp) {
      return 1e-9 * static_cast<double>(then - stamp);
    };
    if (const std::int64_t stamp = early_.stamp == 0 ? 0 : stamp_of(early_.sum); stamp != 0) {
      matched_ = true;
      const double age = since(early_.stamp, stamp);
      early_.stamp = 0;
      if (age >= 0.0 && age <= oldest) {
        last_ = age;
        were_early_ = true;
      }
    }
    const std::int64_t stamp = stamp_of(sum);
    if (stamp == 0) {
      if (early_.stamp == 0 || since(now, early_.stamp) > oldest) early_ = {sum, now};
      return last_;
    }
    matched_ = true;
    const double age = since(now, stamp);
    const bool near = std::fabs(age) <= oldest;
    off_ = near ? 0.0 : age;
    if (!near) return last_;
    shared_clock_ = true;
    if (age >= 0.0 && !were_early_) last_ = age;
    return age >= 0.0 ? age : last_;
  }

  // That thread: whether that state is too old, by the clock that both were seen to share.
  bool stale() const noexcept { return shared_clock_ && off_ != 0.0; }

  // Any thread: whether messages came since this was asked before, and none was of a state.
  bool unmatched() noexcept {
    const bool came = came_.exchange(false), matched = matched_.exchange(false);
    return came && !matched;
  }

  // Any thread: how far (s) the clock of the stamps is behind, where it is another one; else 0.
  double off() const noexcept { return shared_clock_ ? 0.0 : off_.load(); }

 private:
  struct Message {
    double sum = 0.0;
    std::int64_t stamp = 0;  // ns; 0: none
  };
  std::array<Message, 8> kept_{};
  mbdyn_ros::Latest<std::array<Message, 8>> shared_{kept_};
  Message early_;  // a state whose message is not here yet, and when it was shown
  double last_ = 0.0;
  bool were_early_ = false;  // last_ is of such a state
  std::atomic<double> off_{0.0};
  std::atomic<bool> shared_clock_{false}, came_{false}, matched_{false};
};

}  // namespace mbdyn_ros_controllers

#endif  // MBDYN_ROS_CONTROLLERS__STATE_AGE_HPP_
