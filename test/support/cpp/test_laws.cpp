/* Control laws on a robot of a textbook: what the closed loop does, against its solution. */
#define COUNT_ALLOCATIONS
#include "check.hpp"

#include <vector>

#include "arm.hpp"
#include "mbdyn_ros/control_law.hpp"

using namespace mbdyn_ros;

static const double rest[2] = {0.0, 0.0};

/* The places of the arm's modes. */
enum Mode : std::size_t { gravity_compensation, computed_torque, joint_impedance };

static void set_gains(Settings &settings, const char *name, const std::vector<double> &values) {
  CHECK(ControlLaw::set_gain(arm::table, settings, name, values).empty());
}

static Settings with(ControlLaw &law, Mode mode, double stiffness, double damping) {
  Settings settings = law.settings();
  settings.mode = mode;
  if (mode == gravity_compensation) return settings;
  const bool physical = mode == joint_impedance;
  set_gains(settings, physical ? "joint_stiffness" : "kp", {stiffness});
  set_gains(settings, physical ? "joint_damping" : "kd", {damping});
  return settings;
}

/* A step of the machine: Runge and Kutta, 0.1 ms, efforts held. */
static void move(double *q, double *v, const double *effort, const double *numbers) {
  constexpr double h = 1e-4;
  double kq[4][2], kv[4][2], x[2], y[2];
  for (int stage = 0; stage < 4; ++stage) {
    const double step = stage == 0 ? 0.0 : stage == 3 ? h : h / 2.0;
    for (int k = 0; k < 2; ++k) {
      x[k] = q[k] + (stage ? step * kq[stage - 1][k] : 0.0);
      y[k] = v[k] + (stage ? step * kv[stage - 1][k] : 0.0);
      kq[stage][k] = y[k];
    }
    (void)arm::forward_dynamics(nullptr, x, y, effort, numbers, kv[stage]);
  }
  for (int k = 0; k < 2; ++k) {
    q[k] += h / 6.0 * (kq[0][k] + 2.0 * kq[1][k] + 2.0 * kq[2][k] + kq[3][k]);
    v[k] += h / 6.0 * (kv[0][k] + 2.0 * kv[1][k] + 2.0 * kv[2][k] + kv[3][k]);
  }
}

/* Errors obey e'' + 2 w e' + w^2 e = 0: e = e0 (1 + w t) exp(-w t), whatever the robot. */
static void test_errors_of_computed_torque() {
  constexpr double w = 8.0, start = 0.3;
  ControlLaw law(arm::table);
  Settings settings = with(law, computed_torque, w * w, 2.0 * w);
  settings.effort_limit.assign(2, arm::none);
  settings.friction = false;
  CHECK(law.set(settings).empty());
  double q[2] = {start, 1.0}, v[2] = {0.0, 0.0}, effort[2];
  const double goal[2] = {0.0, 1.0};
  for (int cycle = 1; cycle <= 5000; ++cycle) {
    CHECK(law.update(q, v, {goal, rest, rest}, 1e-4, effort) == Status::ok);
    double rub[2];
    (void)arm::rubbing(nullptr, q, v, nullptr, rub); /* a machine without friction */
    effort[0] += rub[0];
    move(q, v, effort, arm::values);
    const double t = 1e-4 * cycle, expected = start * (1.0 + w * t) * std::exp(-w * t);
    if (!near(q[0], expected, 1e-3 * start) || !near(q[1], goal[1], 1e-3)) {
      CHECK(near(q[0], expected, 1e-3 * start) && near(q[1], goal[1], 1e-3));
      return;
    }
  }
}

/* A spring of stiffness K gives way by F / K to a force F from outside. */
static void test_stiffness_of_joint_impedance() {
  constexpr double stiffness = 400.0, force = 20.0;
  ControlLaw law(arm::table);
  Settings settings = with(law, joint_impedance, stiffness, 60.0);
  settings.friction = false;
  CHECK(law.set(settings).empty());
  double q[2] = {0.0, 0.5}, v[2] = {0.0, 0.0}, effort[2];
  const double goal[2] = {0.0, 0.5};
  for (int cycle = 0; cycle < 30000; ++cycle) {
    CHECK(law.update(q, v, {goal, rest, rest}, 1e-4, effort) == Status::ok);
    effort[1] += force;
    double rub[2];
    (void)arm::rubbing(nullptr, q, v, nullptr, rub);
    effort[0] += rub[0];
    move(q, v, effort, arm::values);
  }
  CHECK(near(q[1] - goal[1], force / stiffness, 1e-6));
  CHECK(near(q[0], 0.0, 1e-4)); /* dry friction, held over a cycle, is not undone exactly */
}

