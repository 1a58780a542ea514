/* MeasuredJoints: the state of all joints from those that are measured, in a control loop. */
#ifndef MBDYN_ROS_MEASURED_JOINTS_HPP
#define MBDYN_ROS_MEASURED_JOINTS_HPP

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "mbdyn_ros/least_squares.hpp"
#include "mbdyn_ros/model.hpp"

namespace mbdyn_ros {

/* Loops are closed exactly. Where more joints are measured than the robot has freedoms, the state
   is that of least squares: the sum of ((measured - estimated) / deviation)^2 is least, by Gauss and
   Newton's method from the last state. It allocates when it is made, never later. */
class MeasuredJoints {
 public:
  /* Why these joints (names of joint_position) do not determine the others; empty where they do.
     deviations: standard deviations of what is measured, rad or m; their ratios count. */
  static std::string refusal(const mbdyn_ros_model &table, const std::vector<std::string> &joints,
                             const std::vector<double> &deviations) {
    const std::string robot = table.robot;
    if (table.q.count != table.v.count) {
      return robot + ": positions with quaternions cannot be determined from measured joints";
    }
    if (deviations.size() != joints.size()) {
      return std::to_string(deviations.size()) + " deviations are given for " +
             std::to_string(joints.size()) + " measured joints";
    }
    for (std::size_t k = 0; k < joints.size(); ++k) {
      if (place(table.joint_position, joints[k]) == table.joint_position.count ||
          place(table.joint_velocity, joints[k]) == table.joint_velocity.count) {
        const mbdyn_ros_names &all = table.joint_position;
        return robot + ": there is no joint '" + joints[k] + "' of one coordinate; there are " +
               listed({all.names, all.names + all.count});
      }
      for (std::size_t j = 0; j < k; ++j) {
        if (joints[j] == joints[k]) return "joint '" + joints[k] + "' is named twice";
      }
      if (!(deviations[k] > 0.0) || !std::isfinite(deviations[k])) {
        return "the deviation of " + joints[k] + " is " + std::to_string(deviations[k]) +
               ": it must be positive";
      }
    }
    if (joints.size() < table.v.count) {
      return robot + " has " + std::to_string(table.v.count) +
             " freedoms, but fewer joints are measured: " + listed(joints);
    }
    MeasuredJoints tried(table, joints, deviations);
    if (tried.close(tried.q_) != Status::ok || !tried.solve(tried.disagreement_)) {
      return robot + ": " + listed(joints) + " leave a freedom open at home: measure another joint";
    }
    return {};
  }

  /* Of joints that have no `refusal`. */
  MeasuredJoints(const mbdyn_ros_model &table, const std::vector<std::string> &joints,
                 const std::vector<double> &deviations)
      : model_(table),
        last_(table),
        deviations_(deviations),
        q_(table.home_q, table.home_q + table.q.count),
        v_(table.v.count),
        position_(table.joint_position.count),
        velocity_(table.joint_velocity.count),
        disagreement_(joints.size()),
        way_(joints.size()),
        goal_(joints.size()),
        left_(joints.size()),
        rows_(joints.size() * table.v.count),
        rest_(table.v.count),
        unit_(table.v.count),
        step_(table.v.count),
        tried_(q_),
        next_(q_),
        found_(position_),
        rates_(velocity_),
        unused_(velocity_) {
    for (const std::string &joint : joints) {
      at_q_.push_back(place(table.joint_position, joint));
      at_v_.push_back(place(table.joint_velocity, joint));
    }
    if (close(q_) == Status::ok) position_ = found_;
    model_.limit_jumps(farthest);
    last_ = model_;
  }

  /* Take measured positions, and velocities or null (at rest), in the order of the joints. Where
     the status is not ok the state before stays. What changed by more than 0.1 rad or m is walked
     to. */
  Status update(const double *position, const double *velocity) noexcept {
    double whole = 0.0;
    for (std::size_t k = 0; k < way_.size(); ++k) {
      if (!std::isfinite(position[k]) || (velocity && !std::isfinite(velocity[k]))) {
        return Status::not_finite;
      }
      way_[k] = around(k, position[k] - position_[at_q_[k]] - disagreement_[k]);
      whole = std::fmax(whole, std::fabs(way_[k]));
    }
    const double strides = std::fmax(1.0, std::ceil(whole / stride));
    Status status = strides <= most_strides ? Status::ok : Status::open;
    tried_ = q_;
    for (double k = 1.0; status == Status::ok && k <= strides; ++k) {
      for (std::size_t j = 0; j < goal_.size(); ++j) {
        goal_[j] = position[j] - (1.0 - k / strides) * way_[j];
      }
      status = fuse();
    }
    if (status == Status::ok) status = move(velocity);
    if (status != Status::ok) {
      model_ = last_;
      return status;
    }
    last_ = model_;
    q_ = tried_;
    position_ = found_;
    disagreement_ = left_;
    return status;
  }

