"""Where a delta robot reaches, and how well: the condition of its Jacobian in a plane."""

import matplotlib.pyplot as plt
import numpy as np

import mbdyn_ros

robot = mbdyn_ros.example("delta")
start, places, conditions = robot.home_position, [], []
for x in np.linspace(-0.45, 0.45, 25):
    for y in np.linspace(-0.45, 0.45, 25):
        goal = np.array([x, y, -0.55])
        found = robot.inverse_kinematics("platform", goal, position_only=True, start=start)
        if found.success:
            start = found.q
            places.append((x, y))
            conditions.append(np.linalg.cond(robot.jacobian(found.q, "platform")[:3]))

figure, axes = plt.subplots(figsize=(6, 5))
shown = axes.scatter(*np.array(places).T, c=conditions, cmap="cividis", marker="s", s=60)
figure.colorbar(shown, label="condition of the Jacobian (1: as fast in all directions)")
axes.set_aspect("equal")
axes.set(xlabel="x (m)", ylabel="y (m)", title="A delta robot, 0.55 m below its motors")
plt.savefig("delta_reach.png")
