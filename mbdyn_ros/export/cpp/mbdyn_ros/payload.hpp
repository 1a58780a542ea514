/* Payload: a body that is fastened to a link, and the numbers that it adds to the link's. */
#ifndef MBDYN_ROS_PAYLOAD_HPP
#define MBDYN_ROS_PAYLOAD_HPP

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/model.h"

namespace mbdyn_ros {

inline constexpr std::size_t numbers_of_a_link = 10;

/* In the link's axes: mass, kg; its centre from the link's origin, m; moments Ixx, Ixy, Ixz, Iyy,
   Iyz, Izz about that centre, kg m^2, all zero for a point. */
struct Payload {
  double mass = 0.0;
  std::array<double, 3> com{};
  std::array<double, 6> inertia{};
};

/* Why no body is like that; null where one is. Sylvester's criterion for the positive matrix
   trace(I)/2 - I of second moments (the triangle inequality), within rounding. */
inline const char *refusal(const Payload &body) noexcept {
  const auto &[mass, c, i] = body;
  double size = 0.0;
  for (const double x : i) size = std::fmax(size, std::fabs(x));
  if (!std::isfinite(mass) || !std::isfinite(c[0] + c[1] + c[2]) || !std::isfinite(size) ||
      !std::isfinite(i[0] + i[1] + i[2] + i[3] + i[4] + i[5])) {
    return "a number of the payload is not finite";
  }
  if (mass < 0.0) return "the mass of the payload is negative";
  if (mass <= 0.0 && size > 0.0) return "the payload has moments of inertia, but no mass";
  const double half = (i[0] + i[3] + i[5]) / 2.0, least = -1e-9 * size;
  const double x = half - i[0], y = half - i[3], z = half - i[5];
  const double xy = -i[1], xz = -i[2], yz = -i[4];
  const double determinant =
      x * (y * z - yz * yz) - xy * (xy * z - yz * xz) + xz * (xy * yz - y * xz);
  if (x < least || y < least || z < least || x * y - xy * xy < least * size ||
      x * z - xz * xz < least * size || y * z - yz * yz < least * size ||
      determinant < least * size * size) {
    return "no body has these moments of inertia about its centre of mass";
  }
  return nullptr;
}

/* Add a payload to the ten numbers of its link: m, m c, and the moments about the link's origin. */
inline void fasten(const Payload &body, double *numbers) noexcept {
  const auto &[m, c, i] = body;
  const double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  const std::array<double, numbers_of_a_link> own{
      m, m * c[0], m * c[1], m * c[2],
      i[0] + m * (square - c[0] * c[0]), i[1] - m * c[0] * c[1], i[2] - m * c[0] * c[2],
      i[3] + m * (square - c[1] * c[1]), i[4] - m * c[1] * c[2],
      i[5] + m * (square - c[2] * c[2])};
  for (std::size_t k = 0; k < own.size(); ++k) numbers[k] += own[k];
}

/* Where the ten numbers of a link begin among the parameters; their count where the link was not
   named as variable. */
inline std::size_t place_of_link(const mbdyn_ros_names &parameters,
                                 std::string_view link) noexcept {
  for (std::size_t k = 0; k + numbers_of_a_link <= parameters.count; ++k) {
    const std::string_view name = parameters.names[k];
    if (name.size() == link.size() + 2 && name.substr(0, link.size()) == link &&
        name.substr(link.size()) == "/m") {
      return k;
    }
  }
  return parameters.count;
}

/* Let a body be fastened to a link in the numbers of a robot (as many as it has parameters), instead
   of what was fastened there; words, and nothing changed, where that cannot be. */
inline std::string set_payload(const mbdyn_ros_model &table, std::string_view link,
                               const Payload &body, std::vector<double> &numbers) {
  const std::size_t place = place_of_link(table.parameters, link);
  if (place == table.parameters.count) {
    return std::string(table.robot) + ": the inertia of link '" + std::string(link) +
           "' is not variable; write the library with --variable " + std::string(link);
  }
  if (const char *why = refusal(body)) return why;
  for (std::size_t k = 0; k < numbers_of_a_link; ++k) {
    numbers[place + k] = table.parameter_values[place + k];
  }
  fasten(body, &numbers[place]);
  return {};
}

}  // namespace mbdyn_ros

#endif
