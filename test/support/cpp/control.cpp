/* Efforts of a mode of control: control LIBRARY MODE, on standard input the gains and then states:
   q, v, the reference's q, v and a, place, turn, twist, twist rate, posture and external efforts,
   one double after the other. For each come the efforts, as doubles. With a third argument the
   states are cycles of 1 ms, else each is by itself. */
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "mbdyn_ros/control_law.hpp"
#include "mbdyn_ros/library.hpp"

using namespace mbdyn_ros;

template <class List>
static bool read(List &values) {
  return std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size();
}

int main(int count, char **arguments) {
  const Library library = Library::open(arguments[1]);
  if (library.table() == nullptr) {
    std::puts(library.error().c_str());
    return 1;
  }
  const mbdyn_ros_model &table = *library.table();
  ControlLaw law(table);
  Settings settings = law.settings();
  settings.mode = ControlLaw::place_of_mode(table, arguments[2]);
  settings.effort_limit.assign(table.effort.count, std::numeric_limits<double>::infinity());
  if (!read(settings.gains)) return 2;
  const std::string words = law.set(settings);
  if (!words.empty()) {
    std::puts(words.c_str());
    return 3;
  }
  std::vector<double> q(table.v.count), v(q), wanted_q(q), wanted_v(q), wanted_a(q), posture(q), external(q);
  std::vector<double> effort(table.effort.count);
  PoseReference pose;
  while (read(q) && read(v) && read(wanted_q) && read(wanted_v) && read(wanted_a) &&
         read(pose.place) && read(pose.turn) && read(pose.twist) && read(pose.twist_rate) &&
         read(posture) && read(external)) {
    if (count < 4) law.reset();
    const Reference reference{wanted_q.data(), wanted_v.data(), wanted_a.data()};
    const Status status = law.update(q.data(), v.data(), reference, 1e-3, effort.data(), &pose,
                                     posture.data(), external.data());
    if (status != Status::ok) std::fprintf(stderr, "%s\n", text(status));
    std::fwrite(effort.data(), sizeof(double), effort.size(), stdout);
  }
  return 0;
}
