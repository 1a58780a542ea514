/* External efforts: observer LIBRARY ORDER HELD T, on standard input samples of time, q, v and
   effort, one double after the other. For each come the external efforts, as doubles, and behind
   them the wrench at each link at which they are felt, about the point (0.1, -0.2, 0.3) in its axes,
   with a moment and without. With a fifth argument, nanoseconds a cycle are printed instead, the
   least of many. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mbdyn_ros/external_wrench.hpp"
#include "mbdyn_ros/library.hpp"
#include "mbdyn_ros/observer.hpp"

using namespace mbdyn_ros;

int main(int count, char **arguments) {
  const Library library = Library::open(arguments[1]);
  if (library.table() == nullptr) {
    std::puts(library.error().c_str());
    return 1;
  }
  const mbdyn_ros_model &table = *library.table();
  const double constant = std::strtod(arguments[4], nullptr);
  const std::string words = Observer::refusal(table, constant, 1e-3);
  if (!words.empty()) {
    std::puts(words.c_str());
    return 2;
  }
  const bool first = std::atoi(arguments[2]) == 1;
  Observer observer(table, constant, first ? ObserverOrder::first : ObserverOrder::second,
                    std::atoi(arguments[3]) != 0);
  std::vector<ExternalWrench> wrenches;
  for (std::size_t k = 0; k < table.felt_count; ++k) {
    for (const bool moment : {true, false}) {
      wrenches.emplace_back(table, table.felt[k].name, std::array<double, 3>{0.1, -0.2, 0.3}, moment);
    }
  }
  const std::size_t nq = table.q.count, nv = table.v.count;
  std::vector<double> sample(1 + nq + nv + table.effort.count);
  while (std::fread(sample.data(), sizeof(double), sample.size(), stdin) == sample.size()) {
    const double *q = sample.data() + 1;
    if (observer.cycle(sample[0], q, q + nq, q + nq + nv) != Status::ok) return 3;
    if (count >= 6) continue;
    std::fwrite(observer.external.data(), sizeof(double), nv, stdout);
    for (ExternalWrench &one : wrenches) {
      if (one.update(q, observer.external.data()) != Status::ok) return 5;
      std::fwrite(one.wrench.data(), sizeof(double), 6, stdout);
    }
  }
  if (count >= 6) {
    double least = 1e9, time = sample[0];
    const double *q = sample.data() + 1;
    for (int k = 0; k < 20000; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      for (int j = 0; j < 10; ++j) {
        if (observer.cycle(time += 1e-3, q, q + nq, q + nq + nv) != Status::ok) return 4;
      }
      const std::chrono::duration<double, std::nano> spent =
          std::chrono::steady_clock::now() - begin;
      if (spent.count() / 10 < least) least = spent.count() / 10;
    }
    std::printf("%.0f", least);
  }
  return 0;
}
