/* Library: a robot's shared library, opened at run time. */
#ifndef MBDYN_ROS_LIBRARY_HPP
#define MBDYN_ROS_LIBRARY_HPP

#include <dlfcn.h>

#include <memory>
#include <string>
#include <utility>

#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros {

/* Open while it, or a copy of it, is there; a `Model` must not outlive it. */
class Library {
 public:
  /* Open a file; `table` is null where `error` says why not. Not for a real-time thread. */
  static Library open(const std::string &path) {
    Library opened;
    dlerror();
    std::shared_ptr<void> handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void *one) {
      if (one != nullptr) dlclose(one);
    });
    const char *reason = handle ? nullptr : dlerror();
    if (!handle) {
      opened.error_ = path + " cannot be opened: " + (reason ? reason : "no reason is given");
      return opened;
    }
    void *symbol = dlsym(handle.get(), MBDYN_ROS_ENTRY);
    if (symbol == nullptr) {
      opened.error_ = path + " is not a robot's library: it has no function " MBDYN_ROS_ENTRY
                             "; write it with mbdyn codegen --cpp";
      return opened;
    }
    const auto entry = reinterpret_cast<const mbdyn_ros_model *(*)()>(symbol);
    const mbdyn_ros_model *table = entry();
    if (const std::string why = refusal(table); !why.empty()) {
      opened.error_ = path + ": " + why;
      return opened;
    }
    opened.handle_ = std::move(handle);
    opened.table_ = table;
    return opened;
  }

  const mbdyn_ros_model *table() const noexcept { return table_; }
  const std::string &error() const noexcept { return error_; }

 private:
  std::shared_ptr<void> handle_;
  const mbdyn_ros_model *table_ = nullptr;
  std::string error_;
};

}  // namespace mbdyn_ros

#endif
