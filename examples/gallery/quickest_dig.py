"""An excavator swings and digs as fast as its motors, cylinders and pump can."""

import numpy as np

import mbdyn_ros
from mbdyn_ros.motion import MotionLimits, Pump, time_optimal
from mbdyn_ros.motion.timed_path import constant_speed
from mbdyn_ros.view.plots import save_timing_plot

excavator = mbdyn_ros.example("excavator")
waypoints = excavator.home_position + np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [0.5, 0.15, -0.1, 0.05],
        [1.0, -0.1, 0.12, -0.1],
        [1.5, 0.1, 0.05, 0.1],
    ]
)

# m^2 that oil fills as a rod goes out, and in: three cylinders share 360 litres a minute
cylinders = {
    "lift_rod_joint": (9.5e-3, 5.6e-3),
    "reach_rod_joint": (7.9e-3, 4.7e-3),
    "curl_rod_joint": (6.4e-3, 3.8e-3),
}
limits = MotionLimits(pumps=[Pump(360e-3 / 60, cylinders)])

timed = time_optimal(excavator, waypoints, limits)
print(f"{timed.duration:.3f} s, at constant speed {constant_speed(timed):.3f} s")
for one in timed.limiting():
    print(f"{one.start:6.3f} to {one.end:.3f} s: {one.limit}")

motion = timed.trajectory(rate=250.0)
print(f"{len(motion.time)} points with efforts of {', '.join(excavator.effort_labels)}")
save_timing_plot(timed, "quickest_dig.png", "An excavator's quickest swing and dig")
