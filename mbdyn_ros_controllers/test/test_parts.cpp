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

// The parts of the plugins that need no controller manager.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mbdyn_ros_controllers/carried_reference.hpp"
#include "mbdyn_ros_controllers/robot_library.hpp"
#include "mbdyn_ros_controllers/sampled_loop.hpp"
#include "mbdyn_ros_controllers/state_age.hpp"

namespace mbdyn_ros_controllers {

constexpr std::int64_t ms = 1'000'000;

TEST(CarriedReference, MovesOnAndThenStands) {
  const std::vector<double> values{1.0, 2.0, 3.0, 7.0};  // one joint: q, v, a, effort
  EXPECT_DOUBLE_EQ(carried(values, 1, 0, 0.02), 1.0 + 0.02 * 2.0 + 0.5 * 0.02 * 0.02 * 3.0);
  EXPECT_DOUBLE_EQ(carried(values, 1, 1, 0.02), 2.0 + 0.02 * 3.0);
  EXPECT_DOUBLE_EQ(carried(values, 1, 1, 5.0), 0.0);
  EXPECT_DOUBLE_EQ(carried(values, 1, 3, 5.0), 7.0);
}

TEST(StateAge, IsThatOfTheMessageWithTheSamePositions) {
  StateAge age;
  age.add(0.5, 100 * ms);
  EXPECT_NEAR(age.at(0.5, 103 * ms), 0.003, 1e-12);
  EXPECT_FALSE(age.stale());
  (void)age.at(0.5, 500 * ms);
  EXPECT_TRUE(age.stale());
}

TEST(StateAge, SaysThatNoMessageIsOfTheHardware) {
  StateAge age;
  EXPECT_FALSE(age.unmatched());  // nothing came
  age.add(0.5, 100 * ms);
  (void)age.at(0.7, 101 * ms);
  EXPECT_TRUE(age.unmatched());
  age.add(0.7, 101 * ms);
  (void)age.at(0.7, 102 * ms);
  EXPECT_FALSE(age.unmatched());
}

TEST(SampledLoop, GrowsBeyondTheGainsThatItBears) {
  const std::vector<double> mass_of_one{0.0, 1.0, 0.0, 0.0, 0.0, 1.0};  // q' = v, v' = u
  EXPECT_LT(growth_of_loop(mass_of_one, {-100.0, -20.0}, 2, 1, 1e-3), 0.0);
  EXPECT_GT(growth_of_loop(mass_of_one, {-1e9, -20.0}, 2, 1, 1e-3), 1.0);
}

TEST(RobotLibrary, IsRefusedInWords) {
  EXPECT_EQ(robot_library({}).error, "there is no robot_description");
  RobotRequest request;
  request.description = "<robot name='none'/>";
  request.file = "/nowhere/robot.so";
  EXPECT_NE(robot_library(request).error.find("cannot be opened"), std::string::npos);
}

}  // namespace mbdyn_ros_controllers
