// A reference between the messages that tell it.
#ifndef CARRIED_REFERENCE_HPP
#define CARRIED_REFERENCE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace mbdyn_ros_controllers {

constexpr double longest_carry = 0.1;  // s, for which a reference moves on by itself

// The k-th of positions, velocities and accelerations, n each, `age` seconds after the time that
// they are for: constant accelerations for `longest_carry`, before that time too; beyond it stands.
// NaN where nothing is said; what follows the 3 n numbers stays as it is.
inline double carried(const std::vector<double> &values, std::size_t n, std::size_t k,
                      double age) noexcept {
  const auto said = [&values](std::size_t place) {
    return std::isnan(values[place]) ? 0.0 : values[place];
  };
  const double since = std::clamp(age, -longest_carry, longest_carry);
  if (k < n) return values[k] + since * (said(n + k) + since * said(2 * n + k) / 2.0);
  if (k >= 3 * n) return values[k];
  if (since != age) return 0.0;
  return k < 2 * n ? values[k] + since * said(n + k) : values[k];
}

}  // namespace mbdyn_ros_controllers

#endif
