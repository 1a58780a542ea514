"""Ten rods fall inside a circle, and bounce at exact instants without losing energy."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros
from mbdyn_ros import Environment, Surface

robot = mbdyn_ros.example("tree_robot")
turns = [30, 30, -120, 30, 30, -120, 60, 0, 120, -60]  # degrees
start = np.array([-1.366, -1.366, *np.radians(turns)])
wall = Environment([Surface.cylinder(radius=2.5, axis=(0, 1, 0), restitution=1.0, friction=0.0)])
motion = mbdyn_ros.simulate(robot, start, np.zeros(12), 1.2, environment=wall)
rods = robot.moving_links[2:]  # without the two slides that carry the first

figure, axes = plt.subplots(figsize=(7, 6))
axes.add_patch(plt.Circle((0, 0), 2.5, fill=False, color="0.5"))
scale = plt.cm.ScalarMappable(plt.Normalize(0, 1.2), "cividis")
for k in np.linspace(0, len(motion.time) - 1, 6).astype(int):
    for link in rods:
        pose = robot.frame_pose(motion.q[k], link)
        ends = np.array([pose[:3, 3], pose[:3, 3] + pose[:3, 0]])
        axes.plot(ends[:, 0], ends[:, 2], color=scale.to_rgba(motion.time[k]), lw=2)
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="z (m)", title=f"{len(motion.impacts)} impacts in 1.2 s")
figure.colorbar(scale, ax=axes, label="time (s)")
plt.savefig("tree_in_a_circle.png")
