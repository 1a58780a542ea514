/* Model: the equations of one robot with the memory that its loops need, for one thread. */
#ifndef MBDYN_ROS_MODEL_HPP
#define MBDYN_ROS_MODEL_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mbdyn_ros/model.h"
#include "mbdyn_ros/status.hpp"

namespace mbdyn_ros {

/* Why a table cannot serve this program; empty where it can. */
inline std::string refusal(const mbdyn_ros_model *table) {
  if (table == nullptr) return "the library has no model";
  if (table->abi != MBDYN_ROS_ABI || table->size < sizeof(mbdyn_ros_model)) {
    return "the library of " + std::string(table->abi == MBDYN_ROS_ABI ? table->robot : "a robot") +
           " has interface " + std::to_string(table->abi) + " of " + std::to_string(table->size) +
           " bytes, not " + std::to_string(MBDYN_ROS_ABI) + " of " +
           std::to_string(sizeof(mbdyn_ros_model)) + ": write it again with this mbdyn_ros";
  }
  return {};
}

/* Where a name stands in a list; its count where it does not. */
inline std::size_t place(const mbdyn_ros_names &list, std::string_view name) noexcept {
  std::size_t k = 0;
  while (k < list.count && name != list.names[k]) ++k;
  return k;
}

/* Allocates when it is made, never later; calls are noexcept and fit for a real-time thread. Arrays
   are plain pointers with the sizes of the table: nq(), nv(), efforts(). A copy has loops of its
   own, which are where those of the original were. */
class Model {
 public:
  /* Of a table that has no `refusal`. */
  explicit Model(const mbdyn_ros_model &table)
      : table_(&table),
        parameters_(table.parameter_values),
        memory_((table.memory_size + sizeof(double) - 1) / sizeof(double)) {
    start();
  }

  const mbdyn_ros_model &table() const noexcept { return *table_; }
  std::size_t nq() const noexcept { return table_->q.count; }
  std::size_t nv() const noexcept { return table_->v.count; }
  std::size_t efforts() const noexcept { return table_->effort.count; }

  bool has_friction() const noexcept { return table_->friction_effort != nullptr; }

  /* Loops follow from home again. */
  void start() noexcept { table_->start(memory_.data()); }

  /* Refuse q of searched loops that are farther from the last (rad or m); 0: walk there. */
  void limit_jumps(double farthest) noexcept { table_->limit_jumps(memory_.data(), farthest); }

  /* The numbers of all calls that take none; the description's until then. They stay where they
     are: the caller keeps them. */
  void set_parameters(const double *parameters) noexcept { parameters_ = parameters; }

  Status joint_state(const double *q, const double *v, const double *a, double *position,
                     double *velocity, double *acceleration) noexcept {
    return Status(table_->joint_state(memory_.data(), q, v, a, parameters_, position, velocity,
                                      acceleration));
  }
  Status inverse_dynamics(const double *q, const double *v, const double *a,
                          const double *parameters, double *effort) noexcept {
    return Status(table_->inverse_dynamics(memory_.data(), q, v, a, parameters, effort));
  }
  Status forward_dynamics(const double *q, const double *v, const double *effort,
                          const double *parameters, double *a) noexcept {
    return Status(table_->forward_dynamics(memory_.data(), q, v, effort, parameters, a));
  }
  Status step(const double *q, const double *v, const double *effort, double h,
              const double *parameters, double *q_after, double *v_after) noexcept {
    return Status(
        table_->step(memory_.data(), q, v, effort, h, parameters, q_after, v_after));
  }
  Status mass_matrix(const double *q, const double *parameters, double *matrix) noexcept {
    return Status(table_->mass_matrix(memory_.data(), q, parameters, matrix));
  }
  Status gravity_vector(const double *q, const double *parameters, double *force) noexcept {
    return Status(table_->gravity_vector(memory_.data(), q, parameters, force));
  }
  Status gravity_effort(const double *q, const double *parameters, double *effort) noexcept {
    return Status(table_->gravity_effort(memory_.data(), q, parameters, effort));
  }
  Status friction_effort(const double *q, const double *v, const double *parameters,
                         double *effort) noexcept {
    return Status(table_->friction_effort(memory_.data(), q, v, parameters, effort));
  }
  Status actuated_effort(const double *q, const double *force, double *effort) noexcept {
    return Status(table_->actuated_effort(memory_.data(), q, force, parameters_, effort));
  }
  /* Efforts of a mode of control; wanted and gains as mbdyn_ros_mode has them. */
  Status control(const mbdyn_ros_mode &mode, const double *q, const double *v,
                 const double *wanted, const double *gains, const double *parameters,
                 double *effort) noexcept {
    return Status(mode.effort(memory_.data(), q, v, wanted, gains, parameters, effort));
  }
  /* Place and quaternion (7) of the link that a mode leads. */
  Status link_pose(const double *q, double *pose) noexcept {
    return Status(table_->link_pose(memory_.data(), q, parameters_, pose));
  }
  /* Displacement (6) of that link to a wanted pose. */
  Status link_error(const double *q, const double *place, const double *turn,
                    double *error) noexcept {
    return Status(table_->link_error(memory_.data(), q, place, turn, parameters_, error));
  }
  Status jacobian(std::size_t link, const double *q, double *jacobian) noexcept {
    return Status(table_->links[link].jacobian(memory_.data(), q, parameters_, jacobian));
  }
  /* The Jacobian (6, nv) of a link at which wrenches are felt, in its axes. */
  Status felt(std::size_t link, const double *q, double *jacobian) noexcept {
    return Status(table_->felt[link].jacobian(memory_.data(), q, parameters_, jacobian));
  }
  /* Mobility and free accelerations (m, m + 1) of the m actuated joints. */
  Status actuator_response(const double *q, const double *v, const double *parameters,
                           double *response) noexcept {
    return Status(table_->actuator_response(memory_.data(), q, v, parameters, response));
  }
  /* Momentum, and its rates under `held` and `effort` (nv, 3). */
  Status momentum_balance(const double *q, const double *v, const double *held,
                          const double *effort, const double *parameters,
                          double *momentum) noexcept {
    return Status(
        table_->momentum_balance(memory_.data(), q, v, held, effort, parameters, momentum));
  }
  /* What a sensor of the table shows. */
  Status reading(const mbdyn_ros_sensor &sensor, const double *q, const double *v,
                 const double *motion, double *numbers) noexcept {
    return Status(sensor.reading(memory_.data(), q, v, motion, parameters_, numbers));
  }
  double gap(const double *q, const char **loop) noexcept {
    return table_->gap(memory_.data(), q, parameters_, loop);
  }

 private:
  const mbdyn_ros_model *table_;
  const double *parameters_;
  std::vector<double> memory_;
};

}  // namespace mbdyn_ros

#endif