/* PD+: with a moving reference the energy of the error falls as the dampers take it,
   V = e'^T M e' / 2 + e^T K e / 2, V' = -e'^T D e' (Paden and Panja 1988). */
static void test_joint_impedance_is_passive() {
  ControlLaw law(arm::table);
  Settings settings = with(law, joint_impedance, 50.0, 4.0);
  settings.effort_limit.assign(2, arm::none);
  settings.friction = false;
  CHECK(law.set(settings).empty());
  const double q[2] = {0.2, 0.9}, v[2] = {0.5, -1.5}, a[2] = {0.4, -0.3};
  const double goal[2] = {0.5, 0.4}, speed[2] = {-0.7, 2.0};
  double effort[2], rub[2], found[2], m[4], ahead[4], behind[4];
  CHECK(law.update(q, v, {goal, speed, a}, 1e-3, effort) == Status::ok);
  (void)arm::rubbing(nullptr, q, v, nullptr, rub);
  effort[0] += rub[0];
  (void)arm::forward_dynamics(nullptr, q, v, effort, arm::values, found);
  constexpr double h = 1e-6;
  const double on[2] = {q[0] + h * v[0], q[1] + h * v[1]}, back[2] = {q[0] - h * v[0], q[1] - h * v[1]};
  (void)arm::mass_matrix(nullptr, q, arm::values, m);
  (void)arm::mass_matrix(nullptr, on, arm::values, ahead);
  (void)arm::mass_matrix(nullptr, back, arm::values, behind);
  double power = 0.0, taken = 0.0;
  for (int i = 0; i < 2; ++i) {
    const double e = speed[i] - v[i];
    for (int j = 0; j < 2; ++j) {
      power += e * m[2 * i + j] * (a[j] - found[j]);
      power += 0.5 * e * (ahead[2 * i + j] - behind[2 * i + j]) / (2.0 * h) * (speed[j] - v[j]);
    }
    power += 50.0 * (goal[i] - q[i]) * e;
    taken += 4.0 * e * e;
  }
  CHECK(near(power, -taken, 1e-6 * taken));
}

static void test_friction_and_payload_and_limits() {
  ControlLaw law(arm::table);
  Settings settings = with(law, computed_torque, 0.0, 0.0);
  CHECK(law.set(settings).empty());
  const double q[2] = {0.1, 0.4}, v[2] = {-0.2, 0.3}, dv[2] = {0.5, 0.3}, a[2] = {1.0, -2.0};
  double effort[2], expected[2], rub[2], theirs[2];
  (void)arm::inverse_dynamics(nullptr, q, v, a, arm::values, expected);
  (void)arm::rubbing(nullptr, q, v, nullptr, rub);
  (void)arm::rubbing(nullptr, q, dv, nullptr, theirs);
  CHECK(law.update(q, v, {q, dv, a}, 1e-3, effort) == Status::ok);
  CHECK(near(effort[0], expected[0] - rub[0] + theirs[0], 1e-12)); /* that of the reference */
  CHECK(near(effort[1], expected[1], 1e-12) && law.saturated() == 2);

  /* A rod of 3 kg off the point: m, m c and the moment about the joint grow by its own. */
  Payload rod{3.0, {0.0, 0.0, -0.5}, {0.25, 0.0, 0.0, 0.25, 0.0, 0.0}};
  CHECK(law.set_payload("bob", rod).empty());
  CHECK(law.set_payload("bob", rod).empty()); /* instead of the first */
  settings = law.settings();
  settings.mode = gravity_compensation;
  CHECK(law.set(settings).empty());
  CHECK(law.update(q, v, {q, dv, a}, 1e-3, effort) == Status::ok);
  CHECK(near(effort[1], (arm::m * arm::l + 1.5) * arm::g * std::sin(q[1]), 1e-12));
  CHECK(near(law.settings().parameters[7], arm::m * arm::l * arm::l + 0.25 + 0.75, 1e-12));

  settings.mode = computed_torque;
  settings.effort_limit = {1.0, arm::none};
  CHECK(law.set(settings).empty());
  CHECK(law.update(q, v, {q, dv, a}, 1e-3, effort) == Status::ok);
  CHECK(near(effort[0], 1.0, 0.0) && law.saturated() == 0);
}

