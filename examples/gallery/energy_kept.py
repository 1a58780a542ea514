"""A four-bar swings freely for ten seconds, and keeps its energy to 1e-11."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("four_bar")
motion = mbdyn_ros.simulate(robot, [0.4], [12.0], 10.0, rtol=1e-11, atol=1e-13)
total = motion.energy

figure, (above, below) = plt.subplots(2, figsize=(7, 5))
above.plot(motion.time, motion.v[:, 0])
below.plot(motion.time, total.sum(axis=1) - total[0].sum() if total.ndim > 1 else total - total[0])
above.set(xlabel="time (s)", ylabel="crank (rad/s)", title="A four-bar set going and left alone")
below.set(xlabel="time (s)", ylabel="energy gained (J)")
print("largest error of the energy:", np.ptp(total.sum(axis=1) if total.ndim > 1 else total), "J")
plt.savefig("energy_kept.png")
