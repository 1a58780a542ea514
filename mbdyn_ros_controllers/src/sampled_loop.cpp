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
#include <vector>

namespace mbdyn_ros_controllers {

namespace {

using Matrix = std::vector<double>;  // square, row by row

Matrix product(const Matrix &a, const Matrix &b, std::size_t n) {
  Matrix result(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      if (factor == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += factor * b[k * n + j];
    }
  }
  return result;
}

double largest(const Matrix &a) {
  double most = 0.0;
  for (const double x : a) most = std::fabs(x) <= most ? most : std::fabs(x);
  return most;
}

// Taylor's series, scaled and squared: to rounding, for norms below 1/2.
Matrix exponential(Matrix a, std::size_t n) {
  int squarings = 0;
  double norm = largest(a) * static_cast<double>(n);
  for (; norm > 0.5 && squarings < 1000; norm /= 2.0) ++squarings;
  for (double &x : a) x = std::ldexp(x, -squarings);
  Matrix sum(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) sum[k * n + k] = 1.0;
  Matrix term = sum;
  for (int order = 1; order <= 14; ++order) {
    term = product(term, a, n);
    for (std::size_t k = 0; k < n * n; ++k) sum[k] += term[k] /= order;
  }
  for (; squarings > 0; --squarings) sum = product(sum, sum, n);
  return sum;
}

// The logarithm of the spectral radius, by Gelfand: of the 2^20th root of the norm of the 2^20th
// power.
double logarithm_of_radius(Matrix a, std::size_t n) {
  double logarithm = 0.0, power = 1.0;
  for (int k = 0; k <= 20; ++k) {
    const double norm = largest(a);
    if (!(norm > 0.0)) return -INFINITY;
    for (double &x : a) x /= norm;
    logarithm += std::log(norm) / power;
    a = product(a, a, n);
    power *= 2.0;
  }
  return logarithm;
}

}  // namespace

double growth_of_loop(const std::vector<double> &flow, const std::vector<double> &feedback,
                      std::size_t states, std::size_t inputs, double period) {
  const std::size_t size = states + inputs;
  Matrix loop(size * size, 0.0);
  for (std::size_t k = 0; k < states * size; ++k) loop[k] = flow[k] * period;
  loop = exponential(loop, size);
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      loop[(states + i) * size + j] = j < states ? feedback[i * states + j] : 0.0;
    }
  }
  for (const double x : loop) {
    if (!std::isfinite(x)) return INFINITY;
  }
  return logarithm_of_radius(loop, size) / period;
}

}  // namespace mbdyn_ros_controllers
