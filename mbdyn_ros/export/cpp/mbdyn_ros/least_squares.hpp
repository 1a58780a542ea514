/* Least squares of a few unknowns, by Householder's reflections (Golub, Van Loan, section 5.3). */
#ifndef MBDYN_ROS_LEAST_SQUARES_HPP
#define MBDYN_ROS_LEAST_SQUARES_HPP

#include <cmath>
#include <cstddef>

namespace mbdyn_ros {

/* The x (n) for which |a x - b| is least, a (m, n) column by column with m >= n; a and b (m) are
   used up. False where the columns are dependent: one has less than `least` of its length left. */
inline bool least_squares(double *a, double *b, std::size_t m, std::size_t n, double least,
                          double *x) noexcept {
  for (std::size_t k = 0; k < n; ++k) {
    double *column = a + m * k, whole = 0.0, rest = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      whole += column[i] * column[i];
      if (i >= k) rest += column[i] * column[i];
    }
    if (!(rest > least * least * whole)) return false;
    const double length = -std::copysign(std::sqrt(rest), column[k]);
    const double scale = rest - length * column[k]; /* half the square of the reflection's normal */
    column[k] -= length;
    const auto reflect = [&](double *other) {
      double share = 0.0;
      for (std::size_t i = k; i < m; ++i) share += column[i] * other[i];
      share /= scale;
      for (std::size_t i = k; i < m; ++i) other[i] -= share * column[i];
    };
    for (std::size_t j = k + 1; j < n; ++j) reflect(a + m * j);
    reflect(b);
    column[k] = length;
  }
  for (std::size_t k = n; k-- > 0;) {
    x[k] = b[k];
    for (std::size_t j = k + 1; j < n; ++j) x[k] -= a[k + m * j] * x[j];
    x[k] /= a[k + m * k];
  }
  return true;
}

}  // namespace mbdyn_ros

#endif
