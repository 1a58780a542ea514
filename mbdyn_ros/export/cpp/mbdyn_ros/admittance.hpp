/* Admittance: how far joints give way to external efforts (docs/control.md). */
#ifndef MBDYN_ROS_ADMITTANCE_HPP
#define MBDYN_ROS_ADMITTANCE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mbdyn_ros {

/* I y'' + D y' + K y = external effort beyond a dead zone, for each joint, by implicit steps
   (backward Euler): Python's control.admittance. Allocates when it is made, never later. */
class Admittance {
 public:
  explicit Admittance(std::size_t n) : y(n), rate(n), acceleration(n) {}

  void rest() noexcept {
    for (auto *one : {&y, &rate, &acceleration}) std::fill(one->begin(), one->end(), 0.0);
  }

  /* Go on by a step (s). gains: inertia, damping, stiffness and dead zone, n each; a joint without
     inertia stays. It stops where wanted + y reaches lower or upper. */
  void advance(const double *external, double step, const double *gains, const double *wanted,
               const double *lower, const double *upper) noexcept {
    const std::size_t n = y.size();
    const double *inertia = gains, *damping = gains + n, *stiffness = gains + 2 * n;
    for (std::size_t k = 0; k < n; ++k) {
      const double dead = gains[3 * n + k];
      const double felt = external[k] - std::fmax(-dead, std::fmin(external[k], dead));
      const double resisting = inertia[k] + step * (damping[k] + step * stiffness[k]);
      const double pushed = inertia[k] * rate[k] + step * (felt - stiffness[k] * y[k]);
      const double moved = inertia[k] > 0.0 ? pushed / resisting : 0.0;
      const double low = std::fmin(lower[k] - wanted[k], 0.0);
      const double high = std::fmax(upper[k] - wanted[k], 0.0);
      const double there = std::fmin(std::fmax(y[k] + step * moved, low), high);
      const double reached = (there - y[k]) / step;
      const bool free = std::fabs(reached - moved) <= 1e-9 * std::fabs(moved);
      acceleration[k] = free ? (reached - rate[k]) / step : 0.0;
      y[k] = there;
      rate[k] = reached;
    }
  }

  std::vector<double> y, rate, acceleration; /* (n) rad or m, and their rates */
};

}  // namespace mbdyn_ros

#endif
