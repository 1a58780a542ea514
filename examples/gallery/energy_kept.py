"""A four-bar swings freely for ten seconds: what the tolerance leaves of its energy."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("four_bar")

figure, (above, below) = plt.subplots(2, figsize=(7, 5))
for tolerance in (1e-5, 1e-8, 1e-11):
    motion = mbdyn_ros.simulate(robot, [0.4], [12.0], 10.0, rtol=tolerance, atol=tolerance / 100)
    energy = motion.energy.sum(axis=1)
    gained = np.abs(energy - energy[0])
    below.semilogy(motion.time[1:], gained[1:], label=f"rtol = {tolerance:g}")
    print(f"rtol = {tolerance:g}: at most {gained.max():.1e} J")
above.plot(motion.time, motion.v[:, 0])
above.set(xlabel="time (s)", ylabel="crank (rad/s)", title="A four-bar set going and left alone")
below.set(xlabel="time (s)", ylabel="energy gained or lost (J)")
figure.legend(loc="outside right lower")
plt.savefig("energy_kept.png")
