"""A Stewart platform sways on a circle: lengths of its legs by inverse kinematics, and forces."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("stewart")
home = robot.frame_pose(robot.home_position, "platform")
count, turn = 120, 2.0  # states, seconds a turn
q = np.empty((count, 6))
start = robot.home_position
for k, angle in enumerate(2 * np.pi * np.arange(count) / count):
    pose = home.copy()
    pose[:3, 3] += [0.08 * np.cos(angle), 0.08 * np.sin(angle), 0.0]
    q[k] = start = robot.inverse_kinematics("platform", pose, start=start).q

dt = turn / count
v = (np.roll(q, -1, axis=0) - np.roll(q, 1, axis=0)) / (2 * dt)
a = (np.roll(q, -1, axis=0) - 2 * q + np.roll(q, 1, axis=0)) / dt**2
force = robot.inverse_dynamics(q, v, a)

figure, (above, below) = plt.subplots(2, figsize=(7, 5))
time = dt * np.arange(count)
above.plot(time, 1e3 * q)
below.plot(time, force, label=[f"leg {k + 1}" for k in range(6)])
above.set(
    xlabel="time (s)",
    ylabel="length from the middle (mm)",
    title="A circle of 80 mm in two seconds",
)
below.set(xlabel="time (s)", ylabel="force (N)")
figure.legend(loc="outside right upper")
plt.savefig("stewart_forces.png")
