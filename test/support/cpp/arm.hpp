/* A robot whose equations are in every textbook: a slide along x that carries a pendulum.
   Slide of mass M with damping and dry friction, a point of mass m at length l on a turning joint
   that hangs down at 0; the point's ten numbers are variable (of which m, m c_z, Iyy count). */
#ifndef ARM_HPP
#define ARM_HPP

#include <cmath>
#include <cstddef>
#include <limits>

#include "mbdyn_ros/model.h"

namespace arm {

inline constexpr double M = 2.0, m = 1.5, l = 0.7, g = 9.81, damping = 3.0, dry = 0.5;
inline constexpr double none = std::numeric_limits<double>::infinity();

inline const char *const joints[] = {"slide", "swing"};
inline const char *const numbers[] = {"bob/m",   "bob/mcx", "bob/mcy", "bob/mcz", "bob/Ixx",
                                      "bob/Ixy", "bob/Ixz", "bob/Iyy", "bob/Iyz", "bob/Izz"};
inline const double lower[] = {-1.0, -none}, upper[] = {1.0, none}, speed[] = {none, 5.0};
inline const double limit[] = {100.0, none}, home[] = {0.0, 0.0};
inline const double values[] = {m, 0, 0, -m * l, m * l * l, 0, 0, m * l * l, 0, 0};

inline int answer(const double *x, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(x[k])) return MBDYN_ROS_NOT_FINITE;
  }
  return MBDYN_ROS_OK;
}
inline void start(void *) {}
inline void limit_jumps(void *, double) {}
inline int joint_state(void *, const double *q, const double *v, const double *a, const double *,
                       double *x, double *dx, double *ddx) {
  for (int k = 0; k < 2; ++k) x[k] = q[k], dx[k] = v[k], ddx[k] = a[k];
  return answer(q, 2);
}
inline double sign(double x) { return double(x > 0.0) - double(x < 0.0); }
inline int rubbing(void *, const double *, const double *v, const double *, double *effort) {
  effort[0] = damping * v[0] + dry * sign(v[0]);
  effort[1] = 0.0;
  return answer(effort, 2);
}
/* The Lagrangian of slide and pendulum, with s = m l and J of the ten numbers. */
inline int inverse_dynamics(void *, const double *q, const double *v, const double *a,
                            const double *p, double *effort) {
  const double s = -p[3], J = p[7], c = std::cos(q[1]), d = std::sin(q[1]);
  rubbing(nullptr, q, v, p, effort);
  effort[0] += (M + p[0]) * a[0] - s * (c * a[1] - d * v[1] * v[1]);
  effort[1] += J * a[1] - s * c * a[0] + s * g * d;
  return answer(effort, 2);
}
inline int mass_matrix(void *, const double *q, const double *p, double *matrix) {
  matrix[0] = M + p[0];
  matrix[1] = matrix[2] = p[3] * std::cos(q[1]);
  matrix[3] = p[7];
  return answer(matrix, 4);
}
inline int forward_dynamics(void *, const double *q, const double *v, const double *effort,
                            const double *p, double *a) {
  const double rest[2] = {0.0, 0.0};
  double bias[2], h[4];
  inverse_dynamics(nullptr, q, v, rest, p, bias);
  mass_matrix(nullptr, q, p, h);
  const double x = effort[0] - bias[0], y = effort[1] - bias[1], det = h[0] * h[3] - h[1] * h[2];
  a[0] = (h[3] * x - h[1] * y) / det;
  a[1] = (h[0] * y - h[2] * x) / det;
  return answer(a, 2);
}
inline int gravity(void *, const double *q, const double *p, double *effort) {
  effort[0] = 0.0;
  effort[1] = -p[3] * g * std::sin(q[1]);
  return answer(q, 2);
}
inline int actuated_effort(void *, const double *, const double *force, const double *,
                           double *effort) {
  effort[0] = force[0];
  effort[1] = force[1];
  return answer(effort, 2);
}
inline double gap(void *, const double *, const double *, const char **loop) {
  if (loop) *loop = nullptr;
  return 0.0;
}

/* The laws of docs/control.md, friction at the wanted velocity; C(q, v) w by Christoffel's symbols. */
inline int gravity_compensation(void *, const double *q, const double *v, const double *,
                                const double *gains, const double *p, double *effort) {
  const int status = gravity(nullptr, q, p, effort);
  for (int k = 0; k < 2; ++k) effort[k] -= gains[k] * v[k];
  return status ? status : answer(effort, 2);
}
inline int computed_torque(void *, const double *q, const double *v, const double *wanted,
                           const double *gains, const double *p, double *effort) {
  double a[2], rub[2], wanted_rub[2];
  for (int k = 0; k < 2; ++k) {
    a[k] = wanted[4 + k] + gains[k] * wanted[k] + gains[2 + k] * (wanted[2 + k] - v[k]);
  }
  inverse_dynamics(nullptr, q, v, a, p, effort);
  rubbing(nullptr, q, v, p, rub);
  rubbing(nullptr, q, wanted + 2, p, wanted_rub);
  for (int k = 0; k < 2; ++k) effort[k] += wanted_rub[k] - rub[k];
  return answer(effort, 2);
}
inline int joint_impedance(void *, const double *q, const double *v, const double *wanted,
                           const double *gains, const double *p, double *effort) {
  const double rest[2] = {0.0, 0.0};
  double wanted_rub[2];
  inverse_dynamics(nullptr, q, rest, wanted + 4, p, effort);
  rubbing(nullptr, q, wanted + 2, p, wanted_rub);
  effort[0] += -p[3] * std::sin(q[1]) * v[1] * wanted[3];
  for (int k = 0; k < 2; ++k) {
    effort[k] += wanted_rub[k] + gains[k] * wanted[k] + gains[2 + k] * (wanted[2 + k] - v[k]);
  }
  return answer(effort, 2);
}
inline const mbdyn_ros_gain guiding[] = {{"guiding_damping", 2}};
inline const mbdyn_ros_gain computed[] = {{"kp", 2}, {"kd", 2}};
inline const mbdyn_ros_gain springs[] = {{"joint_stiffness", 2}, {"joint_damping", 2}};
inline const mbdyn_ros_mode modes[] = {
    {"gravity_compensation", MBDYN_ROS_NOTHING, "", 0, 1, guiding, gravity_compensation},
    {"computed_torque", MBDYN_ROS_JOINTS, "", 6, 2, computed, computed_torque},
    {"joint_impedance", MBDYN_ROS_JOINTS, "", 6, 2, springs, joint_impedance}};

inline const unsigned char turns[] = {0, 0};
inline const mbdyn_ros_names two{2, joints}, ten{10, numbers};

inline const mbdyn_ros_model table{
    sizeof(mbdyn_ros_model), MBDYN_ROS_ABI, "arm", "by hand", "", "",
    two, two, two, two, two, two, two, two, ten,
    lower, upper, speed, limit, home, values, 0, start, joint_state, inverse_dynamics,
    forward_dynamics, mass_matrix, gravity, gravity, rubbing, actuated_effort, gap, 0, nullptr,
    turns, limit_jumps, 3, modes, nullptr, nullptr, "rail",
    lower, upper, speed, nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr};

}  // namespace arm

#endif
