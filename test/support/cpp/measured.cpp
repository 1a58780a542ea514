/* All joints from measured ones: measured LIBRARY JOINT=DEVIATION..., states on standard input.

   A state is position and velocity of each joint; for each come the status, and positions,
   velocities and disagreements, as doubles. Memory that is taken in the loop is a failure. */
#define COUNT_ALLOCATIONS
#include "check.hpp"

#include <cstdlib>

#include "mbdyn_ros/library.hpp"
#include "mbdyn_ros/measured_joints.hpp"

using namespace mbdyn_ros;

static void write(const std::vector<double> &numbers) {
  std::fwrite(numbers.data(), sizeof(double), numbers.size(), stdout);
}

int main(int count, char **arguments) {
  const Library library = Library::open(arguments[1]);
  if (library.table() == nullptr) return 2;
  std::vector<std::string> joints;
  std::vector<double> deviations;
  for (int k = 2; k < count; ++k) {
    const std::string given = arguments[k];
    const std::size_t middle = given.find('=');
    joints.push_back(given.substr(0, middle));
    deviations.push_back(std::strtod(given.c_str() + middle + 1, nullptr));
  }
  const std::string words = MeasuredJoints::refusal(*library.table(), joints, deviations);
  if (!words.empty()) {
    std::fputs(words.c_str(), stdout);
    return 0;
  }
  MeasuredJoints measured(*library.table(), joints, deviations);
  std::vector<double> position(joints.size()), velocity(joints.size()), status(1);
  const auto read = [](std::vector<double> &values) {
    return std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size();
  };
  while (read(position) && read(velocity)) {
    const long before = allocations;
    status[0] = static_cast<int>(measured.update(position.data(), velocity.data()));
    if (allocations != before) return 3;
    write(status);
    write(measured.position());
    write(measured.velocity());
    write(measured.disagreement());
  }
  return 0;
}
