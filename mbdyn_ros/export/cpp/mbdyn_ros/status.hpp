/* Status: whether a function of a robot has an answer. */
#ifndef MBDYN_ROS_STATUS_HPP
#define MBDYN_ROS_STATUS_HPP

#include "mbdyn_ros/model.h"

namespace mbdyn_ros {

/* As the functions of the C interface return it. */
enum class [[nodiscard]] Status : int {
  ok = MBDYN_ROS_OK,
  not_finite = MBDYN_ROS_NOT_FINITE,
  open = MBDYN_ROS_OPEN,
  no_answer = MBDYN_ROS_NO_ANSWER
};

inline const char *text(Status status) noexcept {
  switch (status) {
    case Status::ok: return "ok";
    case Status::not_finite: return "an argument is not finite";
    case Status::open: return "a loop cannot be closed there";
    case Status::no_answer: return "an actuator is at a dead point, or a number is too large";
  }
  return "unknown";
}

}  // namespace mbdyn_ros

#endif
