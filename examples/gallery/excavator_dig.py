"""An excavator digs: forces of its cylinders with 3 kN at the teeth, and without."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("excavator")
t = np.linspace(0, 4, 200)
w = 2 * np.pi / 4
amplitude = np.array([0, 0.12, 0.15, 0.12])
phase = np.array([0, 0, 1, 2])
q = amplitude * np.sin(w * t[:, None] + phase)
v = amplitude * w * np.cos(w * t[:, None] + phase)
a = -amplitude * w**2 * np.sin(w * t[:, None] + phase)
force, teeth = np.array([0, 0, 3000]), np.array([-0.44, 0, -0.53])  # N, m, in the bucket's axes
pushed = {"bucket": [*force, *np.cross(teeth, force)]}

figure, axes = plt.subplots()
free, loaded = robot.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a, wrenches=pushed)
for k, name in enumerate(robot.actuated_joints[1:], 1):
    axes.plot(t, loaded[:, k] / 1e3, f"C{k}", label=name.removesuffix("_rod_joint"))
    axes.plot(t, free[:, k] / 1e3, f"C{k}:")
axes.set(xlabel="time (s)", ylabel="force (kN)", title="Digging; dotted: in the air")
figure.legend(loc="outside right upper")
plt.savefig("excavator_dig.png")