static void test_changes_fade() {
  ControlLaw law(arm::table, 0.1);
  CHECK(law.set(with(law, computed_torque, 100.0, 20.0)).empty());
  const double q[2] = {0.0, 0.5}, goal[2] = {0.0, 0.6};
  double before[2], effort[2], after[2];
  CHECK(law.update(q, rest, {goal, rest, rest}, 1e-3, before) == Status::ok);
  CHECK(law.set(with(law, gravity_compensation, 0.0, 0.0)).empty());
  CHECK(law.update(q, rest, {goal, rest, rest}, 1e-3, effort) == Status::ok);
  CHECK(near(effort[1], before[1], 1e-12)); /* no jump */
  (void)arm::gravity(nullptr, q, arm::values, after);
  for (int cycle = 1; cycle < 100; ++cycle) {
    CHECK(law.update(q, rest, {goal, rest, rest}, 1e-3, effort) == Status::ok);
    const double s = cycle / 100.0, share = 1.0 - s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
    CHECK(near(effort[1], after[1] + share * (before[1] - after[1]), 1e-9));
  }
  CHECK(law.update(q, rest, {goal, rest, rest}, 1e-3, effort) == Status::ok);
  CHECK(near(effort[1], after[1], 1e-9));
}

/* Along a motion, under forces F from outside: no change of mode jumps, each with gains of its own
   for every joint; under the last one, joint impedance, every joint gives way by F / K. */
static void test_modes_change_in_motion() {
  constexpr double w = 3.0, step = 1e-4, wide[2] = {0.2, 0.5};
  constexpr double force[2] = {20.0, 3.0}, stiff[2] = {800.0, 30.0};
  ControlLaw law(arm::table, 0.2);
  Settings computed = with(law, computed_torque, 0.0, 0.0);
  computed.friction = false;
  set_gains(computed, "kp", {400.0, 225.0});
  set_gains(computed, "kd", {40.0, 30.0});
  set_gains(computed, "joint_stiffness", {stiff[0], stiff[1]});
  set_gains(computed, "joint_damping", {60.0, 6.0});
  Settings impedance = computed, gravity = computed;
  impedance.mode = joint_impedance;
  gravity.mode = gravity_compensation;
  const Settings *const modes[] = {&computed, &impedance, &gravity, &computed, &impedance};
  const int begins[] = {0, 5000, 10000, 10500, 15000};
  double q[2] = {0.0, 0.0}, v[2] = {wide[0] * w, wide[1] * w}, effort[2], last[2], largest = 0.0;
  double goal[2], speed[2], a[2];
  for (int cycle = 0, mode = 0; cycle < 50000; ++cycle) {
    if (mode < 5 && cycle == begins[mode]) CHECK(law.set(*modes[mode++]).empty());
    for (int k = 0; k < 2; ++k) {
      const double t = step * cycle;
      goal[k] = wide[k] * std::sin(w * t);
      speed[k] = wide[k] * w * std::cos(w * t);
      a[k] = -w * w * goal[k];
    }
    CHECK(law.update(q, v, {goal, speed, a}, step, effort) == Status::ok);
    double acting[2], rub[2];
    (void)arm::rubbing(nullptr, q, v, nullptr, rub); /* a machine without friction */
    for (int k = 0; k < 2; ++k) {
      if (cycle >= begins[1]) largest = std::fmax(largest, std::fabs(effort[k] - last[k]));
      last[k] = effort[k];
      acting[k] = effort[k] + force[k] + (k == 0 ? rub[0] : 0.0);
    }
    move(q, v, acting, arm::values);
  }
  CHECK(largest < 0.05); /* without fading: 75 */
  for (int k = 0; k < 2; ++k) CHECK(near(q[k] - goal[k], force[k] / stiff[k], 1e-3));
}