  /* The last state: of the independent joints, and of all joints. */
  const std::vector<double> &q() const noexcept { return q_; }
  const std::vector<double> &v() const noexcept { return v_; }
  const std::vector<double> &position() const noexcept { return position_; }
  const std::vector<double> &velocity() const noexcept { return velocity_; }

  /* Measured less estimated, rad or m: next to zero where nothing is redundant. */
  const std::vector<double> &disagreement() const noexcept { return disagreement_; }

 private:
  static constexpr double stride = 0.1;       /* longest way at once, rad or m */
  static constexpr double most_strides = 300; /* of them in one call */
  static constexpr double farthest = 0.5;     /* that searched loops move in a step: bounds time */
  static constexpr int most_steps = 30;       /* three or four are usual */
  static constexpr double last_step = 1e-12;  /* relative to 1: the method has come to an end */
  static constexpr double least_share = 1e-3; /* of a step that leads where no loop closes */
  static constexpr double least_part = 1e-9;  /* of a column that the others do not hold */

  static std::string listed(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /* A difference of a joint, the shortest way round where it turns in a loop. */
  double around(std::size_t k, double difference) const noexcept {
    constexpr double turn = 6.283185307179586;
    if (!model_.table().joint_turns[at_q_[k]]) return difference;
    return difference - turn * std::round(difference / turn);
  }

  /* Positions of all joints at q, in found_. */
  Status close(const std::vector<double> &q) noexcept {
    return model_.joint_state(q.data(), rest_.data(), rest_.data(), found_.data(), rates_.data(),
                              unused_.data());
  }

  /* The step_ that fits numbers of the measured joints best, where the loops are at tried_. The
     numbers are used up. */
  bool solve(std::vector<double> &numbers) noexcept {
    const std::size_t size = numbers.size();
    for (std::size_t j = 0; j < unit_.size(); ++j) {
      unit_[j] = 1.0;
      const Status status = model_.joint_state(tried_.data(), unit_.data(), rest_.data(),
                                               found_.data(), rates_.data(), unused_.data());
      unit_[j] = 0.0;
      if (status != Status::ok) return false;
      for (std::size_t k = 0; k < size; ++k) {
        rows_[k + size * j] = rates_[at_v_[k]] / deviations_[k];
      }
    }
    for (std::size_t k = 0; k < size; ++k) numbers[k] /= deviations_[k];
    return least_squares(rows_.data(), numbers.data(), size, unit_.size(), least_part,
                         step_.data());
  }

  /* Measured less estimated, in left_. */
  void compare() noexcept {
    for (std::size_t k = 0; k < left_.size(); ++k) {
      left_[k] = around(k, goal_[k] - found_[at_q_[k]]);
    }
  }

  /* Lead tried_ to the state that fits goal_ best. */
  Status fuse() noexcept {
    Status status = close(tried_);
    for (int count = 0; status == Status::ok && count < most_steps; ++count) {
      compare();
      if (!solve(left_)) return Status::no_answer;
      double size = 1.0, moved = 0.0;
      for (;; size /= 2.0) {
        for (std::size_t j = 0; j < next_.size(); ++j) next_[j] = tried_[j] + size * step_[j];
        status = close(next_);
        if (status == Status::ok || size < least_share) break;
      }
      for (std::size_t j = 0; j < next_.size(); ++j) {
        moved = std::fmax(moved, std::fabs(step_[j]) / std::fmax(1.0, std::fabs(next_[j])));
      }
      tried_ = next_;
      if (status == Status::ok && moved <= last_step) {
        compare();
        return status;
      }
    }
    return status == Status::ok ? Status::no_answer : status;
  }

  /* Velocities of all joints at tried_ that fit measured ones best. */
  Status move(const double *velocity) noexcept {
    if (velocity == nullptr) {
      step_ = rest_;
    } else {
      for (std::size_t k = 0; k < goal_.size(); ++k) goal_[k] = velocity[k];
      if (!solve(goal_)) return Status::no_answer;
    }
    const Status status = model_.joint_state(tried_.data(), step_.data(), rest_.data(),
                                             found_.data(), rates_.data(), unused_.data());
    if (status == Status::ok) {
      v_ = step_;
      velocity_ = rates_;
    }
    return status;
  }

  Model model_, last_; /* the latter with the loops as they were at q_ */
  std::vector<double> deviations_, q_, v_, position_, velocity_, disagreement_;
  std::vector<double> way_, goal_, left_, rows_, rest_, unit_, step_, tried_, next_, found_, rates_;
  std::vector<double> unused_; /* accelerations */
  std::vector<std::size_t> at_q_, at_v_;
};

}  // namespace mbdyn_ros

#endif
