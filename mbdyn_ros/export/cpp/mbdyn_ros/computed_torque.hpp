/* The former name of control_law.hpp, for one release. */
#ifndef MBDYN_ROS_COMPUTED_TORQUE_HPP
#define MBDYN_ROS_COMPUTED_TORQUE_HPP

#include "mbdyn_ros/control_law.hpp"

namespace mbdyn_ros {

using ComputedTorque [[deprecated("include mbdyn_ros/control_law.hpp: ControlLaw")]] = ControlLaw;

}  // namespace mbdyn_ros

#endif
