"""A piezo robot's pulses: when each joint is freed so that the rotor drives it the right way."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros.piezo import Rotor, generalized_torques, pulse_windows

robot = mbdyn_ros.example("piezo_robot")
rotor = Rotor(mass=0.002, radius=0.005, speed=1000.0)
q = np.array([0, 0.3, 0.8, -0.5, 0.6, 0])
wanted = np.array([0, 0.004, -0.006, 0.005, 0.003, 0])
windows = pulse_windows(robot, q, rotor, wanted, "gripper")
angles = np.linspace(0, 2 * np.pi, 400)
torque = np.array([generalized_torques(robot, q, rotor, one, "gripper") for one in angles])

figure, axes = plt.subplots()
for k in (1, 2, 3):
    axes.plot(np.degrees(angles), 1e3 * torque[:, k], f"C{k}", label=robot.joint_names[k])
axes.set(
    xlabel="angle of the rotor (degrees)", ylabel="torque (mN m)",
    title=f"The rotor's torques; pulses free {len(windows.joints)} joints in turn",
)  # fmt: skip
figure.legend(loc="outside right upper")
plt.savefig("piezo_pulses.png")
