"""Where an arm is strong and where it is quick: ellipses of its Jacobian in the x-z plane."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("ur5")
circle = np.array([np.cos(angles := np.linspace(0, 2 * np.pi, 60)), np.sin(angles)])
figure, axes = plt.subplots(figsize=(7, 5))
for k, lift in enumerate(np.linspace(-2.4, -0.4, 6)):
    q = np.array([0, lift, 1.4, 0, 0, 0])
    pose = robot.frame_pose(q, "tool0")
    plane = robot.jacobian(q, "tool0")[[0, 2]][:, 1:4]
    half, sizes, _ = np.linalg.svd(plane)
    ellipse = pose[[0, 2], 3][:, None] + 0.15 * half @ np.diag(sizes) @ circle
    joints = [robot.frame_pose(q, name)[[0, 2], 3] for name in robot.links[1:]]
    axes.plot(*np.array(joints).T, "o-", color="0.75", markersize=3)
    axes.plot(*ellipse, f"C{k % 6}")
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="z (m)", title="How fast the hand can be, by direction")
plt.savefig("force_ellipses.png")
