// Whether gains are stable in a loop that runs in cycles.
#ifndef SAMPLED_LOOP_HPP
#define SAMPLED_LOOP_HPP

#include <vector>

namespace mbdyn_ros_controllers {

// The largest absolute eigenvalue of the error's motion from cycle to cycle, above 1 where it
// grows: M e'' = -(K e + D e'), with forces held over a period and one period late.
//
// mass: M, row by row; stiffness, damping: the diagonals of K and D; period, s.
double growth_of_errors(std::vector<double> mass, const std::vector<double> &stiffness,
                        const std::vector<double> &damping, double period);

}  // namespace mbdyn_ros_controllers

#endif
