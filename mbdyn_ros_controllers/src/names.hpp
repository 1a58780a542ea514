// Lists of names, as messages for people have them.
#ifndef NAMES_HPP
#define NAMES_HPP

#include <cstddef>
#include <string>

#include "mbdyn_ros/model.h"

namespace mbdyn_ros_controllers {

inline std::string listed(const mbdyn_ros_names &names) {
  std::string text;
  for (std::size_t k = 0; k < names.count; ++k) {
    if (k > 0) text += ", ";
    text += names.names[k];
  }
  return text;
}

}  // namespace mbdyn_ros_controllers

#endif
