"""A gripper with closed loops on an arm: one robot of two, and its mass matrix."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

arm, gripper = mbdyn_ros.example("ur5"), mbdyn_ros.example("gripper")
robot = arm.attached(gripper, "tool0", xyz=(0, 0, 0.06), prefix="hand_")
q = np.array([0, -1.2, 1.4, -0.2, 1.5, 0, 0.2])
matrix = robot.mass_matrix(q)

figure, axes = plt.subplots(figsize=(7, 5))
image = axes.imshow(np.log10(np.abs(matrix) + 1e-12), cmap="cividis", vmin=-7, vmax=1)
axes.set_xticks(range(7), robot.independent_joints, rotation=40, ha="right")
axes.set_yticks(range(7), robot.independent_joints)
axes.grid(False)
figure.colorbar(image, label="log10 of the mass matrix (SI)")
axes.set_title(f"{robot.model.name}: {len(robot.joint_names)} joints, {robot.nq} free")
plt.savefig("arm_with_gripper.png")
