// What DynamicsController does in the control loop: nothing here allocates, locks, throws or logs.
#include <cmath>
#include <limits>

#include "carried_reference.hpp"
#include "dynamics_controller.hpp"

namespace mbdyn_ros_controllers {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

double or_zero(double x) { return std::isnan(x) ? 0.0 : x; }

}  // namespace

controller_interface::return_type DynamicsController::update_reference_from_subscribers(
    const rclcpp::Time &time, const rclcpp::Duration &) {
  const Received &now = received_->get();
  if (now.number != seen_) {
    seen_ = now.number;
    followed_ = true;
  }
  const double timeout = timeout_;
  const double age = 1e-9 * static_cast<double>(time.nanoseconds() - now.stamp);
  const bool holds = followed_ && (timeout <= 0.0 || std::fabs(age) <= timeout);
  bool written = true;
  for (std::size_t k = 0; k < now.values.size(); ++k) {
    const double value = holds ? carried(now.values, q_.size(), k, age) : absent;
    written &= ordered_exported_reference_interfaces_[k]->set_value(value);
  }
  if (!written) trouble(Trouble::busy, 0);
  return controller_interface::return_type::OK;
}

controller_interface::return_type DynamicsController::update_and_write_commands(
    const rclcpp::Time &time, const rclcpp::Duration &period) {
  const double seconds = period.seconds();
  const bool measured = measure();
  if (measured && !read_references(seconds)) {
    write(true);
    return controller_interface::return_type::ERROR;
  }
  double sum = 0.0;
  for (const double q : q_) sum += q;
  const double lead = lead_ + state_age_->at(sum, time.nanoseconds());
  if (!measured || state_age_->stale()) {
    trouble(measured ? Trouble::stale : Trouble::not_finite, 0);
    law_->reset();
    write(true);
    return controller_interface::return_type::OK;
  }
  for (std::size_t k = 0; k < q_.size(); ++k) {  // to the instant of the reference
    next_q_[k] = q_[k] + lead * v_[k];
    next_v_[k] = v_[k] + lead * wanted_a_[k];
  }
  const mbdyn_ros::Reference wanted{wanted_q_.data(), wanted_v_.data(), wanted_a_.data()};
  const mbdyn_ros::Status status =
      law_->update(next_q_.data(), next_v_.data(), wanted, seconds, effort_.data());
  if (status != mbdyn_ros::Status::ok) {
    trouble(status == mbdyn_ros::Status::open        ? Trouble::open
            : status == mbdyn_ros::Status::no_answer ? Trouble::no_answer
                                                     : Trouble::not_finite,
            0);
    write(true);
    return controller_interface::return_type::OK;
  }
  const double *most = robot_.library.table()->effort_limit;
  for (std::size_t k = 0; k < effort_.size(); ++k) {
    effort_[k] += added_[k];
    if (std::fabs(effort_[k]) > most[k]) effort_[k] = std::copysign(most[k], effort_[k]);
    if (std::fabs(effort_[k]) >= most[k]) trouble(Trouble::saturated, k);
  }
  write(false);
  publish(time, seconds);
  return controller_interface::return_type::OK;
}

bool DynamicsController::measure() noexcept {
  const std::size_t n = q_.size();
  bool finite = true;
  for (std::size_t k = 0; k < 2 * n; ++k) {
    const double value = state_interfaces_[k].get_optional().value_or(absent);
    (k < n ? q_[k] : v_[k - n]) = value;
    finite = finite && std::isfinite(value);
  }
  if (finite) posture_->set(q_);
  return finite;
}

bool DynamicsController::read_references(double period) noexcept {
  const std::size_t n = q_.size();
  const auto value = [this](std::size_t k) {
    return ordered_exported_reference_interfaces_[k]->get_optional().value_or(absent);
  };
  const bool by_hand = by_hand_;
  const double tolerance = tolerance_;
  for (std::size_t k = 0; k < n; ++k) {
    const double position = value(k);
    wanted_v_[k] = or_zero(value(n + k));
    wanted_a_[k] = or_zero(value(2 * n + k));
    if (!std::isnan(position)) {
      wanted_q_[k] = position;
    } else if (by_hand || std::isnan(wanted_q_[k])) {
      wanted_q_[k] = q_[k];
    } else {
      wanted_q_[k] += wanted_v_[k] * period;
    }
    if (!by_hand && tolerance > 0.0 && !(std::fabs(wanted_q_[k] - q_[k]) <= tolerance)) {
      trouble(Trouble::far, k);
      return false;
    }
  }
  for (std::size_t k = 0; k < added_.size(); ++k) added_[k] = or_zero(value(3 * n + k));
  return true;
}

void DynamicsController::write(bool zero) noexcept {
  bool written = true;
  for (std::size_t k = 0; k < effort_.size(); ++k) {
    if (zero) effort_[k] = 0.0;
    written &= command_interfaces_[k].set_value(effort_[k]);
  }
  if (!written) trouble(Trouble::busy, 0);
}

void DynamicsController::trouble(Trouble kind, std::size_t which) noexcept {
  troubled_ = which;
  trouble_ = kind;
}

void DynamicsController::publish(const rclcpp::Time &time, double period) noexcept {
  unpublished_ += period;
  if (!publisher_ || unpublished_ * publish_rate_ < 1.0) return;
  unpublished_ = 0.0;
  state_.header.stamp = time;
  for (std::size_t k = 0; k < q_.size(); ++k) {
    state_.feedback.positions[k] = q_[k];
    state_.feedback.velocities[k] = v_[k];
    state_.reference.positions[k] = wanted_q_[k];
    state_.reference.velocities[k] = wanted_v_[k];
    state_.reference.accelerations[k] = wanted_a_[k];
    state_.error.positions[k] = wanted_q_[k] - q_[k];
    state_.error.velocities[k] = wanted_v_[k] - v_[k];
  }
  for (std::size_t k = 0; k < effort_.size(); ++k) state_.output.effort[k] = effort_[k];
  (void)publisher_->try_publish(state_);
}

}  // namespace mbdyn_ros_controllers