static void test_refusals() {
  ControlLaw law(arm::table);
  Settings settings = law.settings();
  const auto gain = [&](const char *name, const std::vector<double> &values) {
    return ControlLaw::set_gain(arm::table, settings, name, values);
  };
  CHECK(has(gain("kp", {1.0, 2.0, 3.0}), "kp has 3 numbers; expected none, one for all, or 2"));
  CHECK(has(gain("kp", {1.0, -1.0}), "kp has the number -1"));
  CHECK(has(gain("stiffness", {}), "there are guiding_damping, kp, kd, joint_stiffness, joint_d"));
  settings.gains = {1.0};
  CHECK(has(law.set(settings), "gains has 1 numbers, not 10"));
  settings = law.settings();
  settings.gains[3] = -1.0;
  CHECK(has(law.set(settings), "gains has the number -1"));
  settings = law.settings();
  settings.mode = 3;
  CHECK(has(law.set(settings), "no such mode"));
  CHECK(ControlLaw::place_of_mode(arm::table, "joint_impedance") == joint_impedance);
  CHECK(ControlLaw::place_of_mode(arm::table, "cartesian_impedance") == 3);
  settings = law.settings();
  settings.parameters[3] = std::nan("");
  CHECK(has(law.set(settings), "parameters are not all finite"));
  settings = law.settings();
  settings.effort_limit[0] = std::nan("");
  CHECK(has(law.set(settings), "effort_limit has the number"));
  CHECK(has(law.set_payload("bo", {}), "the inertia of link 'bo' is not variable"));
  CHECK(has(law.set_payload("bob", {-1.0, {}, {}}), "negative"));
  CHECK(has(law.set_payload("bob", {0.0, {}, {1, 0, 0, 1, 0, 1}}), "no mass"));
  CHECK(has(law.set_payload("bob", {1.0, {}, {1, 0, 0, 1, 0, 3}}), "no body"));
  CHECK(has(law.set_payload("bob", {1.0, {}, {1, 2, 0, 1, 0, 1}}), "no body"));
  CHECK(has(law.set_payload("bob", {1.0, {std::nan(""), 0, 0}, {}}), "not finite"));
  CHECK(law.set_payload("bob", {1.0, {}, {1, 0, 0, 1, 0, 2}}).empty()); /* a flat plate */
  CHECK(law.settings().gains[0] <= 0.0); /* what was refused changed nothing */

  mbdyn_ros_model other = arm::table;
  CHECK(refusal(&other).empty() && ControlLaw::refusal(other).empty());
  CHECK(has(refusal(nullptr), "no model"));
  other.abi = 7;
  CHECK(has(refusal(&other), "interface 7"));
  other.abi = MBDYN_ROS_ABI;
  other.size = 8;
  CHECK(has(refusal(&other), "of 8 bytes"));
  other.q.count = 7;
  CHECK(has(ControlLaw::refusal(other), "quaternions"));
  other.q.count = 2;
  other.inverse_dynamics = nullptr;
  CHECK(has(ControlLaw::refusal(other), "do not determine"));
}

static void test_nothing_goes_out_where_there_is_no_answer() {
  ControlLaw law(arm::table, 0.1);
  for (const Mode mode : {gravity_compensation, computed_torque, joint_impedance}) {
    CHECK(law.set(with(law, mode, 1.0, 1.0)).empty());
    const double q[2] = {std::nan(""), 0.0};
    double effort[2] = {1.0, 1.0};
    CHECK(law.update(q, rest, {rest, rest, rest}, 1e-3, effort) == Status::not_finite);
    CHECK(near(effort[0], 0.0, 0.0) && near(effort[1], 0.0, 0.0));
    if (mode == gravity_compensation) continue;
    CHECK(law.update(rest, rest, {q, rest, rest}, 1e-3, effort) == Status::not_finite);
    CHECK(law.update(rest, rest, {rest, rest, q}, 1e-3, effort) == Status::not_finite);
  }
}

static void test_update_allocates_nothing() {
  ControlLaw law(arm::table, 0.01);
  const double q[2] = {0.1, 0.2};
  double effort[2];
  for (const Mode mode : {joint_impedance, computed_torque, gravity_compensation}) {
    CHECK(law.set(with(law, mode, 10.0, 1.0)).empty());
    const long before = allocations;
    for (int cycle = 0; cycle < 100; ++cycle) {
      (void)law.update(q, rest, {rest, rest, rest}, 1e-3, effort);
    }
    CHECK(allocations == before && before > 0);
  }
}

int main() {
  test_errors_of_computed_torque();
  test_stiffness_of_joint_impedance();
  test_joint_impedance_is_passive();
  test_friction_and_payload_and_limits();
  test_changes_fade();
  test_modes_change_in_motion();
  test_refusals();
  test_nothing_goes_out_where_there_is_no_answer();
  test_update_allocates_nothing();
  return failures != 0;
}
