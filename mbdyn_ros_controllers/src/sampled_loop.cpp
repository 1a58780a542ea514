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

#include "mbdyn_ros_controllers/sampled_loop.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mbdyn_ros_controllers {

namespace {

using Matrix = std::vector<double>;  // square, row by row

// M^-1 by Gauss and Jordan; M is positive, so that no pivot is needed.
Matrix inverse(Matrix m, std::size_t n) {
  Matrix result(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) result[k * n + k] = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = m[k * n + k];
    for (std::size_t j = 0; j < n; ++j) m[k * n + j] /= pivot, result[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i * n + k];
      for (std::size_t j = 0; j < n; ++j) {
        m[i * n + j] -= factor * m[k * n + j];
        result[i * n + j] -= factor * result[k * n + j];
      }
    }
  }
  return result;
}

Matrix squared(const Matrix &a, std::size_t n) {
  Matrix result(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += factor * a[k * n + j];
    }
  }
  return result;
}

// Gelfand: the 2^20th root of the norm of the 2^20th power.
double spectral_radius(Matrix a, std::size_t n) {
  double logarithm = 0.0, power = 1.0;
  for (int k = 0; k <= 20; ++k) {
    double norm = 0.0;
    for (const double x : a) norm = std::fmax(norm, std::fabs(x));
    if (!(norm > 0.0)) return 0.0;
    for (double &x : a) x /= norm;
    logarithm += std::log(norm) / power;
    a = squared(a, n);
    power *= 2.0;
  }
  return std::exp(logarithm);
}

}  // namespace

double growth_of_errors(Matrix mass, const std::vector<double> &stiffness,
                        const std::vector<double> &damping, double period) {
  const std::size_t n = stiffness.size(), size = 3 * n;
  const Matrix by_mass = inverse(std::move(mass), n);
  Matrix next(size * size, 0.0);  // of e, e' and the acceleration that acts in this period
  for (std::size_t i = 0; i < n; ++i) {
    double *const e = &next[i * size], *const rate = &next[(n + i) * size];
    double *const acting = &next[(2 * n + i) * size];
    e[i] = 1.0, e[n + i] = period, e[2 * n + i] = period * period / 2.0;
    rate[n + i] = 1.0, rate[2 * n + i] = period;
    for (std::size_t j = 0; j < n; ++j) {
      acting[j] = -by_mass[i * n + j] * stiffness[j];
      acting[n + j] = -by_mass[i * n + j] * damping[j];
    }
  }
  return spectral_radius(std::move(next), size);
}

}  // namespace mbdyn_ros_controllers
