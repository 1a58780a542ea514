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

#include "mbdyn_ros_controllers/robot_library.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "mbdyn_ros/description.hpp"

extern char **environ;

namespace mbdyn_ros_controllers {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_quote = 1500;  // of what a program said

std::string joined(const std::vector<std::string> &names, const char *between) {
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : between) + name;
  return text;
}

std::string content_of(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path cache_folder() {
  const std::string given = environment("XDG_CACHE_HOME");
  const fs::path base = given.empty() ? fs::path(environment("HOME")) / ".cache" : fs::path(given);
  return base / "mbdyn_ros" / "controllers";
}

// A folder of its own that goes with it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path &parent) {
    std::string name = (parent / "build.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw fs::filesystem_error("no folder can be made", parent,
                                 std::error_code(errno, std::generic_category()));
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path &path() const { return path_; }

 private:
  fs::path path_;
};

// Run a program until it ends or the deadline is there; why it failed, in words with the end of
// what it said, or nothing.
std::string run(const std::vector<std::string> &arguments, const fs::path &log,
                Clock::time_point deadline) {
  std::vector<char *> argv;
  for (const std::string &one : arguments) argv.push_back(const_cast<char *>(one.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  // A group of its own, which ends with it; neither the real-time priority of a controller manager
  // nor its signals.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  const sched_param ordinary{};
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER);
  posix_spawnattr_setschedparam(&attributes, &ordinary);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSCHEDULER |
                                            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  const std::string &program = arguments[0];
  if (failed != 0) return program + " cannot be run: " + std::strerror(failed);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      return program + " took too long: raise build_timeout, or build it ahead with "
                       "ros2 run mbdyn_ros_controllers build_robot_library";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::string said = content_of(log);
  const std::string folder = log.parent_path().string() + "/";
  for (std::size_t at = 0; (at = said.find(folder)) != said.npos;) said.erase(at, folder.size());
  if (said.size() > longest_quote) said = "... " + said.substr(said.size() - longest_quote);
  return program + " failed: " + said;
}

// Build a library into a file that is not there yet; why it cannot be, or nothing.
std::string build(const RobotRequest &request, const fs::path &file) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(request.timeout));
  fs::create_directories(file.parent_path());
  const TemporaryFolder folder(file.parent_path());
  const fs::path urdf = folder.path() / "robot.urdf", code = folder.path() / "code";
  const fs::path log = folder.path() / "log", built = folder.path() / "robot.so";
  std::ofstream(urdf, std::ios::binary) << request.description;
  std::vector<std::string> write{request.command, "codegen", urdf, "--cpp", "-o", code};
  if (!request.independent.empty()) {
    const fs::path mechanism = folder.path() / "mechanism.yaml";
    std::ofstream(mechanism) << "independent: [" << joined(request.independent, ", ") << "]\n";
    write.insert(write.end(), {"--mechanism", mechanism});
  }
  for (const std::string &link : request.variable) {
    write.insert(write.end(), {"--variable", link});
  }
  if (!request.link.empty()) write.insert(write.end(), {"--control-link", request.link});
  for (const std::string &link : request.imus) write.insert(write.end(), {"--imu", link});
  for (const std::string &joint : request.force_torques) {
    write.insert(write.end(), {"--force-torque", joint});
  }
  for (const std::string &link : request.felt) write.insert(write.end(), {"--felt-link", link});
  std::string words = run(write, log, deadline);
  if (!words.empty()) {
    if (request.independent.empty()) return words;
    return "with the parameter joints [" + joined(request.independent, ", ") + "] " + words;
  }
  const std::string given = environment("CC");
  std::vector<std::string> compile{given.empty() ? "cc" : given, "-std=c99", "-O2", "-fPIC",
                                   "-shared", "-DMBDYN_ROS_LIBRARY", "-I", code};
  const std::string model = "_model.c";
  for (const fs::directory_entry &entry : fs::directory_iterator(code)) {
    const std::string path = entry.path().string();
    if (path.size() <= model.size() || path.substr(path.size() - model.size()) != model) continue;
    compile.insert(compile.end(), {path, path.substr(0, path.size() - model.size()) + ".c"});
  }
  compile.insert(compile.end(), {"-o", built, "-lm"});
  words = run(compile, log, deadline);
  if (words.empty()) fs::rename(built, file);  // at once: others may look for it
  return words;
}

}  // namespace

std::string cached_file(const RobotRequest &request) {
  // Another version, or another table of functions, is another file.
  const std::string interface = MBDYN_ROS_VERSION " " + std::to_string(MBDYN_ROS_ABI) + " " +
                                std::to_string(sizeof(mbdyn_ros_model));
  const std::string key = mbdyn_ros::description_hash(request.description) + "\n" +
                          joined(request.independent, "\n") + "\n\n" +
                          joined(request.variable, "\n") + "\n\n" + request.link + "\n\n" +
                          joined(request.imus, "\n") + "\n\n" +
                          joined(request.force_torques, "\n") + "\n\n" +
                          joined(request.felt, "\n") + "\n\n" + interface;
  return cache_folder() / (mbdyn_ros::description_hash(key).substr(0, 32) + ".so");
}

RobotLibrary robot_library(const RobotRequest &request) {
  RobotLibrary found;
  if (request.description.empty()) {
    found.error = "there is no robot_description";
    return found;
  }
  found.file = request.file.empty() ? cached_file(request) : request.file;
  try {
    if (request.file.empty() && !fs::exists(found.file)) {
      if (request.timeout <= 0.0) {
        found.error = "the robot's library is not built, and build_timeout is 0: build it with "
                      "ros2 run mbdyn_ros_controllers build_robot_library";
        return found;
      }
      const std::string words = build(request, found.file);
      if (!words.empty()) {
        found.error = "the robot's library cannot be built: " + words;
        return found;
      }
    }
  } catch (const fs::filesystem_error &error) {
    found.error = std::string("the robot's library cannot be built: ") + error.what();
    return found;
  }
  found.library = mbdyn_ros::Library::open(found.file);
  const mbdyn_ros_model *table = found.library.table();
  if (table == nullptr) {
    found.error = found.library.error();
  } else if (mbdyn_ros::description_hash(request.description) != table->description) {
    found.error = found.file + " was written for another description of a robot, of " +
                  table->robot + ": write it again with mbdyn codegen --cpp, from the text that "
                                 "robot_description has";
  }
  return found;
}

}  // namespace mbdyn_ros_controllers
