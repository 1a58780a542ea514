/* Robot: the equations of one robot with sizes known to the compiler, for one thread. */
#ifndef MBDYN_ROS_ROBOT_HPP
#define MBDYN_ROS_ROBOT_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "mbdyn_ros/payload.hpp"
#include "mbdyn_ros/status.hpp"

namespace mbdyn_ros {

/* Of robots whose loops have a closed form, or that have none. */
struct NoMemory {};

/* Description: what a generated header says of a robot. Nothing is allocated, locked or thrown; a
   function that does not return ok leaves something that is not finite in its result. */
template <class Description>
class Robot {
 public:
  using Positions = std::array<double, Description::nq>;
  using Velocities = std::array<double, Description::nv>;
  using Efforts = std::array<double, Description::efforts>;
  using Matrix = std::array<double, Description::nv * Description::nv>; /* row by row */
  using Jacobian = std::array<double, 6 * Description::nv>;             /* row by row */

  /* Of all joints, in the order of joint_position_names and joint_velocity_names. */
  struct JointState {
    std::array<double, Description::joint_positions> position{};
    std::array<double, Description::joint_velocities> velocity{}, acceleration{};
  };

  /* Loops at home, the parameters of the description. */
  Robot() noexcept {
    start();
    for (std::size_t k = 0; k < Description::parameters; ++k) {
      parameters_[k] = table().parameter_values[k];
    }
  }

  static const mbdyn_ros_model &table() noexcept { return Description::table(); }

  /* Loops follow from home again. */
  void start() noexcept { table().start(memory()); }

  /* Refuse q of searched loops that are farther from the last (rad or m); 0: walk there. */
  void limit_jumps(double farthest) noexcept { table().limit_jumps(memory(), farthest); }

  Status joint_state(const Positions &q, const Velocities &v, const Velocities &a,
                     JointState &state) noexcept {
    return Status(table().joint_state(memory(), q.data(), v.data(), a.data(),
                                      parameters_.data(), state.position.data(), state.velocity.data(),
                                      state.acceleration.data()));
  }

  /* Efforts that cause a, friction included. */
  Status inverse_dynamics(const Positions &q, const Velocities &v, const Velocities &a,
                          Efforts &effort) noexcept {
    static_assert(Description::is_driven, "the actuated joints do not determine the motion");
    return Status(table().inverse_dynamics(memory(), q.data(), v.data(), a.data(),
                                           parameters_.data(), effort.data()));
  }

  /* Efforts that hold the robot at rest, against gravity and springs. */
  Status gravity_compensation(const Positions &q, Efforts &effort) noexcept {
    static_assert(Description::is_driven, "the actuated joints do not determine the motion");
    return Status(table().gravity_effort(memory(), q.data(), parameters_.data(), effort.data()));
  }

  /* Efforts with which errors e of the position die out as e'' + damping e' + stiffness e = 0. */
  Status computed_torque(const Positions &q, const Velocities &v, const Positions &q_reference,
                         const Velocities &v_reference, const Velocities &a_reference,
                         const Velocities &stiffness, const Velocities &damping,
                         Efforts &effort) noexcept {
    static_assert(Description::nq == Description::nv, "quaternions have no error to multiply");
    Velocities a{};
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = a_reference[k] + stiffness[k] * (q_reference[k] - q[k]) +
             damping[k] * (v_reference[k] - v[k]);
    }
    return inverse_dynamics(q, v, a, effort);
  }

  /* Accelerations that the efforts cause, friction included. */
  Status forward_dynamics(const Positions &q, const Velocities &v, const Efforts &effort,
                          Velocities &a) noexcept {
    static_assert(Description::is_solid, "a link without mass has no acceleration");
    return Status(table().forward_dynamics(memory(), q.data(), v.data(), effort.data(),
                                           parameters_.data(), a.data()));
  }

  Status mass_matrix(const Positions &q, Matrix &matrix) noexcept {
    return Status(table().mass_matrix(memory(), q.data(), parameters_.data(), matrix.data()));
  }

  /* Forces of the independent joints that hold the robot against gravity. */
  Status gravity_vector(const Positions &q, Velocities &force) noexcept {
    return Status(table().gravity_vector(memory(), q.data(), parameters_.data(), force.data()));
  }

  /* Velocity of the origin of link_names[link] by v: linear, then angular, in world axes. */
  Status jacobian(std::size_t link, const Positions &q, Jacobian &jacobian) noexcept {
    return Status(table().links[link].jacobian(memory(), q.data(), parameters_.data(), jacobian.data()));
  }

  /* How far (m or rad) the first loop stays open that cannot be closed at q, and that loop. */
  double gap(const Positions &q, const char **loop) noexcept {
    return table().gap(memory(), q.data(), parameters_.data(), loop);
  }

  /* Fasten a body to a link instead of what was fastened there; the reason, and nothing changed,
     where that cannot be. */
  const char *set_payload(std::string_view link, const Payload &body) noexcept {
    const std::size_t place = place_of_link(table().parameters, link);
    if (place == table().parameters.count) return "the inertia of that link is not variable";
    if (const char *why = refusal(body)) return why;
    for (std::size_t k = place; k < place + numbers_of_a_link; ++k) {
      parameters_[k] = table().parameter_values[k];
    }
    fasten(body, &parameters_[place]);
    return nullptr;
  }

  /* Inertias of variable links, gravity, ...: parameter_names has their order. */
  std::array<double, Description::parameters> &parameters() noexcept { return parameters_; }

 private:
  void *memory() noexcept { return &memory_; }

  typename Description::Memory memory_{};
  std::array<double, Description::parameters> parameters_{};
};

}  // namespace mbdyn_ros

#endif
