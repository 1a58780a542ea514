"""How hard a gripper's jaws press for 2 N m at its motor, from closed to open."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

gripper = mbdyn_ros.example("gripper", gravity=(0, 0, 0))
q = np.linspace(-0.5, 0.7, 100)[:, None]
opening = np.array([2e3 * gripper.frame_pose(one, "right_jaw")[0, 3] for one in q])
reach = np.array([gripper.jacobian(one, "right_jaw")[0, 0] for one in q])
force = 2.0 / (2 * reach)  # both jaws share the power

figure, axes = plt.subplots()
axes.plot(opening - opening[0], force)
axes.set(
    xlabel="opening beyond the closed one (mm)", ylabel="force of each jaw (N)",
    title="A parallel gripper at 2 N m",
)  # fmt: skip
plt.savefig("gripper_force.png")
