"""A payload is taken up while the loop runs: no compilation, and the next torque knows it."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("ur5", variable=["tool0"])
torque = robot.bind("inverse_dynamics")
torque.v[:], torque.a[:] = 0, 0
shown = []
for step in range(1000):
    if step in (300, 700):
        robot.set_payload("tool0", 4.0 if step == 300 else 0.0, com=(0, 0, 0.08))
    torque.q[:] = [0, -1.0 + 5e-4 * step, 1.2, 0, 0, 0]
    torque()
    shown.append(torque.effort[1:3].copy())

figure, axes = plt.subplots()
axes.plot(np.arange(1000), shown, label=robot.actuated_joints[1:3])
axes.axvspan(300, 700, alpha=0.12, color="C4", label="4 kg in the hand")
axes.set(xlabel="cycle", ylabel="torque (N m)", title="A payload taken up and put down")
figure.legend(loc="outside right upper")
plt.savefig("payload_at_once.png")
