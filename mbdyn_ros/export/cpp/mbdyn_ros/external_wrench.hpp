/* ExternalWrench: the wrench at a link that external efforts can come from. */
#ifndef MBDYN_ROS_EXTERNAL_WRENCH_HPP
#define MBDYN_ROS_EXTERNAL_WRENCH_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros {

/* Least squares, as Python's WrenchEstimator has it: external = J^T w of the link's Jacobian J in
   its own axes. Directions of w that do less than `least` of the work of the strongest cannot be
   determined, and are zero. Allocates when it is made, never later. */
class ExternalWrench {
 public:
  static constexpr double least = 1e-3;

  /* Why a table determines no wrench at a link; empty where it does. */
  static std::string refusal(const mbdyn_ros_model &table, std::string_view link) {
    std::string known;
    for (std::size_t k = 0; k < table.felt_count; ++k) {
      if (link == table.felt[k].name) return {};
      known += (known.empty() ? "" : ", ") + std::string(table.felt[k].name);
    }
    return std::string(table.robot) + ": the library has no link '" + std::string(link) +
           "' at which wrenches are felt" + (known.empty() ? "" : ", only " + known) +
           ": write it with mbdyn codegen --cpp --felt-link " + std::string(link);
  }

  /* Of a link without `refusal`. point: of the link, in its axes, where the wrench acts, m; moment:
     whether torques do, else it is a force alone. */
  ExternalWrench(const mbdyn_ros_model &table, std::string_view link,
                 const std::array<double, 3> &point = {0.0, 0.0, 0.0}, bool moment = true)
      : model_(table),
        point_(point),
        parts_(moment ? 6 : 3),
        columns_(6 * table.v.count),
        rows_(table.v.count) {
    while (link != table.felt[link_].name) ++link_;
  }

  /* With other numbers of the robot; the caller keeps them. */
  void set_parameters(const double *numbers) noexcept { model_.set_parameters(numbers); }

  /* Find it at q (nq) from external efforts (nv); where the status is not ok, or no joint moves the
     point, it is zero. */
  Status update(const double *q, const double *external) noexcept {
    wrench.fill(0.0);
    rank = 0;
    const Status status = model_.felt(link_, q, columns_.data());
    if (status != Status::ok) return status;
    const std::size_t n = rows_.size();
    double *linear = columns_.data(), *angular = linear + 3 * n;
    double spun = 0.0, moved = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const double a = angular[j], b = angular[n + j], c = angular[2 * n + j];
      linear[j] += b * point_[2] - c * point_[1];
      linear[n + j] += c * point_[0] - a * point_[2];
      linear[2 * n + j] += a * point_[1] - b * point_[0];
    }
    for (std::size_t k = 0; k < 3 * n; ++k) {
      moved += linear[k] * linear[k];
      spun += angular[k] * angular[k];
    }
    const double lever = spun > 0.0 && moved > 0.0 ? std::sqrt(moved / spun) : 1.0;
    for (std::size_t k = 0; k < 3 * n; ++k) angular[k] *= lever;
    for (std::size_t j = 0; j < n; ++j) rows_[j] = model_.table().v_turns[j] ? 1.0 / lever : 1.0;
    solve(external);
    for (std::size_t k = 3; k < 6; ++k) wrench[k] *= lever;
    wrench[3] += point_[1] * wrench[2] - point_[2] * wrench[1]; /* about the link's origin */
    wrench[4] += point_[2] * wrench[0] - point_[0] * wrench[2];
    wrench[5] += point_[0] * wrench[1] - point_[1] * wrench[0];
    return status;
  }

  /* Force and torque about the link's origin in its axes, N and N m; how many parts are determined. */
  std::array<double, 6> wrench{};
  std::size_t rank = 0;

 private:
  using Square = std::array<std::array<double, 6>, 6>;

  /* By the eigenvalues of the normal equations: J is small, and `least` far above their rounding. */
  void solve(const double *external) noexcept {
    const std::size_t n = rows_.size(), m = parts_;
    Square gram{}, turned{};
    std::array<double, 6> right{};
    for (std::size_t i = 0; i < m; ++i) {
      turned[i][i] = 1.0;
      for (std::size_t j = 0; j < n; ++j) {
        const double weight = rows_[j] * rows_[j] * columns_[i * n + j];
        right[i] += weight * external[j];
        for (std::size_t k = 0; k < m; ++k) gram[i][k] += weight * columns_[k * n + j];
      }
    }
    diagonalize(gram, turned, m);
    double largest = 0.0;
    for (std::size_t k = 0; k < m; ++k) largest = std::fmax(largest, gram[k][k]);
    for (std::size_t k = 0; k < m; ++k) {
      if (!(gram[k][k] > least * least * largest)) continue;
      double share = 0.0;
      for (std::size_t i = 0; i < m; ++i) share += turned[i][k] * right[i];
      for (std::size_t i = 0; i < m; ++i) wrench[i] += turned[i][k] * share / gram[k][k];
      ++rank;
    }
  }

  /* Jacobi's rotations (Golub, Van Loan, section 8.5): eigenvalues on the diagonal of a, vectors in
     the columns of v. */
  static void diagonalize(Square &a, Square &v, std::size_t m) noexcept {
    for (int sweep = 0; sweep < 30; ++sweep) {
      double off = 0.0, whole = 0.0;
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) (i == j ? whole : off) += a[i][j] * a[i][j];
      }
      if (!(off > 1e-30 * whole)) return;
      for (std::size_t p = 0; p + 1 < m; ++p) {
        for (std::size_t q = p + 1; q < m; ++q) rotate(a, v, m, p, q);
      }
    }
  }

  static void rotate(Square &a, Square &v, std::size_t m, std::size_t p, std::size_t q) noexcept {
    if (a[p][q] == 0.0) return;
    const double tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    const double t = std::copysign(1.0, tau) / (std::fabs(tau) + std::hypot(1.0, tau));
    const double c = 1.0 / std::hypot(1.0, t), s = c * t;
    for (std::size_t k = 0; k < m; ++k) {
      const double x = a[k][p], y = a[k][q];
      a[k][p] = c * x - s * y;
      a[k][q] = s * x + c * y;
    }
    for (std::size_t k = 0; k < m; ++k) {
      const double x = a[p][k], y = a[q][k];
      a[p][k] = c * x - s * y;
      a[q][k] = s * x + c * y;
      const double vx = v[k][p], vy = v[k][q];
      v[k][p] = c * vx - s * vy;
      v[k][q] = s * vx + c * vy;
    }
  }

  Model model_;
  std::array<double, 3> point_;
  std::size_t link_ = 0, parts_;
  std::vector<double> columns_, rows_; /* (6, n) row by row; (n) */
};

}  // namespace mbdyn_ros

#endif
