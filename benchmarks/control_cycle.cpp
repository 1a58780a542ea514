// Times of control laws, call by call: control_cycle LIBRARY CALLS MODE AMPLITUDE...
//
// The robot moves about home, each joint at a frequency of its own, so no two states are alike. Of
// every mode the time of each call by the clock, pauses and interrupts in it. The motion then runs
// twice more, and of every call the shortest of the three times counts: what is still long is so by
// its own work.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mbdyn_ros/computed_torque.hpp"
#include "mbdyn_ros/library.hpp"

using namespace mbdyn_ros;

static double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

static long taken_away() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

int main(int count, char **arguments) {
  const Library library = Library::open(arguments[1]);
  if (library.table() == nullptr) {
    std::fprintf(stderr, "%s\n", library.error().c_str());
    return 1;
  }
  const mbdyn_ros_model &table = *library.table();
  const long calls = std::strtol(arguments[2], nullptr, 10);
  const std::size_t n = table.v.count;
  if (count != 4 + static_cast<int>(n)) return 2;
  std::vector<double> amplitude(n), q(n), v(n), goal(n), rest(n), effort(table.effort.count);
  for (std::size_t k = 0; k < n; ++k) amplitude[k] = std::strtod(arguments[4 + k], nullptr);

  const char *names[] = {"gravity_compensation", "computed_torque", "joint_impedance"};
  for (int mode = 0; mode < 3; ++mode) {
    if (std::string("all") != arguments[3] && std::string(names[mode]) != arguments[3]) continue;
    ComputedTorque law(table);
    Settings settings = law.settings();
    settings.mode = static_cast<Mode>(mode);
    settings.stiffness.assign(n, 100.0);
    settings.damping.assign(n, 20.0);
    if (const std::string words = law.set(settings); !words.empty()) {
      std::fprintf(stderr, "%s\n", words.c_str());
      return 1;
    }
    std::vector<float> times(static_cast<std::size_t>(calls)), best;
    const long before = taken_away();
    long away = 0;
    for (const int pass : {0, 1, 2}) {
      law.reset();
      for (long call = 0; call < calls; ++call) {
        const double t = 1e-3 * static_cast<double>(call);
        for (std::size_t k = 0; k < n; ++k) {
          const double w = 2.0 + 0.37 * static_cast<double>(k);
          q[k] = table.home_q[k] + amplitude[k] * std::sin(w * t);
          v[k] = amplitude[k] * w * std::cos(w * t);
          goal[k] = q[k] + 1e-3;
        }
        const Reference reference{goal.data(), v.data(), rest.data()};
        const double start = now();
        const Status status = law.update(q.data(), v.data(), reference, 1e-3, effort.data());
        const auto time = static_cast<float>(now() - start);
        if (status != Status::ok) {
          std::fprintf(stderr, "%s, call %ld: %s\n", names[mode], call, text(status));
          return 1;
        }
        float &place = pass == 0 ? times[static_cast<std::size_t>(call)]
                                 : best[static_cast<std::size_t>(call)];
        place = pass == 0 ? time : std::min(place, time);
      }
      if (pass == 0) {
        away = taken_away() - before;
        best = times;
      }
    }
    double sum = 0.0;
    for (const float time : times) sum += static_cast<double>(time);
    const auto rank = [&](double share) {
      const auto place = times.begin() + static_cast<long>(share * static_cast<double>(calls - 1));
      std::nth_element(times.begin(), place, times.end());
      return static_cast<double>(*place);
    };
    std::printf("%-21s %8.0f %8.0f %8.0f %8.0f %10.1f %10.1f %6ld\n", names[mode],
                sum / static_cast<double>(calls), rank(0.5), rank(0.999), rank(0.99999),
                static_cast<double>(*std::max_element(times.begin(), times.end())) / 1e3,
                static_cast<double>(*std::max_element(best.begin(), best.end())) / 1e3, away);
  }
  return 0;
}
