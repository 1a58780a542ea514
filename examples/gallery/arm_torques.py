"""The torques that move an arm along a smooth motion: all states in one call."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("ur5")
start, end = np.array([0, -1.6, 1.2, 0, 0, 0]), np.array([1.5, -0.6, 1.8, 0.5, 1, 0])
duration = 2.0
t = np.linspace(0, duration, 400)[:, None]
s = t / duration

# A quintic, at rest at both ends.
q = start + (end - start) * (10 * s**3 - 15 * s**4 + 6 * s**5)
v = (end - start) * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
a = (end - start) * (60 * s - 180 * s**2 + 120 * s**3) / duration**2

effort = robot.inverse_dynamics(q, v, a)  # (400, 6)
still = robot.gravity_vector(q)

figure, axes = plt.subplots()
for k, name in enumerate(robot.actuated_joints[:3]):
    axes.plot(t, effort[:, k], f"C{k}", label=name)
    axes.plot(t, still[:, k], f"C{k}:")
axes.set(xlabel="time (s)", ylabel="torque (N m)", title="Torques of a UR5; dotted: gravity alone")
figure.legend(loc="outside right upper")
plt.savefig("arm_torques.png")
