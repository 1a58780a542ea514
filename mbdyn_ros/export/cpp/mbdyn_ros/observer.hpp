/* Observer: external efforts by the generalized momentum, for the thread of a control loop. */
#ifndef MBDYN_ROS_OBSERVER_HPP
#define MBDYN_ROS_OBSERVER_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros {

/* The filters of Python's Observer (docs/observer.md), of the same mean delay T:
     first   T r' + r = d
     second  r'' + 2 z w r' + w^2 r = w^2 d,  z = 0.87,  w = 2 z / T
   of the mean external effort d of each step, sampled exactly: stable at any T and any step. */
enum class ObserverOrder { first, second };

/* Allocates when it is made, never later; `cycle` neither allocates, locks nor throws. */
class Observer {
 public:
  static constexpr double damping = 0.87, longest_gap = 0.1;

  /* Why a robot, or a time constant (s) at steps (s), has no observer; empty where it has. */
  static std::string refusal(const mbdyn_ros_model &table, double time_constant, double step) {
    if (table.momentum_balance == nullptr) {
      return std::string(table.robot) + ": no effort acts on it, so that none is felt";
    }
    if (!(step > 0.0 && time_constant >= step && time_constant <= 1e6)) {
      return "the time constant " + std::to_string(time_constant) +
             " s must be at least the step of samples, " + std::to_string(step) + " s";
    }
    return {};
  }

  /* Of a table that has no `refusal`. held: efforts are commands that actuators hold until the next
     sample; else they are measured, and straight in between. */
  Observer(const mbdyn_ros_model &table, double time_constant,
           ObserverOrder order = ObserverOrder::second, bool held = false)
      : model_(table),
        time_constant_(time_constant),
        order_(order),
        held_(held),
        parameters_(table.parameter_values, table.parameter_values + table.parameters.count),
        external(table.v.count),
        rate_(table.v.count),
        effort_(table.effort.count),
        now_(3 * table.v.count),
        last_(3 * table.v.count) {}

  /* Go on with other numbers of the robot, such as payloads, between two cycles: the step in which
     they change is left out. `numbers`: as many as the table has parameters. */
  void set_parameters(const double *numbers) noexcept {
    std::copy(numbers, numbers + parameters_.size(), parameters_.begin());
    changed_ = true;
  }

  /* Begin anew at the next cycle, without a bump. */
  void restart() noexcept {
    begun_ = false;
    std::fill(external.begin(), external.end(), 0.0);
    std::fill(rate_.begin(), rate_.end(), 0.0);
  }

  /* Take a sample at a time (s): q (nq), v (nv), effort (efforts). `external` is of it; where the
     status is not ok, all stays as it was. At the time of the last sample nothing is new; earlier,
     or more than `longest_gap` later, it restarts. */
  Status cycle(double time, const double *q, const double *v, const double *effort) noexcept {
    const double *until = held_ && begun_ ? effort_.data() : effort;
    const Status status =
        model_.momentum_balance(q, v, until, effort, parameters_.data(), now_.data());
    if (status != Status::ok) return status;
    const double step = time - time_;
    if (begun_ && step > 0.0 && step <= longest_gap) {
      if (!changed_) filter(step);
    } else if (!begun_ || step != 0.0) {
      restart();
    }
    last_.swap(now_);
    std::copy(effort, effort + effort_.size(), effort_.begin());
    time_ = time;
    begun_ = true;
    changed_ = false;
    return Status::ok;
  }

 private:
  void filter(double step) noexcept {
    const double frequency = 2.0 * damping / time_constant_;
    const double decay = damping * frequency;
    const double turning = std::sqrt(1.0 - damping * damping) * frequency;
    const double left = std::exp(-(order_ == ObserverOrder::first ? 1.0 / time_constant_ : decay) *
                                 step);
    const double cosine = std::cos(turning * step), sine = std::sin(turning * step) / turning;
    for (std::size_t k = 0; k < external.size(); ++k) {
      const double delta = (now_[3 * k] - last_[3 * k]) / step -
                           0.5 * (last_[3 * k + 2] + now_[3 * k + 1]);
      const double off = external[k] - delta, rate = rate_[k];
      if (order_ == ObserverOrder::first) {
        external[k] = delta + left * off;
        continue;
      }
      external[k] = delta + left * ((cosine + decay * sine) * off + sine * rate);
      rate_[k] = left * (-frequency * frequency * sine * off + (cosine - decay * sine) * rate);
    }
  }

  Model model_;
  double time_constant_;
  ObserverOrder order_;
  bool held_;
  std::vector<double> parameters_;

 public:
  std::vector<double> external; /* (nv) efforts from outside, N m or N */

 private:
  std::vector<double> rate_, effort_, now_, last_;
  double time_ = 0.0;
  bool begun_ = false, changed_ = false;
};

}  // namespace mbdyn_ros

#endif
