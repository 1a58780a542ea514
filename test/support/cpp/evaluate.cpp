/* Numbers of a library's functions: evaluate LIBRARY [PAYLOAD_LINK [FARTHEST [PARAMETER ...]]],
   states on standard input.

   A state is q, v, a, effort and force, one double after the other; for each come the results of
   all functions, each with its status behind it, as doubles. A payload of fixed numbers is fastened
   to the link, where one is named. Behind the first state jumps are limited to FARTHEST, 0: not at all.
   PARAMETERs are all of them. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mbdyn_ros/library.hpp"
#include "mbdyn_ros/payload.hpp"

using namespace mbdyn_ros;

static void write(const std::vector<double> &result, Status status) {
  const double code = static_cast<int>(status);
  std::fwrite(result.data(), sizeof(double), result.size(), stdout);
  std::fwrite(&code, sizeof(double), 1, stdout);
}

static bool read(std::vector<double> &values) {
  return std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size();
}

int main(int count, char **arguments) {
  const Library library = Library::open(arguments[1]);
  if (library.table() == nullptr) {
    std::puts(library.error().c_str());
    return 1;
  }
  const mbdyn_ros_model &table = *library.table();
  Model model(table);
  std::vector<double> given(table.parameter_values,
                            table.parameter_values + table.parameters.count);
  const Payload payload{5.0, {0.1, -0.2, 0.3}, {0.05, 0.001, -0.002, 0.06, 0.003, 0.07}};
  if (count > 2 && *arguments[2]) fasten(payload, &given[place_of_link(table.parameters, arguments[2])]);
  for (int k = 4; k < count; ++k) given[k - 4] = std::strtod(arguments[k], nullptr);
  const double *p = given.data();
  model.set_parameters(p);

  std::vector<double> q(model.nq()), v(model.nv()), a(model.nv()), effort(model.efforts());
  std::vector<double> force(model.nv());
  std::vector<double> efforts(model.efforts()), numbers(model.nv()), matrix(model.nv() * model.nv());
  const std::size_t positions = table.joint_position.count, rates = table.joint_velocity.count;
  std::vector<double> x(positions), dx(rates), ddx(rates), jacobian(6 * model.nv());
  while (read(q) && read(v) && read(a) && read(effort) && read(force)) {
    const Status state =
        model.joint_state(q.data(), v.data(), a.data(), x.data(), dx.data(), ddx.data());
    write(x, state);
    write(dx, state);
    write(ddx, state);
    if (table.inverse_dynamics) {
    write(efforts, model.inverse_dynamics(q.data(), v.data(), a.data(), p, efforts.data()));
      write(efforts, model.gravity_effort(q.data(), p, efforts.data()));
      if (model.has_friction()) {
        write(efforts, model.friction_effort(q.data(), v.data(), p, efforts.data()));
      }
      write(efforts, model.actuated_effort(q.data(), force.data(), efforts.data()));
    }
    if (table.forward_dynamics) {
      write(numbers, model.forward_dynamics(q.data(), v.data(), effort.data(), p, numbers.data()));
    }
    write(matrix, model.mass_matrix(q.data(), p, matrix.data()));
    write(numbers, model.gravity_vector(q.data(), p, numbers.data()));
    for (std::size_t link = 0; link < table.link_count; ++link) {
      write(jacobian, model.jacobian(link, q.data(), jacobian.data()));
    }
    const char *loop = nullptr;
    const double gap = model.gap(q.data(), &loop);
    write({gap}, loop == nullptr ? Status::ok : Status::open);
    if (count > 3) model.limit_jumps(std::strtod(arguments[3], nullptr));
  }
  return 0;
}
